"""Explains a decision to a person: ranges and strategy as 13×13 grids, values, and the solve.

Grids are lists of 169 numbers, row by row from aces to deuces: pairs on the diagonal, suited hands above it,
offsuit hands below. All values are plain types, ready for JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from game.hands import HAND_CARDS, HAND_CLASS, NUM_CLASSES, hand_text
from numeric.arrays import F32, F64
from solver.decisions.convergence import judge_decision
from solver.decisions.decision import Decision, Method
from solver.decisions.settings import ADAPTED, LEARNED, NET, ROLLOUTS, TABLE

_WITHOUT_LEAVES = {
    Method.BLUEPRINT: "none: looked up",
    Method.BOOK: "none: looked up in the flop book; turn and river were learned when it was made",
    Method.EXACT: "none: solved to the end of the hand",
    Method.SAFE: "none: solved to the end of the hand; the opponent keeps the promised values",
}
_LEAVES = {
    TABLE: "the opponent chooses among strategies from the blueprint's table",
    LEARNED: "turn and river are learned on the way",
    ADAPTED: "both players choose among continuations that were adapted to their ranges",
    ROLLOUTS: "both players choose among continuations of the blueprint, played out",
    NET: "the opponent chooses among continuations, valued by a net",
}
_STREETS = ("pre-flop", "flop", "turn", "river")


def explain(decision: Decision, hand: int | None = None) -> dict[str, Any]:
    """Everything about a decision; about the hand held only if it is given.

    Computes values and exploitability, which takes some milliseconds to a tenth of a second.
    """
    betting, strategy, own = decision.betting, decision.strategy, decision.betting.actor
    names = [str(action) for action in strategy.actions]
    weight = decision.ranges[own].astype(np.float64)
    values, exploitability = decision.values(), decision.exploitability()
    found = judge_decision(decision, exploitability)
    told: dict[str, Any] = {
        "street": _STREETS[betting.round_index],
        "pot": betting.pot,
        "method": decision.method.value,
        "leaf_method": _WITHOUT_LEAVES.get(decision.method) or _LEAVES[decision.leaf],
        "iterations": decision.iterations,
        "seconds": round(decision.seconds, 4),
        "phases": {name: round(seconds, 4) for name, seconds in decision.phases.items()},
        "exploitability": None if exploitability is None else round(exploitability, 2),
        "exploitability_pct": None
        if exploitability is None
        else round(decision.percent_of_pot(exploitability), 3),
        "converged": found.converged,
        "quality": found.quality,
        "range_strategy": _named(names, decision.frequencies()),
        **grids(decision.ranges, own, names, strategy.probabilities),
    }
    if values is not None:
        told["value_grid"] = {
            name: _grid(weight, np.where(np.isfinite(row), row, 0).astype(np.float64))
            for name, row in zip(names, values, strict=True)
        }
    if hand is not None:
        told["hand"] = hand_text(hand)
        told["strategy"] = _named(names, strategy.probabilities[:, hand])
        told["values"] = None if values is None else _chips(names, values[:, hand])
    return told


def grids(ranges: F32, own: int, names: Sequence[str], probabilities: F32) -> dict[str, Any]:
    """Both ranges, and the action frequencies of each class of hands.

    ranges         float32[2, 1326]
    own            the player to act
    probabilities  float32[A, 1326]
    """
    # Hands that the board blocks have no action, whether or not the range excludes them.
    possible = probabilities.sum(axis=0) > 0
    weight = ranges[own].astype(np.float64) * possible
    return {
        "own_range": _grid(weight),
        "opponent_range": _grid(_scaled(ranges[1 - own].astype(np.float64))),
        "strategy_grid": {
            name: _grid(weight, row.astype(np.float64))
            for name, row in zip(names, probabilities, strict=True)
        },
    }


def _scaled(weight: F64) -> F64:
    """Scale up to a largest weight of 1, so that ranges after rare actions are visible."""
    largest = float(weight.max())
    return weight / largest if 0 < largest < 1 else weight


def grid_places() -> np.ndarray:
    """int64[169]: the place of each class of hands in a grid."""
    places = np.zeros(NUM_CLASSES, dtype=np.int64)
    ranks, suits = HAND_CARDS.astype(np.int64) // 4, HAND_CARDS.astype(np.int64) % 4
    low, high = 12 - ranks.max(axis=1), 12 - ranks.min(axis=1)
    suited = suits[:, 0] == suits[:, 1]
    places[HAND_CLASS] = np.where(suited, low * 13 + high, high * 13 + low)
    return places


def _grid(weight: F64, row: F64 | None = None) -> list[float]:
    """Mean weight of each class's hands; or the mean of a row, weighted by it."""
    hands = np.bincount(HAND_CLASS, minlength=NUM_CLASSES).astype(np.float64)
    total = np.bincount(HAND_CLASS, weight, NUM_CLASSES)
    if row is None:
        cells = total / hands
    else:
        means = np.bincount(HAND_CLASS, row, NUM_CLASSES) / hands
        taken = np.bincount(HAND_CLASS, weight * row, NUM_CLASSES)
        cells = np.divide(taken, total, out=means, where=total > 1e-9)
    grid = np.zeros(NUM_CLASSES)
    grid[grid_places()] = cells
    return [round(float(cell), 4) for cell in grid]


def _named(names: list[str], numbers: F32) -> dict[str, float]:
    return {name: round(float(number), 4) for name, number in zip(names, numbers, strict=True)}


def _chips(names: list[str], numbers: F32) -> dict[str, float | None]:
    return {
        name: round(float(number), 1) if np.isfinite(number) else None
        for name, number in zip(names, numbers, strict=True)
    }
