"""How long to think: a budget per hand, split over its decisions, unspent time carried over.

1. A match gives so many seconds per hand on average (ACPC: 7). What quick hands leave is saved; a hand may
   use a quarter of the savings besides its own budget, so that no hand takes all and none goes without.
2. Of what a hand has left, each street may use a share; later streets expect fewer decisions to come, and a
   big pot is worth more thought than a small one.
"""

from __future__ import annotations

from game.betting import BettingState

_SHARES = (0.15, 0.5, 0.55, 0.5)
"""Of what the hand has left, by street, for a big pot: some is always kept for another decision. Rivers need
the least: they are solved within tenths of a second."""
_SMALL_POT_SHARE = 0.65
"""What a pot of nothing gets of that."""
_BIG_POT = 30
"""Big blinds from which on a pot is a big one."""
_MOST_DECISION = 1.2
"""Budgets of a hand that one decision may take, savings and all: nobody likes to wait."""
_SAVINGS_SHARE = 0.25
_MOST_HANDS_SAVED = 3.0
"""No hand gets more than so many budgets of others besides its own."""


class MatchClock:
    """The time of one match. `start_hand`, then `seconds_for` and `spend` for each decision."""

    def __init__(self, seconds_per_hand: float) -> None:
        if seconds_per_hand <= 0:
            raise ValueError(f"a budget of {seconds_per_hand} s per hand: give more than 0")
        self._per_hand = seconds_per_hand
        self._saved = 0.0
        self._left = 0.0

    @property
    def saved_seconds(self) -> float:
        """What earlier hands left unspent."""
        return self._saved

    def start_hand(self) -> None:
        """Settle the last hand and give the next its budget."""
        self._saved += self._left
        extra = min(max(self._saved, 0.0) * _SAVINGS_SHARE, self._per_hand * _MOST_HANDS_SAVED)
        if self._saved < 0:
            extra = max(self._saved, -self._per_hand / 2)
        self._left = self._per_hand + extra
        self._saved -= extra

    def seconds_for(self, betting: BettingState) -> float:
        """For the decision to be made now."""
        pot = min(betting.pot / (betting.definition.big_blind * _BIG_POT), 1.0)
        share = _SHARES[min(betting.round_index, 3)] * (_SMALL_POT_SHARE + (1 - _SMALL_POT_SHARE) * pot)
        return min(max(self._left, 0.0) * share, _MOST_DECISION * self._per_hand)

    def spend(self, seconds: float) -> None:
        """A decision took so long."""
        self._left -= seconds
