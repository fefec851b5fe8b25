"""Hand evaluator for five, six or seven cards: numba kernels, and checked functions on top of them.

A strength is a uint16 in 1..7462, the rank among the 7,462 classes of five-card hands in their standard
order: higher is better, and hands tie exactly if their strengths are equal. 0 stands for "no hand".
`category` gives the kind of hand.

`evaluate_cards`, `strength_*` and `fill_*` are kernels: they do not check their arguments and may be called
from other kernels. To enumerate hands, add up the `CARD_KEYS` and `CARD_BITS` of their cards level by level,
starting the keys from `START`, and pass both sums to `strength_5`, `strength_6` or `strength_7`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from game.cards import NUM_CARDS, NUM_RANKS, Cards, cards_text
from game.errors import CardError
from game.evaluator_tables import (
    CARD_BITS,
    CARD_KEYS,
    CATEGORY_OF_STRENGTH,
    FIVE_OF_SUIT,
    FLUSH_STRENGTHS,
    NUM_STRENGTHS,
    ROW_BITS_5,
    ROW_BITS_6,
    ROW_BITS_7,
    SHIFT_5,
    SHIFT_6,
    SHIFT_7,
    SLOTS_5,
    SLOTS_6,
    SLOTS_7,
    SUIT_COUNT_SHIFT,
    SUIT_COUNT_START,
)
from game.hands import NUM_HANDS
from game.showdown import Category
from numeric.arrays import I64, U8, U16
from numeric.jit import kernel

NUM_LIVE_HANDS = 1081
"""Number of hands that share no card with a five-card board."""

# Kernel arithmetic is in uint64: numba converts a mix of uint64 and int64 to float, and checks every signed
# index for being negative.
START = np.uint64(SUIT_COUNT_START)
"""The key of no cards at all."""

_FIVE_OF_SUIT = np.uint64(FIVE_OF_SUIT)
_FIVE_OF_CLUBS = np.uint64(FIVE_OF_SUIT & -FIVE_OF_SUIT)
_RANK_KEY = np.uint64((1 << SUIT_COUNT_SHIFT) - 1)
_ALL_RANKS = np.uint64((1 << NUM_RANKS) - 1)
_COLUMN_5, _ROW_5 = np.uint64(ROW_BITS_5), np.uint64((1 << ROW_BITS_5) - 1)
_COLUMN_6, _ROW_6 = np.uint64(ROW_BITS_6), np.uint64((1 << ROW_BITS_6) - 1)
_COLUMN_7, _ROW_7 = np.uint64(ROW_BITS_7), np.uint64((1 << ROW_BITS_7) - 1)
_0, _1, _3, _4, _15, _16 = [np.uint64(number) for number in (0, 1, 3, 4, 15, 16)]


def category(strength: int) -> Category:
    """The kind of hand that has this strength."""
    if not 1 <= strength <= NUM_STRENGTHS:
        raise ValueError(f"{strength} is not a strength: they run from 1 to {NUM_STRENGTHS}")
    return Category(int(CATEGORY_OF_STRENGTH[strength]))


def evaluate(cards: npt.ArrayLike) -> U16:
    """Strength of each row of five, six or seven different cards: uint8[N, 5 | 6 | 7] -> uint16[N]."""
    hands = np.asarray(cards)
    if hands.ndim != 2 or hands.shape[1] not in _FILL_STRENGTHS:
        raise CardError(f"expected rows of 5, 6 or 7 cards, not an array of shape {hands.shape}")
    if not np.issubdtype(hands.dtype, np.integer):
        raise CardError(f"cards are integers 0..51, not {hands.dtype}")
    wrong = _first_wrong_row(hands)
    if wrong >= 0:
        raise CardError(f"row {wrong}, {hands[wrong].tolist()}, is not a hand: different cards of 0..51")
    out = np.empty(len(hands), dtype=np.uint16)
    _FILL_STRENGTHS[hands.shape[1]](hands.astype(np.uint8, copy=False), out)
    return out


def river_strengths(board: Cards) -> U16:
    """Strength of every hand on a board of five cards; 0 for the hands it blocks. uint16[1326]."""
    if len(board) != 5:
        raise CardError(f"{cards_text(board)!r} is not a river board: give five cards")
    if _first_wrong_row(np.array([board])) >= 0:
        raise CardError(f"{board} is not a river board: different cards of 0..51")
    out = np.empty(NUM_HANDS, dtype=np.uint16)
    fill_river(np.array(board, dtype=np.uint8), out)
    return out


def strength_counts() -> I64:
    """How many of the 133,784,560 seven-card hands have each strength: int64[7463]."""
    counts = np.zeros(NUM_STRENGTHS + 1, dtype=np.int64)
    _count_strengths(counts)
    return counts


@kernel
def flush_strength(key: np.uint64, cards: np.uint64) -> np.uint16:
    """Strength of a hand whose key says that it holds five cards of a suit."""
    for _ in range(3):
        if key & _FIVE_OF_CLUBS:
            break
        key >>= _4
        cards >>= _16
    strength: np.uint16 = FLUSH_STRENGTHS[cards & _ALL_RANKS]
    return strength


@kernel
def strength_5(key: np.uint64, cards: np.uint64) -> np.uint16:
    """Strength of five cards, from the sums of their `CARD_KEYS` (plus `START`) and of their `CARD_BITS`."""
    if key & _FIVE_OF_SUIT:
        return flush_strength(key, cards)
    strength: np.uint16 = SLOTS_5[SHIFT_5[key & _ROW_5] + ((key & _RANK_KEY) >> _COLUMN_5)]
    return strength


@kernel
def strength_6(key: np.uint64, cards: np.uint64) -> np.uint16:
    """Strength of six cards, from the sums of their `CARD_KEYS` (plus `START`) and of their `CARD_BITS`."""
    if key & _FIVE_OF_SUIT:
        return flush_strength(key, cards)
    strength: np.uint16 = SLOTS_6[SHIFT_6[key & _ROW_6] + ((key & _RANK_KEY) >> _COLUMN_6)]
    return strength


@kernel
def strength_7(key: np.uint64, cards: np.uint64) -> np.uint16:
    """Strength of seven cards, from the sums of their `CARD_KEYS` (plus `START`) and of their `CARD_BITS`."""
    if key & _FIVE_OF_SUIT:
        return flush_strength(key, cards)
    strength: np.uint16 = SLOTS_7[SHIFT_7[key & _ROW_7] + ((key & _RANK_KEY) >> _COLUMN_7)]
    return strength


@kernel
def evaluate_cards(cards: U8) -> np.uint16:
    """Strength of one hand, uint8[5 | 6 | 7]; 0 for any other number of cards."""
    key, held = START, _0
    for i in range(cards.shape[0]):
        key += CARD_KEYS[cards[i]]
        held |= CARD_BITS[cards[i]]
    if cards.shape[0] == 7:
        return strength_7(key, held)
    if cards.shape[0] == 6:
        return strength_6(key, held)
    return strength_5(key, held) if cards.shape[0] == 5 else np.uint16(0)


@kernel
def fill_strengths_5(cards: U8, out: U16) -> None:
    """Strengths of uint8[N, 5] into uint16[N]."""
    for n in range(cards.shape[0]):
        key, held = START, _0
        for i in range(5):
            key += CARD_KEYS[cards[n, i]]
            held |= CARD_BITS[cards[n, i]]
        out[n] = strength_5(key, held)


@kernel
def fill_strengths_6(cards: U8, out: U16) -> None:
    """Strengths of uint8[N, 6] into uint16[N]."""
    for n in range(cards.shape[0]):
        key, held = START, _0
        for i in range(6):
            key += CARD_KEYS[cards[n, i]]
            held |= CARD_BITS[cards[n, i]]
        out[n] = strength_6(key, held)


@kernel
def fill_strengths_7(cards: U8, out: U16) -> None:
    """Strengths of uint8[N, 7] into uint16[N]."""
    for n in range(cards.shape[0]):
        key, held = START, _0
        for i in range(7):
            key += CARD_KEYS[cards[n, i]]
            held |= CARD_BITS[cards[n, i]]
        out[n] = strength_7(key, held)


@kernel
def _first_wrong_row(cards: npt.NDArray[np.integer]) -> int:
    """The first row with a card outside 0..51 or the same card twice; -1 when there is none."""
    for n in range(cards.shape[0]):
        held = _0
        for i in range(cards.shape[1]):
            card = cards[n, i]
            if card < 0 or card >= NUM_CARDS or held & CARD_BITS[card]:
                return n
            held |= CARD_BITS[card]
    return -1


@kernel
def fill_river(board: U8, out: U16) -> None:
    """Strengths of all hands on a river board, 0 for those it blocks.

    board  uint8[5]      in: five different cards
    out    uint16[1326]  out
    """
    out[:] = 0
    _fill_river(board, False, out)


@kernel
def fill_river_live(board: U8, out: U16) -> None:
    """Strengths of the hands that share no card with a river board, in hand order.

    board  uint8[5]      in: five different cards
    out    uint16[1081]  out
    """
    _fill_river(board, True, out)


@kernel
def _fill_river(board: U8, live_only: bool, out: U16) -> None:
    key, on_board = START, _0
    for i in range(5):
        key += CARD_KEYS[board[i]]
        on_board |= CARD_BITS[board[i]]

    # The suit of a possible flush, if any: how far down its bits must go, its ranks on the board, how many.
    suit_shift, flush, flush_count = _0, _0, _0
    for suit in range(4):
        count = ((key - START) >> np.uint64(SUIT_COUNT_SHIFT + 4 * suit)) & _15
        if count >= _3:
            suit_shift, flush_count = np.uint64(16 * suit), count
            flush = (on_board >> suit_shift) & _ALL_RANKS

    # The 47 other cards: the key of each, where hands with it lie in `out`, its bit in the suit of `flush`.
    live = np.empty((3, NUM_CARDS - 5), dtype=np.uint64)
    keys, places, bits = live[0], live[1], live[2]
    n = 0
    for card in range(NUM_CARDS):
        bit = CARD_BITS[card]
        if not on_board & bit:
            keys[n] = CARD_KEYS[card] & _RANK_KEY
            places[n] = n if live_only else card
            bits[n] = (bit >> suit_shift) & _ALL_RANKS
            n += 1

    for i in range(n):
        row = (places[i] * places[i] - places[i]) >> _1
        high_key = (key & _RANK_KEY) + keys[i]
        for j in range(i):
            total = high_key + keys[j]
            out[row + places[j]] = SLOTS_7[SHIFT_7[total & _ROW_7] + (total >> _COLUMN_7)]
        if flush_count > _3 or (flush_count == _3 and bits[i]):
            for j in range(i):
                at = row + places[j]
                out[at] = max(out[at], FLUSH_STRENGTHS[flush | bits[i] | bits[j]])


@kernel
def _count_strengths(counts: I64) -> None:
    """Add one to counts[strength] for each of the seven-card hands, cards in falling order."""
    for a in range(6, NUM_CARDS):
        key_a, held_a = START + CARD_KEYS[a], CARD_BITS[a]
        for b in range(5, a):
            key_b, held_b = key_a + CARD_KEYS[b], held_a | CARD_BITS[b]
            for c in range(4, b):
                key_c, held_c = key_b + CARD_KEYS[c], held_b | CARD_BITS[c]
                for d in range(3, c):
                    key_d, held_d = key_c + CARD_KEYS[d], held_c | CARD_BITS[d]
                    for e in range(2, d):
                        key_e, held_e = key_d + CARD_KEYS[e], held_d | CARD_BITS[e]
                        for f in range(1, e):
                            key_f, held_f = key_e + CARD_KEYS[f], held_e | CARD_BITS[f]
                            for g in range(f):
                                counts[strength_7(key_f + CARD_KEYS[g], held_f | CARD_BITS[g])] += 1


_FILL_STRENGTHS = {5: fill_strengths_5, 6: fill_strengths_6, 7: fill_strengths_7}
