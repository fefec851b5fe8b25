"""Which Fathom this is: said by the command line and the daemon, and written into what is trained."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

UNKNOWN = "unknown"


def fathom_version() -> str:
    """The installed version, or UNKNOWN when run from a folder without being installed."""
    try:
        return version("fathom")
    except PackageNotFoundError:
        return UNKNOWN
