"""The cards of hold'em and of games with one hole card, as local best response sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from arena.range_equity import hand_equities
from game.cards import Cards
from game.definition import GameDefinition
from game.hands import HAND_CARDS, NUM_HANDS, unblocked
from game.showdown import showdown_rank
from solver.layout import F32


@dataclass(frozen=True, slots=True)
class HoldemCards:
    """The 1326 hands."""

    definition: GameDefinition
    count_preflop: bool = True
    """Whether equities before the flop may be asked for: counting them takes a while, once."""
    num_hands: int = field(init=False, default=NUM_HANDS)

    def __post_init__(self) -> None:
        shape = self.definition.num_hole_cards, self.definition.board_cards, len(self.definition.deck)
        if shape != (2, (0, 3, 1, 1), 52):
            raise ValueError("local best response needs hold'em with two hole cards and all four rounds")

    @property
    def least_board(self) -> int:
        """None before the flop, or the flop."""
        return 0 if self.count_preflop else 3

    def cards(self, hand: int) -> Cards:
        """The cards of a hand."""
        low, high = HAND_CARDS[hand]
        return int(low), int(high)

    def unblocked(self, cards: Cards) -> F32:
        """float32[1326]: 1 for hands that hold none of the cards, 0 for the others."""
        return unblocked(cards).astype(np.float32)

    def equities(self, hand: int, board: Cards) -> F32:
        """float32[1326]: exact, over all run-outs."""
        return hand_equities(hand, board)


@dataclass(frozen=True, slots=True)
class OneCardHands:
    """Kuhn, Leduc and their like: hand h is the h-th lowest card of the deck. Everything is enumerated."""

    definition: GameDefinition
    _deck: Cards = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.definition.num_hole_cards != 1:
            raise ValueError(f"{self.definition.num_hole_cards} hole cards: one is meant")
        object.__setattr__(self, "_deck", tuple(sorted(self.definition.deck)))

    @property
    def num_hands(self) -> int:
        """As many as cards."""
        return len(self._deck)

    @property
    def least_board(self) -> int:
        """None."""
        return 0

    def cards(self, hand: int) -> Cards:
        """The card of a hand."""
        return (self._deck[hand],)

    def unblocked(self, cards: Cards) -> F32:
        """float32[H]: 1 for the other cards, 0 for these."""
        return np.array([card not in cards for card in self._deck], dtype=np.float32)

    def equities(self, hand: int, board: Cards) -> F32:
        """float32[H]: exact, over all run-outs."""
        own, missing = self._deck[hand], sum(self.definition.board_cards) - len(board)
        return np.array([self._equity(own, other, board, missing) for other in self._deck], dtype=np.float32)

    def _equity(self, own: int, other: int, board: Cards, missing: int) -> float:
        left = [card for card in self._deck if card not in (own, other, *board)]
        if own == other or own in board or other in board:
            return 0.0
        shares = []
        for cards in combinations(left, missing):
            ours, theirs = showdown_rank((own, *board, *cards)), showdown_rank((other, *board, *cards))
            shares.append(0.5 if ours == theirs else float(ours > theirs))
        return sum(shares) / len(shares)
