"""Variance reduction of sampled leaf values.

Showdown values of every hand are known on the current run-out and, exactly, in the mean over all run-outs.
Their difference is the luck of the run-out, which causes most of the variance of a leaf's value. A multiple
of it is subtracted from the sample (a control variate: the mean over run-outs is unchanged). At leaves
without further betting luck is the only variance. The mean is the most expensive part, so it is computed for
the ranges of some iterations ago, and so are the showdown values on the current run-out.
"""

from __future__ import annotations

import numpy as np

from numeric.arrays import F32, I64, U8
from numeric.jit import kernel
from numeric.simd import LANES, load8, splat, store8
from numeric.threads import atomic_add
from solver.exact.kernels.walk import evaluate_group
from solver.games.layout import Boards, Program, Scratch, Shape

TILE = 16
"""Number of hands whose wins are adjacent in memory: one cache line."""
_TOGETHER = 4
"""Leaves multiplied at once."""


@kernel
def check_down(
    ends: Program, shape: Shape, boards: Boards, scratch: Scratch, leaf_reach: F32, wins: F32
) -> None:
    """Showdown values of the traverser's hands on the current run-out, per chip, without further betting.

    ends        lanes only: from the first row of each leaf in `leaf_reach` to its row in `wins`
    leaf_reach  float32[L, 1 + K, stride]  in
    wins        float32[L, stride]         out
    """
    source, to = leaf_reach.reshape(-1), wins.reshape(-1)
    for g in range(ends.lane_kind.shape[0]):
        evaluate_group(g, 0, shape, boards, ends, source, to, scratch)


@kernel
def mean_wins(tiles: F32, counter: I64, leaf_reach: F32, means: F32) -> None:
    """The same in the mean over all run-outs; processes as many tiles as this thread takes.

    tiles    float32[stride / TILE, H, TILE]  in: [tile of traverser's hands][opponent's hand][hand]
    counter  int64[1]                         shared by the threads
    means    float32[L, stride]               out
    """
    num_leaves, rows, stride = leaf_reach.shape
    num_tiles, num_hands, _ = tiles.shape
    flat, source, to = tiles.reshape(-1), leaf_reach.reshape(-1), means.reshape(-1)
    zero = splat(np.float32(0))
    while True:
        tile = atomic_add(counter, 0, 1)
        if tile >= num_tiles:
            return
        first, place = tile * num_hands * TILE, tile * TILE
        for leaf in range(0, num_leaves, _TOGETHER):
            # Lanes beyond the last leaf repeat it; they write the same sums again.
            l1, l2, l3 = (
                min(leaf + 1, num_leaves - 1),
                min(leaf + 2, num_leaves - 1),
                min(leaf + 3, num_leaves - 1),
            )
            r0, r1, r2, r3 = leaf * rows * stride, l1 * rows * stride, l2 * rows * stride, l3 * rows * stride
            a0, a1, a2, a3, b0, b1, b2, b3 = zero, zero, zero, zero, zero, zero, zero, zero
            for j in range(num_hands):
                low, high = load8(flat, first + j * TILE), load8(flat, first + j * TILE + LANES)
                s0, s1, s2, s3 = (
                    splat(source[r0 + j]),
                    splat(source[r1 + j]),
                    splat(source[r2 + j]),
                    splat(source[r3 + j]),
                )
                a0, b0 = a0 + low * s0, b0 + high * s0
                a1, b1 = a1 + low * s1, b1 + high * s1
                a2, b2 = a2 + low * s2, b2 + high * s2
                a3, b3 = a3 + low * s3, b3 + high * s3
            w0, w1, w2, w3 = (
                leaf * stride + place,
                l1 * stride + place,
                l2 * stride + place,
                l3 * stride + place,
            )
            store8(to, w0, a0)
            store8(to, w0 + LANES, b0)
            store8(to, w1, a1)
            store8(to, w1 + LANES, b1)
            store8(to, w2, a2)
            store8(to, w2 + LANES, b2)
            store8(to, w3, a3)
            store8(to, w3 + LANES, b3)


@kernel
def take_luck_out(
    stakes: F32,
    shut: U8,
    times: float,
    first: int,
    end: int,
    wins: F32,
    means: F32,
    now: F32,
    leaf_value: F32,
) -> None:
    """Apply the control variate to rows `first` to `end` of every leaf.

    stakes      float32[L]  chips
    shut        uint8[L]    1 for leaves without further betting
    times       coefficient of the luck, per chip of the stake
    wins        float32[L, stride]  showdown values on the current run-out, against some ranges
    means       float32[L, stride]  against the same ranges, in the mean over run-outs
    now         float32[L, stride]  on the current run-out, against the ranges of this pass; only for shut
                leaves
    leaf_value  float32[L, 1 + K, stride]  modified in place
    """
    _, rows, stride = leaf_value.shape
    value, won, mean, here = leaf_value.reshape(-1), wins.reshape(-1), means.reshape(-1), now.reshape(-1)
    for leaf in range(stakes.shape[0]):
        stake = splat(stakes[leaf])
        share = splat(stakes[leaf] * np.float32(times))
        for row in range(first, end):
            to = (leaf * rows + row) * stride
            for h in range(0, stride, LANES):
                luck = load8(won, leaf * stride + h) - load8(mean, leaf * stride + h)
                if shut[leaf]:
                    store8(value, to + h, stake * (load8(here, leaf * stride + h) - luck))
                else:
                    store8(value, to + h, load8(value, to + h) - share * luck)
