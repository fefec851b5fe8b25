"""Linear programs in sequence form (Koller, Megiddo and von Stengel, 1994), solved by HiGHS.

Variables are the plan x of player 0 and the values v of the information sets of player 1 in their best
response, which are the dual variables of player 1's plan: v(I) is at most the value of every action in I.
"""

from __future__ import annotations

import numpy as np

from lab.flat.game import FlatGame, Side
from lab.flat.plans import plan_of, strategy_of
from lab.flat.saddle import Answer, Saddle, whole_game
from numeric.arrays import F64

try:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, vstack
except ImportError as error:
    raise ImportError("lab.exact needs scipy: run .venv/bin/pip install -e '.[lab]'") from error

_SLACK = 1e-9
"""What an equilibrium may lack of the value, so that rounding does not make a program infeasible.

Less than the 1e-7 to which HiGHS keeps constraints, so it does not make an equilibrium less exact.
"""

_LARGE = 100_000
"""Terminals from which on the interior point method is faster than the simplex method."""


def solve_saddle(problem: Saddle) -> Answer:
    """The best strategy of player 0 in the worst case."""
    return _solve(problem.game, *_worst_case_objective(problem), problem)


def equilibrium(game: FlatGame) -> Answer:
    """The value of a game and an equilibrium strategy of player 0."""
    return solve_saddle(whole_game(game))


def restricted_nash(game: FlatGame, model: F64, p: float) -> Answer:
    """The restricted Nash response to a strategy of player 1 (Johanson, Zinkevich and Bowling, 2008)."""
    return solve_saddle(whole_game(game, p, plan_of(game.sides[1], model)))


def best_equilibrium(game: FlatGame, model: F64, value: float | None = None) -> Answer:
    """The equilibrium strategy that receives most against a strategy of player 1 (BNE).

    value  of the game, if it is known
    """
    return safe_response(game, model, 0.0, value)


def safe_response(game: FlatGame, model: F64, exploitability: float, value: float | None = None) -> Answer:
    """The strategy that receives most against a model among those with at most this exploitability.

    The Pareto curve of gain and exploitability; restricted Nash responses are its corners (McCracken and
    Bowling, 2004, "Safe strategies for agent modelling in games").
    """
    safe = whole_game(game)
    cost, worth = _worst_case_objective(safe)
    known = equilibrium(game).value if value is None else value
    floor = known - exploitability - _SLACK
    gains = _payoffs(game) @ plan_of(game.sides[1], model)
    return _solve(game, gains, np.zeros_like(worth), safe, (cost, worth, floor))


def _worst_case_objective(problem: Saddle) -> tuple[F64, F64]:
    """What each unit of x and of v adds to the value."""
    direct, inflow = problem.stakes()
    return _payoffs(problem.game) @ direct, inflow


def _solve(
    game: FlatGame, cost: F64, worth: F64, problem: Saddle, floor: tuple[F64, F64, float] | None = None
) -> Answer:
    """Maximise cost · x + worth · v; `floor` (c, w, f) also demands c · x + w · v >= f."""
    side, other = game.sides
    values = hstack([-csr_array(_payoffs(game).T), _values_of(other)]).tocsr()[1:]
    limits = np.zeros(values.shape[0])
    if floor is not None:
        row = csr_array(-np.concatenate(floor[:2])[None])
        values, limits = vstack([values, row]), np.append(limits, -floor[2])
    flow = hstack([_flow(side), csr_array((side.num_infosets, other.num_infosets))]).tocsr()
    plan = plan_of(side, problem.ours)
    given = side.sequences_in(problem.bound)
    given[0] = True
    low = np.concatenate([np.where(given, plan, 0.0), np.full(other.num_infosets, -np.inf)])
    high = np.concatenate([np.where(given, plan, np.inf), np.full(other.num_infosets, np.inf)])
    answer = linprog(
        -np.concatenate([cost, worth]), values, limits, flow, np.zeros(side.num_infosets),
        np.stack([low, high], axis=1), method="highs-ipm" if len(game.payoff) > _LARGE else "highs",
    )  # fmt: skip
    if answer.status != 0:
        raise ValueError(f"{game.name}: the linear program was not solved ({answer.message})")
    strategy = strategy_of(side, np.maximum(answer.x[: side.num_sequences], 0.0))
    strategy[given] = problem.ours[given]
    return Answer(-float(answer.fun), strategy)


def _payoffs(game: FlatGame) -> csr_array:
    shape = (game.sides[0].num_sequences, game.sides[1].num_sequences)
    return csr_array((game.payoff, (game.row, game.column)), shape=shape)


def _flow(side: Side) -> csr_array:
    """Actions of an information set minus its parent: 0 in every plan."""
    infosets = np.arange(side.num_infosets)
    rows = np.concatenate([np.repeat(infosets, side.count), infosets])
    columns = np.concatenate([np.arange(1, side.num_sequences), side.parent])
    entries = np.concatenate([np.ones(side.num_sequences - 1), -np.ones(side.num_infosets)])
    return csr_array((entries, (rows, columns)), shape=(side.num_infosets, side.num_sequences))


def _values_of(side: Side) -> csr_array:
    """By sequences: the value of its information set minus the values of those that follow."""
    return csr_array(_flow(side).T)
