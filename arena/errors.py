"""Errors of the arena package.

ArenaError
├── MatchAborted  a match cannot continue: a player disconnected or timed out, or a file is invalid
│   ├── JournalError  a file that belongs to another match, or is not a journal; also a ValueError
│   └── BrokenPlayer  a player made an illegal action or raised an exception
└── PlayerError   an invalid player specification; also a ValueError, as all errors about input are
"""

from __future__ import annotations


class ArenaError(Exception):
    """Base class of the errors this package raises about a match."""


class MatchAborted(ArenaError):  # noqa: N818 - it names what happened
    """The match ends without a score. The message says who caused it, one fact per line."""


class JournalError(MatchAborted, ValueError):
    """A journal that cannot be continued; the message says how it differs from this match."""


class BrokenPlayer(MatchAborted):
    """A player made an illegal action or raised an exception; the message says what and where."""

    def __init__(self, position: int, what: str) -> None:
        super().__init__(what)
        self.position = position


class PlayerError(ArenaError, ValueError):
    """An invalid player specification; the message lists the valid choices."""
