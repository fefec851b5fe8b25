from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.isomorphism import (
    HAND_UNDER,
    LOCATION_BITS,
    NUM_CANONICAL_BOARDS,
    RELABELLINGS,
    board_index,
    board_locations,
    board_multiplicities,
    canonical_board,
    canonical_boards,
)
from game.cards import Cards, parse_cards
from game.errors import CardError
from game.hands import HAND_CARDS, hand_index
from tests.reference.card_abstraction import are_isomorphic, relabelled

pytestmark = pytest.mark.kernel

boards = st.integers(3, 5).flatmap(
    lambda count: st.permutations(range(52)).map(lambda deck: tuple(deck[:count]))
)


@given(boards)
def test_canonical_board_is_the_board_relabelled(board: Cards) -> None:
    canonical, relabelling = canonical_board(board)
    assert list(canonical) == sorted(canonical)
    assert frozenset(canonical) == relabelled(board, RELABELLINGS[relabelling].tolist())
    assert are_isomorphic(board, canonical)


@given(boards)
def test_every_relabelling_of_a_board_has_the_same_canonical_board(board: Cards) -> None:
    canonical, _ = canonical_board(board)
    assert {canonical_board(tuple(relabelled(board, suits)))[0] for suits in RELABELLINGS.tolist()} == {
        canonical
    }
    assert canonical_board(canonical) == (canonical, 0)


def test_examples_of_canonical_boards() -> None:
    assert canonical_board(parse_cards("AsKsQs"))[0] == parse_cards("QcKcAc")
    assert canonical_board(parse_cards("2h7d7h"))[0] == canonical_board(parse_cards("7s2c7c"))[0]
    assert canonical_board(parse_cards("2h7d7h"))[0] != canonical_board(parse_cards("7s2d7c"))[0]


@pytest.mark.parametrize("board", [(), (51,), (51, 50), (1, 2, 3, 4, 5, 6), (1, 2, 1)])
def test_invalid_boards_are_refused(board: Cards) -> None:
    with pytest.raises(CardError):
        canonical_board(board)


@pytest.mark.parametrize(
    "num_cards", [3, pytest.param(4, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)]
)
def test_number_of_canonical_boards(num_cards: int) -> None:
    # The published counts: Waugh, "A fast and optimal hand isomorphism algorithm", 2013
    multiplicities = board_multiplicities(num_cards)
    assert len(canonical_boards(num_cards)) == len(multiplicities) == NUM_CANONICAL_BOARDS[num_cards]
    assert multiplicities.sum() == comb(52, num_cards)
    assert multiplicities.min() >= 1
    assert multiplicities.max() == 24


def test_board_index_is_the_rank_in_colexicographic_order() -> None:
    flops = sorted(combinations(range(52), 3), key=lambda flop: flop[::-1])
    for index in (0, 1, 2, 17, 12_345, 22_099):
        assert board_index(np.array(flops[index], dtype=np.uint8)) == index
        assert board_index(np.array(flops[index][::-1], dtype=np.uint8)) == index


@pytest.mark.parametrize(
    "num_cards", [3, pytest.param(4, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)]
)
def test_locations_lead_to_the_canonical_board(num_cards: int) -> None:
    locations, rows = board_locations(num_cards), canonical_boards(num_cards)
    rng = np.random.default_rng(2)
    for _ in range(300):
        board = tuple(rng.permutation(52)[:num_cards].tolist())
        location = int(locations[board_index(np.array(board, dtype=np.uint8))])
        found = tuple(rows[location >> LOCATION_BITS].tolist()), location & (1 << LOCATION_BITS) - 1
        assert found == canonical_board(board)


def test_hands_under_relabellings() -> None:
    for relabelling in range(24):
        for hand in range(0, 1326, 13):
            low, high = relabelled(HAND_CARDS[hand].tolist(), RELABELLINGS[relabelling].tolist())
            assert HAND_UNDER[relabelling, hand] == hand_index(low, high)
