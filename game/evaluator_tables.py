"""The tables behind the evaluator, filled from the rule in `game.showdown` when imported (about 0.2 s).

Each rank has a key such that the sum over five, six or seven cards tells how often each rank is held: no two
collections of the same number of cards, with at most four of a rank, have the same sum. A table indexed by
that sum would be sparse (73,775 of 7.8 million entries), so it is compressed: sum `key` is at
`slots[shift[key % rows] + key // rows]`. This is row displacement as in Tarjan and Yao, "Storing a sparse
table", CACM 22 (1979).

The tables are compiled into every `@kernel` that reads them.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

import numpy as np

from game.cards import NUM_CARDS, NUM_RANKS
from game.showdown import rank_of_flush, rank_of_sets, showdown_category
from numeric.arrays import I64, U16, U64

NUM_STRENGTHS = 7462

# The greedy sequence: each key is the least that keeps all sums of seven cards distinct. Distinct for
# seven implies distinct for five and six: add the missing cards from a rank that neither holds.
RANK_KEYS = (0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181)

ROW_BITS_5, ROW_BITS_6, ROW_BITS_7 = 11, 12, 13

# Above the sum of rank keys, four bits per suit count its cards. They start at 3, so the top bit is set
# by the fifth card of the suit.
SUIT_COUNT_SHIFT = 32
SUIT_COUNT_START = 0x3333 << SUIT_COUNT_SHIFT
FIVE_OF_SUIT = 0x8888 << SUIT_COUNT_SHIFT


def _collections(num_cards: int) -> I64:
    """Every way to hold `num_cards` cards when suits do not matter, ascending.

    Packed: three bits for each rank say how many of it are held.
    """
    nothing, none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    by_size = [nothing, *[none] * num_cards]
    for rank in range(NUM_RANKS):
        by_size = [
            np.concatenate([by_size[size - held] + (held << 3 * rank) for held in range(min(4, size) + 1)])
            for size in range(num_cards + 1)
        ]
    return np.sort(by_size[num_cards])


def _held(packed: I64, rank: int) -> I64:
    return packed >> 3 * rank & 7


def _keys(packed: I64) -> I64:
    keys = np.zeros_like(packed)
    for rank, key in enumerate(RANK_KEYS):
        keys += _held(packed, rank) * key
    return keys


def _ranks_without_flush(packed: I64) -> I64:
    """The `showdown_rank` of each collection."""
    ranks = range(NUM_RANKS)
    by_copies = [
        np.sum([(_held(packed, rank) >= copies) * (1 << rank) for rank in ranks], axis=0).tolist()
        for copies in range(1, 5)
    ]
    return np.array([rank_of_sets(sets) for sets in zip(*by_copies, strict=True)])


def _best_part(packed: I64, smaller: I64, smaller_strengths: U16) -> U16:
    """Strength of each collection: the best of those with one card less."""
    best = np.zeros(len(packed), dtype=np.uint16)
    for rank in range(NUM_RANKS):
        has = np.flatnonzero(_held(packed, rank))
        without = np.searchsorted(smaller, packed[has] - (1 << 3 * rank))
        best[has] = np.maximum(best[has], smaller_strengths[without])
    return best


def _displaced(keys: I64, strengths: U16, row_bits: int) -> tuple[U16, U16]:
    """Slide the rows `key % 2**row_bits` into one table, fullest first, each to the first place it fits."""
    rows: dict[int, list[int]] = {}
    for key in keys.tolist():
        rows.setdefault(key & ((1 << row_bits) - 1), []).append(key >> row_bits)
    shift = np.zeros(1 << row_bits, dtype=np.uint16)
    taken = 0  # the set of taken slots as one integer: all places of a row are tried at once
    for row, columns in sorted(rows.items(), key=lambda item: -len(item[1])):
        blocked = reduce(or_, [taken >> column for column in columns])
        place = (~blocked & (blocked + 1)).bit_length() - 1
        taken |= reduce(or_, [1 << column for column in columns]) << place
        shift[row] = place
    slots = np.zeros(taken.bit_length(), dtype=np.uint16)
    slots[shift[keys % (1 << row_bits)] + (keys >> row_bits)] = strengths
    return shift, slots


def _card_keys() -> U64:
    ranks, suits = np.divmod(np.arange(NUM_CARDS), 4)
    return np.array(RANK_KEYS, dtype=np.uint64)[ranks] + (1 << SUIT_COUNT_SHIFT + 4 * suits).astype(np.uint64)


def _card_bits() -> U64:
    ranks, suits = np.divmod(np.arange(NUM_CARDS), 4)
    return (1 << 16 * suits + ranks).astype(np.uint64)


_hands_5, _hands_6, _hands_7 = _collections(5), _collections(6), _collections(7)
_flushes = np.array([ranks for ranks in range(1 << NUM_RANKS) if 5 <= ranks.bit_count() <= 7])
_ranks_5 = _ranks_without_flush(_hands_5)
_flush_ranks = np.array([rank_of_flush(ranks) for ranks in _flushes.tolist()])
_all_ranks = np.union1d(_ranks_5, _flush_ranks)
assert len(_all_ranks) == NUM_STRENGTHS


def _strengths(ranks: I64) -> U16:
    return (np.searchsorted(_all_ranks, ranks) + 1).astype(np.uint16)


_strengths_5 = _strengths(_ranks_5)
_strengths_6 = _best_part(_hands_6, _hands_5, _strengths_5)
_strengths_7 = _best_part(_hands_7, _hands_6, _strengths_6)

CARD_KEYS = _card_keys()
"""uint64[52]: add those of the cards held, and `SUIT_COUNT_START`, to get a hand's key."""

CARD_BITS = _card_bits()
"""uint64[52]: 16 bits for each suit, one for each rank in it. Their sum is the set of cards held."""

SHIFT_5, SLOTS_5 = _displaced(_keys(_hands_5), _strengths_5, ROW_BITS_5)
SHIFT_6, SLOTS_6 = _displaced(_keys(_hands_6), _strengths_6, ROW_BITS_6)
SHIFT_7, SLOTS_7 = _displaced(_keys(_hands_7), _strengths_7, ROW_BITS_7)
"""uint16: strength without regard to suits of five, six and seven cards, as the module says."""

FLUSH_STRENGTHS = np.zeros(1 << NUM_RANKS, dtype=np.uint16)
"""uint16[8192]: strength of a set of five to seven ranks of one suit; 0 for any other set."""
FLUSH_STRENGTHS[_flushes] = _strengths(_flush_ranks)

CATEGORY_OF_STRENGTH = np.array(
    [0] + [showdown_category(rank) for rank in _all_ranks.tolist()], dtype=np.uint8
)
"""uint8[7463]: the `Category` of each strength; the entry of 0, which no hand has, means nothing."""

for _table in (
    *(CARD_KEYS, CARD_BITS, FLUSH_STRENGTHS, CATEGORY_OF_STRENGTH),
    *(SHIFT_5, SLOTS_5, SHIFT_6, SLOTS_6, SHIFT_7, SLOTS_7),
):
    _table.setflags(write=False)
