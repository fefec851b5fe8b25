"""What can go wrong in a match.

ArenaError
└── MatchAborted  a match that cannot go on: a player went away or ran out of time, a file makes no sense
"""

from __future__ import annotations


class ArenaError(Exception):
    """Base of everything this package raises about a match."""


class MatchAborted(ArenaError):  # noqa: N818 - it names what happened
    """The match ends here without a score; the message says whose fault it is, one line per fact."""
