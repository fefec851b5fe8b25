from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from game.cards import parse_cards
from game.showdown import Category, showdown_category, showdown_rank
from tests.reference.evaluator import best_value


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("As", Category.HIGH_CARD),
        ("AsKs", Category.HIGH_CARD),
        ("KsKh", Category.PAIR),
        ("AsKsQsJs", Category.HIGH_CARD),  # four cards make no flush and no straight
        ("2c2d2h2s", Category.FOUR_OF_A_KIND),
        ("Ac2d3h4s5c", Category.STRAIGHT),
        ("QcKdAh2s3c", Category.HIGH_CARD),  # the ace does not turn the corner
        ("AsKsQsJs9s", Category.FLUSH),
        ("AcAdAhKcKd", Category.FULL_HOUSE),
        ("AcAdAhKcKdKhQs", Category.FULL_HOUSE),
        ("AcAdKcKdQcQd", Category.TWO_PAIR),
        ("5s4s3s2sAsKdKh", Category.STRAIGHT_FLUSH),
    ],
)
def test_categories(text: str, category: Category) -> None:
    assert showdown_category(showdown_rank(parse_cards(text))) is category


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("As", "Kc"),  # Kuhn
        ("JsJh", "KsQh"),  # Leduc: a pair beats any high card
        ("KsQh", "KsJh"),
        ("3c3d4h", "3c3d2h"),
        ("2c3d4h5s6c", "Ac2d3h4s5c"),  # the wheel is the lowest straight
        ("AcAdKhKdQc", "AcAdKhKdJc"),
    ],
)
def test_order_of_hands(better: str, worse: str) -> None:
    assert showdown_rank(parse_cards(better)) > showdown_rank(parse_cards(worse))


@pytest.mark.parametrize(
    "text", ["AsKs", "AsKsQs", "AsKsQsJs", "AsKsQsJs9s", "AsKsQsJs9s2d", "AsKsQsJs9s2d3d"]
)
def test_only_ranks_and_flushes_matter(text: str) -> None:
    cards = parse_cards(text)
    next_suit = tuple(card // 4 * 4 + (card + 1) % 4 for card in cards)
    assert showdown_rank(cards) == showdown_rank(next_suit) == showdown_rank(cards[::-1])


@pytest.mark.parametrize("num_cards", [1, 2, 3, 4])
def test_few_cards_compare_by_copies_then_ranks(num_cards: int) -> None:
    # Fewer than five cards: more of a rank wins, then the ranks held most often, then the highest.
    def plain(cards: tuple[int, ...]) -> tuple[list[int], list[int]]:
        ranks = sorted((card // 4 for card in cards), reverse=True)
        groups = sorted(set(ranks), key=lambda rank: (ranks.count(rank), rank), reverse=True)
        return [ranks.count(rank) for rank in groups], groups

    hands = list(combinations(range(24, 52), num_cards))  # ranks 8 to A are enough
    by_rank = sorted({showdown_rank(hand): plain(hand) for hand in hands}.items())
    assert len({str(plain(hand)) for hand in hands}) == len(by_rank)
    assert [value for _, value in by_rank] == sorted(value for _, value in by_rank)


@pytest.mark.parametrize("num_cards", [5, 6, 7, 9])
def test_the_best_five_cards_count(num_cards: int) -> None:
    rng = random.Random(num_cards)
    hands = [tuple(rng.sample(range(52), num_cards)) for _ in range(1500 if num_cards < 8 else 300)]
    values = {hand: best_value(hand) for hand in hands}
    in_order = sorted(hands, key=showdown_rank)
    for worse, better in pairwise(in_order):
        ranks_tie = showdown_rank(worse) == showdown_rank(better)
        assert values[worse] == values[better] if ranks_tie else values[worse] < values[better]
        assert showdown_category(showdown_rank(worse)) == values[worse][0]
