"""The 1326 hands (two hole cards) and the 169 classes such as AKs.

A hand is an index 0..1325 of the pairs `low < high` of cards, ordered by `high`, then `low`:
`hand = high * (high - 1) / 2 + low`. So the hands made of cards below `n` come first, for any `n`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from game.cards import NUM_CARDS, NUM_RANKS, RANKS, Card, card_text, parse_cards
from game.errors import CardError

NUM_HANDS = 1326
NUM_CLASSES = 169

Hand = int


def hand_index(a: Card, b: Card) -> Hand:
    """The hand of two different cards, in either order."""
    if a == b or not (0 <= a < NUM_CARDS and 0 <= b < NUM_CARDS):
        raise CardError(f"cards {a} and {b} do not make a hand: give two different cards of 0..51")
    low, high = (a, b) if a < b else (b, a)
    return high * (high - 1) // 2 + low


def hand_text(hand: Hand) -> str:
    """'AsKd': the higher card first, as people write it."""
    low, high = HAND_CARDS[hand]
    return card_text(int(high)) + card_text(int(low))


def parse_hand(text: str) -> Hand:
    """The hand of four characters such as 'AsKd'."""
    cards = parse_cards(text)
    if len(cards) != 2:
        raise CardError(f"{text!r} is not a hand: give two cards, e.g. 'AsKd'")
    return hand_index(*cards)


def class_text(hand_class: int) -> str:
    """'AKs', 'AKo' or 'AA'."""
    row, column = divmod(hand_class, NUM_RANKS)
    high, low = RANKS[NUM_RANKS - 1 - min(row, column)], RANKS[NUM_RANKS - 1 - max(row, column)]
    return high + low + ("" if row == column else "s" if row < column else "o")


def unblocked(cards: tuple[Card, ...]) -> npt.NDArray[np.bool_]:
    """bool[1326]: the hands that share no card with `cards`."""
    dead = np.zeros(NUM_CARDS, dtype=np.bool_)
    dead[list(cards)] = True
    return np.logical_not(dead[HAND_CARDS[:, 0]] | dead[HAND_CARDS[:, 1]])


def _all_hand_cards() -> npt.NDArray[np.uint8]:
    pairs = [(low, high) for high in range(NUM_CARDS) for low in range(high)]
    return np.array(pairs, dtype=np.uint8)


def _all_hand_classes() -> npt.NDArray[np.uint8]:
    # The usual 13 x 13 grid: aces first, suited above the diagonal, offsuit below.
    low, high = HAND_CARDS[:, 0].astype(np.int64), HAND_CARDS[:, 1].astype(np.int64)
    first, second = NUM_RANKS - 1 - high // 4, NUM_RANKS - 1 - low // 4
    suited = low % 4 == high % 4
    return np.where(suited, first * NUM_RANKS + second, second * NUM_RANKS + first).astype(np.uint8)


HAND_CARDS: npt.NDArray[np.uint8] = _all_hand_cards()
"""uint8[1326, 2]: the two cards of each hand, lower first."""

HAND_CLASS: npt.NDArray[np.uint8] = _all_hand_classes()
"""uint8[1326]: the cell `row * 13 + column` of the 13 × 13 grid each hand belongs to."""

for _table in (HAND_CARDS, HAND_CLASS):
    _table.setflags(write=False)
