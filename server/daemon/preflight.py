"""Check a configuration without starting the daemon, for `fathom serve` and `fathom config check`."""

from __future__ import annotations

import os
from pathlib import Path

from server.config.blueprint_choice import verify_named
from server.config.config import Config, store_path
from server.config.game_files import load_definition
from server.config.reader import ConfigError
from server.http.api import needed_keys


def verify_config(config: Config) -> None:
    """Raise a `ValueError` or `OSError` that says what is wrong and what to do; blocks briefly."""
    needed_keys(config)
    verify_named(config.agent.blueprint)
    _verify_store(store_path(config))
    for match in config.match:
        load_definition(match.game)


def _verify_store(path: Path) -> None:
    """Check that the file, or else its nearest existing folder, is writable."""
    found = path.absolute()
    while not found.exists() and found != found.parent:
        found = found.parent
    if path.is_dir() or (found != path.absolute() and not found.is_dir()):
        problem = "is a folder" if found.is_dir() else "is not a folder"
        raise ConfigError(f"store.path = {str(path)!r}: {found} {problem}: give the path of a file")
    if not os.access(found, os.W_OK):
        raise ConfigError(f"store.path = {str(path)!r}: {found} is not writable: choose another place")
