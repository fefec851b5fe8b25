"""Folders for Fathom's files, following the XDG base directory specification."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """The folder for files that can be regenerated."""
    return _home("XDG_CACHE_HOME", ".cache")


def data_home() -> Path:
    """The folder for data that cannot be regenerated."""
    return _home("XDG_DATA_HOME", ".local/share")


def config_home() -> Path:
    """The folder for settings and keys."""
    return _home("XDG_CONFIG_HOME", ".config")


def writable_cache() -> Path:
    """The cache folder, or a folder in the data folder if the cache is read-only, as in a container."""
    # `Path.exists` raises for a folder that may not be searched; `os.path.exists` returns False.
    home = cache_home()
    there = next(folder for folder in (home, *home.parents) if os.path.exists(folder))
    return home if os.access(there, os.W_OK) else data_home() / "cache"


def cached(*names: str) -> Path:
    """The path of a cached file: where it already exists, else where it can be written."""
    found = cache_home().joinpath(*names)
    return found if os.path.exists(found) else writable_cache().joinpath(*names)


def _home(variable: str, usual: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / usual) / "fathom"
