"""Rollouts after the flop: a blueprint's strategies with whole ranges on one run-out of turn and river.

Both players follow fixed strategies, one byte per probability, looked up by the bucket of each hand. The
chooser has K of them: the blueprint, with the weight of folds, calls or raises multiplied. All terminals are
evaluated once for all K: going down, the chooser's K reaches are added up before the terminals; going up, the
chooser's K values start from the same terminals.

Rows are numbered as in `games.layout.Program`. Each strategy of a player has one plane of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.arrays import F32, I32, I64, U8, U16, U32
from numeric.jit import kernel
from numeric.simd import LANES, bytes8, load8, splat, store8
from numeric.threads import atomic_add
from solver.exact.kernels.walk import copy_row, evaluate_group, zero_row
from solver.games.layout import Boards, Program, Scratch, Shape

MAX_ACTIONS = 4


class Playbook(NamedTuple):
    """The strategies below every leaf. Nodes of all leaves share one numbering."""

    program: Program
    """Programs of all leaves, one after the other."""
    segments: I32
    """int32[L, 2, 3]: per leaf and traverser, its turn segment, then first and last + 1 river segment."""
    words: U32
    """uint32: [node][bucket]: probabilities of up to four actions, a byte each, the first action lowest."""
    base: I64
    """int64[N]: where a node's words start."""
    has_fold: U8
    """uint8[N]: 1 if the first action is a fold; a call and raises follow."""
    bias: F32
    """float32[K, 3]: factors of folds, calls and raises in each of the chooser's strategies."""


class Runout(NamedTuple):
    """The current run-out of turn and river."""

    boards: Boards
    """The river as the only board; `table` and links between boards are not used."""
    buckets: U16
    """uint16[2, stride]: buckets on turn and river; 0 for blocked hands."""


class Planes(NamedTuple):
    """Working memory of one thread, in addition to `Scratch`."""

    reach: F32
    """float32[K * reach rows * stride]."""
    value: F32
    """float32[K * value rows * stride]."""


@kernel
def factor(bias: F32, k: int, has_fold: int, a: int) -> np.float32:
    """Factor of strategy k on the weight of an action."""
    result: np.float32 = bias[k, min(a + 1 - has_fold, 2)]
    return result


@kernel
def descend_book(
    segment: int,
    stride: int,
    book: Playbook,
    buckets: U16,
    num_reaches: int,
    planes: Planes,
    reach: F32,
) -> None:
    """Reach rows of a segment from those of its roots; `reach` holds the sums over the planes."""
    down, size = book.program.down, planes.reach.shape[0] // book.bias.shape[0]
    zero, percent = splat(np.float32(0)), splat(np.float32(1.0 / 255.0))
    for i in range(book.program.segments[segment, 0], book.program.segments[segment, 1]):
        actions, node = down[i, 1], down[i, 4]
        parent, child = down[i, 2] * stride, down[i, 3] * stride
        base, fold = book.base[node], book.has_fold[node]
        for h in range(0, stride, LANES):
            p0, p1, p2, p3 = bytes8(book.words, base, buckets, h)
            to = child + h
            if num_reaches == 1:
                share = load8(reach, parent + h) * percent
                s0, s1, s2, s3 = share * p0, share * p1, share * p2, share * p3
            else:
                s0, s1, s2, s3 = zero, zero, zero, zero
                for k in range(num_reaches):
                    m0 = p0 * splat(factor(book.bias, k, fold, 0))
                    m1 = p1 * splat(factor(book.bias, k, fold, 1))
                    m2 = p2 * splat(factor(book.bias, k, fold, 2))
                    m3 = p3 * splat(factor(book.bias, k, fold, 3))
                    share = load8(planes.reach, k * size + parent + h) / (m0 + m1 + m2 + m3)
                    m0, m1, m2, m3 = share * m0, share * m1, share * m2, share * m3
                    own = k * size + to
                    store8(planes.reach, own, m0)
                    store8(planes.reach, own + stride, m1)
                    if actions > 2:
                        store8(planes.reach, own + 2 * stride, m2)
                    if actions > 3:
                        store8(planes.reach, own + 3 * stride, m3)
                    s0, s1, s2, s3 = s0 + m0, s1 + m1, s2 + m2, s3 + m3
            store8(reach, to, s0)
            store8(reach, to + stride, s1)
            if actions > 2:
                store8(reach, to + 2 * stride, s2)
            if actions > 3:
                store8(reach, to + 3 * stride, s3)


@kernel
def ascend_book(
    segment: int, stride: int, book: Playbook, buckets: U16, num_values: int, planes: Planes
) -> None:
    """Value rows of a segment, children first, on every plane."""
    up, size = book.program.up, planes.value.shape[0] // book.bias.shape[0]
    value = planes.value
    for i in range(book.program.segments[segment, 4], book.program.segments[segment, 5]):
        actions, accumulate, node = up[i, 1], up[i, 4], up[i, 5]
        child, parent = up[i, 2] * stride, up[i, 3] * stride
        base, fold = book.base[node], book.has_fold[node]
        for h in range(0, stride, LANES):
            p0, p1, p2, p3 = bytes8(book.words, base, buckets, h)
            for k in range(num_values):
                m0, m1, m2, m3 = p0, p1, p2, p3
                if num_values > 1:
                    m0 = p0 * splat(factor(book.bias, k, fold, 0))
                    m1 = p1 * splat(factor(book.bias, k, fold, 1))
                    m2 = p2 * splat(factor(book.bias, k, fold, 2))
                    m3 = p3 * splat(factor(book.bias, k, fold, 3))
                own = k * size + child + h
                mean = m0 * load8(value, own) + m1 * load8(value, own + stride)
                if actions > 2:
                    mean = mean + m2 * load8(value, own + 2 * stride)
                if actions > 3:
                    mean = mean + m3 * load8(value, own + 3 * stride)
                mean = mean / (m0 + m1 + m2 + m3)
                to = k * size + parent + h
                if accumulate:
                    mean = mean + load8(value, to)
                store8(value, to, mean)


@kernel
def evaluate_ends(
    segment: int,
    shape: Shape,
    boards: Boards,
    book: Playbook,
    num_values: int,
    planes: Planes,
    scratch: Scratch,
) -> None:
    """Value the terminals of a segment, on every plane of values.

    The rows that terminals are added to are the same on all planes here; the planes differ only later.
    """
    program, stride = book.program, shape.stride
    size = planes.value.shape[0] // book.bias.shape[0]
    for g in range(program.segments[segment, 2], program.segments[segment, 3]):
        evaluate_group(g, 0, shape, boards, program, scratch.reach, planes.value, scratch)
        for k in range(1, num_values):
            for lane in range(LANES):
                row = program.lane_out[g, lane] * stride
                copy_row(planes.value, row, planes.value, k * size + row, stride)


@kernel
def play_out(
    leaf: int,
    traverser: int,
    chooses: bool,
    is_met_by_choices: bool,
    shape: Shape,
    runout: Runout,
    book: Playbook,
    planes: Planes,
    scratch: Scratch,
    leaf_reach: F32,
    leaf_value: F32,
) -> None:
    """Values of the traverser at one leaf, on one run-out.

    chooses                 whether the traverser has K strategies to choose from
    is_met_by_choices       whether the opponent has
    leaf_reach, leaf_value  float32[L, 1 + K, stride]: see `depth_limited.solver.LeafValues`
    """
    stride, num_choices = shape.stride, book.bias.shape[0]
    num_reaches, num_values = num_choices if is_met_by_choices else 1, num_choices if chooses else 1
    rows = leaf_reach.shape[1]
    reach_in, value_out = leaf_reach.reshape(-1), leaf_value.reshape(-1)
    reach_size, value_size = planes.reach.shape[0] // num_choices, planes.value.shape[0] // num_choices
    copy_row(reach_in, leaf * rows * stride, scratch.reach, 0, stride)
    if num_reaches > 1:
        for k in range(num_reaches):
            copy_row(reach_in, (leaf * rows + 1 + k) * stride, planes.reach, k * reach_size, stride)
    turn, river = runout.buckets[0], runout.buckets[1]
    segment = book.segments[leaf, traverser, 0]
    descend_book(segment, stride, book, turn, num_reaches, planes, scratch.reach)
    evaluate_ends(segment, shape, runout.boards, book, num_values, planes, scratch)
    for i in range(book.program.segments[segment, 6], book.program.segments[segment, 7]):
        for k in range(num_values):
            zero_row(planes.value, k * value_size + book.program.clear[i] * stride, stride)
    for s in range(book.segments[leaf, traverser, 1], book.segments[leaf, traverser, 2]):
        descend_book(s, stride, book, river, num_reaches, planes, scratch.reach)
        evaluate_ends(s, shape, runout.boards, book, num_values, planes, scratch)
        ascend_book(s, stride, book, river, num_values, planes)
    ascend_book(segment, stride, book, turn, num_values, planes)
    first = leaf * rows + (1 if chooses else 0)
    for k in range(num_values):
        copy_row(planes.value, k * value_size, value_out, (first + k) * stride, stride)


@kernel
def play_out_leaves(
    order: I32,
    counter: I64,
    traverser: int,
    chooses: bool,
    is_met_by_choices: bool,
    shape: Shape,
    runout: Runout,
    book: Playbook,
    planes: Planes,
    scratch: Scratch,
    leaf_reach: F32,
    leaf_value: F32,
) -> None:
    """Process as many leaves as this thread takes.

    order    int32[L]  leaves, large ones first
    counter  int64[1]  shared by the threads
    """
    while True:
        i = atomic_add(counter, 0, 1)
        if i >= order.shape[0]:
            return
        play_out(
            order[i], traverser, chooses, is_met_by_choices, shape, runout, book, planes, scratch, leaf_reach,
            leaf_value,
        )  # fmt: skip


@kernel
def pack_words(
    strategy: U8, start: int, num_actions: int, num_buckets: int, becomes: U8, words: U32, base: int
) -> None:
    """Pack a node's probabilities from [action][bucket] bytes to one word per bucket.

    becomes  uint8[A]  the byte of the word that each action is added to
    """
    for bucket in range(num_buckets):
        word = np.uint32(0)
        for a in range(num_actions):
            word += np.uint32(strategy[start + a * num_buckets + bucket]) << np.uint32(8 * becomes[a])
        words[base + bucket] = word
