"""Plans and strategies: from one to the other, and what they are worth."""

from __future__ import annotations

import numpy as np

from lab.flat.game import FlatGame, Matrix, Side
from lab.flat.kernels import follow, multiply, respond
from numeric.arrays import F64

_ROUNDING = 1e-6


def checked_strategy(side: Side, strategy: F64) -> F64:
    """A strategy, if it is one of this player's."""
    if strategy.shape != (side.num_sequences,):
        raise ValueError(
            f"a strategy of this player has {side.num_sequences} numbers, one per sequence;"
            f" this has the shape {strategy.shape}"
        )
    odds = np.add.reduceat(strategy, side.first) if side.num_infosets else np.zeros(0)
    wrong = np.flatnonzero(~(np.abs(odds - 1) <= _ROUNDING))
    if len(wrong):
        raise ValueError(f"the odds of information set {wrong[0]} add up to {odds[wrong[0]]:g}, not to 1")
    if strategy.min() < -_ROUNDING:
        raise ValueError(f"a probability is {strategy.min():g}")
    return strategy


def plan_of(side: Side, strategy: F64) -> F64:
    """float64[sequences]: the reach of every sequence."""
    plan = np.ones(side.num_sequences)
    follow(side.parent, side.first, side.count, strategy, plan)
    return plan


def strategy_of(side: Side, plan: F64) -> F64:
    """The strategy of a plan; uniform in information sets that the plan does not reach."""
    sums = np.add.reduceat(plan, side.first) if side.num_infosets else np.zeros(0)
    reached = np.repeat(sums > 1e-12, side.count)
    share = np.divide(plan[1:], np.repeat(sums, side.count), out=np.zeros(len(reached)), where=reached)
    uniform = side.uniform()
    uniform[1:][reached] = share[reached]
    return uniform


def product(matrix: Matrix, vector: F64) -> F64:
    """A matrix times a vector."""
    out = np.empty(len(matrix.start) - 1)
    multiply(matrix.start, matrix.column, matrix.value, vector, out)
    return out


def expected(game: FlatGame, ours: F64, theirs: F64) -> float:
    """What player 0 receives when both play these strategies."""
    plans = [plan_of(side, strategy) for side, strategy in zip(game.sides, (ours, theirs), strict=True)]
    return float(plans[0] @ product(game.by_row, plans[1]))


def best_response(game: FlatGame, theirs: F64) -> tuple[float, F64]:
    """What player 0 can receive against a strategy of player 1, and a pure strategy that does."""
    values = product(game.by_row, plan_of(game.sides[1], theirs))
    side, strategy = game.sides[0], np.zeros(game.sides[0].num_sequences)
    strategy[0] = 1.0
    respond(side.parent, side.first, side.count, values, strategy)
    return float(values[0]), strategy


def worst_case(game: FlatGame, ours: F64) -> float:
    """What player 0 receives with a strategy against the best response to it."""
    return -best_response(game.seen_by(1), ours)[0]
