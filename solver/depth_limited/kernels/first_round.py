"""The first round of a depth-limited game in two halves, between which the leaves are valued.

Rows at a leaf are [1 + K][hand]: the whole first, then one for each of the K strategies the chooser can
choose. The choice is a decision like any other, with a row of regrets for each strategy. Leaves that the
chooser cannot tell apart share a *group* and its regrets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.arrays import F32, I32, I64
from numeric.jit import kernel
from numeric.simd import load8, store8
from solver.exact.kernels.regret import best_value, gather_value, spread_reach, update_regret
from solver.exact.kernels.walk import (
    RESPOND,
    UPDATE,
    ascend,
    clear_rows,
    copy_row,
    descend,
    evaluate_group,
    zero_row,
)
from solver.games.layout import LANES, Boards, Program, Scratch, Shape, Step, Tables

ZERO = np.float32(0)


@kernel
def enter_round(
    shape: Shape,
    boards: Boards,
    program: Program,
    tables: Tables,
    step: Step,
    scratch: Scratch,
    leaf_row: I32,
    opponent_reach: F32,
    leaf_reach: F32,
) -> None:
    """The opponent's reach down to the leaves, and the values of the folds on the way.

    leaf_row        int32[L]                  in: reach row of each leaf
    opponent_reach  float32[stride]           in
    leaf_reach      float32[L, 1 + K, stride] out: the first row of each leaf
    """
    stride = shape.stride
    segment = step.traverser * program.round_segments[-1]
    copy_row(opponent_reach, 0, scratch.reach, 0, stride)
    descend(segment, 0, 0, stride, shape, program, tables, step, scratch.reach)
    for g in range(program.segments[segment, 2], program.segments[segment, 3]):
        evaluate_group(g, 0, shape, boards, program, scratch.reach, scratch.value, scratch)
    clear_rows(segment, stride, program, scratch.value)
    flat, rows = leaf_reach.reshape(-1), leaf_reach.shape[1]
    for leaf in range(leaf_row.shape[0]):
        copy_row(scratch.reach, leaf_row[leaf] * stride, flat, leaf * rows * stride, stride)


@kernel
def leave_round(
    shape: Shape,
    program: Program,
    tables: Tables,
    step: Step,
    scratch: Scratch,
    leaf_row: I32,
    leaf_value: F32,
    root_value: F32,
) -> None:
    """From the values of the leaves (first rows) to those of the root; in UPDATE mode regrets are updated."""
    stride = shape.stride
    segment = step.traverser * program.round_segments[-1]
    value, flat, rows = scratch.value, leaf_value.reshape(-1), leaf_value.shape[1]
    for leaf in range(leaf_row.shape[0]):
        to, source = leaf_row[leaf] * stride, leaf * rows * stride
        for h in range(0, stride, LANES):
            store8(value, to + h, load8(value, to + h) + load8(flat, source + h))
    ascend(segment, 0, 0, stride, shape, program, tables, step, value)
    copy_row(value, 0, root_value, 0, stride)


@kernel
def spread_choices(table: F32, group: I32, leaf_reach: F32) -> None:
    """Split the chooser's reach at every leaf by the chosen strategies.

    table       float32[G * K * stride]    in: regrets or strategy sums
    group       int32[L]
    leaf_reach  float32[L, 1 + K, stride]  first rows in, others out
    """
    rows, stride = leaf_reach.shape[1], leaf_reach.shape[2]
    flat, num_choices = leaf_reach.reshape(-1), rows - 1
    for leaf in range(group.shape[0]):
        base = group[leaf] * num_choices * stride
        spread_reach(table, base, num_choices, stride, 0, stride, flat, leaf * rows, leaf * rows + 1)


@kernel
def settle_choices(regret: F32, group: I32, step: Step, leaf_value: F32, sums: F32) -> None:
    """The chooser's values at the leaves from those of the choices; in UPDATE mode regrets are updated.

    regret      float32[G * K * stride]    modified in place in UPDATE mode
    leaf_value  float32[L, 1 + K, stride]  first rows out, others in
    sums        float32[G, 1 + K, stride]  working memory
    """
    rows, stride = leaf_value.shape[1], leaf_value.shape[2]
    flat, totals, num_choices = leaf_value.reshape(-1), sums.reshape(-1), rows - 1
    for leaf in range(group.shape[0]):
        base = group[leaf] * num_choices * stride
        if step.mode == RESPOND:
            best_value(num_choices, stride, 0, stride, flat, leaf * rows + 1, leaf * rows, False)
        else:
            gather_value(
                regret, base, num_choices, stride, 0, stride, flat, leaf * rows + 1, leaf * rows, False
            )
    if step.mode != UPDATE:
        return
    zero_row(totals, 0, totals.shape[0])
    for leaf in range(group.shape[0]):
        to, source = group[leaf] * rows * stride, leaf * rows * stride
        for h in range(stride, rows * stride, LANES):
            store8(totals, to + h, load8(totals, to + h) + load8(flat, source + h))
    for g in range(sums.shape[0]):
        update_regret(
            regret, g * num_choices * stride, num_choices, stride, 0, stride, totals, g * rows + 1, g * rows,
            False, step.keep_positive, step.keep_negative, step.floor,
        )  # fmt: skip


@kernel
def multiply_matrices(matrices: F32, transposed: bool, leaf_reach: F32, leaf_value: F32) -> None:
    """Values of leaves with a known payoff for every pair of hands.

    matrices    float32[L, K, H, H]        in: what the chooser's opponent wins, by their hand first
    transposed  whether the traverser is the chooser: then values of each choice, else the sum over choices
    leaf_reach  float32[L, 1 + K, stride]  in
    leaf_value  float32[L, 1 + K, stride]  out
    """
    num_leaves, num_choices, num_hands, _ = matrices.shape
    for leaf in range(num_leaves):
        for i in range(num_hands):
            leaf_value[leaf, 0, i] = np.float32(0)
        for k in range(num_choices):
            if transposed:
                for j in range(num_hands):
                    leaf_value[leaf, 1 + k, j] = np.float32(0)
                for i in range(num_hands):
                    reach = leaf_reach[leaf, 0, i]
                    for j in range(num_hands):
                        leaf_value[leaf, 1 + k, j] -= matrices[leaf, k, i, j] * reach
            else:
                for i in range(num_hands):
                    total = np.float32(0)
                    for j in range(num_hands):
                        total += matrices[leaf, k, i, j] * leaf_reach[leaf, 1 + k, j]
                    leaf_value[leaf, 0, i] += total


class PickedMatrices(NamedTuple):
    """Matrices of each leaf, from a list."""

    first: I64
    """int64[L]"""
    num_matrices: I64
    """int64[L]: K, or 1 where the choice makes no difference."""
    stake: F32
    """float32[L]: factor of the matrices."""


@kernel
def multiply_picked(
    matrices: F32, picked: PickedMatrices, transposed: bool, leaf_reach: F32, leaf_value: F32
) -> None:
    """As `multiply_matrices`, but leaves may share matrices, and may have only one.

    matrices    float32[M, H, H]           in
    leaf_reach  float32[L, 1 + K, stride]  in
    leaf_value  float32[L, 1 + K, stride]  out
    """
    num_hands, num_choices = matrices.shape[1], leaf_reach.shape[1] - 1
    for leaf in range(picked.first.shape[0]):
        first, count, stake = picked.first[leaf], picked.num_matrices[leaf], picked.stake[leaf]
        if not transposed:
            for i in range(num_hands):
                leaf_value[leaf, 0, i] = ZERO
        for k in range(count):
            if transposed:
                for j in range(num_hands):
                    leaf_value[leaf, 1 + k, j] = ZERO
                for i in range(num_hands):
                    reach = stake * leaf_reach[leaf, 0, i]
                    if reach != ZERO:
                        for j in range(num_hands):
                            leaf_value[leaf, 1 + k, j] -= matrices[first + k, i, j] * reach
            else:
                row = 1 + k if count > 1 else 0
                reached = False
                for j in range(num_hands):
                    reached |= leaf_reach[leaf, row, j] != ZERO
                if reached:
                    for i in range(num_hands):
                        total = ZERO
                        for j in range(num_hands):
                            total += matrices[first + k, i, j] * leaf_reach[leaf, row, j]
                        leaf_value[leaf, 0, i] += stake * total
        if transposed:
            for k in range(count, num_choices):
                for j in range(num_hands):
                    leaf_value[leaf, 1 + k, j] = leaf_value[leaf, 1, j]
