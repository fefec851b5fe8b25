"""One decision node over all hands: strategies from regrets, reach down, values up.

Rows are [action][hand], hands innermost, `stride` apart; `base` is the element where a node's first row
starts. The strategy is the positive part of a table's rows, normalised over actions, and uniform where
nothing is positive: from regrets it is the current strategy, from strategy sums the average. Hands are
independent, so threads may share a node: each takes the hands `begin`..`end` - 1, multiples of 8.

Most nodes have two to four actions. There are kernels with these numbers of actions compiled in: measured,
they are 1.5 to 2 times as fast as the general ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numeric.arrays import F32
from numeric.jit import kernel
from numeric.simd import LANES, load8, maximum8, splat, store8, where_positive8

TINY = np.float32(1e-30)
"""Totals up to this count as zero: 1 / total must stay finite."""


@kernel
def spread_reach(
    table: F32,
    base: int,
    num_actions: int,
    stride: int,
    begin: int,
    end: int,
    rows: F32,
    parent: int,
    child: int,
) -> None:
    """Reach of each child = reach of the parent × strategy.

    table  float32[...]         in: regrets or strategy sums
    rows   float32[R * stride]  row `parent` in; rows `child`..`child + num_actions - 1` out
    """
    zero, one, tiny = splat(np.float32(0.0)), splat(np.float32(1.0)), splat(TINY)
    uniform = splat(np.float32(1.0 / num_actions))
    for h in range(begin, end, LANES):
        total = zero
        for a in range(num_actions):
            total = total + maximum8(load8(table, base + a * stride + h), zero)
        seen = total - tiny
        reach = load8(rows, parent * stride + h)
        share = reach / where_positive8(seen, total, one)
        level = reach * uniform
        for a in range(num_actions):
            positive = maximum8(load8(table, base + a * stride + h), zero)
            store8(rows, (child + a) * stride + h, where_positive8(seen, positive * share, level))


@kernel
def add_to_average(
    average: F32,
    base: int,
    num_actions: int,
    stride: int,
    begin: int,
    end: int,
    rows: F32,
    child: int,
    keep: float,
) -> None:
    """strategy_sum = keep · strategy_sum + reach-weighted strategy (the children's reach).

    average  float32[...]  modified in place
    """
    kept = splat(np.float32(keep))
    for a in range(num_actions):
        for h in range(a * stride + begin, a * stride + end, LANES):
            new = load8(rows, child * stride + h)
            store8(average, base + h, load8(average, base + h) * kept + new)


@kernel
def node_value(table: F32, base: int, num_actions: int, stride: int, h: int, rows: F32, child: int) -> Any:
    """Value of a node for eight hands: Σ strategy × value of each child.

    Small enough to be compiled into its callers, with their number of actions where they fix it.
    """
    zero, one, tiny = splat(np.float32(0.0)), splat(np.float32(1.0)), splat(TINY)
    total = zero
    weighted = zero
    level = zero
    for a in range(num_actions):
        positive = maximum8(load8(table, base + a * stride + h), zero)
        value = load8(rows, (child + a) * stride + h)
        total = total + positive
        weighted = weighted + positive * value
        level = level + value
    seen = total - tiny
    mean = level * splat(np.float32(1.0 / num_actions))
    return where_positive8(seen, weighted / where_positive8(seen, total, one), mean)


@kernel
def gather_value(
    table: F32,
    base: int,
    num_actions: int,
    stride: int,
    begin: int,
    end: int,
    rows: F32,
    child: int,
    parent: int,
    accumulate: bool,
) -> None:
    """Value of a node of the traverser = Σ strategy × value of each child.

    rows  float32[R * stride]  rows `child`.. in; row `parent` out (added to if `accumulate`)
    """
    for h in range(begin, end, LANES):
        value = node_value(table, base, num_actions, stride, h, rows, child)
        if accumulate:
            value = value + load8(rows, parent * stride + h)
        store8(rows, parent * stride + h, value)


@kernel
def update_regret(
    regret: F32,
    base: int,
    num_actions: int,
    stride: int,
    begin: int,
    end: int,
    rows: F32,
    child: int,
    parent: int,
    accumulate: bool,
    keep_positive: float,
    keep_negative: float,
    floor: float,
) -> None:
    """`gather_value`, and an update of this node's regrets.

    regret = max(floor, regret · (keep_positive if > 0 else keep_negative) + value of action − value of node)

    regret  float32[...]  modified in place
    """
    kept_positive, kept_negative = splat(np.float32(keep_positive)), splat(np.float32(keep_negative))
    lowest = splat(np.float32(floor))
    for h in range(begin, end, LANES):
        mine = node_value(regret, base, num_actions, stride, h, rows, child)
        for a in range(num_actions):
            old = load8(regret, base + a * stride + h)
            gain = load8(rows, (child + a) * stride + h) - mine
            new = old * where_positive8(old, kept_positive, kept_negative) + gain
            store8(regret, base + a * stride + h, maximum8(new, lowest))
        if accumulate:
            mine = mine + load8(rows, parent * stride + h)
        store8(rows, parent * stride + h, mine)


@kernel
def update_predictive(
    regret: F32,
    basis: F32,
    base: int,
    num_actions: int,
    stride: int,
    begin: int,
    end: int,
    rows: F32,
    child: int,
    parent: int,
    accumulate: bool,
    keep: float,
    keep_next: float,
) -> None:
    """`gather_value`, and an update of regrets with the last gain as the prediction of the next.

    basis   float32[...]  regrets proper, modified in place: max(0, basis · keep + gain)
    regret  float32[...]  what the strategy is made of, modified in place: max(0, basis · keep_next + gain)
    """
    zero = splat(np.float32(0.0))
    kept, kept_next = splat(np.float32(keep)), splat(np.float32(keep_next))
    for h in range(begin, end, LANES):
        mine = node_value(regret, base, num_actions, stride, h, rows, child)
        for a in range(num_actions):
            k = base + a * stride + h
            gain = load8(rows, (child + a) * stride + h) - mine
            new = maximum8(load8(basis, k) * kept + gain, zero)
            store8(basis, k, new)
            store8(regret, k, maximum8(new * kept_next + gain, zero))
        if accumulate:
            mine = mine + load8(rows, parent * stride + h)
        store8(rows, parent * stride + h, mine)


@kernel
def best_value(
    num_actions: int, stride: int, begin: int, end: int, rows: F32, child: int, parent: int, accumulate: bool
) -> None:
    """Value of a best responder's node: the best child for each hand."""
    for h in range(begin, end, LANES):
        best = load8(rows, child * stride + h)
        for a in range(1, num_actions):
            best = maximum8(best, load8(rows, (child + a) * stride + h))
        if accumulate:
            best = best + load8(rows, parent * stride + h)
        store8(rows, parent * stride + h, best)


def _compile_spread(num_actions: int) -> Callable[..., Any]:
    share_alike = np.float32(1.0 / num_actions)

    @kernel
    def spread_and_average(
        regret: F32,
        average: F32,
        base: int,
        stride: int,
        begin: int,
        end: int,
        rows: F32,
        parent: int,
        child: int,
        keep: float,
    ) -> None:
        """`spread_reach` and `add_to_average` in one pass."""
        zero, one, tiny = splat(np.float32(0.0)), splat(np.float32(1.0)), splat(TINY)
        uniform, kept = splat(share_alike), splat(np.float32(keep))
        for h in range(begin, end, LANES):
            total = zero
            for a in range(num_actions):
                total = total + maximum8(load8(regret, base + a * stride + h), zero)
            seen = total - tiny
            reach = load8(rows, parent * stride + h)
            share = reach / where_positive8(seen, total, one)
            level = reach * uniform
            for a in range(num_actions):
                k = base + a * stride + h
                positive = maximum8(load8(regret, k), zero)
                below = where_positive8(seen, positive * share, level)
                store8(rows, (child + a) * stride + h, below)
                store8(average, k, load8(average, k) * kept + below)

    return spread_and_average


def _compile_update(num_actions: int) -> Callable[..., Any]:
    @kernel
    def update_fixed(
        regret: F32,
        base: int,
        stride: int,
        begin: int,
        end: int,
        rows: F32,
        child: int,
        parent: int,
        accumulate: bool,
        keep_positive: float,
        keep_negative: float,
        floor: float,
    ) -> None:
        """`update_regret` for a fixed number of actions."""
        zero = splat(np.float32(0.0))
        lowest = splat(np.float32(floor))
        # Branch-free: old · keep_negative + max(old, 0) · (keep_positive − keep_negative).
        kept, kept_more = splat(np.float32(keep_negative)), splat(np.float32(keep_positive - keep_negative))
        for h in range(begin, end, LANES):
            mine = node_value(regret, base, num_actions, stride, h, rows, child)
            for a in range(num_actions):
                k = base + a * stride + h
                old = load8(regret, k)
                gain = load8(rows, (child + a) * stride + h) - mine
                new = maximum8(old, zero) * kept_more + (old * kept + gain)
                store8(regret, k, maximum8(new, lowest))
            if accumulate:
                mine = mine + load8(rows, parent * stride + h)
            store8(rows, parent * stride + h, mine)

    return update_fixed


spread_2, spread_3, spread_4 = _compile_spread(2), _compile_spread(3), _compile_spread(4)
update_2, update_3, update_4 = _compile_update(2), _compile_update(3), _compile_update(4)
