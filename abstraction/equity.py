"""Integer features of hands on boards, from which buckets are made.

1. All values are integer counts, rounded only in the last step; no floats are used. So equivalent hands have
   equal features under any relabelling of suits, in any order of computation, on any machine.
2. A *score* is 2 × wins + ties against every opponent hand that board and own hand allow. On a river there
   are 990 of them, so equity is score / 1980.
3. River feature: equity against each of eight classes of opponent hands, in units of 1 / `EQUITY_UNITS`
   (opponent cluster hand strength: Johanson, Burch, Valenzano and Bowling, AAMAS 2013). Against a class
   with no hand left it is a half.
4. Flop and turn feature: the distribution of river equity over all completions of the board, as its *tail*:
   the chance to end up above a level, averaged over the levels of each of 32 equal bins, in units of
   1 / `TAIL_UNITS`. Averaging over the bin instead of sampling at its edge keeps the mean: equity is the
   mean of the tail, whatever the number of bins. The earth mover's distance of two distributions is the sum
   of absolute differences of their tails.

Internally, a *live hand* is an index 0..1080 of the pairs of the 47 cards that are not on the river board, in
the same order as hands. Results are indexed by hand; rows of blocked hands are not modified.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from abstraction.isomorphism import HAND_UNDER, NUM_RELABELLINGS, relabel_card
from game.cards import NUM_CARDS
from game.evaluator import NUM_LIVE_HANDS, fill_river_live
from game.evaluator_tables import NUM_STRENGTHS
from game.hands import HAND_CARDS
from numeric.arrays import I16, I32, U8, U16, U32, U64
from numeric.jit import kernel

NUM_BINS = 32
NUM_OPPONENT_CLASSES = 8
TAIL_UNITS = 255
EQUITY_UNITS = 1024
MAX_SCORE = 1980
"""The score of a hand that beats all 990 opponents on a river."""

# A score in bins is score * 32 / 1980 = score * 8 / 495: whole bins and 495ths, without rounding.
SHARES_PER_RUNOUT = 495
HISTOGRAM_COLUMNS = NUM_BINS + 2  # a score of 1980 falls just behind the last bin

_NUM_WORDS = NUM_STRENGTHS // 64 + 1  # of a bit set of strengths
_LANE_BITS = 16
_RECIPROCAL_BITS = 32
_HALF = np.uint64(1 << _RECIPROCAL_BITS - 1)
_LANE = np.uint64((1 << _LANE_BITS) - 1)
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_0, _1, _3, _4, _6, _16, _58, _63 = [np.uint64(number) for number in (0, 1, 3, 4, 6, 16, 58, 63)]


class SortedRiver(NamedTuple):
    """The live hands of a river board by rising strength, with scratch memory for sorting."""

    hands: U16  # [1081] the hand of each live hand
    order: U16  # [1081] live hands, the weakest first; ties by rising live hand
    group_ends: U16  # [1081] where in `order` each group of equal strength ends
    strengths: U16  # [1081] of each live hand
    places: U16  # by strength; all 0 between calls


@kernel
def new_sorted_river() -> SortedRiver:
    """Allocate the memory for `sort_river`."""
    return SortedRiver(
        np.empty(NUM_LIVE_HANDS, dtype=np.uint16),
        np.empty(NUM_LIVE_HANDS, dtype=np.uint16),
        np.empty(NUM_LIVE_HANDS, dtype=np.uint16),
        np.empty(NUM_LIVE_HANDS, dtype=np.uint16),
        np.zeros(_NUM_WORDS * 64, dtype=np.uint16),
    )


@kernel
def sort_river(board: U8, river: SortedRiver) -> np.int64:
    """Sort the hands of a river board of five different cards; returns how many groups of ties there are.

    A counting sort over strengths; a bit set skips the thousands of strengths that no hand on this board has.
    """
    fill_river_live(board, river.strengths)
    strengths, places, order = river.strengths, river.places, river.order
    used = np.zeros(_NUM_WORDS, dtype=np.uint64)
    for i in range(NUM_LIVE_HANDS):
        strength = np.uint64(strengths[i])
        places[strength] += np.uint16(1)
        used[strength >> _6] |= _1 << (strength & _63)
    groups, start = _0, _0
    for word in range(_NUM_WORDS):
        bits = used[word]
        while bits:
            lowest = bits & (~bits + _1)
            strength = np.uint64(word << 6) + np.uint64(_BIT_POSITION[(lowest * _DE_BRUIJN) >> _58])
            count = np.uint64(places[strength])
            places[strength] = start
            start += count
            river.group_ends[groups] = start
            groups += _1
            bits ^= lowest
    for i in range(NUM_LIVE_HANDS):
        strength = np.uint64(strengths[i])
        place = np.uint64(places[strength])
        order[place] = i
        places[strength] = place + _1
    for word in range(_NUM_WORDS):
        if used[word]:
            for i in range(word << 6, (word + 1) << 6):
                places[i] = 0
    _fill_live_hands(board, river.hands)
    return np.int64(groups)


@kernel
def _fill_live_hands(board: U8, hands: U16) -> None:
    dead = np.zeros(NUM_CARDS, dtype=np.bool_)
    for i in range(5):
        dead[board[i]] = True
    live = np.empty(NUM_CARDS, dtype=np.uint64)
    num_live, n = _0, _0
    for card in range(NUM_CARDS):
        if not dead[card]:
            row = np.uint64(card * (card - 1) // 2)
            for low in range(num_live):
                hands[n] = row + live[low]
                n += _1
            live[num_live] = card
            num_live += _1


@kernel
def score_river(river: SortedRiver, num_groups: np.int64, scores: I32) -> None:
    """Scores against all opponents.

    river   as `sort_river` left it, with `num_groups`
    scores  int32[1081]  out: 0..1980, by live hand
    """
    order = river.order
    with_card = np.zeros(NUM_CARDS, dtype=np.int32)  # how many of the hands so far hold it
    start = _0
    for group in range(num_groups):
        end = np.uint64(river.group_ends[group])
        # Opponents weaker than this hand that share no card with it; then the same for those not stronger.
        for i in range(start, end):
            h = np.uint64(order[i])
            scores[h] = np.int32(start) - with_card[_LOW[h]] - with_card[_HIGH[h]]
        for i in range(start, end):
            h = np.uint64(order[i])
            with_card[_LOW[h]] += np.int32(1)
            with_card[_HIGH[h]] += np.int32(1)
        for i in range(start, end):
            h = np.uint64(order[i])
            # + 1: the hand itself is among the `end` once, and among those with its cards twice.
            scores[h] += np.int32(end) - with_card[_LOW[h]] - with_card[_HIGH[h]] + np.int32(1)
        start = end


@kernel
def fill_histograms(board: U8, histograms: U32) -> None:
    """Histograms of each hand's river equity over all completions of a board of three or four cards.

    board       uint8[3 | 4]      in: different cards
    histograms  uint32[1326, 34]  out: shares by bin; SHARES_PER_RUNOUT for each run-out a hand allows,
                                  split between the bin of its equity and the next; 0 for blocked hands

    Relabellings of suits that leave the board unchanged (symmetries) exchange run-outs. Of equivalent
    run-outs only the first is computed, weighted by their number, and hands are averaged over symmetries at
    the end. This halves the work on an average flop.
    """
    histograms[:] = 0
    num_cards = board.shape[0]
    symmetries, num_symmetries = _symmetries(board)
    completed = np.zeros(5, dtype=np.uint8)
    dead = np.zeros(NUM_CARDS, dtype=np.bool_)
    for i in range(num_cards):
        completed[i] = board[i]
        dead[board[i]] = True
    river, scores = new_sorted_river(), np.empty(NUM_LIVE_HANDS, dtype=np.int32)
    for high in range(NUM_CARDS):
        if dead[high]:
            continue
        completed[4] = high
        for low in range(high if num_cards == 3 else 1):  # a single turn: with four cards it stands already
            if num_cards == 3:
                if dead[low]:
                    continue
                completed[3] = low
            weight = np.uint32(_times_exchanged(completed, num_cards, symmetries, num_symmetries))
            if weight == 0:
                continue
            score_river(river, sort_river(completed, river), scores)
            for h in range(NUM_LIVE_HANDS):
                hand, score = np.uint64(river.hands[h]), np.uint64(scores[h])
                column, share = np.uint64(_COLUMN_OF_SCORE[score]), _SHARE_OF_SCORE[score]
                histograms[hand, column] += share * weight
                histograms[hand, column + _1] += (np.uint32(SHARES_PER_RUNOUT) - share) * weight
    _exchange_hands(symmetries, num_symmetries, histograms)


@kernel
def _symmetries(board: U8) -> tuple[U8, int]:
    """The relabellings that leave a board unchanged, and their number; the first is 0, the identity."""
    found, count = np.zeros(NUM_RELABELLINGS, dtype=np.uint8), 0
    for relabelling in range(NUM_RELABELLINGS):
        kept = 0
        for i in range(board.shape[0]):
            moved = relabel_card(board[i], relabelling)
            for j in range(board.shape[0]):
                kept += board[j] == moved
        if kept == board.shape[0]:
            found[count] = relabelling
            count += 1
    return found, count


@kernel
def _times_exchanged(completed: U8, num_cards: int, symmetries: U8, num_symmetries: int) -> int:
    """The number of run-outs equivalent to this one under symmetries; 0 unless it is the first of them.

    Run-outs of a flop are pairs turn < river, in the order of hands; those of a turn are rivers.
    """
    turn, river = np.int64(completed[3]), np.int64(completed[4])
    num_same = 0
    for n in range(num_symmetries):
        low, high = relabel_card(completed[3], symmetries[n]), relabel_card(completed[4], symmetries[n])
        if num_cards == 4:
            low = turn
        elif low > high:
            low, high = high, low
        if high < river or (high == river and low < turn):
            return 0
        num_same += high == river and low == turn
    return num_symmetries // num_same


@kernel
def _exchange_hands(symmetries: U8, num_symmetries: int, histograms: U32) -> None:
    """Replace each hand's histogram by the mean over equivalent hands, in place."""
    if num_symmetries == 1:
        return
    total = np.empty(HISTOGRAM_COLUMNS, dtype=np.uint32)
    for hand in range(histograms.shape[0]):
        first = True
        total[:] = 0
        for n in range(num_symmetries):
            moved = np.int64(HAND_UNDER[symmetries[n], hand])
            first = first and bool(moved >= hand)
            for column in range(HISTOGRAM_COLUMNS):
                total[column] += histograms[moved, column]
        if first:
            for n in range(num_symmetries):
                moved = np.int64(HAND_UNDER[symmetries[n], hand])
                for column in range(HISTOGRAM_COLUMNS):
                    histograms[moved, column] = total[column] // np.uint32(num_symmetries)


@kernel
def histograms_to_tails(histograms: U32, tails: U8) -> None:
    """Histograms to features.

    histograms  uint32[N, 34]  in
    tails       uint8[N, 32]   out: falling, in units of 1 / TAIL_UNITS; untouched where a histogram is empty
    """
    for n in range(histograms.shape[0]):
        total = _0
        for column in range(HISTOGRAM_COLUMNS):
            total += np.uint64(histograms[n, column])
        if total:
            above = total
            for column in range(NUM_BINS):
                above -= np.uint64(histograms[n, column])
                tails[n, column] = (np.uint64(2 * TAIL_UNITS) * above + total) // (total + total)


@kernel
def fill_class_equities(river: SortedRiver, num_groups: np.int64, class_of_hand: U8, equities: I16) -> None:
    """River features.

    river          as `sort_river` left it, with `num_groups`
    class_of_hand  uint8[1326]     in: 0..7
    equities       int16[1326, 8]  out: in units of 1 / EQUITY_UNITS; blocked hands untouched
    """
    order, hands = river.order, river.hands
    # Eight counters of 16 bits in two words. Adding words adds all counters; intermediate borrows do no harm
    # as long as each final value is in 0..65535. The largest is a score of 1980.
    with_card = np.zeros((NUM_CARDS, 2), dtype=np.uint64)
    scores = np.zeros((NUM_LIVE_HANDS, 2), dtype=np.uint64)
    total = np.zeros(2, dtype=np.uint64)
    start = _0
    for group in range(num_groups):
        end = np.uint64(river.group_ends[group])
        for i in range(start, end):
            h = np.uint64(order[i])
            for word in range(2):
                scores[h, word] = total[word] - with_card[_LOW[h], word] - with_card[_HIGH[h], word]
        for i in range(start, end):
            h = np.uint64(order[i])
            opponent_class = np.uint64(class_of_hand[hands[h]])
            own, one = opponent_class >> np.uint64(2), _1 << _16 * (opponent_class & _3)
            total[own] += one
            with_card[_LOW[h], own] += one
            with_card[_HIGH[h], own] += one
        for i in range(start, end):
            h = np.uint64(order[i])
            for word in range(2):
                scores[h, word] += total[word] - with_card[_LOW[h], word] - with_card[_HIGH[h], word]
        start = end
    for n in range(NUM_LIVE_HANDS):
        h, hand = np.uint64(n), np.uint64(hands[n])
        own_class = np.uint64(class_of_hand[hand])
        for word in range(2):
            counts = total[word] - with_card[_LOW[h], word] - with_card[_HIGH[h], word]
            twice = scores[h, word]
            if own_class >> np.uint64(2) == np.uint64(word):  # the hand itself: added once, taken off twice
                counts += _1 << _16 * (own_class & _3)
                twice += _1 << _16 * (own_class & _3)
            for lane in range(4):
                count, score = counts & _LANE, twice & _LANE
                equity = (score * _RECIPROCALS[count] + _HALF) >> np.uint64(_RECIPROCAL_BITS)
                equities[hand, 4 * word + lane] = equity if count else EQUITY_UNITS // 2
                counts >>= _16
                twice >>= _16


# Cards of live hands: the pairs of 47 cards are the first 1081 pairs of 52.
_LOW: U64 = HAND_CARDS[:NUM_LIVE_HANDS, 0].astype(np.uint64)
_HIGH: U64 = HAND_CARDS[:NUM_LIVE_HANDS, 1].astype(np.uint64)

_SCORES = np.arange(MAX_SCORE + 1)
_COLUMN_OF_SCORE: U8 = (_SCORES * 8 // SHARES_PER_RUNOUT).astype(np.uint8)
_SHARE_OF_SCORE: U32 = (SHARES_PER_RUNOUT - _SCORES * 8 % SHARES_PER_RUNOUT).astype(np.uint32)

_RECIPROCALS: U64 = np.array(
    [0, *[(EQUITY_UNITS << _RECIPROCAL_BITS) // (2 * count) for count in range(1, NUM_LIVE_HANDS + 1)]],
    dtype=np.uint64,
)

_BIT_POSITION: U8 = np.zeros(64, dtype=np.uint8)  # by the top six bits of the bit times a de Bruijn sequence
for _bit in range(64):
    _BIT_POSITION[(int(_DE_BRUIJN) << _bit) % (1 << 64) >> 58] = _bit
