"""Responses in flat games: one call from a game and a model to a strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from lab.cfr.net_values import NetValues, RangeNet
from lab.cfr.solver import SaddleSolver, checked_iterations
from lab.cfr.values import CfrValues
from lab.continual.gadgets import gadget_problem
from lab.flat.game import FlatGame
from lab.flat.plans import checked_strategy, plan_of
from lab.flat.saddle import Saddle
from numeric.arrays import F64
from responses.continual import ContinualResponse
from responses.methods import Gadget, Method
from responses.partition import Part, Partition, by_level, by_subgame

Engine = Callable[[Saddle], F64]
"""Solves a problem: float64[sequences of 0]."""

Grouping = Literal["level", "subgame"]


class FlatStepSolver:
    """Solves steps of a response in a flat game. Answers are strategies of player 0."""

    def __init__(self, game: FlatGame, model: F64, method: Method, engine: Engine) -> None:
        self._game, self._method, self._engine = game, method, engine
        self._model = plan_of(game.sides[1], checked_strategy(game.sides[1], model))

    def begin(self) -> F64:
        """See `StepSolver`."""
        return self._game.sides[0].uniform()

    def solve(self, step: Part, before: F64) -> F64:
        """See `StepSolver`."""
        method = self._method
        if method.gadget is Gadget.FULL or step.before is None:
            # Before the first decision there is nothing that a gadget could stand for.
            seen = step.seen if method.model_acts else np.zeros_like(step.seen)
            return self._engine(Saddle(self._game, before, step.solved, self._model, seen, method.p))
        if step.root is None:
            raise ValueError(
                f"the {method.gadget.value} gadget is for one subgame, and this step decides several:"
                " use by_subgame"
            )
        answer = self._engine(gadget_problem(self._game, step, before, self._model, method))
        # The problem was only about the subgame; elsewhere we would go on as before.
        side, inside = self._game.sides[0], self._game.public.below(step.root)
        return np.where(side.sequences_in(inside[side.public]), answer, before)


def respond(
    game: FlatGame,
    model: F64,
    method: Method,
    steps: int | Partition,
    engine: Engine,
    grouping: Grouping | None = None,
) -> F64:
    """The strategy of player 0 that responds to a model of player 1.

    model     float64[sequences of 1]: a strategy
    steps     the depth: how many actions to look at after the own one; or a partition
    grouping  whether decisions of a level are solved together or each by itself; None for what the gadget
              needs: together with the full one, by itself with the others. A partition says it itself
    """
    if not isinstance(steps, Partition):
        partition = _partition(game, method, steps, grouping)
    elif grouping is None:
        partition = steps
    else:
        raise ValueError(f"grouping {grouping!r}: a partition says itself how decisions are grouped")
    response = ContinualResponse(partition, FlatStepSolver(game, model, method, engine))
    side = game.sides[0]
    strategy = side.uniform()
    for place in partition.places:
        here = side.sequences_in(side.public == place)
        strategy[here] = response.at(place)[here]
    return strategy


def _partition(game: FlatGame, method: Method, depth: int, grouping: Grouping | None) -> Partition:
    """The steps that a gadget can be used with."""
    tree, full = game.public, method.gadget is Gadget.FULL
    if grouping == "level" and not full:
        raise ValueError(
            f"grouping 'level': the {method.gadget.value} gadget is for one subgame;"
            " leave it out, or say 'subgame'"
        )
    if full and grouping != "subgame":
        return by_level(tree.level, tree.actor == 0, depth)
    return by_subgame(tree.parent, tree.level, tree.actor == 0, depth)


def cfr_engine(iterations: int, value_iterations: int | None = None) -> Engine:
    """CFR+ that also solves what is below the depth limit, or values it by CFR+ with so many iterations."""
    for number in (iterations, value_iterations):
        if number is not None:
            checked_iterations(number)

    def solve(problem: Saddle) -> F64:
        value = None
        if value_iterations is not None and not problem.seen.all():
            value = CfrValues(problem.game, problem.seen, value_iterations)
        return SaddleSolver(problem, value).run(iterations).strategy()

    return solve


def net_engine(net: RangeNet, iterations: int) -> Engine:
    """CFR+ with a net for what is below the depth limit; steps that have no limit are solved whole."""

    def solve(problem: Saddle) -> F64:
        value = None if problem.seen.all() else NetValues(net, problem.seen)
        return SaddleSolver(problem, value).run(iterations).strategy()

    return solve
