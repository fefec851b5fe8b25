"""The ranking of cards at showdown, for any number of cards, in plain Python.

The tables of the evaluator's kernels are filled from this module, and games with few cards (Kuhn: one,
Leduc: two) use it directly. Of five or more cards the best five count. Fewer cards count as they are, without
straights and flushes. Among hands with the same number of cards the order is that of the ACPC dealer.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from game.cards import NUM_RANKS, Card

SetsByCopies = tuple[int, int, int, int]
"""Four sets of ranks, bit `r` for rank `r`: the ranks held at least once, twice, three and four times."""


class Category(IntEnum):
    """The nine kinds of hand, weakest first."""

    HIGH_CARD = 0
    PAIR = 1
    TWO_PAIR = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8


# category | ranks that make it | kickers: two sets of ranks of equal size compare as their integers do.
_KICKER_BITS = NUM_RANKS
_CATEGORY_SHIFT = 2 * NUM_RANKS
_WHEEL = 1 << 12 | 0b1111  # A 2 3 4 5, where the ace is low


def showdown_rank(cards: Sequence[Card]) -> int:
    """A number for comparing hands with the same number of cards: higher is better, equal is a tie."""
    by_suit = [0, 0, 0, 0]
    by_copies = [0, 0, 0, 0]
    for card in cards:
        rank = 1 << (card >> 2)
        by_suit[card & 3] |= rank
        copies = 0
        while by_copies[copies] & rank:
            copies += 1
        by_copies[copies] |= rank
    one, two, three, four = by_copies
    flushes = [rank_of_flush(ranks) for ranks in by_suit if ranks.bit_count() >= 5]
    return max([rank_of_sets((one, two, three, four)), *flushes])


def showdown_category(rank: int) -> Category:
    """The kind of hand that has this `showdown_rank`."""
    return Category(rank >> _CATEGORY_SHIFT)


def rank_of_flush(ranks: int) -> int:
    """The `showdown_rank` of five or more cards of one suit, given as a set of ranks."""
    top = _straight_top(ranks)
    if top:
        return _rank(Category.STRAIGHT_FLUSH, top)
    return _rank(Category.FLUSH, _highest(ranks, 5))


def rank_of_sets(by_copies: SetsByCopies) -> int:
    """The `showdown_rank` of cards without a flush, from the ranks alone."""
    one, two, three, four = by_copies
    if four:
        made = _highest(four, 1)
        return _rank(Category.FOUR_OF_A_KIND, made, _highest(one & ~made, 1))
    made = _highest(three, 1)
    if made and two & ~made:
        return _rank(Category.FULL_HOUSE, made, _highest(two & ~made, 1))
    top = _straight_top(one)
    if top:
        return _rank(Category.STRAIGHT, top)
    if made:
        return _rank(Category.THREE_OF_A_KIND, made, _highest(one & ~made, 2))
    made = _highest(two, 2)
    if made.bit_count() == 2:
        return _rank(Category.TWO_PAIR, made, _highest(one & ~made, 1))
    if made:
        return _rank(Category.PAIR, made, _highest(one & ~made, 3))
    return _rank(Category.HIGH_CARD, _highest(one, 5))


def _rank(category: Category, made: int, kickers: int = 0) -> int:
    return category << _CATEGORY_SHIFT | made << _KICKER_BITS | kickers


def _highest(ranks: int, count: int) -> int:
    """The `count` highest ranks of a set, or the whole set if it is smaller."""
    while ranks.bit_count() > count:
        ranks &= ranks - 1
    return ranks


def _straight_top(ranks: int) -> int:
    """The highest card of the best straight, as a set of one rank; 0 if there is none."""
    runs = ranks & ranks << 1 & ranks << 2 & ranks << 3 & ranks << 4
    if runs:
        return 1 << (runs.bit_length() - 1)
    return 1 << 3 if ranks & _WHEEL == _WHEEL else 0
