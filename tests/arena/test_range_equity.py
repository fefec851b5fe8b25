from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from abstraction.isomorphism import RELABELLINGS, canonical_board
from arena.range_equity import add_matchups, hand_equities, matchup_sums
from arena.range_sums import action_sums, bet_sums, call_sums, draw, follow
from game.cards import parse_cards
from game.hands import HAND_CARDS, NUM_HANDS, hand_index, parse_hand
from tests.reference.range_equity import equity, outcome

RIVER, TURN, FLOP = "2c7dKhTs9s", "AhKd7h4c", "QsJs2h"


def cards_of(hand: int) -> tuple[int, int]:
    low, high = HAND_CARDS[hand]
    return int(low), int(high)


def check(hand: str, board: str, others: list[int]) -> None:
    found = hand_equities(parse_hand(hand), parse_cards(board))
    for other in others:
        expected = equity(cards_of(parse_hand(hand)), cards_of(other), parse_cards(board))
        assert found[other] == pytest.approx(expected, abs=1e-6)


@pytest.mark.kernel
def test_equities_on_the_river_and_turn() -> None:
    rng = np.random.default_rng(1)
    check("KsQd", RIVER, list(range(0, NUM_HANDS, 13)))
    check("As2s", TURN, rng.integers(0, NUM_HANDS, 8).tolist())


@pytest.mark.kernel
@pytest.mark.slow
def test_equities_on_the_flop() -> None:
    check("AsTs", FLOP, [parse_hand("QdQh"), parse_hand("9s8s"), parse_hand("AsKd"), parse_hand("7c6d")])


def test_equities_against_each_other_add_up_to_one() -> None:
    for board in (RIVER, TURN, FLOP):
        first, second = parse_hand("AcKc"), parse_hand("8d8c")
        cards = parse_cards(board)
        total = hand_equities(first, cards)[second] + hand_equities(second, cards)[first]
        assert total == pytest.approx(1, abs=1e-6)


@pytest.mark.kernel
@pytest.mark.slow
def test_matchups_count_wins_and_losses() -> None:
    boards = [parse_cards(RIVER), parse_cards("AsAdAhAcKs")]
    counts = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.int32)
    add_matchups(np.array(boards, dtype=np.uint8), np.array([3, 5], dtype=np.int32), counts)
    rng = np.random.default_rng(2)
    for first, second in np.sort(rng.integers(0, NUM_HANDS, (60, 2)), axis=1)[:, ::-1].tolist():
        if first == second:
            continue
        expected = 0
        for board, factor in zip(boards, (3, 5), strict=True):
            own, other = cards_of(first), cards_of(second)
            if not {*own, *other} & set(board):
                expected += round(factor * (2 * outcome(own, other, board) - 1))
        assert counts[first, second] == expected


def test_sums_over_canonical_boards_are_sums_over_all() -> None:
    board, _ = canonical_board(parse_cards("AhKh7h4c2s"))
    images = {tuple(sorted(c // 4 * 4 + int(r[c % 4]) for c in board)) for r in RELABELLINGS}
    sums = matchup_sums(np.array([board], dtype=np.uint8), np.array([len(images)], dtype=np.int32))
    assert (sums == -sums.T).all()
    for first, second in combinations(["QhJh", "7d7c", "AsAd", "3h2h", "Kc5c"], 2):
        own, other = cards_of(parse_hand(first)), cards_of(parse_hand(second))
        if set(own) & set(other):
            continue
        expected = sum(2 * outcome(own, other, im) - 1 for im in images if not {*own, *other} & set(im))
        assert sums[hand_index(*own), hand_index(*other)] == expected


@pytest.mark.kernel
def test_sums_over_ranges() -> None:
    rng = np.random.default_rng(3)
    weights = rng.random(40)
    equities, folds = rng.random((2, 40)).astype(np.float32)
    rows = rng.random((3, 40)).astype(np.float32)
    total, won = call_sums(weights, equities)
    assert total == pytest.approx(sum(weights))
    assert won == pytest.approx(sum(w * e for w, e in zip(weights, equities.tolist(), strict=True)))
    folded, kept, won = bet_sums(weights, folds, equities)
    triples = list(zip(weights, folds.tolist(), equities.tolist(), strict=True))
    assert folded == pytest.approx(sum(w * f for w, f, _ in triples))
    assert kept == pytest.approx(sum(w * (1 - f) for w, f, _ in triples))
    assert won == pytest.approx(sum(w * (1 - f) * e for w, f, e in triples))
    sums = np.empty(3)
    action_sums(weights, rows, sums)
    assert sums == pytest.approx(
        [sum(w * p for w, p in zip(weights, row, strict=True)) for row in rows.tolist()]
    )
    out = np.empty(40)
    follow(weights, folds, out)
    assert out == pytest.approx([w * f / folded for w, f, _ in triples])
    follow(weights, np.zeros(40, dtype=np.float32), out)
    assert not out.any()


@pytest.mark.kernel
def test_drawing_follows_the_weights() -> None:
    weights = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    assert [draw(weights, u) for u in (0.0, 0.2499, 0.2501, 0.5, 0.9999999)] == [1, 1, 3, 3, 3]
    assert draw(weights, 1.0) == 3
