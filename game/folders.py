"""Where Fathom keeps files on this machine: by the XDG base directory specification."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """What can be made again."""
    return _home("XDG_CACHE_HOME", ".cache")


def data_home() -> Path:
    """What cannot."""
    return _home("XDG_DATA_HOME", ".local/share")


def config_home() -> Path:
    """Settings and keys."""
    return _home("XDG_CONFIG_HOME", ".config")


def writable_cache() -> Path:
    """The cache, or, where that may only be read as in a container, a folder beside the data."""
    # `Path.exists` raises where a folder may not even be looked into; this says no.
    home = cache_home()
    there = next(folder for folder in (home, *home.parents) if os.path.exists(folder))
    return home if os.access(there, os.W_OK) else data_home() / "cache"


def cached(*names: str) -> Path:
    """A place in the cache: where it is already, or where it can be made."""
    found = cache_home().joinpath(*names)
    return found if os.path.exists(found) else writable_cache().joinpath(*names)


def _home(variable: str, usual: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / usual) / "fathom"
