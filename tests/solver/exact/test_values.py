from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from solver.exact.cut import cut
from solver.exact.engine import EVALUATE
from solver.exact.solver import Solver
from solver.exact.values import node_values, round_values
from solver.games.game import Game
from solver.games.toys import leduc
from solver.games.tree import CALL_ACTION, DECISION
from tests.reference.cfr import ReferenceSolver, Strength
from tests.reference.values import reference_equities, reference_node_values
from tests.solver.small_games import holdem, holdem_strength, leduc_strength

RIVER_HANDS = ["AsKs", "AdKh", "QhQc", "QdJd", "JhTh", "7s7c", "4d4h", "2c2d", "KcQs", "9s8s"]
TURN_HANDS = ["AsKs", "AdKh", "QhQc", "7s7c", "9s8s", "6d5d"]


def solved(game: Game, strength: Strength) -> tuple[Solver, ReferenceSolver]:
    """Random strategy sums for both, so that every node is reached with every hand."""
    solver, reference = Solver(game), ReferenceSolver(game, strength)
    rng = np.random.default_rng(3)
    for node in np.flatnonzero(game.tree.kind == DECISION):
        count = len(game.tree.children_of(node))
        for board in game.boards_of_round(int(game.tree.round[node])):
            start = game.boards.table[board] + game.tree.action_row[node] * game.stride
            rows = solver.average[start : start + count * game.stride].reshape(count, -1)
            rows[:, : game.num_hands] = rng.random((count, game.num_hands))
            for hand in range(game.num_hands):
                reference.average[int(node), board, hand] = rows[:, hand].astype(float).tolist()
    return solver, reference


def river() -> tuple[Game, Strength]:
    game = holdem("AhKd7h4c2s", 100, 400, "50%, a | a", RIVER_HANDS)
    return game, lambda cards, hand: holdem_strength(game, cards, hand)


def turn() -> tuple[Game, Strength]:
    game = holdem("AhKd7h4c", 100, 150, "a", TURN_HANDS)
    return game, lambda cards, hand: holdem_strength(game, cards, hand)


def toy() -> tuple[Game, Strength]:
    return leduc(), leduc_strength


@pytest.mark.kernel
@pytest.mark.parametrize("make", [river, toy])
def test_values_of_the_first_round_match_the_reference(make: Callable[[], tuple[Game, Strength]]) -> None:
    game, strength = make()
    solver, reference = solved(game, strength)
    for player in range(2):
        found = round_values(solver.solution(), player, solver.engine)
        expected = reference_node_values(reference, player)
        for node in np.flatnonzero((game.tree.kind == DECISION) & (game.tree.round == 0)).tolist():
            np.testing.assert_allclose(found.nodes[node], expected[node, 0], rtol=1e-4, atol=1e-4)
            if game.tree.player[node] == player:
                children = [expected[int(child), 0] for child in game.tree.children_of(node)]
                np.testing.assert_allclose(found.actions[node], children, rtol=1e-4, atol=1e-4)
            else:
                assert node not in found.actions


@pytest.mark.kernel
@pytest.mark.parametrize("make", [river, toy])
def test_any_node_on_any_board_matches_the_reference(make: Callable[[], tuple[Game, Strength]]) -> None:
    game, strength = make()
    solver, reference = solved(game, strength)
    check_all_nodes(game, solver, reference)


def test_any_node_of_a_turn_matches_the_reference() -> None:
    game, strength = turn()
    solver, reference = solved(game, strength)
    check_all_nodes(game, solver, reference, boards=3)


def check_all_nodes(game: Game, solver: Solver, reference: ReferenceSolver, boards: int = 99) -> None:
    expected = [reference_node_values(reference, player) for player in range(2)]
    solution = solver.solution()
    for node in np.flatnonzero(game.tree.kind == DECISION).tolist():
        for board in list(game.boards_of_round(int(game.tree.round[node])))[:boards]:
            found = node_values(solution, node, board)
            possible = np.array([not reference.blocked(h, board) for h in range(game.num_hands)])
            for player in range(2):
                wanted = expected[player][node, board]
                np.testing.assert_allclose(
                    found.cfv[player][possible], wanted[possible], rtol=1e-4, atol=1e-4
                )
                np.testing.assert_allclose(
                    found.equity[player],
                    reference_equities(reference, player, board, solution.reach(1 - player, node, board)),
                    atol=1e-5,
                )
            values = found.strategy * np.where(np.isnan(found.action_ev), 0, found.action_ev)
            np.testing.assert_allclose(
                values.sum(axis=0), np.nan_to_num(found.ev[found.actor]), rtol=1e-4, atol=1e-4
            )


def test_values_of_both_players_add_up_to_the_pot() -> None:
    game, strength = turn()
    solver, _ = solved(game, strength)
    tree = game.tree
    node = tree.find((CALL_ACTION,))
    found = node_values(solver.solution(), node, paid=(50.0, 50.0))
    means = [found.mean(player, found.ev[player]) for player in range(2)]
    assert sum(means) == pytest.approx(100, abs=1e-3)
    shares = [found.mean(player, found.equity[player]) for player in range(2)]
    assert sum(shares) == pytest.approx(1, abs=1e-5)
    assert found.frequencies().sum() == pytest.approx(1)


def test_folding_is_worth_nothing_from_the_node_on() -> None:
    game, strength = river()
    solver, _ = solved(game, strength)
    node = game.tree.find((100,))  # a bet of 50 into 100
    found = node_values(solver.solution(), node, paid=(100.0, 50.0))
    assert game.tree.actions_of(node)[0] == -1
    np.testing.assert_allclose(found.action_ev[0], 0, atol=1e-3)


def test_unreached_node_has_no_value() -> None:
    game = holdem("AhKd7h4c2s", 100, 400, "50%, a | a", RIVER_HANDS)
    solver = Solver(game)
    strategy = np.zeros((3, game.num_hands), dtype=np.float32)
    strategy[0] = 1
    solver.lock(0, strategy)
    found = node_values(solver.solution(), game.tree.find((100,)))
    assert np.isnan(found.ev[1]).all()
    assert np.isnan(found.mean(0, found.ev[0]))
    assert np.isfinite(found.ev[0]).all()  # the player who never bets still has values


def test_cut_at_the_root_is_the_solution_itself() -> None:
    game, strength = toy()
    solver, _ = solved(game, strength)
    solution = solver.solution()
    assert cut(solution, 0) is solution
    with pytest.raises(ValueError, match="not a decision"):
        cut(solution, game.tree.num_nodes - 1)


def test_cut_keeps_strategies_and_values() -> None:
    game, strength = toy()
    solver, _ = solved(game, strength)
    solution = solver.solution()
    node = game.tree.find((CALL_ACTION, CALL_ACTION))
    part = cut(solution, node, 3)
    deeper = part.game.tree.find((CALL_ACTION,))
    np.testing.assert_array_equal(
        part.strategy(deeper), solution.strategy(game.tree.find((CALL_ACTION,) * 3), 3)
    )
    whole = Solver(part.game).engine.root_values(part.average, 0, EVALUATE)
    np.testing.assert_allclose(whole, node_values(solution, node, 3).cfv[0], rtol=1e-6)
