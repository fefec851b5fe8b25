"""Values of every betting node under a strategy profile, by bucket: sums over sampled deals.

A walk follows every action, so one deal contributes to many nodes. A branch has its probability as its
weight. To keep walks short, a branch whose weight falls below a threshold is dropped or raised to the
threshold at random, so that its expected weight is unchanged.

A *place* is where values are collected: a decision node, or an action that ends a round (or the betting)
before the next cards are dealt. Each place has sums for both players' buckets in its round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.arrays import F32, I32, I64, U8, U64
from numeric.jit import kernel
from numeric.xorshift import random_unit
from solver.blueprint.layout import Betting, Deals

ZERO = np.float32(0)


class Places(NamedTuple):
    """Where values are collected."""

    of_node: I32
    """int32[N]: place of each decision node, or -1."""
    of_entry: I32
    """int32[C]: place of each action, or -1."""
    round: I32
    """int32[P]"""
    base: I64
    """int64[P]: where a place's buckets start in a table of sums or values."""


class Sums(NamedTuple):
    """float32[2, table] by bucket of each player. Values are player 0's."""

    weight: F32
    value: F32


class Branches(NamedTuple):
    """Working memory: the list of a walk, with a slot for every decision node."""

    node: I32
    parent: I32
    entry: I32
    weight: F32
    share: F32
    """Share of the branch in its parent's value."""
    value: F32
    random: U64


@kernel
def play_deals(
    betting: Betting, places: Places, deals: Deals, strategy: U8, least: float, sums: Sums, walk: Branches
) -> None:
    """Walk every deal once. `sums` and `walk` are modified in place.

    strategy  uint8[node][action][bucket]: probabilities of each infoset in any unit
    least     weight below which branches are dropped or raised
    """
    for d in range(deals.outcome.shape[0]):
        _play_deal(betting, places, deals, d, strategy, np.float32(least), sums, walk)


@kernel
def _play_deal(
    betting: Betting,
    places: Places,
    deals: Deals,
    d: int,
    strategy: U8,
    least: np.float32,
    sums: Sums,
    walk: Branches,
) -> None:
    rounds = deals.buckets.shape[1] // 2
    walk.node[0], walk.parent[0], walk.entry[0], walk.weight[0], walk.value[0] = 0, -1, -1, 1.0, ZERO
    count, s = 1, 0
    while s < count:
        n, weight = walk.node[s], walk.weight[s]
        num_actions, first_entry = betting.num_actions[n], betting.first_entry[n]
        num_buckets = _num_buckets(betting, strategy, n)
        at = betting.base[n] + np.int64(deals.buckets[d, betting.column[n]])
        outcome = deals.outcome[d, betting.column[n] % rounds]
        total = ZERO
        for a in range(num_actions):
            total += np.float32(strategy[at + a * num_buckets])
        for a in range(num_actions):
            share = np.float32(strategy[at + a * num_buckets]) / total
            if share == ZERO:
                continue
            entry = first_entry + a
            following = betting.child[entry]
            if following < 0:
                value = betting.fixed[entry] + betting.stake[entry] * outcome
                walk.value[s] += share * value
                if places.of_entry[entry] >= 0:
                    _add(places, places.of_entry[entry], deals, d, rounds, weight * share, value, sums)
                continue
            if weight * share < least:
                if random_unit(walk.random) * least >= weight * share:
                    continue
                share = least / weight
            walk.node[count], walk.parent[count], walk.entry[count] = following, s, entry
            walk.weight[count], walk.share[count], walk.value[count] = weight * share, share, ZERO
            count += 1
        s += 1
    for s in range(count - 1, -1, -1):
        value, weight = walk.value[s], walk.weight[s]
        if places.of_node[walk.node[s]] >= 0:
            _add(places, places.of_node[walk.node[s]], deals, d, rounds, weight, value, sums)
        if walk.parent[s] >= 0:
            if places.of_entry[walk.entry[s]] >= 0:
                _add(places, places.of_entry[walk.entry[s]], deals, d, rounds, weight, value, sums)
            walk.value[walk.parent[s]] += walk.share[s] * value


@kernel
def _num_buckets(betting: Betting, strategy: U8, n: int) -> int:
    end = betting.base[n + 1] if n + 1 < betting.base.shape[0] else strategy.shape[0]
    buckets: int = (end - betting.base[n]) // betting.num_actions[n]
    return buckets


@kernel
def _add(
    places: Places,
    place: int,
    deals: Deals,
    d: int,
    rounds: int,
    weight: np.float32,
    value: np.float32,
    sums: Sums,
) -> None:
    for p in range(2):
        at = places.base[place] + np.int64(deals.buckets[d, p * rounds + places.round[place]])
        sums.weight[p, at] += weight
        sums.value[p, at] += weight * value


@kernel
def smooth_values(
    places: Places, ends: I64, sums: Sums, groups: int, prior: float, values: F32, means: F32
) -> None:
    """Mean values of buckets, shrunk towards those of their neighbours where there were few deals.

    ends    int64[P]: where a place's buckets end
    groups  number of groups of neighbouring buckets, which share a mean: buckets are in order of equity
    prior   weight of the group's mean in a bucket's value, and of the place's mean in the group's
    values  float32[2, table]  out
    means   float32[P]         out
    """
    for place in range(ends.shape[0]):
        first, last = places.base[place], ends[place]
        size = (last - first + groups - 1) // groups
        weight = total = 0.0
        for at in range(first, last):
            weight += sums.weight[0, at]
            total += sums.value[0, at]
        mean = total / weight if weight > 0 else 0.0
        means[place] = mean
        for p in range(2):
            for start in range(first, last, size):
                stop = min(start + size, last)
                weight, total = prior, prior * mean
                for at in range(start, stop):
                    weight += sums.weight[p, at]
                    total += sums.value[p, at]
                near = total / weight
                for at in range(start, stop):
                    values[p, at] = (sums.value[p, at] + prior * near) / (sums.weight[p, at] + prior)
