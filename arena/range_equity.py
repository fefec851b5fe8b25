"""What one hand wins against every other hand when nobody bets any more: exact, by counting run-outs.

1. An equity is the share of the pot won at showdown, a tie being half, averaged over all boards that the
   public cards, the hand and the other hand allow: 1, 44, 990 and 1,712,304 of them from river to pre-flop.
2. Everything is counted in integers (2 for a win, 1 for a tie) and divided once.
3. Against hands that cannot be, because they share a card with the hand or the board, it is 0.

Before the flop counting takes half a minute, so the whole table is made once and kept with Fathom's cache.
"""

from __future__ import annotations

import os
from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import numpy.typing as npt

from abstraction.isomorphism import HAND_UNDER, NUM_RELABELLINGS, board_multiplicities, canonical_boards
from game.cards import NUM_CARDS, Cards
from game.evaluator import fill_river
from game.hands import HAND_CARDS, NUM_HANDS
from game.jit import cache_home, kernel

U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
I16 = npt.NDArray[np.int16]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]

_TABLE_VERSION = 1
_BOARDS_AT_ONCE = 64  # their strengths stay in the cache while a row of counts is added up
_NO_STRENGTH = np.uint16(0xFFFF)


def hand_equities(hand: int, board: Cards) -> F32:
    """float32[1326]: equity of a hand against every hand on a board of 0, 3, 4 or 5 cards."""
    if not board:
        row: F32 = preflop_equities()[hand]
        return row
    out = np.empty(NUM_HANDS, dtype=np.float32)
    fill_equities(hand, np.array(board, dtype=np.uint8), out)
    return out


@cache
def preflop_equities() -> F32:
    """float32[1326, 1326]: equity of each hand against each; counted once, then read from the cache."""
    path = cache_home() / "equity" / f"preflop-{_TABLE_VERSION}.npy"
    if not path.exists():
        _write_whole(path, count_preflop_equities())
    table: F32 = np.load(path, mmap_mode="r")
    return np.asarray(table)


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
def fill_equities(hand: int, board: U8, equities: F32) -> None:
    """Equities on a flop, turn or river.

    board     uint8[3 | 4 | 5]  in: different cards, none of the hand's
    equities  float32[1326]     out
    """
    num_cards = board.shape[0]
    dead = np.zeros(NUM_CARDS, dtype=np.bool_)
    completed = np.zeros(5, dtype=np.uint8)
    for i in range(num_cards):
        completed[i] = board[i]
        dead[board[i]] = True
    dead[HAND_CARDS[hand, 0]] = dead[HAND_CARDS[hand, 1]] = True
    strengths = np.empty(NUM_HANDS, dtype=np.uint16)
    counts = np.zeros(NUM_HANDS, dtype=np.uint16)  # at most 2 × 990
    if num_cards == 5:
        _add_counts(hand, completed, strengths, counts)
        runouts = 1
    else:
        for river in range(NUM_CARDS):
            if dead[river]:
                continue
            completed[4] = river
            if num_cards == 4:
                _add_counts(hand, completed, strengths, counts)
                continue
            for turn in range(river):
                if not dead[turn]:
                    completed[3] = turn
                    _add_counts(hand, completed, strengths, counts)
        runouts = 44 if num_cards == 4 else 990
    scale = np.float32(0.5 / runouts)
    for h in range(NUM_HANDS):
        blocked = dead[HAND_CARDS[h, 0]] or dead[HAND_CARDS[h, 1]]
        equities[h] = np.float32(0) if blocked else np.float32(counts[h]) * scale


@kernel
def _add_counts(hand: int, board: U8, strengths: U16, counts: U16) -> None:
    """Add 2 for each hand that is weaker on a river, 1 for each that ties."""
    fill_river(board, strengths)
    own = strengths[hand]
    for h in range(NUM_HANDS):
        other = strengths[h]  # 0 on hands that the board blocks
        counts[h] += np.uint16(other != 0) * (np.uint16(own > other) + np.uint16(own >= other))


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
