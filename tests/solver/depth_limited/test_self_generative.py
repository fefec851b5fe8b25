"""Opponent strategies by self-play, in Leduc."""

from __future__ import annotations

import numpy as np
import pytest

from bench.quality.leduc import exploitability, game_value, measure
from solver.depth_limited.self_generative import (
    board_values,
    continuation_values,
    first_round,
    generate_strategies,
    solve_first_round,
    with_first_round,
)
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.toys import leduc
from solver.games.tree import CHANCE, DECISION


@pytest.fixture(scope="module")
def solved() -> tuple[Game, np.ndarray]:
    solver = Solver(leduc())
    solver.run(1000)
    return solver.game, solver.average


def test_first_round_keeps_its_decisions_and_ends_in_leaves(solved: tuple[Game, np.ndarray]) -> None:
    game, _ = solved
    tree = first_round(game.tree)
    assert tree.num_rounds == 1
    assert tree.round_rows[0] == game.tree.round_rows[0]
    assert (tree.kind == CHANCE).sum() == ((game.tree.kind == CHANCE) & (game.tree.round == 0)).sum()
    for node in np.flatnonzero(tree.kind == DECISION):
        twin = game.tree.find(tree.history_of(int(node)))
        assert game.tree.actions_of(twin) == tree.actions_of(int(node))


def test_generated_strategies_gain_nothing_from_the_blueprint(solved: tuple[Game, np.ndarray]) -> None:
    game, _ = solved
    rough = Solver(game)
    rough.run(3)  # a blueprint with many mistakes
    strategies = generate_strategies(game, rough.average, 0, 3, iterations=200)
    values = continuation_values(game, rough.average, strategies, 0)
    plain = Solution(game, rough.average, 0)
    leaves = np.flatnonzero((game.tree.kind == CHANCE) & (game.tree.round == 0))
    for n, leaf in enumerate(leaves):
        gets = -np.einsum("kij,i->kj", values[n], plain.reach(0, int(leaf)))
        assert (gets <= gets[0] + 1e-4).all()
    # Weakening shifts all boards alike, so the mean over boards is consistent.
    boards = board_values(game, rough.average, strategies, 0)
    np.testing.assert_allclose(boards.sum(axis=2) * game.chance[1], values, atol=1e-4)


def test_more_strategies_reduce_the_cost_of_the_depth_limit(solved: tuple[Game, np.ndarray]) -> None:
    game, blueprint = solved
    value = game_value(game)
    found = []
    for count in (1, 2, 4):
        tables = []
        for player in range(2):
            strategies = generate_strategies(game, blueprint, player, count, iterations=300)
            values = continuation_values(game, blueprint, strategies, player)
            solver = solve_first_round(game, values, player, 300)
            tables.append(with_first_round(blueprint, solver.solution(), player))
        found.append(exploitability(game, tables, value))
    assert found[0] > 0.3 > found[1] > found[2]
    assert found[2] < 0.005


def test_the_whole_agent_on_and_off_the_tree() -> None:
    figures = measure([1, 2, 8], 300, 600)
    on_tree, off_tree = figures["on_tree"], figures["off_tree"]
    assert isinstance(on_tree, dict)
    assert isinstance(off_tree, dict)
    assert on_tree["1"] > on_tree["2"] > on_tree["8"]
    assert on_tree["8"] < 0.05
    assert off_tree["8"] < 0.8 * float(str(figures["translation"]))
