"""Time management: a budget per hand, split over its decisions; unspent time is saved.

1. A match allows a number of seconds per hand on average (ACPC: 7). Time that quick hands leave is saved. A
   hand may use a quarter of the savings besides its own budget, so that no hand takes all of it.
2. Each street may use a share of what is left of the hand's time. Later streets expect fewer further
   decisions, and big pots get more time than small ones.
"""

from __future__ import annotations

from game.betting import BettingState

_SHARES = (0.15, 0.5, 0.55, 0.5)
"""Share of the hand's remaining time by street, for a big pot. Some time is always kept for another decision.
Rivers need the least: they are solved within tenths of a second."""
_SMALL_POT_SHARE = 0.65
"""Part of that share for an empty pot."""
_BIG_POT = 30
"""Pots of this many big blinds or more are big."""
_MOST_DECISION = 1.2
"""Upper bound of a decision's time in budgets of a hand, savings included, so that opponents do not wait
long."""
_SAVINGS_SHARE = 0.25
_MOST_HANDS_SAVED = 3.0
"""Upper bound of the savings that a hand gets, in budgets of a hand."""


class MatchClock:
    """The clock of one match. Call `start_hand`, then `seconds_for` and `spend` for each decision."""

    def __init__(self, seconds_per_hand: float) -> None:
        if seconds_per_hand <= 0:
            raise ValueError(f"seconds_per_hand must be more than 0, got {seconds_per_hand}")
        self._per_hand = seconds_per_hand
        self._saved = 0.0
        self._left = 0.0

    @property
    def saved_seconds(self) -> float:
        """Time that earlier hands left unspent."""
        return self._saved

    def start_hand(self) -> None:
        """Save what the last hand left, and give the next hand its budget."""
        self._saved += self._left
        extra = min(max(self._saved, 0.0) * _SAVINGS_SHARE, self._per_hand * _MOST_HANDS_SAVED)
        if self._saved < 0:
            extra = max(self._saved, -self._per_hand / 2)
        self._left = self._per_hand + extra
        self._saved -= extra

    def seconds_for(self, betting: BettingState) -> float:
        """Time for the decision to be made now."""
        pot = min(betting.pot / (betting.definition.big_blind * _BIG_POT), 1.0)
        share = _SHARES[min(betting.round_index, 3)] * (_SMALL_POT_SHARE + (1 - _SMALL_POT_SHARE) * pot)
        return min(max(self._left, 0.0) * share, _MOST_DECISION * self._per_hand)

    def spend(self, seconds: float) -> None:
        """Record the time of a decision."""
        self._left -= seconds
