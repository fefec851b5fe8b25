"""CFR+ on a saddle problem (Tammelin, 2014; Zinkevich et al., 2007)."""

from __future__ import annotations

import numpy as np

from lab.flat.game import by_rows
from lab.flat.kernels import evaluate, follow, improve, respond
from lab.flat.plans import product, strategy_of
from lab.flat.saddle import Answer, Saddle
from numeric.arrays import F64
from responses.dial import join_reaches
from responses.values import ValueFunction


def checked_iterations(iterations: int) -> int:
    """A number of iterations, if it is one."""
    if iterations < 1:
        raise ValueError(f"{iterations} iterations: at least 1 is needed for an average strategy")
    return iterations


class SaddleSolver:
    """Regrets and average plans of both players.

    value  what stands for the public states that are not seen; None: they are solved, too
    plus   whether regrets are cut off at 0 and later iterations count more; otherwise plain CFR
    """

    def __init__(self, problem: Saddle, value: ValueFunction | None = None, plus: bool = True) -> None:
        self.problem, self.iterations = problem, 0
        self._value, self._floor, self._plus = value, 0.0 if plus else -np.inf, plus
        game = problem.game
        inside = problem.seen if value is not None else np.ones_like(problem.seen)
        covered, bound = problem.covered, problem.bound
        ours, theirs = game.sides
        free = ~bound & inside[ours.public]
        self._bound, self._free = ours.only(bound), ours.only(free)
        self._covered = theirs.only(covered)
        self._below = theirs.only(~covered & inside[theirs.public])
        self._covered_sequences = theirs.sequences_in(covered)
        self._covered_sequences[0] = True
        own = inside[game.at]
        entries = game.row[own], game.column[own], game.payoff[own]
        self._matrix = by_rows(*entries, ours.num_sequences)
        self._transposed = by_rows(entries[1], entries[0], -entries[2], theirs.num_sequences)
        self._strategies = (
            np.where(ours.sequences_in(bound), problem.ours, ours.uniform()),
            theirs.uniform(),
        )
        self._regrets = tuple(np.zeros(side.num_sequences) for side in game.sides)
        self._plans = self._our_plan(), self._their_plan()
        self._sums = tuple(np.zeros(side.num_sequences) for side in game.sides)

    def run(self, iterations: int) -> SaddleSolver:
        """Iterate."""
        for _ in range(iterations):
            self.iterations += 1
            weight = float(self.iterations) if self._plus else 1.0
            self._sums[0][:] += weight * self._plans[0]
            self._sums[1][:] += weight * self._plans[1]
            below = None if self._value is None else self._value.values(self._plans)
            simultaneous = below is not None or not self._plus
            values = [product(self._matrix, self._plans[1]), product(self._transposed, self._plans[0])]
            if below is not None:
                values = [own + rest for own, rest in zip(values, below, strict=True)]
            improve(*self._free, values[0], self._strategies[0], self._regrets[0], self._floor)
            plan = self._our_plan()
            if not simultaneous:
                values[1] = product(self._transposed, plan)
            improve(*self._below, values[1], self._strategies[1], self._regrets[1], self._floor)
            improve(*self._covered, values[1], self._strategies[1], self._regrets[1], self._floor)
            self._plans = plan, self._their_plan()
        return self

    def strategy(self) -> F64:
        """The average strategy of player 0; as given where it is bound."""
        side = self.problem.game.sides[0]
        average = strategy_of(side, self._sums[0])
        bound = side.sequences_in(self.problem.bound)
        average[bound] = self.problem.ours[bound]
        return average

    def their_strategy(self) -> F64:
        """The average strategy of player 1."""
        return strategy_of(self.problem.game.sides[1], self._sums[1])

    def answer(self) -> Answer:
        """The average strategy and what it gets in the worst case, when what is below is solved, too."""
        problem, plan = self.problem, self._sums[0] / self._sums[0][0]
        side = problem.game.sides[1]
        direct, inflow = problem.stakes()
        values = product(problem.game.by_column, plan)
        worst = -values
        respond(side.parent, side.first, side.count, worst, np.ones_like(worst))
        least = -np.maximum.reduceat(worst, side.first) if side.num_infosets else np.zeros(0)
        return Answer(float(direct @ values + inflow @ least), self.strategy())

    def possible(self) -> float:
        """What player 0 could get against the average strategy of player 1: at least the problem's value."""
        values = product(self.problem.game.by_row, self._sums[1] / self._sums[1][0])
        respond(*self._free, values, np.ones_like(values))
        evaluate(*self._bound, self.problem.ours, values)
        return float(values[0])

    def _our_plan(self) -> F64:
        plan = np.ones(self.problem.game.sides[0].num_sequences)
        follow(*self._bound, self._strategies[0], plan)
        follow(*self._free, self._strategies[0], plan)
        return plan

    def _their_plan(self) -> F64:
        """The joint reach of the model and of the free opponent."""
        plan = np.ones(self.problem.game.sides[1].num_sequences)
        follow(*self._covered, self._strategies[1], plan)
        covered = self._covered_sequences
        plan[covered] = join_reaches(self.problem.model[covered], plan[covered], self.problem.p)
        plan[0] = 1.0
        follow(*self._below, self._strategies[1], plan)
        return plan
