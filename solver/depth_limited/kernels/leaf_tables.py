"""Values of fixed strategies after the first round: whole betting trees, one deal after the other.

For one deal, subtrees are valued from their last node to their first, for all of the chooser's strategies at
once. The strategies are side by side in memory, so one visit of an infoset reads one piece. Actions that no
strategy takes are skipped with everything below: the way down lists the nodes that are reached.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.arrays import F32, F64, I32, I64, U8
from numeric.jit import kernel
from solver.blueprint.layout import Betting, Deals

_UNIT = np.float32(1 / 255)
_ZERO = np.float32(0)


class Strategies(NamedTuple):
    """Both players' strategies after the first round, in 255ths."""

    chooser: int
    number: int
    """K: number of the chooser's strategies."""
    base: I64
    """int64[N]: where a node's infosets start in `ours`; times K in `theirs`."""
    ours: U8
    """[node][bucket][action]"""
    theirs: U8
    """[node][bucket][action][strategy]"""


class Leaves(NamedTuple):
    """Subtrees after the first round; each is a contiguous range of nodes."""

    first: I32
    """int32[L]"""
    end: I32
    """int32[N]: one past the last node of each node's subtree."""


@kernel
def value_leaves(
    betting: Betting,
    leaves: Leaves,
    strategies: Strategies,
    deals: Deals,
    work: F32,
    listed: I32,
    sums: F64,
    counts: I64,
) -> None:
    """Add what the chooser's opponent wins on each deal, at each leaf, against each strategy.

    work    float32[N * K]
    listed  int32[2, N]
    sums    float64[L, K, classes, classes]  in and out: by the opponent's class first
    counts  int64[classes, classes]          in and out: deals
    """
    count, chooser = strategies.number, strategies.chooser
    rounds = deals.buckets.shape[1] // 2
    sign = np.float32(-1) if chooser == 0 else np.float32(1)
    for d in range(deals.outcome.shape[0]):
        own, other = deals.buckets[d, (1 - chooser) * rounds], deals.buckets[d, chooser * rounds]
        counts[own, other] += 1
        for leaf in range(leaves.first.shape[0]):
            # Loops instead of a function per node: passing so many arrays costs more than the work itself.
            first = leaves.first[leaf]
            n, num_listed = first, 0
            listed[1, first] = 1
            while n < leaves.end[first]:
                if listed[1, n] == 0:
                    n = leaves.end[n]
                    continue
                listed[0, num_listed] = n
                num_listed += 1
                num_actions, entry = betting.num_actions[n], betting.first_entry[n]
                width = count if betting.player[n] == chooser else 1
                bucket = np.int64(deals.buckets[d, betting.column[n]])
                at = (strategies.base[n] + bucket * num_actions) * width
                for a in range(num_actions):
                    child = betting.child[entry + a]
                    if child < 0:
                        continue
                    if betting.player[n] == chooser:
                        taken = np.uint8(0)
                        for k in range(count):
                            taken |= strategies.theirs[at + a * count + k]
                        listed[1, child] = taken > 0
                    else:
                        listed[1, child] = strategies.ours[at + a] > 0
                n += 1
            for i in range(num_listed - 1, -1, -1):
                n = listed[0, i]
                num_actions, entry = betting.num_actions[n], betting.first_entry[n]
                bucket = np.int64(deals.buckets[d, betting.column[n]])
                outcome = deals.outcome[d, betting.column[n] % rounds]
                to = n * count
                for k in range(count):
                    work[to + k] = _ZERO
                mixed = betting.player[n] == chooser
                at = (strategies.base[n] + bucket * num_actions) * (count if mixed else 1)
                for a in range(num_actions):
                    child = betting.child[entry + a]
                    if child >= 0 and listed[1, child] == 0:
                        continue
                    source = np.int64(child) * count
                    value = sign * (betting.fixed[entry + a] + betting.stake[entry + a] * outcome)
                    if mixed:
                        at_action = at + a * count
                        if child < 0:
                            for k in range(count):
                                work[to + k] += np.float32(strategies.theirs[at_action + k]) * _UNIT * value
                        else:
                            for k in range(count):
                                share = np.float32(strategies.theirs[at_action + k]) * _UNIT
                                work[to + k] += share * work[source + k]
                    else:
                        share = np.float32(strategies.ours[at + a]) * _UNIT
                        if share > _ZERO:
                            for k in range(count):
                                work[to + k] += share * (value if child < 0 else work[source + k])
            for k in range(count):
                sums[leaf, k, own, other] += work[first * count + k]
