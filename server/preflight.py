"""What the daemon would refuse, found out without starting it: for `fathom serve` and `config check`."""

from __future__ import annotations

import os
from pathlib import Path

from server.blueprint_choice import verify_named
from server.config import Config, store_path
from server.config_reader import ConfigError
from server.game_files import load_definition
from server.http.api import needed_keys


def verify_config(config: Config) -> None:
    """Raise a `ValueError` or `OSError` that says what is wrong and what to do; blocks for an instant."""
    needed_keys(config)
    verify_named(config.agent.blueprint)
    _verify_store(store_path(config))
    for match in config.match:
        load_definition(match.game)


def _verify_store(path: Path) -> None:
    """The file, or the nearest folder there is, must be ours to write."""
    found = path.absolute()
    while not found.exists() and found != found.parent:
        found = found.parent
    if path.is_dir() or (found != path.absolute() and not found.is_dir()):
        raise ConfigError(f"store.path = {str(path)!r}: {found} is in the way: name a file in a folder")
    if not os.access(found, os.W_OK):
        raise ConfigError(f"store.path = {str(path)!r}: {found} cannot be written: name another place")
