from __future__ import annotations

import numpy as np
import pytest

from abstraction.menu import parse_menu_book
from game.cards import parse_cards
from game.ranges import parse_range
from solver.exact.schedules import DEFAULT_SCHEDULE, Schedule, pcfr_plus
from solver.exact.solver import Solver
from solver.exact.symmetry import merged, remerged, unmerged
from solver.games.game import Game
from solver.games.holdem import holdem_game
from solver.games.tree import build_tree, even_root

RANGES = ("QQ+,AKs,T9s,76s,A5s:0.5", "TT+,AQs+,KQs,87s,AhKh,AdKd,AcKc")


def turn_game(board: str, ranges: tuple[str, str] = RANGES) -> Game:
    tree = build_tree(even_root(2, 100, 200, 1), parse_menu_book("100%, a | a"))
    return holdem_game(parse_cards(board), tree, np.stack([parse_range(text) for text in ranges]))


# Boards, and the number of their 48 river cards that are left after merging equivalent suits.
@pytest.mark.parametrize(
    ("board", "rivers"),
    [
        ("AsKs7s4s", 9 + 13),  # three empty suits
        ("AsKs7s4h", 10 + 12 + 13),  # two empty suits
        ("AsAh7s7h", 11 + 13),  # two pairs of suits
        ("AsKs7h4d", 48),
    ],
)
def test_symmetric_river_cards_are_merged(board: str, rivers: int) -> None:
    assert len(merged(turn_game(board, ("random", "random"))).board_cards) == 1 + rivers


def test_ranges_break_symmetry() -> None:
    game = turn_game("AsKs7s4s", ("random", "random,QhQd:0.5"))
    assert len(merged(game).board_cards) < len(game.board_cards)
    lopsided = turn_game("AsKs7s4s", ("random", "random,QhJh:0.5,QdJd:0.25"))
    assert merged(lopsided) is lopsided


@pytest.mark.parametrize(("board", "threads"), [("AsKs7s4h", 1), ("9s9h7s7h", 2), ("QsJs5s4s", 1)])
def test_a_merged_game_has_the_same_solution(board: str, threads: int) -> None:
    ranges = ("QQ+,AKs,T9s,76s,A5s:0.5", "TT+,AQs+,KQs,87s")
    game = turn_game(board, ranges)
    small = merged(game)
    assert small.table_size < game.table_size
    whole, part = Solver(game, threads=threads), Solver(small, threads=threads)
    whole.run(1)  # later, rounding decides between equal actions and the two diverge
    part.run(1)
    again = unmerged(part, game)
    np.testing.assert_allclose(again.average, whole.average, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(again.regret, whole.regret, rtol=1e-3, atol=0.1)
    part.run(150)
    again = unmerged(part, game)
    assert part.exploitability() < 0.002 * 100
    assert again.exploitability() == pytest.approx(part.exploitability(), rel=1e-2)
    again.run(20)
    assert again.exploitability() < 0.002 * 100


@pytest.mark.parametrize("schedule", [DEFAULT_SCHEDULE, pcfr_plus()], ids=lambda schedule: schedule.name)
def test_remerging_is_lossless(schedule: Schedule) -> None:
    game = turn_game("AsKs7s4s")
    small = merged(game)
    straight, part = Solver(small, schedule), Solver(small, schedule)
    straight.run(6)
    part.run(3)
    back = remerged(unmerged(part, game), small)
    back.run(3)
    assert back.iterations == straight.iterations
    np.testing.assert_array_equal(back.regret, straight.regret)
    np.testing.assert_array_equal(back.average, straight.average)


def test_locks_survive_unmerging() -> None:
    game = turn_game("AsKs7s4s")
    part = Solver(merged(game))
    part.lock(0, np.ones((len(game.tree.children_of(0)), game.num_hands), dtype=np.float32))
    assert unmerged(part, game).frozen[0] == 1


def test_other_games_are_not_merged() -> None:
    tree = build_tree(even_root(3, 100, 200, 1), parse_menu_book("a"))
    river = holdem_game(parse_cards("AsKs7s4s2s"), tree, np.ones((2, 1326), dtype=np.float32))
    assert merged(river) is river
    solver = Solver(river)
    assert unmerged(solver, river) is solver
