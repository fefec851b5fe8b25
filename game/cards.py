"""Cards and their text form.

A card is an integer 0..51: `rank * 4 + suit`, ranks 2..A as 0..12, suits c, d, h, s as 0..3. This is the
numbering of the ACPC dealer and of OpenSpiel's `universal_poker`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from game.errors import CardError

NUM_CARDS = 52
NUM_RANKS = 13
NUM_SUITS = 4
RANKS = "23456789TJQKA"
SUITS = "cdhs"

Card = int
Cards = tuple[Card, ...]

_CARD_TEXT = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CARD_OF_TEXT = {text: card for card, text in enumerate(_CARD_TEXT)}


def card_text(card: Card) -> str:
    """'As' for 51."""
    return _CARD_TEXT[card]


def cards_text(cards: Iterable[Card]) -> str:
    """'AsKd' for (51, 45), in the order given."""
    return "".join([_CARD_TEXT[card] for card in cards])


def parse_card(text: str) -> Card:
    """51 for 'As'. Exact case, as the protocols write it."""
    try:
        return _CARD_OF_TEXT[text]
    except KeyError:
        raise CardError(
            f"{text!r} is not a card: write a rank of {RANKS} and a suit of {SUITS}, e.g. 'As'"
        ) from None


def parse_cards(text: str) -> Cards:
    """(51, 45) for 'AsKd'; spaces and commas between cards are allowed; no card may repeat."""
    squeezed = text.replace(" ", "").replace(",", "")
    if len(squeezed) % 2:
        raise CardError(f"{text!r} is not a list of cards: each card is two characters, e.g. 'AsKd7h'")
    cards = tuple([parse_card(squeezed[i : i + 2]) for i in range(0, len(squeezed), 2)])
    verify_distinct(cards)
    return cards


def verify_distinct(cards: Sequence[Card]) -> None:
    """Refuse a list in which a card appears twice."""
    if len(set(cards)) != len(cards):
        twice = next(card for i, card in enumerate(cards) if card in cards[:i])
        raise CardError(f"{_CARD_TEXT[twice]} appears twice in {cards_text(cards)!r}")
