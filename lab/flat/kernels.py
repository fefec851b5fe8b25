"""Loops over information sets of one player: their parents, first sequences and numbers of actions.

Parents come before children, so that one loop forward computes reaches and one backward values. Arrays over
sequences are changed in place where the docstring says so.
"""

from __future__ import annotations

from numeric.arrays import F64, I32
from numeric.jit import kernel


@kernel
def follow(parent: I32, first: I32, count: I32, strategy: F64, plan: F64) -> None:
    """The plan of a strategy; given where the information sets begin, changed below."""
    for i in range(len(parent)):
        for s in range(first[i], first[i] + count[i]):
            plan[s] = plan[parent[i]] * strategy[s]


@kernel
def evaluate(parent: I32, first: I32, count: I32, strategy: F64, value: F64) -> None:
    """Add what follows to the values of sequences, in place."""
    for i in range(len(parent) - 1, -1, -1):
        for s in range(first[i], first[i] + count[i]):
            value[parent[i]] += strategy[s] * value[s]


@kernel
def respond(parent: I32, first: I32, count: I32, value: F64, strategy: F64) -> None:
    """Like `evaluate`, with the best action in each information set, which is written to the strategy."""
    for i in range(len(parent) - 1, -1, -1):
        best = first[i]
        for s in range(first[i], first[i] + count[i]):
            strategy[s] = 0.0
            if value[s] > value[best]:
                best = s
        strategy[best] = 1.0
        value[parent[i]] += value[best]


@kernel
def improve(
    parent: I32, first: I32, count: I32, value: F64, strategy: F64, regret: F64, floor: float
) -> None:
    """One update of regrets and strategies by regret matching; values as in `evaluate`.

    floor  regrets are not less: 0 for CFR+ (Tammelin, 2014), minus infinity for CFR (Zinkevich et al., 2007)
    """
    for i in range(len(parent) - 1, -1, -1):
        here = 0.0
        for s in range(first[i], first[i] + count[i]):
            here += strategy[s] * value[s]
        total = 0.0
        for s in range(first[i], first[i] + count[i]):
            regret[s] = max(regret[s] + value[s] - here, floor)
            total += max(regret[s], 0.0)
        for s in range(first[i], first[i] + count[i]):
            strategy[s] = max(regret[s], 0.0) / total if total > 0.0 else 1.0 / count[i]
        value[parent[i]] += here


@kernel
def multiply(start: I32, column: I32, entry: F64, vector: F64, out: F64) -> None:
    """A matrix by rows times a vector, into `out`."""
    for row in range(len(out)):
        total = 0.0
        for e in range(start[row], start[row + 1]):
            total += entry[e] * vector[column[e]]
        out[row] = total
