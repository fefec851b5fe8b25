"""Showdowns of every hand against a weighted range at once: exact, by counting or summing over run-outs.

1. For weights w over hands, the *disjoint sum* of hand i is Σ w(j) over the hands j that share no card with
   it. The *showdown sum* is Σ w(j) · e(i, j), where e is i's equity against j: the share of the pot won at
   showdown, a tie being half, averaged over all boards that public cards and both hands allow.
2. On a board the hands are sorted by strength, once; then one sweep over them gives all showdown sums, with
   running totals over everybody and over the holders of each card, as in `solver.kernels.terminal`.
3. A turn is 48 rivers, a flop 1,176 run-outs. Before the flop equities of all pairs of hands are counted.
   That takes half a minute, so the table is made once and kept in Fathom's cache.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import combinations
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from abstraction.equity import new_sorted_river, sort_river
from abstraction.isomorphism import HAND_UNDER, NUM_RELABELLINGS, board_multiplicities, canonical_boards
from game.cards import NUM_CARDS, Cards
from game.evaluator import NUM_LIVE_HANDS, fill_river
from game.hands import HAND_CARDS, NUM_HANDS
from game.jit import cache_home, kernel
from solver.layout import F32, F64, I32, I64, U8, U16

I16 = npt.NDArray[np.int16]

_TABLE_VERSION = 1
_BOARDS_AT_ONCE = 64  # their strengths stay in the cache while a row of counts is added up
_NO_STRENGTH = np.uint16(0xFFFF)


class Runouts(NamedTuple):
    """All river boards that a board may become, each with its hands by rising strength."""

    hands: U16
    """uint16[R, 1081]"""
    ends: U16
    """uint16[R, 1081]: where each group of hands that tie ends."""
    groups: I32
    """int32[R]"""
    share: float
    """One over the number of run-outs that a pair of hands allows."""


def sort_runouts(board: Cards) -> Runouts:
    """Sort the hands on every river that a board of 3, 4 or 5 cards may become."""
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
def table_sums(equities: F32, weights: F64, sums: F64) -> None:
    """Showdown sums from a table of equities float32[H, H], 0 where hands share a card."""
    for i in range(equities.shape[0]):
        total = 0.0
        for j in range(equities.shape[1]):
            total += np.float64(equities[i, j]) * weights[j]
        sums[i] = total


@cache
def preflop_equities() -> F32:
    """float32[1326, 1326]: equity of each hand against each; counted once, then read from the cache."""
    path = _preflop_path()
    if not path.exists():
        _write_whole(path, count_preflop_equities())
    table: F32 = np.load(path, mmap_mode="r")
    return np.asarray(table)


def preflop_is_counted() -> bool:
    """Whether `preflop_equities` would return at once."""
    return _preflop_path().exists()


def _preflop_path() -> Path:
    return cache_home() / "equity" / f"preflop-{_TABLE_VERSION}.npy"


def count_preflop_equities() -> F32:
    """The table of `preflop_equities`, counted. Blocks for half a minute."""
    times = board_multiplicities(5).astype(np.int32)
    order = np.argsort(times, kind="stable")
    runouts = comb(NUM_CARDS - 4, 5)
    equities = (matchup_sums(canonical_boards(5)[order], times[order]) + runouts) / (2 * runouts)
    equities[_share_a_card()] = 0
    return equities.astype(np.float32)


def matchup_sums(boards: U8, times: I32) -> I64:
    """int64[1326, 1326]: wins less losses of each hand against each, over boards and all they stand for.

    boards  uint8[B, 5]: different by more than the names of suits
    times   int32[B]: how many boards each stands for, itself included
    """
    counts = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.int32)
    add_matchups(boards, times, counts)
    counts -= counts.T.copy()
    total = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.int64)
    for moved in HAND_UNDER:
        total += counts[moved[:, None], moved[None, :]]
    return total // NUM_RELABELLINGS


@kernel
def add_matchups(boards: U8, times: I32, counts: I32) -> None:
    """Add to each pair of hands, for each river board that leaves both, 1 if the first wins, −1 if it loses.

    boards  uint8[B, 5]        in
    times   int32[B]           in: how often each board counts; fastest if equal numbers are neighbours
    counts  int32[1326, 1326]  modified in place, where the second hand is the lower index
    """
    # A blocked hand is weaker than nobody and stronger than nobody: 65535 in `least`, 0 in `most`.
    least = np.empty((_BOARDS_AT_ONCE, NUM_HANDS), dtype=np.uint16)
    most = np.empty((_BOARDS_AT_ONCE, NUM_HANDS), dtype=np.uint16)
    row = np.empty(NUM_HANDS, dtype=np.int16)
    start = 0
    while start < boards.shape[0]:
        factor, num = times[start], 0
        while num < _BOARDS_AT_ONCE and start + num < boards.shape[0] and times[start + num] == factor:
            fill_river(boards[start + num], most[num])
            for h in range(NUM_HANDS):
                least[num, h] = most[num, h] or _NO_STRENGTH
            num += 1
        for i in range(NUM_HANDS):
            row[:] = 0
            for b in range(num):
                if most[b, i]:
                    _add_row(most[b, i], least[b], most[b], row[:i])
            for h in range(i):
                counts[i, h] += factor * np.int32(row[h])
        start += num


@kernel
def _add_row(own: np.uint16, least: U16, most: U16, row: I16) -> None:
    for h in range(row.shape[0]):
        row[h] += np.int16(own > least[h]) - np.int16(own < most[h])


def _share_a_card() -> npt.NDArray[np.bool_]:
    low, high = HAND_CARDS[:, 0], HAND_CARDS[:, 1]
    shared = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.bool_)
    for own in (low, high):
        for other in (low, high):
            shared |= own[:, None] == other[None, :]
    return shared


def _write_whole(path: Path, table: F32) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.stem}.{os.getpid()}.npy")
    try:
        np.save(partial, table)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
