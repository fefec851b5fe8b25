"""What can go wrong with the rules.

GameError
├── CardError        a card, hand or board that does not exist or repeats
├── RangeError       range text that cannot be read
├── DefinitionError  a game definition that makes no sense
└── IllegalAction    an action the rules refuse; the message says what is allowed instead
"""

from __future__ import annotations


class GameError(ValueError):
    """Base of everything this package raises about its input."""


class CardError(GameError):
    """A card, hand or board that does not exist or repeats."""


class RangeError(GameError):
    """Range text that cannot be read."""


class DefinitionError(GameError):
    """A game definition that makes no sense."""


class IllegalAction(GameError):  # noqa: N818 - it names the refusal, as the rules do
    """An action the rules refuse."""
