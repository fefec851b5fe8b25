"""What can go wrong on a wire or in a record of one.

ProtocolError
├── RemoteProtocolError  the other side sent what the protocol does not allow: report it and read on
│   ├── SlumbotRefusal   an action in Slumbot's text that cannot be read or played (slumbot_actions)
│   └── SlumbotError     a server that speaks Slumbot's API refused (slumbot)
├── LocalProtocolError   we were about to send what the protocol does not allow: a bug on our side
└── RecordError          a log or hand history that cannot be read; the message names the line
"""

from __future__ import annotations


class ProtocolError(ValueError):
    """Base of everything this package raises about its input."""


class RemoteProtocolError(ProtocolError):
    """The other side sent something the protocol does not allow."""


class LocalProtocolError(ProtocolError):
    """We were about to send something the protocol does not allow."""


class RecordError(ProtocolError):
    """A log or hand history that cannot be read, or contradicts the rules."""

    def __init__(self, message: str, line_number: int | None = None) -> None:
        super().__init__(message if line_number is None else f"line {line_number}: {message}")
        self.line_number = line_number
