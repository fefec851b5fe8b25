"""Errors in protocols and in records of games.

ProtocolError
├── RemoteProtocolError  the other side violated the protocol: report it and read on
│   ├── SlumbotRefusal   an action in Slumbot's notation that cannot be parsed or is illegal (slumbot_actions)
│   └── SlumbotError     a server with Slumbot's API returned an error (slumbot)
├── LocalProtocolError   we were about to violate the protocol: a bug on our side
└── RecordError          a log or hand history that cannot be read; the message names the line
"""

from __future__ import annotations


class ProtocolError(ValueError):
    """Base class of the errors this package raises about its input."""


class RemoteProtocolError(ProtocolError):
    """The other side violated the protocol."""


class LocalProtocolError(ProtocolError):
    """We were about to violate the protocol."""


class RecordError(ProtocolError):
    """A log or hand history that cannot be read, or contradicts the rules."""

    def __init__(self, message: str, line_number: int | None = None) -> None:
        super().__init__(message if line_number is None else f"line {line_number}: {message}")
        self.line_number = line_number
