"""The 169 classes of starting hands against each other: numbers of pairs of hands, and all-in results."""

from __future__ import annotations

from functools import cache

import numpy as np

from game.hands import HAND_CARDS, HAND_CLASS, NUM_CLASSES, NUM_HANDS
from numeric.arrays import F32
from solver.equity.all_in import preflop_wins


@cache
def class_pairs() -> F32:
    """float32[169, 169]: number of pairs of hands of two classes that share no card."""
    return _sum_by_class(_disjoint())


@cache
def class_wins() -> F32:
    """float32[169, 169]: mean all-in result of one class against another, over all boards.

    See `all_in`. Blocks for about 20 seconds the first time on a machine.
    """
    return _sum_by_class(preflop_wins()) / class_pairs()


def _disjoint() -> F32:
    low, high = HAND_CARDS[:, 0], HAND_CARDS[:, 1]
    shared = np.zeros((NUM_HANDS, NUM_HANDS), dtype=bool)
    for first in (low, high):
        for second in (low, high):
            shared |= first[:, None] == second[None, :]
    return (~shared).astype(np.float32)


def _sum_by_class(table: F32) -> F32:
    """Sum float32[1326, 1326] over the hands of each class."""
    member = np.zeros((NUM_CLASSES, NUM_HANDS), dtype=np.float32)
    member[HAND_CLASS, np.arange(NUM_HANDS)] = 1
    return np.asarray(member @ table @ member.T, dtype=np.float32)
