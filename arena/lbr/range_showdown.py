"""Showdowns of every hand against a weighted range, exact over all run-outs.

1. For weights w over hands, the *disjoint sum* of hand i is Σ w(j) over the hands j that share no card with
   it. The *showdown sum* is Σ w(j) · e(i, j), where e is i's equity against j: the share of the pot won at
   showdown, a tie counting as half, averaged over all boards that the public cards and both hands allow.
2. The hands are sorted by strength once per board. Then one sweep over them gives all showdown sums, with
   running totals over all hands and over the holders of each card, as in `solver.exact.kernels.terminal`.
3. A turn is 48 rivers, a flop 1,176 run-outs. Before the flop there is a table of all pairs of hands:
   `solver.equity.all_in.preflop_wins`.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from abstraction.equity import new_sorted_river, sort_river
from game.cards import NUM_CARDS, Cards
from game.evaluator import NUM_LIVE_HANDS
from game.hands import HAND_CARDS, NUM_HANDS
from numeric.arrays import F32, F64, I32, U8, U16
from numeric.jit import kernel


class Runouts(NamedTuple):
    """All river boards that a board can lead to, each with its hands by rising strength."""

    hands: U16
    """uint16[R, 1081]"""
    ends: U16
    """uint16[R, 1081]: where each group of tied hands ends."""
    groups: I32
    """int32[R]"""
    share: float
    """1 / the number of run-outs that a pair of hands allows."""


def sort_runouts(board: Cards) -> Runouts:
    """Sort the hands on every river that a board of 3, 4 or 5 cards can lead to."""
    missing = 5 - len(board)
    left = [card for card in range(NUM_CARDS) if card not in board]
    boards = np.array([(*board, *cards) for cards in combinations(left, missing)], dtype=np.uint8)
    runouts = Runouts(
        np.empty((len(boards), NUM_LIVE_HANDS), dtype=np.uint16),
        np.empty((len(boards), NUM_LIVE_HANDS), dtype=np.uint16),
        np.empty(len(boards), dtype=np.int32),
        1 / comb(len(left) - 4, missing),
    )
    fill_runouts(boards, runouts)
    return runouts


@kernel
def fill_runouts(boards: U8, runouts: Runouts) -> None:
    """Sort the hands of river boards uint8[R, 5]."""
    river = new_sorted_river()
    for r in range(boards.shape[0]):
        runouts.groups[r] = sort_river(boards[r], river)
        for k in range(NUM_LIVE_HANDS):
            runouts.hands[r, k] = river.hands[river.order[k]]
            runouts.ends[r, k] = river.group_ends[k]


@kernel
def showdown_sums(runouts: Runouts, weights: F64, sums: F64) -> None:
    """Showdown sums of all hands.

    weights  float64[1326]  in
    sums     float64[1326]  out; 0 for hands that the board blocks
    """
    with_card = np.empty(NUM_CARDS, dtype=np.float64)
    sums[:] = 0.0
    for r in range(runouts.hands.shape[0]):
        hands, ends = runouts.hands[r], runouts.ends[r]
        with_card[:] = 0.0
        total, start = 0.0, np.int64(0)
        for group in range(runouts.groups[r]):
            end = np.int64(ends[group])
            for k in range(start, end):
                hand = np.int64(hands[k])
                sums[hand] += total - with_card[HAND_CARDS[hand, 0]] - with_card[HAND_CARDS[hand, 1]]
            for k in range(start, end):
                hand = np.int64(hands[k])
                weight = weights[hand]
                total += weight
                with_card[HAND_CARDS[hand, 0]] += weight
                with_card[HAND_CARDS[hand, 1]] += weight
            for k in range(start, end):
                # The hand itself was counted once in the total and twice among the holders of its cards.
                hand = np.int64(hands[k])
                held = with_card[HAND_CARDS[hand, 0]] + with_card[HAND_CARDS[hand, 1]]
                sums[hand] += total - held + weights[hand]
            start = end
    for h in range(NUM_HANDS):
        sums[h] *= 0.5 * runouts.share


@kernel
def disjoint_sums(weights: F64, sums: F64) -> None:
    """Disjoint sums of all hands: float64[1326] in, float64[1326] out."""
    with_card = np.zeros(NUM_CARDS, dtype=np.float64)
    total = 0.0
    for h in range(NUM_HANDS):
        total += weights[h]
        with_card[HAND_CARDS[h, 0]] += weights[h]
        with_card[HAND_CARDS[h, 1]] += weights[h]
    for h in range(NUM_HANDS):
        sums[h] = total - with_card[HAND_CARDS[h, 0]] - with_card[HAND_CARDS[h, 1]] + weights[h]


@kernel
def table_sums(table: F32, weights: F64, sums: F64) -> None:
    """Multiply a table float32[H, H] by the weights."""
    for i in range(table.shape[0]):
        total = 0.0
        for j in range(table.shape[1]):
            total += np.float64(table[i, j]) * weights[j]
        sums[i] = total
