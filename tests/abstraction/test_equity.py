from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from phevaluator import evaluate_cards as outside_evaluator

from abstraction.equity import (
    EQUITY_UNITS,
    HISTOGRAM_COLUMNS,
    MAX_SCORE,
    NUM_BINS,
    SHARES_PER_RUNOUT,
    TAIL_UNITS,
    fill_class_equities,
    fill_histograms,
    histograms_to_tails,
    new_sorted_river,
    score_river,
    sort_river,
)
from game.cards import Cards, parse_cards
from game.hands import HAND_CARDS, HAND_CLASS, NUM_HANDS, hand_index, unblocked
from tests.reference.card_abstraction import river_equities, river_score, smooth_tail
from tests.reference.evaluator import river_values

# As plain Python, numpy warns when words wrap around.
pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered")]

RIVERS = ["7h8h9hTc2d", "AcKcQcJcTc", "2c2d2h2s3c", "4c9dJhQs2h", "5c5d5hKcKd"]


def outside_value(cards: tuple[int, ...]) -> int:
    return -int(outside_evaluator(*cards))


def hand_cards(hand: int) -> tuple[int, int]:
    low, high = HAND_CARDS[hand].tolist()
    return low, high


@pytest.mark.parametrize("text", RIVERS)
def test_sorted_river(text: str) -> None:
    board = parse_cards(text)
    river = new_sorted_river()
    num_groups = sort_river(np.array(board, dtype=np.uint8), river)
    assert np.array_equal(river.hands, np.flatnonzero(unblocked(board)))
    assert np.array_equal(np.sort(river.order), np.arange(1081))
    values = river_values(board)
    found = [values[river.hands[h]] for h in river.order]
    starts = [0, *river.group_ends[:num_groups].tolist()]
    assert starts[-1] == 1081
    groups = [set(found[start:end]) for start, end in pairwise(starts)]
    assert all(len(group) == 1 for group in groups)
    assert groups == [{value} for value in sorted({value for value in values if value is not None})]
    assert not river.places.any()


@pytest.mark.parametrize("text", RIVERS)
def test_river_scores_and_class_equities_count_every_opponent(text: str) -> None:
    board = parse_cards(text)
    river, scores = new_sorted_river(), np.zeros(1081, dtype=np.int32)
    num_groups = sort_river(np.array(board, dtype=np.uint8), river)
    score_river(river, num_groups, scores)
    class_of_hand = (HAND_CLASS % 8).astype(np.uint8)
    equities = np.full((NUM_HANDS, 8), -1, dtype=np.int16)
    fill_class_equities(river, num_groups, class_of_hand, equities)
    assert (equities[~unblocked(board)] == -1).all()
    for h in (0, 77, 500, 1080):
        hand = int(river.hands[h])
        cards = hand_cards(hand)
        assert (scores[h], MAX_SCORE) == (river_score(cards, board, value=outside_value)[0], 2 * 990)
        for opponent_class in range(8):
            score, count = river_score(
                cards,
                board,
                plays=lambda pair, wanted=opponent_class: class_of_hand[hand_index(*pair)] == wanted,
                value=outside_value,
            )
            exact = Fraction(score * EQUITY_UNITS, 2 * count)
            assert abs(int(equities[hand, opponent_class]) - exact) <= Fraction(1, 2) + Fraction(1, 1000)


def test_class_without_hands_counts_as_a_half() -> None:
    river = new_sorted_river()
    num_groups = sort_river(np.array(parse_cards(RIVERS[0]), dtype=np.uint8), river)
    equities = np.zeros((NUM_HANDS, 8), dtype=np.int16)
    fill_class_equities(river, num_groups, np.full(NUM_HANDS, 5, dtype=np.uint8), equities)
    live = equities[unblocked(parse_cards(RIVERS[0]))]
    assert (np.delete(live, 5, axis=1) == EQUITY_UNITS // 2).all()
    assert abs(float(live[:, 5].mean()) - EQUITY_UNITS / 2) < 1  # what one wins, the other loses


def check_board(board: Cards, hands: list[int]) -> None:
    histograms = np.ones((NUM_HANDS, HISTOGRAM_COLUMNS), dtype=np.uint32)
    tails = np.full((NUM_HANDS, NUM_BINS), 77, dtype=np.uint8)
    fill_histograms(np.array(board, dtype=np.uint8), histograms)
    histograms_to_tails(histograms, tails)
    num_runouts = 46 if len(board) == 4 else 1081
    live = unblocked(board)
    assert (histograms[live].sum(axis=1) == SHARES_PER_RUNOUT * num_runouts).all()
    assert not histograms[~live].any()
    assert (tails[~live] == 77).all()
    assert (np.diff(tails[live].astype(np.int64), axis=1) <= 0).all()
    for hand in hands:
        equities = river_equities(hand_cards(hand), board, outside_value)
        exact = smooth_tail(equities)
        total = SHARES_PER_RUNOUT * num_runouts
        above = [Fraction(total - int(below), total) for below in np.cumsum(histograms[hand, :NUM_BINS])]
        assert above == exact
        assert sum(above, Fraction()) / NUM_BINS == sum(equities, Fraction()) / len(equities)
        assert all(
            abs(int(x) - TAIL_UNITS * y) <= Fraction(1, 2) for x, y in zip(tails[hand], exact, strict=True)
        )


@pytest.mark.parametrize(
    ("board", "hands"),
    [("7h8h9cTd", ("AhKh", "2c2d")), ("7h8h9hTh", ("AhKc", "2c2d")), ("9c9d2c2d", ("9hKs",))],
)
def test_turn_tails_are_exact(board: str, hands: tuple[str, ...]) -> None:
    check_board(parse_cards(board), [hand_index(*parse_cards(hand)) for hand in hands])


@pytest.mark.slow
@pytest.mark.parametrize(("board", "hand"), [("QcJc4d", "KcTh"), ("8h8d8s", "Ac2d"), ("6s4s2s", "6h5h")])
def test_flop_tails_are_exact(board: str, hand: str) -> None:
    check_board(parse_cards(board), [hand_index(*parse_cards(hand))])
