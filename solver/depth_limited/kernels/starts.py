"""Warm starts board by board: initial regrets from strategies by bucket."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.arrays import F32, I32, I64
from numeric.jit import kernel


class KnownStrategies(NamedTuple):
    """Known strategies of a round's decision nodes before the first iteration."""

    nodes: I32
    """int32[D, 4]: decision, its player, its first action row, number of actions; parents first."""
    strategy: I64
    """int64[D]: where [action][bucket] of the node starts in `strategies`; -1 if unknown."""
    stakes: F32
    """float32[D]: initial regret of a strategy, per pair of hands."""
    strategies: F32
    num_buckets: int
    children: I32
    """int32[rows]: child of each action row if it is a decision or chance node, else -1."""


@kernel
def start_board(
    known: KnownStrategies,
    buckets: I64,
    chance: float,
    least: F32,
    weight: float,
    base: int,
    stride: int,
    reach: F32,
    regret: F32,
    average: F32,
) -> None:
    """Initialise all decision nodes of a round on one board.

    buckets  int64[H]: bucket of every hand; any for hands that the board blocks
    chance   probability of the board's cards after the root
    least    float32[2]: minimum reach of each player, as a weight
    weight   weight of the strategies in the average; 0: the average is not changed
    base     where the board's rows start in the tables
    reach    float32[N, 2, H]  in: at the round's first decision nodes; out: at their descendants
    regret, average  modified in place
    """
    num_hands = len(buckets)
    share = np.empty(num_hands, dtype=np.float32)
    for k in range(len(known.nodes)):
        node, player = known.nodes[k, 0], known.nodes[k, 1]
        row, actions = known.nodes[k, 2], known.nodes[k, 3]
        first = known.strategy[k]
        own, other = reach[node, player], reach[node, 1 - player]
        met = 0.0
        for h in range(num_hands):
            met += other[h]
        worth = np.float32(known.stakes[k] * max(met, least[1 - player]) * chance)
        for a in range(actions):
            at, child = base + (row + a) * stride, known.children[row + a]
            if first < 0:
                share[:] = np.float32(1.0 / actions)
            else:
                strategy = known.strategies[first + a * known.num_buckets :]
                for h in range(num_hands):
                    share[h] = strategy[buckets[h]]
                for h in range(num_hands):
                    regret[at + h] = worth * share[h]
                if weight > 0:
                    for h in range(num_hands):
                        average[at + h] = np.float32(weight) * own[h] * share[h]
            if child >= 0:
                reach[child, 1 - player] = other
                for h in range(num_hands):
                    reach[child, player, h] = own[h] * share[h]
