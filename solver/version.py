"""The version of Fathom, for the command line, the daemon and the files that training writes."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

UNKNOWN = "unknown"


def fathom_version() -> str:
    """The installed version, or UNKNOWN when run from a folder without being installed."""
    try:
        return version("fathom")
    except PackageNotFoundError:
        return UNKNOWN
