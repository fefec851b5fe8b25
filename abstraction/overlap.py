"""The overlap of two card abstractions: the number of hands each pair of their buckets has in common."""

from __future__ import annotations

import numpy as np
from rich.progress import Progress

from abstraction.buckets import BLOCKED, CardAbstraction
from abstraction.features import ROUND_NAMES
from abstraction.isomorphism import board_multiplicities
from abstraction.tables import open_tables
from game.hands import NUM_CLASSES
from numeric.arrays import F64, I64, U16
from numeric.jit import kernel


def bucket_overlaps(
    one: CardAbstraction, other: CardAbstraction, progress: Progress | None = None
) -> list[F64]:
    """For every round, float64[buckets of one, buckets of other]: number of hands on boards in both buckets.

    Blocks while it builds whole-board tables that are missing.
    """
    tables, others = open_tables(one, progress=progress), open_tables(other, progress=progress)
    overlaps = [np.eye(NUM_CLASSES)]  # pre-flop buckets are the same classes in all abstractions
    for round_, (num_cards, name) in enumerate(ROUND_NAMES.items(), start=1):
        overlap = np.zeros((one.num_buckets[round_], other.num_buckets[round_]))
        add_overlap(getattr(tables, name), getattr(others, name), board_multiplicities(num_cards), overlap)
        overlaps.append(overlap)
    return overlaps


@kernel
def add_overlap(one: U16, other: U16, counts: I64, overlap: F64) -> None:
    """Count the hands of canonical boards by their buckets in both abstractions.

    one, other  uint16[rows, 1326]  in: buckets on the same boards
    counts      int64[rows]         in: weight of each board
    overlap     float64[K, L]       in, out
    """
    for row in range(one.shape[0]):
        for hand in range(one.shape[1]):
            if one[row, hand] != BLOCKED:
                overlap[one[row, hand], other[row, hand]] += counts[row]
