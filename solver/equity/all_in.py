"""All-in results: exact means over run-outs, for two hands or two beliefs.

Results ("wins") are player 0's: 1 for a win, -1 for a loss, 0 for a split, so times the stake they are net
chips. After the flop run-outs are enumerated. Before it there are 1,712,304 boards for each pair of hands;
all pairs are counted once, on the 134,459 boards that differ by more than suits, and stored in Fathom's
cache.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

from abstraction.isomorphism import HAND_UNDER, NUM_RELABELLINGS, board_multiplicities, canonical_boards
from game.cards import NUM_CARDS, Cards
from game.errors import CardError
from game.evaluator import START, fill_river, strength_7
from game.evaluator_tables import CARD_BITS, CARD_KEYS
from game.hands import HAND_CARDS, NUM_HANDS, hand_index
from numeric.arrays import F32, F64, I32, I64, U8, U16
from numeric.folders import cached
from numeric.jit import kernel
from numeric.threads import atomic_add
from solver.equity.beliefs import pair_mass
from solver.equity.river import board_wins

NUM_BOARDS = 1_712_304
"""Number of boards without the cards of two hands: C(48, 5)."""

_FLUSH_BOARDS = 2_048  # a board counts for at most 24, so these sums fit 16 bits
_BLOCKED = np.uint16(0xFFFF)
_BOARDS_AT_ONCE, _ROWS_AT_ONCE = 16, 8
_KEPT_FLOPS = 2


def pair_wins(first: Cards, second: Cards, board: Cards) -> float:
    """The mean result of two hands over all run-outs of a board of 0, 3, 4 or 5 cards."""
    if len(board) not in (0, 3, 4, 5) or len({*first, *second, *board}) != 4 + len(board):
        raise CardError(
            "give two different hands and a board of 0, 3, 4 or 5 cards that shares none with them"
        )
    cards = np.array([*first, *second, *board], dtype=np.uint8)
    return float(runout_wins(cards) if board else all_board_wins(cards))


def preflop_pair_wins(first: Cards, second: Cards) -> float:
    """The result of `pair_wins` without a board, from the table of all pairs."""
    return float(preflop_wins()[hand_index(*first), hand_index(*second)])


def preflop_wins_are_counted() -> bool:
    """Whether `preflop_wins` has its table, so that it returns at once."""
    return _table_path().exists()


def mean_wins(first: F64, second: F64, board: Cards) -> float:
    """The mean result over run-outs and pairs of hands of two beliefs float64[1326].

    Hands that the board blocks must have weight 0.
    """
    mass = pair_mass(first, second)
    if board:
        return float(board_wins(np.array(board, dtype=np.uint8), first, second)) / mass
    return float(first @ (preflop_wins() @ second.astype(np.float32))) / mass


@cache
def preflop_wins() -> F32:
    """float32[1326, 1326]: mean result of each hand against each; 0 for those that share a card.

    Blocks for about 20 seconds the first time on a machine.
    """
    path = _table_path()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, count_preflop_wins())
    counts: I32 = np.load(path)
    return (counts / np.float32(NUM_BOARDS)).astype(np.float32)


class FlopTables:
    """The last two results of `flop_wins`, for the decisions of one agent on the same flop."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Cards, bytes], F32] = OrderedDict()

    def has(self, flop: Cards, hands: I64) -> bool:
        """Whether `wins` returns at once."""
        return (flop, hands.tobytes()) in self._kept

    def wins(self, flop: Cards, hands: I64, threads: int = 1) -> F32:
        """See `flop_wins`."""
        key = flop, hands.tobytes()
        found = self._kept.pop(key, None)
        if found is None:
            found = flop_wins(flop, hands, threads)
            while len(self._kept) >= _KEPT_FLOPS:
                self._kept.popitem(last=False)
        self._kept[key] = found
        return found


def flop_wins(flop: Cards, hands: I64, threads: int = 1) -> F32:
    """float32[H, H]: mean results of a list's hands over all run-outs; 0 for those that share a card.

    Takes some hundredths of a second for a whole range (`FlopTables` remembers).

    hands  int64[H]: hand indices, none blocked by the flop
    """
    left = [card for card in range(NUM_CARDS) if card not in flop]
    boards = np.array([(*flop, *two) for two in combinations(left, 2)], dtype=np.uint8)
    strengths = np.empty((len(boards), len(hands)), dtype=np.uint16)
    wins = np.zeros((len(hands), len(hands)), dtype=np.uint16)
    means = np.empty(wins.shape, dtype=np.float32)
    cards, counters = HAND_CARDS[hands], np.zeros(3, dtype=np.int64)
    held = len(left) - 4
    pool = ThreadPoolExecutor(threads, "flop")
    for work in (
        lambda: fill_strengths(boards, hands, counters, strengths),
        lambda: count_wins_of(strengths, counters[1:], wins),
        lambda: wins_less_losses(wins, cards, 1 / (held * (held - 1) // 2), counters[2:], means),
    ):
        for one in [pool.submit(work) for _ in range(threads)]:
            one.result()
    pool.shutdown()
    return means


def count_preflop_wins(boards: U8 | None = None, times: I64 | None = None) -> I32:
    """int32[1326, 1326]: number of boards on which the first hand wins, minus those on which it loses.

    boards  canonical boards instead of all, with `times` each counts (at most 24)
    """
    if boards is None or times is None:
        boards, times = canonical_boards(5), board_multiplicities(5)
    threads = os.cpu_count() or 1
    parts = np.array_split(np.arange(len(boards)), threads)
    with ThreadPoolExecutor(threads, "preflop") as pool:
        first, *others = pool.map(lambda rows: _count_wins(boards[rows], times[rows]), parts)
    wins = sum(others, start=first)
    # The boards left out are relabellings of these: average each pair over all relabellings.
    total = np.zeros_like(wins)
    for relabelling in range(NUM_RELABELLINGS):
        moved = HAND_UNDER[relabelling].astype(np.int64)
        total += wins[moved[:, None], moved[None, :]]
    total //= NUM_RELABELLINGS
    result: I32 = (total - total.T).astype(np.int32)
    shared = (HAND_CARDS[:, None, :, None] == HAND_CARDS[None, :, None, :]).any(axis=(2, 3))
    result[shared] = 0
    return result


def _count_wins(boards: U8, times: I64) -> I64:
    wins = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.int64)
    for start in range(0, len(boards), _FLUSH_BOARDS):
        rows = slice(start, start + _FLUSH_BOARDS)
        some = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.uint16)
        add_wins(boards[rows], times[rows].astype(np.uint16), some)
        wins += some
    return wins


@kernel
def add_wins(boards: U8, times: U16, wins: U16) -> None:
    """wins[i, j] += times, on every board where hand i beats hand j; also for hands that share a card.

    boards  uint8[B, 5]; times uint16[B]; wins uint16[1326, 1326]
    """
    strengths = np.empty(NUM_HANDS, dtype=np.uint16)
    for b in range(boards.shape[0]):
        fill_river(boards[b], strengths)
        for h in range(NUM_HANDS):
            if strengths[h] == 0:
                strengths[h] = _BLOCKED  # no hand beats it
        count = times[b]
        for i in range(NUM_HANDS):
            own = strengths[i]
            if own != _BLOCKED:
                _add_row(wins[i], strengths, own, count)


@kernel
def fill_strengths(boards: U8, hands: I64, counter: I64, strengths: U16) -> None:
    """Strength of each hand of a list on each board; blocked hands get the largest: no hand beats them.

    boards     uint8[B, 5]; hands int64[H]
    counter    int64[1]      shared by the threads; each takes boards from it
    strengths  uint16[B, H]  out
    """
    every = np.empty(NUM_HANDS, dtype=np.uint16)
    while True:
        first = atomic_add(counter, 0, _BOARDS_AT_ONCE)
        if first >= boards.shape[0]:
            return
        for b in range(first, min(first + _BOARDS_AT_ONCE, boards.shape[0])):
            fill_river(boards[b], every)
            for i in range(hands.shape[0]):
                strength = every[hands[i]]
                strengths[b, i] = strength if strength > 0 else _BLOCKED


@kernel
def count_wins_of(strengths: U16, counter: I64, wins: U16) -> None:
    """wins[i, j] += 1 on every board where hand i of a list beats hand j.

    Works on a few rows at a time over all boards, which stay in the first-level cache.

    strengths  uint16[B, H]  from `fill_strengths`
    counter    int64[1]      shared by the threads
    wins       uint16[H, H]  modified in place
    """
    num_hands = wins.shape[0]
    while True:
        first = atomic_add(counter, 0, _ROWS_AT_ONCE)
        if first >= num_hands:
            return
        for b in range(strengths.shape[0]):
            for i in range(first, min(first + _ROWS_AT_ONCE, num_hands)):
                if strengths[b, i] != _BLOCKED:
                    _add_row(wins[i], strengths[b], strengths[b, i], np.uint16(1))


@kernel
def wins_less_losses(wins: U16, cards: U8, weight: float, counter: I64, means: F32) -> None:
    """means[i, j] = weight · (wins[i, j] - wins[j, i]), 0 for hands that share a card.

    cards    uint8[H, 2]; wins uint16[H, H]
    counter  int64[1]        shared by the threads
    means    float32[H, H]   out
    """
    num_hands, unit = wins.shape[0], np.float32(weight)
    while True:
        first = atomic_add(counter, 0, _ROWS_AT_ONCE)
        if first >= num_hands:
            return
        end = min(first + _ROWS_AT_ONCE, num_hands)
        for j in range(num_hands):
            a, b = cards[j, 0], cards[j, 1]
            for i in range(first, end):
                c, d = cards[i, 0], cards[i, 1]
                less = np.float32(wins[i, j]) - np.float32(wins[j, i])
                means[i, j] = np.float32(0) if a in (c, d) or b in (c, d) else unit * less


@kernel
def _add_row(row: U16, strengths: U16, own: np.uint16, count: np.uint16) -> None:
    for j in range(row.shape[0]):
        before = row[j]
        row[j] = np.uint16(before + count) if own > strengths[j] else before


@kernel
def runout_wins(cards: U8) -> float:
    """The mean result over run-outs.

    cards  uint8[7 | 8 | 9]: two hands of two, then the board of three to five
    """
    missing = 9 - cards.shape[0]
    used, key, held = np.zeros(NUM_CARDS, dtype=np.bool_), START, np.uint64(0)
    for i in range(cards.shape[0]):
        used[cards[i]] = True
        if i >= 4:
            key += CARD_KEYS[cards[i]]
            held |= CARD_BITS[cards[i]]
    one = CARD_KEYS[cards[0]] + CARD_KEYS[cards[1]], CARD_BITS[cards[0]] | CARD_BITS[cards[1]]
    two = CARD_KEYS[cards[2]] + CARD_KEYS[cards[3]], CARD_BITS[cards[2]] | CARD_BITS[cards[3]]
    total, count = 0, 0
    for high in range(NUM_CARDS if missing > 0 else 1):
        if missing > 0 and used[high]:
            continue
        for low in range(high if missing > 1 else 1):
            if missing > 1 and used[low]:
                continue
            board, on = key, held
            if missing > 0:
                board, on = board + CARD_KEYS[high], on | CARD_BITS[high]
            if missing > 1:
                board, on = board + CARD_KEYS[low], on | CARD_BITS[low]
            first, second = strength_7(board + one[0], on | one[1]), strength_7(board + two[0], on | two[1])
            total += 1 if first > second else -1 if first < second else 0
            count += 1
    return total / count


@kernel
def all_board_wins(cards: U8) -> float:
    """The mean result of two hands over all boards; takes some ten milliseconds.

    cards  uint8[4]: two hands of two
    """
    keys, bits, count = np.empty(NUM_CARDS, dtype=np.uint64), np.empty(NUM_CARDS, dtype=np.uint64), 0
    for card in range(NUM_CARDS):
        if card != cards[0] and card != cards[1] and card != cards[2] and card != cards[3]:
            keys[count], bits[count] = CARD_KEYS[card], CARD_BITS[card]
            count += 1
    one = START + CARD_KEYS[cards[0]] + CARD_KEYS[cards[1]], CARD_BITS[cards[0]] | CARD_BITS[cards[1]]
    two = START + CARD_KEYS[cards[2]] + CARD_KEYS[cards[3]], CARD_BITS[cards[2]] | CARD_BITS[cards[3]]
    total = boards = 0
    for a in range(4, count):
        for b in range(3, a):
            key_b, held_b = keys[a] + keys[b], bits[a] | bits[b]
            for c in range(2, b):
                key_c, held_c = key_b + keys[c], held_b | bits[c]
                for d in range(1, c):
                    key_d, held_d = key_c + keys[d], held_c | bits[d]
                    for e in range(d):
                        key, held = key_d + keys[e], held_d | bits[e]
                        first, second = (
                            strength_7(key + one[0], held | one[1]),
                            strength_7(key + two[0], held | two[1]),
                        )
                        total += 1 if first > second else -1 if first < second else 0
                        boards += 1
    return total / boards


def _table_path() -> Path:
    return cached("preflop-wins-1.npy")


def _write(path: Path, counts: I32) -> None:
    """Write under a temporary name first, so that readers only find complete files."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.npy")
    np.save(partial, counts)
    partial.replace(path)
