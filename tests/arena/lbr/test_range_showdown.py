from __future__ import annotations

import numpy as np
import pytest

from arena.lbr.range_showdown import disjoint_sums, showdown_sums, sort_runouts, table_sums
from game.cards import parse_cards
from game.hands import HAND_CARDS, NUM_HANDS, parse_hand, unblocked
from tests.reference.range_equity import equity

# Integers in kernels wrap around on purpose; numpy warns about it when they run as plain Python.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")

RIVER, TURN, FLOP = "2c7dKhTs9s", "AhKd7h4c", "QsJs2h"


def cards_of(hand: int) -> tuple[int, int]:
    low, high = HAND_CARDS[hand]
    return int(low), int(high)


def check(board: str, hands: list[str], own: list[str]) -> None:
    """Check the sums over a range of a few hands with random weights."""
    cards = parse_cards(board)
    weights, rng = np.zeros(NUM_HANDS), np.random.default_rng(1)
    chosen = [parse_hand(hand) for hand in hands]
    weights[chosen] = rng.random(len(chosen))
    sums, disjoint = np.empty(NUM_HANDS), np.empty(NUM_HANDS)
    showdown_sums(sort_runouts(cards), weights, sums)
    disjoint_sums(weights, disjoint)
    for hand in map(parse_hand, own):
        expected = sum(weights[other] * equity(cards_of(hand), cards_of(other), cards) for other in chosen)
        assert sums[hand] == pytest.approx(expected, abs=1e-9)
        free = [other for other in chosen if not set(cards_of(hand)) & set(cards_of(other))]
        assert disjoint[hand] == pytest.approx(sum(weights[other] for other in free))


HANDS = ["KsQd", "9c9d", "AcKc", "2h2s", "QdJd"]


@pytest.mark.kernel
def test_sums_on_the_river_and_turn() -> None:
    check(RIVER, HANDS, [*HANDS, "AsAc", "3h4d", "KcKd"])
    check(TURN, HANDS[:3], ["9c9d", "As2s", "KcQd", "5s5d"])


@pytest.mark.kernel
@pytest.mark.slow
def test_sums_on_the_flop() -> None:
    check(FLOP, ["9c9d", "AcKc"], ["AsTs", "9c8c"])


def test_showdowns_are_zero_sum() -> None:
    rng = np.random.default_rng(4)
    for board in (RIVER, TURN, FLOP):
        live = unblocked(parse_cards(board))
        first, second = rng.random((2, NUM_HANDS)) * live
        runouts, sums, other = sort_runouts(parse_cards(board)), np.empty(NUM_HANDS), np.empty(NUM_HANDS)
        showdown_sums(runouts, second, sums)
        showdown_sums(runouts, first, other)
        disjoint = np.empty(NUM_HANDS)
        disjoint_sums(second, disjoint)
        assert first @ sums + second @ other == pytest.approx(first @ disjoint)


@pytest.mark.kernel
def test_sums_by_table() -> None:
    rng = np.random.default_rng(3)
    table, weights = rng.random((7, 7)).astype(np.float32), rng.random(7)
    sums = np.empty(7)
    table_sums(table, weights, sums)
    expected = [sum(e * w for e, w in zip(row, weights, strict=True)) for row in table.tolist()]
    assert sums == pytest.approx(expected)
