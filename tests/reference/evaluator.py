"""The evaluator as the rules of poker tell it: look at every five cards, name them, compare."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

Value = tuple[int, ...]


def five_card_value(cards: tuple[int, ...]) -> Value:
    """(category, ranks from the most to the least important): tuples compare as hands do."""
    count = Counter(card // 4 for card in cards)
    groups = sorted(count, key=lambda rank: (count[rank], rank), reverse=True)
    shape = sorted(count.values(), reverse=True)
    is_flush = len({card % 4 for card in cards}) == 1
    is_straight = len(groups) == 5 and groups[0] - groups[4] == 4
    if groups == [12, 3, 2, 1, 0]:
        is_straight, groups = True, [3, 2, 1, 0, -1]
    if is_straight and is_flush:
        category = 8
    elif shape == [4, 1]:
        category = 7
    elif shape == [3, 2]:
        category = 6
    elif is_flush:
        category = 5
    elif is_straight:
        category = 4
    else:
        category = {(3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1, (1, 1, 1, 1, 1): 0}[tuple(shape)]
    return category, *groups


def best_value(cards: tuple[int, ...]) -> Value:
    """The best five of five or more cards."""
    return max(five_card_value(five) for five in combinations(cards, 5))


def river_values(board: tuple[int, ...]) -> list[Value | None]:
    """The value of each of the 1326 hands on a five-card board, by high card then low; None if blocked."""
    pairs = [(low, high) for high in range(52) for low in range(high)]
    return [None if {low, high} & set(board) else best_value((*board, low, high)) for low, high in pairs]
