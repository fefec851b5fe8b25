"""The eight classes of opponent hands for the river features.

They cluster the 169 pre-flop classes by their distributions of river equity over all boards and opponents,
compared by earth mover's distance (Johanson, Burch, Valenzano and Bowling, "Evaluating state-space
abstractions in extensive-form games", AAMAS 2013). Of many seedings the one with the least squared distance
is kept. `derive_opponent_classes` recomputes the grid below in a few seconds.
"""

from __future__ import annotations

import numpy as np

from abstraction.clustering import cluster
from abstraction.equity import (
    HISTOGRAM_COLUMNS,
    NUM_BINS,
    NUM_OPPONENT_CLASSES,
    SHARES_PER_RUNOUT,
    TAIL_UNITS,
    new_sorted_river,
    score_river,
    sort_river,
)
from abstraction.features import Points
from abstraction.isomorphism import board_multiplicities, canonical_boards
from game.evaluator import NUM_LIVE_HANDS
from game.hands import HAND_CLASS, NUM_CLASSES
from numeric.arrays import I64, U8
from numeric.jit import kernel

NUM_SEEDINGS = 200

# By the grid of `game.hands`: aces first, suited above the diagonal. 0 is the weakest, 7 the strongest.
_GRID = """
    7 6 6 6 6 6 6 6 6 6 5 5 5
    6 7 6 6 6 6 5 5 5 5 5 5 5
    6 6 7 4 4 4 4 4 4 3 3 3 3
    6 6 4 7 4 4 4 4 3 3 3 3 3
    6 6 4 4 7 4 4 2 2 2 2 2 1
    6 5 4 4 2 7 2 2 2 2 1 1 1
    6 5 4 3 2 2 7 2 2 1 1 1 1
    5 5 3 3 2 2 2 6 2 1 1 1 0
    5 5 3 3 2 1 1 1 6 1 1 0 0
    5 5 3 3 1 1 1 1 1 6 1 0 0
    5 3 3 3 1 1 1 0 0 0 5 0 0
    5 3 3 1 1 1 0 0 0 0 0 5 0
    5 3 3 1 1 1 0 0 0 0 0 0 5
"""

OPPONENT_CLASSES: U8 = np.array(_GRID.split(), dtype=np.uint8)
"""uint8[169]: the opponent class 0..7 of each pre-flop class."""
OPPONENT_CLASSES.setflags(write=False)


def preflop_histograms() -> I64:
    """int64[169, 34]: shares by bin of river equity (`abstraction.equity`), over all boards and opponents."""
    histograms = np.zeros((NUM_CLASSES, HISTOGRAM_COLUMNS), dtype=np.int64)
    _fill_preflop(canonical_boards(5), board_multiplicities(5), HAND_CLASS, histograms)
    return histograms


def derive_opponent_classes() -> U8:
    """Cluster the pre-flop classes again; the result equals `OPPONENT_CLASSES`."""
    histograms = preflop_histograms()
    totals = histograms.sum(axis=1, keepdims=True)
    above = totals - np.cumsum(histograms[:, :NUM_BINS], axis=1)
    tails = np.rint(TAIL_UNITS * above / totals).astype(np.uint8)
    points = Points(tails, np.bincount(HAND_CLASS, minlength=NUM_CLASSES))
    runs = [cluster(points, NUM_OPPONENT_CLASSES, seed) for seed in range(NUM_SEEDINGS)]
    best = min(runs, key=lambda run: run.mean_squared_distance)
    distances = np.abs(tails[:, None].astype(np.int64) - best.centroids[None].astype(np.int64)).sum(axis=2)
    nearest: U8 = distances.argmin(axis=1).astype(np.uint8)
    return nearest


@kernel
def _fill_preflop(boards: U8, multiplicities: I64, class_of_hand: U8, histograms: I64) -> None:
    river, scores = new_sorted_river(), np.empty(NUM_LIVE_HANDS, dtype=np.int32)
    for n in range(boards.shape[0]):
        score_river(river, sort_river(boards[n], river), scores)
        for h in range(NUM_LIVE_HANDS):
            hand_class = class_of_hand[river.hands[h]]
            column, rest = divmod(scores[h] * 8, SHARES_PER_RUNOUT)
            histograms[hand_class, column] += (SHARES_PER_RUNOUT - rest) * multiplicities[n]
            histograms[hand_class, column + 1] += rest * multiplicities[n]
