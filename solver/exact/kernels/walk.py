"""One pass over the public tree: the opponent's reach down, the traverser's values up.

A pass runs in one of three modes. UPDATE updates the traverser's regrets and adds the opponent's strategy to
the opponent's average. EVALUATE computes the value of the traverser's strategy, RESPOND of the traverser's
best response; both read strategies from `tables.regret` and change nothing.

All threads run the same pass. In the first round each thread handles its own hands going down and up, and
some of the terminals in between; boards of the second round are handed out in chunks. A single river, whose
first round is its last, is shared by hands alone: see `river_parts`. With `stop` set a pass goes through its
barriers without working, and its result is unfinished.
"""

from __future__ import annotations

import numpy as np

from numeric.arrays import F32, F64, I64
from numeric.jit import kernel
from numeric.simd import load8, splat, store8
from numeric.threads import NEXT_TASK, STOPPED, atomic_add, atomic_load, is_stopped, meet
from solver.exact.kernels.regret import (
    add_to_average,
    best_value,
    gather_value,
    spread_2,
    spread_3,
    spread_4,
    spread_reach,
    update_2,
    update_3,
    update_4,
    update_predictive,
    update_regret,
)
from solver.exact.kernels.river_parts import evaluate_together
from solver.exact.kernels.terminal import (
    FOLDS,
    MIXED,
    add_lanes,
    card_totals,
    card_totals_of_difference,
    fold_lanes,
    lanes_to_rows,
    rows_to_lanes,
    scale_totals,
    sweep_showdown,
)
from solver.games.layout import (
    CHUNKS,
    LANES,
    LINE,
    Boards,
    Gadget,
    Program,
    Scratch,
    Shape,
    Step,
    Tables,
    Team,
)

UPDATE = 0
EVALUATE = 1
RESPOND = 2


@kernel
def descend(
    segment: int,
    base: int,
    begin: int,
    end: int,
    shape: Shape,
    program: Program,
    tables: Tables,
    step: Step,
    reach: F32,
) -> None:
    """Reach rows of all nodes of a segment from those of its roots, for hands begin..end-1."""
    stride, regret, average = shape.stride, tables.regret, tables.average
    averaging = step.mode == UPDATE and step.keep_average >= 0.0
    keep = step.keep_average
    for k in range(program.segments[segment, 0], program.segments[segment, 1]):
        rows = base + program.down[k, 0] * stride
        actions, parent, child = program.down[k, 1], program.down[k, 2], program.down[k, 3]
        adds = averaging and tables.frozen[program.down[k, 4]] == 0
        if adds and actions == 2:
            spread_2(regret, average, rows, stride, begin, end, reach, parent, child, keep)
        elif adds and actions == 3:
            spread_3(regret, average, rows, stride, begin, end, reach, parent, child, keep)
        elif adds and actions == 4:
            spread_4(regret, average, rows, stride, begin, end, reach, parent, child, keep)
        else:
            spread_reach(regret, rows, actions, stride, begin, end, reach, parent, child)
            if adds:
                add_to_average(average, rows, actions, stride, begin, end, reach, child, keep)


@kernel
def ascend(
    segment: int,
    base: int,
    begin: int,
    end: int,
    shape: Shape,
    program: Program,
    tables: Tables,
    step: Step,
    value: F32,
) -> None:
    """Value rows of all nodes of a segment, children first, for hands begin..end-1."""
    stride, regret, keep = shape.stride, tables.regret, step.keep_positive
    for k in range(program.segments[segment, 4], program.segments[segment, 5]):
        rows = base + program.up[k, 0] * stride
        actions, child, parent = program.up[k, 1], program.up[k, 2], program.up[k, 3]
        accumulate = program.up[k, 4] != 0
        if step.mode == EVALUATE or tables.frozen[program.up[k, 5]] != 0:
            gather_value(regret, rows, actions, stride, begin, end, value, child, parent, accumulate)
        elif step.mode == RESPOND:
            best_value(actions, stride, begin, end, value, child, parent, accumulate)
        elif tables.basis.size > 0:
            update_predictive(
                regret, tables.basis, rows, actions, stride, begin, end, value, child, parent, accumulate,
                keep, step.keep_next,
            )  # fmt: skip
        elif actions == 2:
            update_2(
                regret, rows, stride, begin, end, value, child, parent, accumulate,
                keep, step.keep_negative, step.floor,
            )  # fmt: skip
        elif actions == 3:
            update_3(
                regret, rows, stride, begin, end, value, child, parent, accumulate,
                keep, step.keep_negative, step.floor,
            )  # fmt: skip
        elif actions == 4:
            update_4(
                regret, rows, stride, begin, end, value, child, parent, accumulate,
                keep, step.keep_negative, step.floor,
            )  # fmt: skip
        else:
            update_regret(
                regret, rows, actions, stride, begin, end, value, child, parent, accumulate,
                step.keep_positive, step.keep_negative, step.floor,
            )  # fmt: skip


@kernel
def evaluate_group(
    g: int,
    board: int,
    shape: Shape,
    boards: Boards,
    program: Program,
    reach: F32,
    value: F32,
    scratch: Scratch,
) -> None:
    """Value rows of eight terminals on one board."""
    stride, num_cards = shape.stride, shape.num_cards
    lanes, folds, out, totals = scratch.lanes, scratch.fold_lanes, scratch.out_lanes, scratch.totals
    position, pair, ends = boards.position[board], boards.pair[board], boards.ends[board]
    live, num_groups = boards.live[board], boards.groups[board]
    kind = program.lane_kind[g, 0]
    if kind == FOLDS:
        rows_to_lanes(reach, program.lane_fold, program.lane_gain, g, stride, position, folds)
        card_totals(folds, pair, live, num_cards, totals)
        fold_lanes(folds, pair, live, num_cards, totals, out)
    else:
        rows_to_lanes(reach, program.lane_showdown, program.lane_win, g, stride, position, lanes)
        if kind == MIXED:
            rows_to_lanes(reach, program.lane_fold, program.lane_gain, g, stride, position, folds)
            card_totals_of_difference(folds, lanes, pair, live, num_cards, totals)
            scale_totals(totals, num_cards, 0.5)
        else:
            card_totals(lanes, pair, live, num_cards, totals)
            scale_totals(totals, num_cards, -0.5)
        sweep_showdown(lanes, pair, ends, num_groups, num_cards, totals, out)
        if kind == MIXED:
            add_lanes(folds, live, out)
    accumulate = program.lane_kind[g, 1] != 0
    lanes_to_rows(out, position, stride, value, program.lane_out, program.lane_keep, g, accumulate)


@kernel
def copy_row(source: F32, source_start: int, target: F32, target_start: int, count: int) -> None:
    """Copy `count` elements, a multiple of 8. Slice assignment would take numba seconds to compile."""
    for h in range(0, count, LANES):
        store8(target, target_start + h, load8(source, source_start + h))


@kernel
def zero_row(target: F32, start: int, count: int) -> None:
    """Zero elements; `count` is a multiple of 8."""
    for h in range(0, count, LANES):
        store8(target, start + h, splat(np.float32(0.0)))


@kernel
def clear_rows(segment: int, stride: int, program: Program, value: F32) -> None:
    """Zero the value rows that the next round only adds to."""
    for k in range(program.segments[segment, 6], program.segments[segment, 7]):
        zero_row(value, program.clear[k] * stride, stride)


@kernel
def visit_last(
    board: int, shape: Shape, boards: Boards, program: Program, tables: Tables, step: Step, scratch: Scratch
) -> None:
    """Visit all of the last round on one board."""
    base = boards.table[board]
    offset = step.traverser * program.round_segments[-1]
    last = shape.num_rounds - 1
    for s in range(program.round_segments[last], program.round_segments[last + 1]):
        segment = offset + s
        descend(segment, base, 0, shape.stride, shape, program, tables, step, scratch.reach)
        for g in range(program.segments[segment, 2], program.segments[segment, 3]):
            evaluate_group(g, board, shape, boards, program, scratch.reach, scratch.value, scratch)
        ascend(segment, base, 0, shape.stride, shape, program, tables, step, scratch.value)


@kernel
def visit_middle(
    board: int,
    shape: Shape,
    boards: Boards,
    program: Program,
    tables: Tables,
    step: Step,
    scratch: Scratch,
    stop: I64,
) -> None:
    """Visit the second of three rounds on one board, and the boards that follow."""
    base = boards.table[board]
    segment = step.traverser * program.round_segments[-1] + program.round_segments[1]
    descend(segment, base, 0, shape.stride, shape, program, tables, step, scratch.reach)
    for g in range(program.segments[segment, 2], program.segments[segment, 3]):
        evaluate_group(g, board, shape, boards, program, scratch.reach, scratch.value, scratch)
    clear_rows(segment, shape.stride, program, scratch.value)
    for child in range(boards.first_child[board], boards.first_child[board + 1]):
        visit_last(child, shape, boards, program, tables, step, scratch)
        if is_stopped(stop):
            return
    ascend(segment, base, 0, shape.stride, shape, program, tables, step, scratch.value)


@kernel
def bank_images(
    board: int, chunk: int, stride: int, boards: Boards, traverser: int, team: Team, value: F32
) -> None:
    """Add one board's leaf values to its chunk, for itself and for all its images; then zero them."""
    num_leaves = team.leaf_value.shape[1]
    for leaf in range(num_leaves):
        row = team.leaf_value[traverser, leaf] * stride
        out = (chunk * num_leaves + leaf) * stride
        for h in range(stride):
            team.chunks[out + h] += value[row + h]
        for i in range(boards.first_image[board], boards.first_image[board + 1]):
            for h in range(stride):
                team.chunks[out + h] += value[row + boards.image[i, h]]
        zero_row(value, row, stride)


@kernel
def visit_chunks(
    shape: Shape,
    boards: Boards,
    program: Program,
    tables: Tables,
    step: Step,
    team: Team,
    scratch: Scratch,
    stop: I64,
) -> bool:
    """Visit boards of the second round, as many chunks as this thread takes; False if stopped."""
    stride, num_leaves = shape.stride, team.leaf_reach.shape[1]
    merged = boards.image.shape[0] > 0
    first = boards.first_child[0]
    count = boards.first_child[1] - first
    for leaf in range(num_leaves):
        row = team.leaf_reach[step.traverser, leaf] * stride
        copy_row(team.root.reach, row, scratch.reach, row, stride)
    while True:
        chunk = atomic_add(team.counters, NEXT_TASK, 1)
        if chunk >= CHUNKS:
            return True
        for leaf in range(num_leaves):
            zero_row(scratch.value, team.leaf_value[step.traverser, leaf] * stride, stride)
            zero_row(team.chunks, (chunk * num_leaves + leaf) * stride, stride)
        for board in range(first + chunk * count // CHUNKS, first + (chunk + 1) * count // CHUNKS):
            if is_stopped(stop):
                return False
            if shape.num_rounds == 2:
                visit_last(board, shape, boards, program, tables, step, scratch)
            else:
                visit_middle(board, shape, boards, program, tables, step, scratch, stop)
            if merged:
                bank_images(board, chunk, stride, boards, step.traverser, team, scratch.value)
        if is_stopped(stop):  # the last board may be unfinished
            return False
        if not merged:
            for leaf in range(num_leaves):
                row = team.leaf_value[step.traverser, leaf] * stride
                copy_row(scratch.value, row, team.chunks, (chunk * num_leaves + leaf) * stride, stride)


@kernel
def add_chunks(begin: int, end: int, traverser: int, stride: int, team: Team) -> None:
    """Add the values of all chunks to the leaves of the first round, in a fixed order."""
    num_leaves = team.leaf_value.shape[1]
    value = team.root.value
    for leaf in range(num_leaves):
        row = team.leaf_value[traverser, leaf] * stride
        for chunk in range(CHUNKS):
            source = (chunk * num_leaves + leaf) * stride
            for h in range(begin, end):
                value[row + h] += team.chunks[source + h]


@kernel
def own_hands(thread: int, stride: int, team: Team) -> tuple[int, int]:
    """The hands of the first round that a thread works on; the same in every pass."""
    if team.batch > 0:  # all hands of the thread's part
        return 0, stride
    blocks = stride // LINE
    return thread * blocks // team.num_threads * LINE, (thread + 1) * blocks // team.num_threads * LINE


@kernel
def run_pass(
    thread: int,
    shape: Shape,
    boards: Boards,
    program: Program,
    tables: Tables,
    step: Step,
    team: Team,
    scratch: Scratch,
    opponent_reach: F32,
    root_value: F32,
    stop: I64,
) -> bool:
    """Run this thread's part of one pass. Returns False if stopped, the same for every thread.

    opponent_reach  float32[stride]  in
    root_value      float32[stride]  out
    """
    stride, root = shape.stride, team.root
    segment = step.traverser * program.round_segments[-1]
    begin, end = own_hands(thread, stride, team)
    copy_row(opponent_reach, begin, root.reach, begin, end - begin)
    descend(segment, 0, begin, end, shape, program, tables, step, root.reach)
    if shape.num_rounds == 1:
        if team.num_threads == 1:
            if is_stopped(stop):
                return False
            for g in range(program.segments[segment, 2], program.segments[segment, 3]):
                evaluate_group(g, 0, shape, boards, program, root.reach, root.value, scratch)
        elif not evaluate_together(thread, segment, shape, boards, program, team, scratch, stop):
            return False
        ascend(segment, 0, begin, end, shape, program, tables, step, root.value)
        copy_row(root.value, begin, root_value, begin, end - begin)
        return True
    if thread == 0:
        team.counters[NEXT_TASK] = 0
        team.counters[STOPPED] = 0
    meet(team.counters, team.num_threads)
    for g in range(program.segments[segment, 2] + thread, program.segments[segment, 3], team.num_threads):
        evaluate_group(g, 0, shape, boards, program, root.reach, root.value, scratch)
    if thread == 0:
        clear_rows(segment, stride, program, root.value)
    if not visit_chunks(shape, boards, program, tables, step, team, scratch, stop):
        # one thread that stopped is enough
        atomic_add(team.counters, STOPPED, 1)
    meet(team.counters, team.num_threads)
    if atomic_load(team.counters, STOPPED) != 0:
        return False
    add_chunks(begin, end, step.traverser, stride, team)
    ascend(segment, 0, begin, end, shape, program, tables, step, root.value)
    copy_row(root.value, begin, root_value, begin, end - begin)
    return True


@kernel
def force_entry(reach: F32, stride: int, begin: int, end: int, share: float) -> None:
    """Let at least this share of the first row enter in the second row."""
    forced, free = np.float32(share), np.float32(1 - share)
    for h in range(begin, end):
        reach[stride + h] = forced * reach[h] + free * reach[stride + h]


@kernel
def iterate(
    thread: int,
    shape: Shape,
    boards: Boards,
    program: Program,
    tables: Tables,
    team: Team,
    scratch: Scratch,
    gadget: Gadget,
    reach: F32,
    root_value: F32,
    schedule: F64,
    floor: float,
    stop: I64,
) -> int:
    """Run alternating iterations; return how many were finished before `stop` was set.

    reach       float32[2, stride]  both ranges at the root
    root_value  float32[2, stride]  out: root values of the last pass of each player
    schedule    float64[T, 4]       keep_positive, keep_negative, keep_average, keep_next of each iteration
    """
    stride = shape.stride
    begin, end = own_hands(thread, stride, team)
    for t in range(schedule.shape[0]):
        for traverser in range(2):
            step = Step(
                traverser, UPDATE, schedule[t, 0], schedule[t, 1], schedule[t, 2], schedule[t, 3], floor
            )
            opponent_reach = reach[1 - traverser]
            if gadget.player == 1 - traverser:
                spread_reach(gadget.regret, 0, 2, stride, begin, end, gadget.reach, 0, 1)
                force_entry(gadget.reach, stride, begin, end, gadget.forced)
                opponent_reach = gadget.reach[stride : 2 * stride]
            finished = run_pass(
                thread, shape, boards, program, tables, step, team, scratch,
                opponent_reach, root_value[traverser], stop,
            )  # fmt: skip
            if not finished:
                return t
            if gadget.player == traverser:
                copy_row(root_value[traverser], begin, gadget.value, stride + begin, end - begin)
                update_regret(
                    gadget.regret, 0, 2, stride, begin, end, gadget.value, 1, 0, False,
                    step.keep_positive, step.keep_negative, step.floor,
                )  # fmt: skip
    return len(schedule)
