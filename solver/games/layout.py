"""The arrays that the solver's kernels share: index order and types.

One list of hands serves a whole game. `hand` is an index 0..H-1 over the hands that the root board does not
block. Rows of hands are `stride` elements apart, a multiple of 16 above H. Hands blocked by a later public
card keep their place and get the value 0.

Every table of regrets or strategy sums is one flat float32 array: [board][action row][hand]. `Boards.table`
gives the start of a board's rows; a node's rows start at its `action_row` within its round.

A *pass* updates one traverser. It walks each board's part of the tree by a straight-line program, made once:
the opponent's reach down (`down`), eight terminals at a time (`lane_*`), the traverser's values up (`up`).
Rows of reach and of values are in two scratch arrays [row][hand]; a row number means the same node on every
board.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.arrays import F32, I32, I64, U8, U16, U32

LANES = 8
LINE = 16
"""Elements of a cache line; shared arrays are split at multiples of it."""
CHUNKS = 16
"""Second-round boards are summed in this fixed number of parts, so that results do not depend on threads."""


class Boards(NamedTuple):
    """Public boards of all rounds, parents before children; board 0 is the root."""

    table: I64
    """int64[B]: element where the board's rows start in a table."""
    first_child: I32
    """int32[B + 1]: boards that follow from b are first_child[b]..first_child[b + 1] - 1."""
    position: U16
    """uint16[B, stride]: place of each hand in the board's order; `stride` for blocked and padding hands."""
    pair: U32
    """uint32[B, H]: the two cards of the hand at each place, each times 8: first | second << 16."""
    ends: U16
    """uint16[B, H]: one past the last place of each tie group; weakest first."""
    live: I32
    """int32[B]: unblocked hands."""
    groups: I32
    """int32[B]: number of tie groups; 0 on boards without showdowns."""
    first_image: I32
    """int32[B + 1]: images of a second-round board b: first_image[b]..first_image[b + 1] - 1."""
    image: U16
    """uint16[I, stride]: for each hand of the image, the hand that plays here as it does there
    (`symmetry`)."""


class Program(NamedTuple):
    """What a pass does, for both traversers. Segment s of traverser p is row p * S + s of `segments`."""

    round_segments: I32
    """int32[rounds + 1]: segments of round r are round_segments[r]..round_segments[r + 1] - 1."""
    segments: I32
    """int32[2 * S, 8]: begin and end in `down`, in `lane_*`, in `up`, in `clear`."""
    down: I32
    """int32[:, 5]: action_row, num_actions, reach row of the node, of its first child, node."""
    up: I32
    """int32[:, 6]: action_row, num_actions, value row of the first child, of the node, accumulate, node."""
    clear: I32
    """int32[:]: value rows that the next round adds to without a write before."""
    lane_kind: I32
    """int32[G, 2]: FOLDS, SHOWDOWNS or MIXED; whether any lane accumulates."""
    lane_showdown: I32
    """int32[G, 8]: reach row of the showdown."""
    lane_fold: I32
    """int32[G, 8]: reach row of the fold."""
    lane_out: I32
    """int32[G, 8]: value row."""
    lane_win: F32
    """float32[G, 8]: chips won or lost at the showdown, times the probability of the public cards; 0 if
    none."""
    lane_gain: F32
    """float32[G, 8]: chips the traverser gains by the fold, negative if they fold, times the same
    probability."""
    lane_keep: F32
    """float32[G, 8]: 1 if the lane adds to its row."""


class Shape(NamedTuple):
    """Sizes that every kernel needs."""

    stride: int
    num_cards: int
    num_rounds: int


class Tables(NamedTuple):
    """Arrays that an iteration changes."""

    regret: F32
    """float32[table size]. In evaluations: the table that strategies are read from."""
    average: F32
    """float32[table size]: strategy sums."""
    basis: F32
    """float32[table size]: regrets without the prediction `regret` contains; empty in other variants."""
    frozen: U8
    """uint8[N]: 1 for nodes whose strategy must not change."""


class Scratch(NamedTuple):
    """Working memory of one thread, or (reach and value only) of the first round."""

    reach: F32
    """float32[reach rows * stride]."""
    value: F32
    """float32[value rows * stride]."""
    lanes: F32
    """float32[(stride + 1) * 8]: showdown reach, lanes innermost."""
    fold_lanes: F32
    """float32[(stride + 1) * 8]: fold reach."""
    out_lanes: F32
    """float32[(stride + 1) * 8]: values; the last place stays 0."""
    totals: F32
    """float32[(cards + 1) * 8]."""


class Team(NamedTuple):
    """State shared by the threads of one solve."""

    root: Scratch
    """Rows of the first round; on a single river, of this thread's part."""
    chunks: F32
    """float32[CHUNKS * leaves * stride]: what each chunk of second-round boards adds to the leaves."""
    leaf_reach: I32
    """int32[2, leaves]: for each traverser, reach row of each chance node of the first round."""
    leaf_value: I32
    """int32[2, leaves]: value row."""
    counters: I64
    """int64[NUM_COUNTERS]: see `numeric.threads`."""
    told: F32
    """float32[2 * batch * parts * 2, line]: sums that the parts of a single river exchange. A row is S and F
    of `exact.kernels.terminal`: [turn][group of a batch][part][for the parts above it, below it]."""
    own: F32
    """float32[2 * batch, line]: for each group of a batch, S and F of this part, in its own memory."""
    lanes: F32
    """float32[batch, (stride + 1) * 8]: showdown reach of this thread's part for each group of a batch."""
    fold_lanes: F32
    """float32[batch, (stride + 1) * 8]: fold reach."""
    batch: int
    """Groups of terminals between two barriers of threads that share a single river; else 0."""
    num_threads: int


class Gadget(NamedTuple):
    """A choice before the root: the constrained player enters the subgame or takes a known value instead."""

    player: int
    """The constrained player, or -1 for no gadget."""
    regret: F32
    """float32[2 * stride]: regrets of entering and of not entering."""
    reach: F32
    """float32[3 * stride]: the player's range, the part that enters, the part that does not."""
    value: F32
    """float32[3 * stride]: value of the choice, of entering, of the alternative."""
    forced: float
    """Share of the constrained player's range that enters without a choice."""


class Step(NamedTuple):
    """One pass: traverser, mode, and the factors of the schedule."""

    traverser: int
    mode: int
    keep_positive: float
    keep_negative: float
    keep_average: float
    keep_next: float
    """keep_positive of the following iteration."""
    floor: float


def aligned(size: int) -> F32:
    """Zeros aligned to a cache line: vectors that straddle two lines cost twice."""
    raw = np.zeros(size + 16, dtype=np.float32)
    offset = (-raw.ctypes.data % 64) // 4
    return raw[offset : offset + size]
