"""CFR+ below a depth limit, in one loop: it runs once for each time that a value function is asked."""

from __future__ import annotations

from lab.flat.kernels import follow, improve, multiply
from numeric.arrays import F64, I32
from numeric.jit import kernel

Infosets = tuple[I32, I32, I32]
"""Parents, first sequences and numbers of actions."""
Rows = tuple[I32, I32, F64]
"""A matrix: starts of rows, columns and entries."""
Pair = tuple[F64, F64]
"""float64[sequences] of both players."""


@kernel
def refine(
    iterations: int,
    infosets: tuple[Infosets, Infosets],
    matrices: tuple[Rows, Rows],
    plans: Pair,
    locals_: Pair,
    strategies: Pair,
    regrets: Pair,
    sums: Pair,
    values: Pair,
) -> None:
    """Improve both strategies in turn and add them to the sums.

    infosets  those below the depth limit
    matrices  each player's payoffs by the own sequences
    plans     in: the reaches at the depth limit; below it they are overwritten
    locals_   the same, counted from the depth limit on: 1 there
    """
    for iteration in range(1, iterations + 1):
        for p in range(2):
            parent, first, count = infosets[p]
            follow(parent, first, count, strategies[p], plans[p])
            follow(parent, first, count, strategies[p], locals_[p])
            for s in range(len(sums[p])):
                sums[p][s] += iteration * locals_[p][s]
        for p in range(2):
            parent, first, count = infosets[p]
            start, column, entry = matrices[p]
            multiply(start, column, entry, plans[1 - p], values[p])
            improve(parent, first, count, values[p], strategies[p], regrets[p], 0.0)
            follow(parent, first, count, strategies[p], plans[p])
