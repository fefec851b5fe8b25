from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phevaluator import evaluate_cards as outside_evaluator

from game.cards import parse_cards
from game.errors import CardError
from game.evaluator import (
    NUM_LIVE_HANDS,
    category,
    evaluate,
    evaluate_cards,
    fill_river_live,
    river_strengths,
    strength_counts,
)
from game.evaluator_tables import (
    CATEGORY_OF_STRENGTH,
    NUM_STRENGTHS,
    RANK_KEYS,
    SHIFT_7,
    SLOTS_5,
    SLOTS_6,
    SLOTS_7,
)
from game.hands import HAND_CARDS, unblocked
from game.showdown import Category, showdown_rank
from tests.reference.evaluator import best_value, river_values

pytestmark = pytest.mark.kernel

hands_of_seven = st.permutations(range(52)).map(lambda deck: tuple(deck[:7]))

RIVERS = ["AsKd7h4c2s", "AsKs7h4s2d", "9h8h7h6h2c", "TsJsQsKsAs", "5c5d5h5sAh", "AcAdKcKdQh", "2c3d4h5sAc"]


def one(cards: tuple[int, ...]) -> int:
    return int(evaluate_cards(np.array(cards, dtype=np.uint8)))


def random_hands(num_cards: int, count: int, seed: int = 0) -> npt.NDArray[np.uint8]:
    rng = random.Random(seed)
    return np.array([rng.sample(range(52), num_cards) for _ in range(count)], dtype=np.uint8)


def test_the_weakest_and_strongest_hands() -> None:
    assert one(parse_cards("7c5d4h3s2c")) == 1
    assert one(parse_cards("AsKsQsJsTs")) == NUM_STRENGTHS
    assert category(1) is Category.HIGH_CARD
    assert category(NUM_STRENGTHS) is Category.STRAIGHT_FLUSH


def test_each_category_has_its_known_number_of_classes() -> None:
    # Cactus Kev's table of the 7,462 classes: http://suffe.cool/poker/evaluator.html
    counts = np.bincount(CATEGORY_OF_STRENGTH[1:])
    assert counts.tolist() == [1277, 2860, 858, 858, 10, 1277, 156, 156, 10]
    assert (np.diff(CATEGORY_OF_STRENGTH[1:].astype(int)) >= 0).all()


@pytest.mark.slow
def test_category_counts_of_all_seven_card_hands() -> None:
    # https://en.wikipedia.org/wiki/List_of_poker_hands, "Frequency of 7-card poker hands"
    counts = strength_counts()
    by_category = np.bincount(CATEGORY_OF_STRENGTH[1:], weights=counts[1:]).astype(int)
    assert by_category.tolist() == [
        *(23_294_460, 58_627_800, 31_433_400, 6_461_620, 6_180_020),
        *(4_047_644, 3_473_184, 224_848, 41_584),
    ]
    assert counts[0] == 0
    assert np.count_nonzero(counts) == 4824  # the classes that can be the best five of seven


@pytest.mark.slow
def test_all_five_card_hands_match_another_evaluator() -> None:
    hands = list(combinations(range(52), 5))
    theirs = np.array([outside_evaluator(*hand) for hand in hands])
    assert np.array_equal(evaluate(np.array(hands, dtype=np.uint8)), NUM_STRENGTHS + 1 - theirs)


@pytest.mark.parametrize("num_cards", [5, 6, 7])
def test_random_hands_match_another_evaluator(num_cards: int) -> None:
    hands = random_hands(num_cards, 20_000)
    theirs = np.array([outside_evaluator(*hand) for hand in hands.tolist()])
    assert np.array_equal(evaluate(hands), NUM_STRENGTHS + 1 - theirs)


@pytest.mark.parametrize("num_cards", [5, 6, 7])
def test_random_hands_match_the_slow_twin(num_cards: int) -> None:
    hands = random_hands(num_cards, 400, seed=1)
    values = {
        int(strength): best_value(tuple(hand)) for hand, strength in zip(hands, evaluate(hands), strict=True)
    }
    assert [values[strength] for strength in sorted(values)] == sorted(values.values())
    assert len(set(values.values())) == len(values)
    assert all(category(strength) == value[0] for strength, value in values.items())


@pytest.mark.parametrize("num_cards", [5, 6, 7])
def test_every_collection_of_ranks_is_in_the_tables(num_cards: int) -> None:
    # All 6,175, 18,395 or 49,205 of them, in suits that make no flush.
    def extend(rank: int, left: int) -> list[tuple[int, ...]]:
        if left == 0:
            return [()]
        if rank == 13:
            return []
        return [
            (*(4 * rank + (rank + i) % 4 for i in range(held)), *rest)
            for held in range(min(4, left) + 1)
            for rest in extend(rank + 1, left - held)
        ]

    hands = [hand for hand in extend(0, num_cards) if max(np.bincount([c % 4 for c in hand])) < 5]
    strengths = evaluate(np.array(hands, dtype=np.uint8))
    of_rank: dict[int, int] = {}
    for hand, strength in zip(hands, strengths.tolist(), strict=True):
        assert of_rank.setdefault(showdown_rank(hand), strength) == strength
    assert [of_rank[rank] for rank in sorted(of_rank)] == sorted(of_rank.values())
    assert len(set(of_rank.values())) == len(of_rank)


def test_no_two_collections_of_ranks_share_a_slot() -> None:
    assert [np.count_nonzero(slots) for slots in (SLOTS_5, SLOTS_6, SLOTS_7)] == [6175, 18395, 49205]
    largest = 4 * RANK_KEYS[12] + 3 * RANK_KEYS[11]
    assert int(SHIFT_7.max()) + largest // len(SHIFT_7) < 1 << 16


@settings(max_examples=30)
@given(hands_of_seven)
def test_seven_cards_have_the_strength_of_their_best_five(hand: tuple[int, ...]) -> None:
    assert one(hand) == max(one(five) for five in combinations(hand, 5))
    assert one(hand) == max(one(six) for six in combinations(hand, 6))


@given(hands_of_seven, st.permutations(range(4)), st.permutations(range(7)))
def test_suits_and_order_do_not_matter(hand: tuple[int, ...], suits: list[int], order: list[int]) -> None:
    renamed = tuple(card // 4 * 4 + suits[card % 4] for card in hand)
    assert one(hand) == one(renamed) == one(tuple(hand[i] for i in order))


@pytest.mark.parametrize("board", RIVERS)
def test_river_strengths_are_those_of_seven_cards(board: str) -> None:
    cards = parse_cards(board)
    live = unblocked(cards)
    hands = np.array([(*cards, *hole) for hole in HAND_CARDS[live].tolist()], dtype=np.uint8)
    strengths = river_strengths(cards)
    assert np.array_equal(strengths[live], evaluate(hands))
    assert not strengths[~live].any()
    live_strengths = np.zeros(NUM_LIVE_HANDS, dtype=np.uint16)
    fill_river_live(np.array(cards, dtype=np.uint8), live_strengths)
    assert np.array_equal(live_strengths, strengths[live])


def test_random_rivers_agree_with_single_hands() -> None:
    for board in random_hands(5, 25, seed=2):
        live = unblocked(tuple(board.tolist()))
        hands = np.hstack([np.tile(board, (NUM_LIVE_HANDS, 1)), HAND_CARDS[live]])
        strengths = river_strengths(tuple(board.tolist()))
        assert np.array_equal(strengths[live], evaluate(hands))
        assert not strengths[~live].any()


def test_a_river_matches_the_slow_twin() -> None:
    board = parse_cards("9h8h7h6d2c")
    pairs = [
        (int(strength), value)
        for strength, value in zip(river_strengths(board), river_values(board), strict=True)
        if value is not None
    ]
    of_strength = dict(pairs)
    assert all(of_strength[strength] == value for strength, value in pairs)
    assert [of_strength[strength] for strength in sorted(of_strength)] == sorted(
        {value for _, value in pairs}
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: evaluate(np.zeros((3, 4), dtype=np.uint8)), r"rows of 5, 6 or 7 cards, not .* \(3, 4\)"),
        (lambda: evaluate([[0, 1, 2, 3, 4], [0, 1, 2, 3, 52]]), r"row 1, \[0, 1, 2, 3, 52\]"),
        (lambda: evaluate([[0, 1, 2, 3, -1]]), "row 0"),
        (lambda: evaluate([[0, 1, 2, 3, 3]]), "different cards"),
        (lambda: evaluate([[0.0, 1, 2, 3, 4]]), "integers 0..51, not float64"),
        (lambda: river_strengths(parse_cards("AsKsQs")), "'AsKsQs' is not a river board"),
        (lambda: river_strengths((1, 2, 3, 4, 4)), "different cards"),
        (lambda: river_strengths((1, 2, 3, 4, 52)), r"\(1, 2, 3, 4, 52\) is not a river board"),
    ],
)
def test_invalid_hands_are_refused(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(CardError, match=message):
        wrong()


def test_strength_zero_has_no_category() -> None:
    with pytest.raises(ValueError, match="0 is not a strength"):
        category(0)


def test_evaluate_accepts_zero_rows() -> None:
    assert evaluate(np.zeros((0, 7), dtype=np.uint8)).shape == (0,)
