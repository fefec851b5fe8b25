"""Errors of the game package.

GameError
├── CardError        a card, hand or board that does not exist, or a card that repeats
├── RangeError       invalid range text
├── DefinitionError  an invalid game definition
└── IllegalAction    an action the rules do not allow; the message says what is allowed instead
"""

from __future__ import annotations


class GameError(ValueError):
    """Base class of the errors this package raises about its input."""


class CardError(GameError):
    """A card, hand or board that does not exist, or a card that repeats."""


class RangeError(GameError):
    """Invalid range text."""


class DefinitionError(GameError):
    """An invalid game definition."""


class IllegalAction(GameError):  # noqa: N818 - it names the refusal, as the rules do
    """An action the rules do not allow."""
