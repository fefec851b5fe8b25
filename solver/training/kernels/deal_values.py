"""Steps of a best response on a list of deals: one array over the deals at a time."""

from __future__ import annotations

import numpy as np

from numeric.arrays import F32, I32, I64
from numeric.jit import kernel

ZERO = np.float32(0)


@kernel
def follow_action(strategy: F32, start: int, num_actions: int, buckets: I32, reach: F32, out: F32) -> bool:
    """Out = reach × the opponent's probability of an action. Returns False if it is 0 on all deals.

    start    element of the table where the action's probability for bucket 0 is
    buckets  int32[D]: the opponent's buckets
    """
    any_left = False
    for d in range(reach.shape[0]):
        out[d] = reach[d] * strategy[start + np.int64(buckets[d]) * num_actions]
        any_left |= out[d] > ZERO
    return any_left


@kernel
def add_ends(fixed: np.float32, stake: np.float32, outcome: F32, reach: F32, out: F32) -> None:
    """Out += reach × payoff of a finished hand, to the player whose outcomes are given."""
    for d in range(reach.shape[0]):
        out[d] += reach[d] * (fixed + stake * outcome[d])


@kernel
def add_best(values: F32, fit: F32, starts: I64, out: F32) -> None:
    """Out += value of each group's best action, chosen by the deals that count.

    values  float32[A, D]
    fit     float32[D]: 1 for deals that count in the choice, 0 for others
    starts  int64[G]: first deal of each group
    """
    num_actions, num_deals = values.shape
    for g in range(starts.shape[0]):
        first = starts[g]
        last = starts[g + 1] if g + 1 < starts.shape[0] else num_deals
        best, best_total = 0, -np.inf
        for a in range(num_actions):
            total = 0.0
            for d in range(first, last):
                total += values[a, d] * fit[d]
            if total > best_total:
                best, best_total = a, total
        for d in range(first, last):
            out[d] += values[best, d]
