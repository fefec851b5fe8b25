"""Terminal values: eight terminals of one board at a time, one terminal per vector lane.

A lane is a showdown, a fold, or both at once (the opponent's fold and call share a value row, because the
traverser's value at the opponent's node is the sum over the opponent's actions). For the opponent's reach r
over hands, a sum over the hands that share no card with h is

    T(h) = S − F[c1] − F[c2] + r(h),     S = Σ r,  F[c] = Σ r over hands holding card c,

and with hands in order of strength a showdown is (weaker) − (stronger) = B(h) + B'(h) − T(h), where B sums
the unblocked hands below h's tie group and B' those up to its end. One ascending sweep keeps running S and F;
started at −S/2 and −F/2, reading them before and after each tie group adds up to exactly that, and the
r(h) terms cancel. A fold of the same lane only shifts the start by +S/2, +F/2 of its own reach.
"""

from __future__ import annotations

import numpy as np

from numeric.arrays import F32, I32, U16, U32
from numeric.jit import kernel
from numeric.simd import LANES, at, load8, splat, store8, transpose8

FOLDS = 0  # every lane of the group is a fold
SHOWDOWNS = 1  # every lane is a showdown
MIXED = 2  # lanes may be both


@kernel
def rows_to_lanes(rows: F32, row: I32, scale: F32, g: int, stride: int, position: U16, lanes: F32) -> None:
    """Scale and transpose eight rows over hands into eight-lane vectors in the board's order.

    rows      float32[R * stride]      in: hands innermost
    row       int32[G, 8]              which row feeds each lane
    scale     float32[G, 8]            factor of each lane
    position  uint16[stride]           place of each hand in the board's order; blocked hands share the last
    lanes     float32[(stride + 1) * 8]  out: lanes innermost
    """
    r0, r1, r2, r3 = row[g, 0] * stride, row[g, 1] * stride, row[g, 2] * stride, row[g, 3] * stride
    r4, r5, r6, r7 = row[g, 4] * stride, row[g, 5] * stride, row[g, 6] * stride, row[g, 7] * stride
    s0, s1, s2, s3 = splat(scale[g, 0]), splat(scale[g, 1]), splat(scale[g, 2]), splat(scale[g, 3])
    s4, s5, s6, s7 = splat(scale[g, 4]), splat(scale[g, 5]), splat(scale[g, 6]), splat(scale[g, 7])
    for h in range(0, stride, LANES):
        turned = transpose8(
            (
                load8(rows, r0 + h) * s0,
                load8(rows, r1 + h) * s1,
                load8(rows, r2 + h) * s2,
                load8(rows, r3 + h) * s3,
                load8(rows, r4 + h) * s4,
                load8(rows, r5 + h) * s5,
                load8(rows, r6 + h) * s6,
                load8(rows, r7 + h) * s7,
            )
        )
        store8(lanes, at(position, h) * LANES, turned[0])
        store8(lanes, at(position, h + 1) * LANES, turned[1])
        store8(lanes, at(position, h + 2) * LANES, turned[2])
        store8(lanes, at(position, h + 3) * LANES, turned[3])
        store8(lanes, at(position, h + 4) * LANES, turned[4])
        store8(lanes, at(position, h + 5) * LANES, turned[5])
        store8(lanes, at(position, h + 6) * LANES, turned[6])
        store8(lanes, at(position, h + 7) * LANES, turned[7])


@kernel
def lanes_to_rows(
    lanes: F32, position: U16, stride: int, rows: F32, row: I32, keep: F32, g: int, accumulate: bool
) -> None:
    """Transpose eight lanes in the board's order back to eight rows over hands, replacing or adding.

    keep  float32[G, 8]  1 where a lane is added to its row, 0 where it replaces it (read if `accumulate`)
    """
    r0, r1, r2, r3 = row[g, 0] * stride, row[g, 1] * stride, row[g, 2] * stride, row[g, 3] * stride
    r4, r5, r6, r7 = row[g, 4] * stride, row[g, 5] * stride, row[g, 6] * stride, row[g, 7] * stride
    k0, k1, k2, k3 = splat(keep[g, 0]), splat(keep[g, 1]), splat(keep[g, 2]), splat(keep[g, 3])
    k4, k5, k6, k7 = splat(keep[g, 4]), splat(keep[g, 5]), splat(keep[g, 6]), splat(keep[g, 7])
    for h in range(0, stride, LANES):
        turned = transpose8(
            (
                load8(lanes, at(position, h) * LANES),
                load8(lanes, at(position, h + 1) * LANES),
                load8(lanes, at(position, h + 2) * LANES),
                load8(lanes, at(position, h + 3) * LANES),
                load8(lanes, at(position, h + 4) * LANES),
                load8(lanes, at(position, h + 5) * LANES),
                load8(lanes, at(position, h + 6) * LANES),
                load8(lanes, at(position, h + 7) * LANES),
            )
        )
        if accumulate:
            store8(rows, r0 + h, turned[0] + k0 * load8(rows, r0 + h))
            store8(rows, r1 + h, turned[1] + k1 * load8(rows, r1 + h))
            store8(rows, r2 + h, turned[2] + k2 * load8(rows, r2 + h))
            store8(rows, r3 + h, turned[3] + k3 * load8(rows, r3 + h))
            store8(rows, r4 + h, turned[4] + k4 * load8(rows, r4 + h))
            store8(rows, r5 + h, turned[5] + k5 * load8(rows, r5 + h))
            store8(rows, r6 + h, turned[6] + k6 * load8(rows, r6 + h))
            store8(rows, r7 + h, turned[7] + k7 * load8(rows, r7 + h))
        else:
            store8(rows, r0 + h, turned[0])
            store8(rows, r1 + h, turned[1])
            store8(rows, r2 + h, turned[2])
            store8(rows, r3 + h, turned[3])
            store8(rows, r4 + h, turned[4])
            store8(rows, r5 + h, turned[5])
            store8(rows, r6 + h, turned[6])
            store8(rows, r7 + h, turned[7])


@kernel
def card_totals(lanes: F32, pair: U32, live: int, num_cards: int, totals: F32) -> None:
    """S and F of every lane: totals[card] for each card, totals[num_cards] over all hands.

    lanes   float32[(stride + 1) * 8]  in
    pair    uint32[live]               both cards of a hand, times 8: first | second << 16
    totals  float32[(num_cards + 1) * 8]  out
    """
    for c in range(num_cards):
        store8(totals, c * LANES, splat(np.float32(0.0)))
    total = splat(np.float32(0.0))
    for i in range(live):
        reach = load8(lanes, i * LANES)
        total = total + reach
        cards = at(pair, i)
        first, second = cards & 0xFFFF, cards >> 16
        store8(totals, first, load8(totals, first) + reach)
        store8(totals, second, load8(totals, second) + reach)
    store8(totals, num_cards * LANES, total)


@kernel
def card_totals_of_difference(
    plus: F32, minus: F32, pair: U32, live: int, num_cards: int, totals: F32
) -> None:
    """`card_totals` of plus − minus."""
    for c in range(num_cards):
        store8(totals, c * LANES, splat(np.float32(0.0)))
    total = splat(np.float32(0.0))
    for i in range(live):
        reach = load8(plus, i * LANES) - load8(minus, i * LANES)
        total = total + reach
        cards = at(pair, i)
        first, second = cards & 0xFFFF, cards >> 16
        store8(totals, first, load8(totals, first) + reach)
        store8(totals, second, load8(totals, second) + reach)
    store8(totals, num_cards * LANES, total)


@kernel
def scale_totals(totals: F32, num_cards: int, factor: float) -> None:
    """Multiply S and F, in place."""
    scale = splat(np.float32(factor))
    for c in range(num_cards + 1):
        store8(totals, c * LANES, load8(totals, c * LANES) * scale)


@kernel
def fold_lanes(lanes: F32, pair: U32, live: int, num_cards: int, totals: F32, out: F32) -> None:
    """T(h) of every lane and hand; `totals` holds S and F."""
    total = load8(totals, num_cards * LANES)
    for i in range(live):
        cards = at(pair, i)
        blocked = load8(totals, cards & 0xFFFF) + load8(totals, cards >> 16)
        store8(out, i * LANES, total - blocked + load8(lanes, i * LANES))


@kernel
def sweep_showdown(
    lanes: F32, pair: U32, ends: U16, num_groups: int, num_cards: int, totals: F32, out: F32
) -> None:
    """Ascending sweep; `totals` holds the start values and is used up.

    ends  uint16[num_groups]  one past the last hand of each tie group, weakest first
    """
    total = load8(totals, num_cards * LANES)
    start = 0
    for g in range(num_groups):
        end = at(ends, g)
        for i in range(start, end):
            cards = at(pair, i)
            blocked = load8(totals, cards & 0xFFFF) + load8(totals, cards >> 16)
            store8(out, i * LANES, total - blocked)
        for i in range(start, end):
            reach = load8(lanes, i * LANES)
            total = total + reach
            cards = at(pair, i)
            first, second = cards & 0xFFFF, cards >> 16
            store8(totals, first, load8(totals, first) + reach)
            store8(totals, second, load8(totals, second) + reach)
        for i in range(start, end):
            cards = at(pair, i)
            blocked = load8(totals, cards & 0xFFFF) + load8(totals, cards >> 16)
            store8(out, i * LANES, load8(out, i * LANES) + total - blocked)
        start = end


@kernel
def add_lanes(lanes: F32, live: int, out: F32) -> None:
    """Add lanes to `out` over the live hands."""
    for i in range(live):
        store8(out, i * LANES, load8(out, i * LANES) + load8(lanes, i * LANES))
