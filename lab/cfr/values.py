"""A value function that solves the rest of the game by CFR+ each time it is asked."""

from __future__ import annotations

import numpy as np

from lab.cfr.kernels import refine
from lab.flat.game import FlatGame, by_rows
from lab.flat.kernels import evaluate, follow
from lab.flat.plans import product, strategy_of
from numeric.arrays import F64, Mask


class CfrValues:
    """Values of the average strategies after some iterations of CFR+ from the ranges at the depth limit.

    All public states at the depth limit are solved at once: with the ranges given, none affects another.
    """

    def __init__(self, game: FlatGame, seen: Mask, iterations: int) -> None:
        self._iterations = iterations
        one, other = game.sides
        self._sides = one, other
        self._below = one.only(~seen[one.public]), other.only(~seen[other.public])
        self._inside = one.sequences_in(~seen[one.public]), other.sequences_in(~seen[other.public])
        rest = ~seen[game.at]
        row, column, payoff = game.row[rest], game.column[rest], game.payoff[rest]
        self._matrices = (
            by_rows(row, column, payoff, one.num_sequences),
            by_rows(column, row, -payoff, other.num_sequences),
        )

    def values(self, reaches: tuple[F64, F64]) -> tuple[F64, F64]:
        """See `ValueFunction`; the arrays are over sequences."""
        one, other = self._sides
        plans = reaches[0].copy(), reaches[1].copy()
        sums = np.zeros_like(reaches[0]), np.zeros_like(reaches[1])
        first, second = self._matrices
        refine(
            self._iterations,
            self._below,
            ((first.start, first.column, first.value), (second.start, second.column, second.value)),
            plans,
            # Averages count the own reach from the depth limit on, so that they are defined everywhere.
            (np.ones_like(reaches[0]), np.ones_like(reaches[1])),
            (one.uniform(), other.uniform()),
            (np.zeros_like(reaches[0]), np.zeros_like(reaches[1])),
            sums,
            (np.zeros_like(reaches[0]), np.zeros_like(reaches[1])),
        )
        averages = strategy_of(one, sums[0]), strategy_of(other, sums[1])
        return self._own_values(0, averages, reaches), self._own_values(1, averages, reaches)

    def _own_values(self, player: int, strategies: tuple[F64, F64], reaches: tuple[F64, F64]) -> F64:
        plan = reaches[1 - player].copy()
        follow(*self._below[1 - player], strategies[1 - player], plan)
        value = product(self._matrices[player], plan)
        evaluate(*self._below[player], strategies[player], value)
        value[self._inside[player]] = 0.0
        return value
