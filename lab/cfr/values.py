"""A value function that solves the rest of the game by CFR+ each time it is asked."""

from __future__ import annotations

import numpy as np

from lab.flat.game import FlatGame, Mask, by_rows
from lab.flat.kernels import evaluate, follow, improve
from lab.flat.plans import product, strategy_of
from numeric.arrays import F64


class CfrValues:
    """Values of the average strategies after some iterations of CFR+ from the ranges at the depth limit.

    All public states at the depth limit are solved at once: with the ranges given, none affects another.
    """

    def __init__(self, game: FlatGame, seen: Mask, iterations: int) -> None:
        self._sides, self._iterations = game.sides, iterations
        self._below = tuple(side.only(~seen[side.public]) for side in game.sides)
        self._above = tuple(~side.sequences_in(~seen[side.public]) for side in game.sides)
        rest = ~seen[game.at]
        row, column, payoff = game.row[rest], game.column[rest], game.payoff[rest]
        one, other = (side.num_sequences for side in game.sides)
        self._matrices = by_rows(row, column, payoff, one), by_rows(column, row, -payoff, other)

    def values(self, reaches: tuple[F64, F64]) -> tuple[F64, F64]:
        """See `ValueFunction`; the arrays are over sequences."""
        strategies = [side.uniform() for side in self._sides]
        regrets = [np.zeros(side.num_sequences) for side in self._sides]
        sums = [np.zeros(side.num_sequences) for side in self._sides]
        plans = [self._plan(player, reaches[player], strategies[player]) for player in range(2)]
        for iteration in range(1, self._iterations + 1):
            for player in range(2):
                # Averages count the own reach from the depth limit on, so that they are defined everywhere.
                sums[player] += iteration * self._plan(
                    player, np.ones_like(reaches[player]), strategies[player]
                )
                value = product(self._matrices[player], plans[1 - player])
                improve(*self._below[player], value, strategies[player], regrets[player], 0.0)
                plans[player] = self._plan(player, reaches[player], strategies[player])
        averages = [strategy_of(side, total) for side, total in zip(self._sides, sums, strict=True)]
        plans = [self._plan(player, reaches[player], averages[player]) for player in range(2)]
        return self._own_values(0, plans[1], averages[0]), self._own_values(1, plans[0], averages[1])

    def _plan(self, player: int, reach: F64, strategy: F64) -> F64:
        plan = reach.copy()
        follow(*self._below[player], strategy, plan)
        return plan

    def _own_values(self, player: int, other_plan: F64, strategy: F64) -> F64:
        value = product(self._matrices[player], other_plan)
        evaluate(*self._below[player], strategy, value)
        value[~self._above[player]] = 0.0
        return value
