"""What can go wrong in a match.

ArenaError
├── MatchAborted  a match that cannot go on: a player went away or ran out of time, a file makes no sense
│   ├── JournalError  a file that is the journal of another match, or of none; a ValueError, too
│   └── BrokenPlayer  one who did something illegal or raised an exception
└── PlayerError   a player that does not exist; a ValueError, too, as all refusals of input are
"""

from __future__ import annotations


class ArenaError(Exception):
    """Base of everything this package raises about a match."""


class MatchAborted(ArenaError):  # noqa: N818 - it names what happened
    """The match ends here without a score; the message says whose fault it is, one line per fact."""


class JournalError(MatchAborted, ValueError):
    """A file that cannot be gone on with; the message says how it differs."""


class BrokenPlayer(MatchAborted):
    """One who did something illegal or raised an exception; the message says what and where."""

    def __init__(self, position: int, what: str) -> None:
        super().__init__(what)
        self.position = position


class PlayerError(ArenaError, ValueError):
    """A text that names no player; the message says what there is."""
