"""Learned leaf values: regrets of turn and river by bucket, on one run-out at a time.

The walk is that of `rollout`, with one strategy per player. On the way up, the traverser's gains are summed
over the hands of each bucket, weighted by the traverser's range, and added to the regrets. The strategy is
then matched to them, as words of bytes that rollouts can read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.arrays import F32, I32, I64, U16, U32
from numeric.jit import kernel
from numeric.simd import LANES, bytes8, floor8, load8, maximum8, splat, store8, store_bytes8, where_positive8
from numeric.threads import atomic_add
from solver.exact.kernels.walk import copy_row, zero_row
from solver.games.layout import Scratch, Shape, Step
from solver.leaves.kernels.rollout import MAX_ACTIONS, Planes, Playbook, Runout, descend_book, evaluate_ends


class Lessons(NamedTuple):
    """Regrets and ranges of the learning. Buckets of a node are padded to a multiple of LANES."""

    regret: F32
    """float32[node][MAX_ACTIONS][bucket]: a node's regrets start where its words do, times MAX_ACTIONS."""
    size: I32
    """int32[2]: padded buckets of turn and river."""
    weight: F32
    """float32[2, stride]: both players' ranges at the root."""
    present: F32
    """float32[2, buckets]: 1 for buckets that occur on turn and river of the current run-out."""
    places: I32
    """int32[2, 1 + buckets / LANES]: number of groups of LANES buckets that occur, then where they start."""


class Notes(NamedTuple):
    """Working memory of one thread, in addition to that of `rollout`."""

    gain: F32
    """float32[MAX_ACTIONS * buckets]: zero between nodes."""


@kernel
def ascend_learning(
    segment: int,
    street: int,
    shape: Shape,
    book: Playbook,
    buckets: U16,
    lessons: Lessons,
    step: Step,
    value: F32,
    notes: Notes,
) -> None:
    """Value rows of a segment, children first; updates the traverser's regrets at each of their nodes."""
    up, stride, gain = book.program.up, shape.stride, notes.gain
    percent = splat(np.float32(1.0 / 255.0))
    weight, size = lessons.weight[step.traverser], lessons.size[street]
    for i in range(book.program.segments[segment, 4], book.program.segments[segment, 5]):
        actions, accumulate, node = up[i, 1], up[i, 4], up[i, 5]
        child, parent = up[i, 2] * stride, up[i, 3] * stride
        base = book.base[node]
        for h in range(stride):
            share, to = weight[h], np.int64(buckets[h])
            gain[to] += share * value[child + h]
            gain[size + to] += share * value[child + stride + h]
            if actions > 2:
                gain[2 * size + to] += share * value[child + 2 * stride + h]
            if actions > 3:
                gain[3 * size + to] += share * value[child + 3 * stride + h]
        for h in range(0, stride, LANES):
            p0, p1, p2, p3 = bytes8(book.words, base, buckets, h)
            own = child + h
            total = p0 * load8(value, own) + p1 * load8(value, own + stride)
            if actions > 2:
                total = total + p2 * load8(value, own + 2 * stride)
            if actions > 3:
                total = total + p3 * load8(value, own + 3 * stride)
            total = total * percent
            if accumulate:
                total = total + load8(value, parent + h)
            store8(value, parent + h, total)
        present, places = lessons.present[street], lessons.places[street]
        learn(base, actions, size, present, places, step, lessons.regret, gain, book.words)


@kernel
def learn(
    base: int,
    actions: int,
    size: int,
    present: F32,
    places: I32,
    step: Step,
    regret: F32,
    gain: F32,
    words: U32,
) -> None:
    """Add a node's gains to its regrets and update its strategy, eight buckets at a time.

    gain  float32[MAX_ACTIONS * size]  in: value of each action by bucket; out: zeros
    """
    zero, one = splat(np.float32(0)), splat(np.float32(1))
    full, half = splat(np.float32(255)), splat(np.float32(0.5))
    even = splat(np.float32(1) / np.float32(actions))
    up_kept, down_kept = splat(np.float32(step.keep_positive)), splat(np.float32(step.keep_negative))
    first, second, third, fourth = base * MAX_ACTIONS, size, 2 * size, 3 * size
    for place in range(1, 1 + places[0]):
        b = places[place]
        at = first + b
        r0, r1, r2, r3 = load8(regret, at), load8(regret, at + second), zero, zero
        g0, g1, g2, g3 = load8(gain, b), load8(gain, second + b), zero, zero
        store8(gain, b, zero)
        store8(gain, second + b, zero)
        if actions > 2:
            r2, g2 = load8(regret, at + third), load8(gain, third + b)
            store8(gain, third + b, zero)
        if actions > 3:
            r3, g3 = load8(regret, at + fourth), load8(gain, fourth + b)
            store8(gain, fourth + b, zero)
        q0, q1, q2, q3 = maximum8(r0, zero), maximum8(r1, zero), maximum8(r2, zero), maximum8(r3, zero)
        total = q0 + q1 + q2 + q3
        share = where_positive8(total, one / where_positive8(total, total, one), zero)
        mean = q0 * share * g0 + q1 * share * g1 + q2 * share * g2 + q3 * share * g3
        equal = (g0 + g1 + g2 + g3) * even
        mean = where_positive8(total, mean, equal)
        seen = load8(present, b)
        gone_up, gone_down = one + seen * (up_kept - one), one + seen * (down_kept - one)
        r0 = r0 * where_positive8(r0, gone_up, gone_down) + g0 - mean
        r1 = r1 * where_positive8(r1, gone_up, gone_down) + g1 - mean
        store8(regret, at, r0)
        store8(regret, at + second, r1)
        if actions > 2:
            r2 = r2 * where_positive8(r2, gone_up, gone_down) + g2 - mean
            store8(regret, at + third, r2)
        if actions > 3:
            r3 = r3 * where_positive8(r3, gone_up, gone_down) + g3 - mean
            store8(regret, at + fourth, r3)
        q0, q1, q2, q3 = maximum8(r0, zero), maximum8(r1, zero), maximum8(r2, zero), maximum8(r3, zero)
        total = q0 + q1 + q2 + q3
        # Cumulative probabilities are rounded, so that their differences are whole and add up to 255.
        share = where_positive8(total, full / where_positive8(total, total, one), zero)
        least = where_positive8(total, zero, full * even)
        c0 = floor8(q0 * share + least + half)
        c1 = floor8((q0 + q1) * share + least + least + half)
        c2, c3 = c1, c1
        if actions > 2:
            c2 = floor8((q0 + q1 + q2) * share + least + least + least + half)
            c3 = c2
        if actions > 3:
            c3 = floor8((q0 + q1 + q2 + q3) * share + least + least + least + least + half)
        store_bytes8(words, base + b, (c0, c1 - c0, c2 - c1, c3 - c2))


@kernel
def learn_leaf(
    leaf: int,
    for_chooser: bool,
    shape: Shape,
    runout: Runout,
    book: Playbook,
    lessons: Lessons,
    step: Step,
    planes: Planes,
    scratch: Scratch,
    notes: Notes,
    leaf_reach: F32,
    leaf_value: F32,
) -> None:
    """Values of the traverser at one leaf on one run-out; updates their regrets below it."""
    stride, rows = shape.stride, leaf_reach.shape[1]
    reach_in, value_out = leaf_reach.reshape(-1), leaf_value.reshape(-1)
    copy_row(reach_in, leaf * rows * stride, scratch.reach, 0, stride)
    turn, river = runout.buckets[0], runout.buckets[1]
    segment = book.segments[leaf, step.traverser, 0]
    descend_book(segment, stride, book, turn, 1, planes, scratch.reach)
    evaluate_ends(segment, shape, runout.boards, book, 1, planes, scratch)
    for i in range(book.program.segments[segment, 6], book.program.segments[segment, 7]):
        zero_row(planes.value, book.program.clear[i] * stride, stride)
    for s in range(book.segments[leaf, step.traverser, 1], book.segments[leaf, step.traverser, 2]):
        descend_book(s, stride, book, river, 1, planes, scratch.reach)
        evaluate_ends(s, shape, runout.boards, book, 1, planes, scratch)
        ascend_learning(s, 1, shape, book, river, lessons, step, planes.value, notes)
    ascend_learning(segment, 0, shape, book, turn, lessons, step, planes.value, notes)
    copy_row(planes.value, 0, value_out, (leaf * rows + (1 if for_chooser else 0)) * stride, stride)


@kernel
def learn_leaves(
    order: I32,
    counter: I64,
    for_chooser: bool,
    shape: Shape,
    runout: Runout,
    book: Playbook,
    lessons: Lessons,
    step: Step,
    planes: Planes,
    scratch: Scratch,
    notes: Notes,
    leaf_reach: F32,
    leaf_value: F32,
) -> None:
    """Process as many leaves as this thread takes; arguments as in `rollout.play_out_leaves`."""
    while True:
        i = atomic_add(counter, 0, 1)
        if i >= order.shape[0]:
            return
        learn_leaf(
            order[i], for_chooser, shape, runout, book, lessons, step, planes, scratch, notes,
            leaf_reach, leaf_value,
        )  # fmt: skip
