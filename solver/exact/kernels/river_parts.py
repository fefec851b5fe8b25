"""The terminals of a single river whose hands several threads share.

The hands are split into parts (`solver.exact.river_parts`). Each thread has one part, with its own rows,
tables and lanes, and processes it all the way: down the tree, through the terminals and up again. The sweep
of a part starts with S and F (`terminal`) of the parts below it added, and subtracts half of those of all
parts. So the only data that threads exchange are, for each group of terminals, the sums of a part for the
parts above and for those below. There is one barrier per few groups. The exchanged sums have two buffers,
used in turn: whoever writes the next has passed a barrier with those who read the last but one.
"""

from __future__ import annotations

import numpy as np

from numeric.arrays import F32, I64
from numeric.jit import kernel
from numeric.simd import load8, splat, store8
from numeric.threads import GENERATION, STOPPED, atomic_load, is_stopped, meet
from solver.exact.kernels.terminal import (
    FOLDS,
    MIXED,
    SHOWDOWNS,
    add_lanes,
    card_totals,
    fold_lanes,
    lanes_to_rows,
    rows_to_lanes,
    sweep_showdown,
)
from solver.games.layout import LANES, Boards, Program, Scratch, Shape, Team

_UP, _DOWN = 0, 1


@kernel
def sum_part(
    part: int, g: int, slot: int, shape: Shape, boards: Boards, program: Program, team: Team, told: F32
) -> None:
    """Lanes of a part's hands, and the sums to exchange.

    told  float32[2 * parts, ...]  out, the part's two rows: S and F of folds plus those of showdowns for the
          parts above, folds minus showdowns for the parts below
    """
    stride, num_cards, reach = shape.stride, shape.num_cards, team.root.reach
    position, pair, live = boards.position[0], boards.pair[0], boards.live[0]
    # Sum in the thread's own memory: adding to lines that another processor has just read is slow.
    fold, showdown = team.own[2 * slot], team.own[2 * slot + 1]
    kind = program.lane_kind[g, 0]
    if kind != SHOWDOWNS:
        folds = team.fold_lanes[slot]
        rows_to_lanes(reach, program.lane_fold, program.lane_gain, g, stride, position, folds)
        card_totals(folds, pair, live, num_cards, fold)
    if kind != FOLDS:
        lanes = team.lanes[slot]
        rows_to_lanes(reach, program.lane_showdown, program.lane_win, g, stride, position, lanes)
        card_totals(lanes, pair, live, num_cards, showdown)
    up, down = told[2 * part + _UP], told[2 * part + _DOWN]
    above, below = part < team.num_threads - 1, part > 0
    zero = splat(np.float32(0.0))
    for c in range(0, (num_cards + 1) * LANES, LANES):
        folded = zero if kind == SHOWDOWNS else load8(fold, c)
        shown = zero if kind == FOLDS else load8(showdown, c)
        if above:
            store8(up, c, folded + shown)
        if below:
            store8(down, c, folded - shown)
        store8(fold, c, folded - shown)  # the part's own share


@kernel
def finish_part(
    part: int,
    g: int,
    slot: int,
    shape: Shape,
    boards: Boards,
    program: Program,
    team: Team,
    scratch: Scratch,
    told: F32,
) -> None:
    """Value rows of a part's hands, from the sums of all parts."""
    num_cards, out, totals = shape.num_cards, scratch.out_lanes, scratch.totals
    lanes, folds, own = team.lanes[slot], team.fold_lanes[slot], team.own[2 * slot]
    position, pair, live = boards.position[0], boards.pair[0], boards.live[0]
    kind, accumulate = program.lane_kind[g, 0], program.lane_kind[g, 1] != 0
    share = splat(np.float32(1.0)) if kind == FOLDS else splat(np.float32(0.5))
    for c in range(0, (num_cards + 1) * LANES, LANES):
        total = load8(own, c)
        for p in range(part):
            total = total + load8(told[2 * p + _UP], c)
        for p in range(part + 1, team.num_threads):
            total = total + load8(told[2 * p + _DOWN], c)
        store8(totals, c, total * share)
    if kind == FOLDS:
        fold_lanes(folds, pair, live, num_cards, totals, out)
    else:
        sweep_showdown(lanes, pair, boards.ends[0], boards.groups[0], num_cards, totals, out)
        if kind == MIXED:
            add_lanes(folds, live, out)
    lanes_to_rows(
        out, position, shape.stride, team.root.value, program.lane_out, program.lane_keep, g, accumulate
    )


@kernel
def evaluate_together(
    part: int,
    segment: int,
    shape: Shape,
    boards: Boards,
    program: Program,
    team: Team,
    scratch: Scratch,
    stop: I64,
) -> bool:
    """Value all terminals of a single river for this thread's part. False if stopped, in every thread."""
    step = 2 * team.num_threads
    for first in range(program.segments[segment, 2], program.segments[segment, 3], team.batch):
        end = min(first + team.batch, program.segments[segment, 3])
        turn = atomic_load(team.counters, GENERATION) & 1
        base = turn * team.batch * step
        for g in range(first, end):
            row = base + (g - first) * step
            sum_part(part, g, g - first, shape, boards, program, team, team.told[row : row + step])
        if part == 0 and is_stopped(stop):
            team.counters[STOPPED + LANES * turn] = 1
        meet(team.counters, team.num_threads)
        if atomic_load(team.counters, STOPPED + LANES * turn) != 0:
            return False
        for g in range(first, end):
            row = base + (g - first) * step
            told = team.told[row : row + step]
            finish_part(part, g, g - first, shape, boards, program, team, scratch, told)
    return True
