"""A pool of push/fold players against the equilibrium: their losses by position and class of hands.

Evaluated as by Chin and Lopez ("Counterfactual Regret Minimization Applied to Poker", 2023, section 3): the
pool plays each class of hands all-in with its observed frequency, separately by position, and the
equilibrium's value against this strategy is computed over all pairs of hands. Classes without observations
are assumed to be played as in the equilibrium, so that they neither win nor lose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from game.hands import HAND_CLASS, NUM_CLASSES, class_text
from numeric.arrays import F64
from solver.equity.push_fold import Gains, gains, small_blind_value, solve_push_fold

BIG_BLIND_SEAT, SMALL_BLIND_SEAT = 0, 1
SEATS = ("big blind", "small blind")

_LEAST_COST = 0.0005
_EVEN = 1e-9


@dataclass(frozen=True, slots=True)
class PoolDecision:
    """One decision of a player in the pool."""

    position: int
    hand: int
    """The hand index of `game.hands`."""
    all_in: bool


@dataclass(frozen=True, slots=True)
class Misplay:
    """A class of hands that the pool plays at a loss in one position."""

    hand: str
    seen: int
    all_in: float
    """How often the pool goes all-in with it."""
    equilibrium: float
    cost: float
    """Big blinds lost per hand, against the equilibrium."""


@dataclass(frozen=True, slots=True)
class SeatReport:
    """The pool in one position, and the bot's result in this position against the pool."""

    decisions: int
    classes_seen: int
    all_in: float | None
    """How often the pool goes all-in; None if it was never seen."""
    bot_value: float
    """Big blinds per hand of the equilibrium in this position, against the pool in the other."""
    game_value: float
    """The same against the equilibrium instead of the pool."""
    bot_inefficient_hands: int
    """Number of hands, of 1326, with which the opposite action would win more from this pool."""
    misplayed: tuple[Misplay, ...]
    """Classes misplayed by the pool, largest total cost first."""


@dataclass(frozen=True, slots=True)
class PoolReport:
    """The pool's results in both positions."""

    stack: float
    decisions: int
    bot_value: float
    """Big blinds per hand, mean over both positions."""
    seats: tuple[SeatReport, SeatReport]
    """The reports by position."""

    def record(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "stack": self.stack,
            "decisions": self.decisions,
            "bot_value": round(self.bot_value, 5),
            "positions": {name: _seat_record(seat) for name, seat in zip(SEATS, self.seats, strict=True)},
        }


def pool_report(stack: float, decisions: Iterable[PoolDecision]) -> PoolReport:
    """Evaluate a pool against the equilibrium."""
    solved = solve_push_fold(stack)
    seen, all_in = np.zeros((2, NUM_CLASSES)), np.zeros((2, NUM_CLASSES))
    for decision in decisions:
        seen[decision.position, HAND_CLASS[decision.hand]] += 1
        all_in[decision.position, HAND_CLASS[decision.hand]] += decision.all_in
    equilibrium = np.stack([solved.call, solved.push])
    pool = np.where(seen > 0, all_in / np.maximum(seen, 1), equilibrium)
    as_small = small_blind_value(stack, solved.push, pool[BIG_BLIND_SEAT])
    as_big = -small_blind_value(stack, pool[SMALL_BLIND_SEAT], solved.call)
    against_bot = gains(stack, solved.push, solved.call)
    against_pool = gains(stack, pool[SMALL_BLIND_SEAT], pool[BIG_BLIND_SEAT])
    seats = [
        SeatReport(
            decisions=int(seen[seat].sum()),
            classes_seen=int((seen[seat] > 0).sum()),
            all_in=float(all_in[seat].sum() / seen[seat].sum()) if seen[seat].any() else None,
            bot_value=value,
            game_value=solved.value if seat == SMALL_BLIND_SEAT else -solved.value,
            bot_inefficient_hands=_inefficient(equilibrium[seat], _of(against_pool, seat)),
            misplayed=_misplayed(seen[seat], pool[seat], equilibrium[seat], _of(against_bot, seat)),
        )
        for seat, value in ((BIG_BLIND_SEAT, as_big), (SMALL_BLIND_SEAT, as_small))
    ]
    return PoolReport(stack, int(seen.sum()), (as_small + as_big) / 2, (seats[0], seats[1]))


def _of(found: Gains, seat: int) -> F64:
    return np.nan_to_num(found.push if seat == SMALL_BLIND_SEAT else found.call)


def _inefficient(strategy: F64, gain: F64) -> int:
    """The number of hands that gain when their all-in frequency p is replaced by 1 - p."""
    hands = np.bincount(HAND_CLASS, minlength=NUM_CLASSES)
    return int(hands[(1 - 2 * strategy) * gain > _EVEN].sum())


def _misplayed(seen: F64, pool: F64, equilibrium: F64, gain: F64) -> tuple[Misplay, ...]:
    cost = np.maximum(gain, 0) - pool * gain
    worst_first = np.argsort(-cost * seen, kind="stable")
    return tuple(
        [
            Misplay(
                hand=class_text(int(c)),
                seen=int(seen[c]),
                all_in=float(pool[c]),
                equilibrium=float(equilibrium[c]),
                cost=float(cost[c]),
            )
            for c in worst_first
            if seen[c] > 0 and cost[c] > _LEAST_COST
        ]
    )


def _seat_record(seat: SeatReport) -> dict[str, Any]:
    return {
        "decisions": seat.decisions,
        "classes_seen": seat.classes_seen,
        "all_in": None if seat.all_in is None else round(seat.all_in, 4),
        "bot_value": round(seat.bot_value, 5),
        "game_value": round(seat.game_value, 5),
        "bot_inefficient_hands": seat.bot_inefficient_hands,
        "misplayed": [
            {
                "hand": misplay.hand,
                "seen": misplay.seen,
                "all_in": round(misplay.all_in, 4),
                "equilibrium": round(misplay.equilibrium, 4),
                "cost": round(misplay.cost, 4),
            }
            for misplay in seat.misplayed
        ],
    }
