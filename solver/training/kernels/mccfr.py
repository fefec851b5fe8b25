"""External-sampling Monte Carlo CFR over flat arrays.

A traversal walks one deal for one player, the traverser, breadth first. On the way down it lists the nodes it
visits: all children at the traverser's nodes, one sampled child at the opponent's. On the way up it goes
through the list backwards, adds up values and updates the traverser's regrets. Between entering the list and
being visited, a node waits for the other nodes of its level: that is the time to prefetch its line of a table
too large for any cache. (Walking groups of up to 64 deals together was measured: one at a time is as fast,
and learns from each deal at once.)

Avoidable variance is avoided. If the sampled action of the opponent ends the hand, the mean over all actions
that do is taken. If all the money is in before the last card, the outcome of a deal is a mean over run-outs.
Both cost almost nothing (docs/blueprint.md, "Variance reduction").

The average is updated at the opponent's nodes: each visit adds the current strategy, because external
sampling visits them as often as the opponent's own play does (below pruned actions: as often as those are
explored).

Random numbers are drawn in this order: one per traversal if some share of them explores, then one per node of
the opponent in list order. They are the first 24 bits of the generator's state; the last 24 bits round large
strategy sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.arrays import F32, I32, I64, U8, U64
from numeric.jit import kernel
from numeric.prefetch import prefetch
from numeric.xorshift import random_unit
from solver.blueprint.kernels import quantise_infoset
from solver.blueprint.layout import Betting, Deals

ZERO = np.float32(0)
ONE = np.float32(1)
HALF = np.float32(0.5)
SUM_LIMIT = np.float32(1 << 22)
"""When a strategy sum reaches this, all sums of the infoset are halved."""
DITHER_FROM = np.float32(1 << 14)
"""Strategy sums above this are rounded stochastically. Near 2²² neighbouring float32 are a quarter apart:
rounded to nearest, additions of 0.6 and of 0.4 would both become 0.5, a million times over."""

BOTH = -1

_TO_UNIT = np.float32(2.0**-24)
_SKIPPED = np.float32(np.nan)
_NEVER = np.float32(-np.inf)
_LAST_BITS = np.uint64((1 << 24) - 1)


class Walk(NamedTuple):
    """Working memory of one thread: the list of a traversal."""

    node: I32
    where: I64
    """int64[slots]: element of the tables where the slot's infoset starts; -1 if it needs no way up."""
    parent: I32
    """int32[slots]: element of `value` that waits for this slot's value."""
    strategy: F32
    """float32[slots * width]."""
    value: F32
    """float32[slots * width + 1]: values of each slot's actions; the last is the root's."""
    random: U64
    """uint64[1]: state of the generator, never 0."""
    counts: I64
    """int64[2]: nodes visited, terminal ones included; actions skipped."""


class Rules(NamedTuple):
    """How to learn from deals. Amounts are in the units of the payoffs."""

    width: int
    """Largest number of actions of a node."""
    averaging: bool
    prune_below: float
    """Actions with a regret below this may be skipped; -inf for never."""
    explore: float
    """Share of traversals without pruning."""
    floor: float
    """Lower bound of regrets."""
    learner: int
    """The only player who learns, against the other's current strategy; BOTH for both."""


@kernel
def train_batch(betting: Betting, deals: Deals, rules: Rules, regret: F32, sums: F32, walk: Walk) -> None:
    """Update both players on every deal, player 0 first. Tables and `walk` are modified in place.

    regret, sums  float32[table size]
    """
    for d in range(deals.outcome.shape[0]):
        for traverser in range(2):
            if rules.learner not in (BOTH, traverser):
                continue
            _traverse(betting, deals, d, traverser, rules, regret, sums, walk)


@kernel
def _traverse(
    betting: Betting, deals: Deals, d: int, traverser: int, rules: Rules, regret: F32, sums: F32, walk: Walk
) -> None:
    prune_below = np.float32(rules.prune_below)
    if prune_below > _NEVER and random_unit(walk.random) < rules.explore:
        prune_below = _NEVER
    walk.node[0] = 0
    walk.where[0] = _infoset(betting, deals, d, 0)
    walk.parent[0] = walk.value.shape[0] - 1
    sign = ONE if traverser == 0 else -ONE
    rounds = deals.outcome.shape[1]
    count, ends, skipped = 1, 0, 0
    s = 0
    while s < count:
        n, where, row = walk.node[s], walk.where[s], s * rules.width
        num_actions, first_entry = betting.num_actions[n], betting.first_entry[n]
        outcome = deals.outcome[d, betting.column[n] % rounds]
        total = match_regrets(regret, where, num_actions, walk.strategy, row)
        if betting.player[n] == traverser:
            for a in range(num_actions):
                entry = first_entry + a
                following = betting.child[entry]
                if following < 0:
                    walk.value[row + a] = sign * (betting.fixed[entry] + betting.stake[entry] * outcome)
                    ends += 1
                elif (
                    total > ZERO
                    and betting.prunable[entry]
                    and regret[where + a] < prune_below
                    and walk.strategy[row + a] == ZERO  # another thread may have written in between
                ):
                    # Its probability is 0, so the value of the node does not need it.
                    walk.value[row + a] = _SKIPPED
                    skipped += 1
                else:
                    at = _infoset(betting, deals, d, following)
                    prefetch(regret, at)
                    if rules.averaging and betting.player[following] != traverser:
                        prefetch(sums, at)
                    walk.node[count] = following
                    walk.where[count] = at
                    walk.parent[count] = row + a
                    count += 1
        else:
            if rules.averaging:
                _add_strategy(sums, where, num_actions, walk.strategy, row, walk.random[0])
            entry = first_entry + _draw(walk.strategy, row, num_actions, random_unit(walk.random))
            walk.where[s] = -1
            following = betting.child[entry]
            if following < 0:
                mean = _mean_end(betting, first_entry, num_actions, outcome, walk.strategy, row)
                walk.value[walk.parent[s]] = sign * mean
                ends += 1
            else:
                at = _infoset(betting, deals, d, following)
                prefetch(regret, at)
                if rules.averaging and betting.player[following] != traverser:
                    prefetch(sums, at)
                walk.node[count] = following
                walk.where[count] = at
                walk.parent[count] = walk.parent[s]
                count += 1
        s += 1
    floor = np.float32(rules.floor)
    for s in range(count - 1, -1, -1):
        where, row = walk.where[s], s * rules.width
        if where < 0:
            continue
        num_actions = betting.num_actions[walk.node[s]]
        mean = ZERO
        for a in range(num_actions):
            if walk.strategy[row + a] > ZERO:
                mean += walk.strategy[row + a] * walk.value[row + a]
        walk.value[walk.parent[s]] = mean
        for a in range(num_actions):
            if not np.isnan(walk.value[row + a]):
                regret[where + a] = max(regret[where + a] + (walk.value[row + a] - mean), floor)
    walk.counts[0] += count + ends
    walk.counts[1] += skipped


@kernel
def _infoset(betting: Betting, deals: Deals, d: int, n: int) -> int:
    bucket = np.int64(deals.buckets[d, betting.column[n]])
    where: int = betting.base[n] + bucket * betting.num_actions[n]
    return where


@kernel
def match_regrets(regret: F32, where: int, num_actions: int, strategy: F32, row: int) -> np.float32:
    """Strategy in proportion to positive regrets, uniform without any; returns their sum."""
    total = ZERO
    for a in range(num_actions):
        positive = max(regret[where + a], ZERO)
        strategy[row + a] = positive
        total += positive
    scale = ONE / (total if total > ZERO else np.float32(num_actions))
    for a in range(num_actions):
        strategy[row + a] = strategy[row + a] * scale if total > ZERO else scale
    return total


@kernel
def _mean_end(
    betting: Betting, first_entry: int, num_actions: int, outcome: np.float32, strategy: F32, row: int
) -> np.float32:
    """Payoff of player 0 if a node's action ends the hand: the mean over all actions that do."""
    total = weight = ZERO
    for a in range(num_actions):
        entry = first_entry + a
        if betting.child[entry] < 0:
            total += strategy[row + a] * (betting.fixed[entry] + betting.stake[entry] * outcome)
            weight += strategy[row + a]
    return total / weight


@kernel
def _add_strategy(
    sums: F32, where: int, num_actions: int, strategy: F32, row: int, random_bits: np.uint64
) -> None:
    """Add a strategy to the sums of its infoset.

    random_bits  state of the generator, whose last bits are not used by any sampled number
    """
    largest = ZERO
    for a in range(num_actions):
        largest = max(largest, sums[where + a])
    if largest > DITHER_FROM:
        shift = np.float64(random_bits & _LAST_BITS) * np.float64(_TO_UNIT) - 0.5
        for a in range(num_actions):
            total = sums[where + a]
            exact = np.float64(total) + np.float64(strategy[row + a])
            sums[where + a] = np.float32(exact + shift * np.float64(np.spacing(total)))
    else:
        for a in range(num_actions):
            sums[where + a] += strategy[row + a]
    if largest > SUM_LIMIT:
        for a in range(num_actions):
            sums[where + a] *= HALF


@kernel
def _draw(strategy: F32, row: int, num_actions: int, drawn: np.float32) -> int:
    a = 0
    reached = strategy[row]
    while drawn >= reached and a + 1 < num_actions:
        a += 1
        reached += strategy[row + a]
    return a


@kernel
def scale_table(table: F32, factor: np.float32) -> None:
    """Multiply a table by a factor, in place."""
    for i in range(table.shape[0]):
        table[i] *= factor


@kernel
def positive_regret(betting: Betting, num_buckets: I32, regret: F32) -> float:
    """Sum over all infosets of the largest positive regret.

    num_buckets  int32[N]: buckets of each node's round
    """
    result = 0.0
    for n in range(betting.base.shape[0]):
        num_actions, where = betting.num_actions[n], betting.base[n]
        for _ in range(num_buckets[n]):
            largest = ZERO
            for a in range(num_actions):
                largest = max(largest, regret[where + a])
            result += float(largest)
            where += num_actions
    return result


@kernel
def average_strategies(betting: Betting, num_buckets: I32, regret: F32, sums: F32, strategy: F32) -> None:
    """Average strategy of every infoset; the current strategy where there is no average yet.

    strategy  float32[table size]  out
    """
    for n in range(betting.base.shape[0]):
        num_actions, where = betting.num_actions[n], betting.base[n]
        for _ in range(num_buckets[n]):
            _average(regret, sums, where, num_actions, strategy, where)
            where += num_actions


@kernel
def _average(regret: F32, sums: F32, where: int, num_actions: int, strategy: F32, row: int) -> None:
    total = ZERO
    for a in range(num_actions):
        total += sums[where + a]
    if total > ZERO:
        for a in range(num_actions):
            strategy[row + a] = sums[where + a] / total
    else:
        match_regrets(regret, where, num_actions, strategy, row)


@kernel
def quantise_averages(betting: Betting, num_buckets: I32, regret: F32, sums: F32, out: U8) -> None:
    """Quantised average strategies: `average_strategies` and `quantise_strategies` in one, by infoset.

    out  uint8[node][action][bucket]  out
    """
    strategy, remainder = np.empty(256, dtype=np.float32), np.empty(256, dtype=np.float32)
    for n in range(betting.base.shape[0]):
        num_actions, where = betting.num_actions[n], betting.base[n]
        for bucket in range(num_buckets[n]):
            _average(regret, sums, where + bucket * num_actions, num_actions, strategy, 0)
            quantise_infoset(strategy, 0, num_actions, remainder, out, where + bucket, num_buckets[n])
