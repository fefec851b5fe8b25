from __future__ import annotations

import pytest

from game.cards import parse_cards
from game.errors import CardError
from solver.exact.solver import Solver
from solver.games.spot import boards_per_round, estimate_memory, street_spot
from tests.solver.small_spots import river_spot, small_spot, turn_spot


def test_pot_and_stacks() -> None:
    spot = river_spot()
    assert (spot.pot, spot.behind) == (100, 400)
    assert small_spot("AhKd7h4c2s", 101, 400, "a").pot == 101


def test_boards_per_round() -> None:
    assert boards_per_round(5) == (1,)
    assert boards_per_round(4) == (1, 48)
    assert boards_per_round(3) == (1, 49, 49 * 48)


def test_boards_are_checked() -> None:
    for board in ("AhKd", "AhKd7h4c2s3s"):
        with pytest.raises(CardError, match="a board has 3, 4 or 5 cards"):
            street_spot(parse_cards(board), 100, 400, "a", river_spot().ranges)


@pytest.mark.parametrize(
    "spot",
    [
        small_spot("AhKd7h4c", 1000, 9500, "50%, 100%, a | 100%, a", "random", "random"),
        small_spot("AhKd7h4c", 100, 400, "50%, a", "22+", "random"),
        turn_spot(),
    ],
)
def test_memory_estimate_is_accurate(spot) -> None:
    tree = spot.tree()
    solver = Solver(spot.game(tree), threads=2)
    assert estimate_memory(spot, tree, 2) == pytest.approx(solver.memory_bytes, rel=0.12)
