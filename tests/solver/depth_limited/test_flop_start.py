"""Warm start of flop solves: without iterations they play the blueprint, with more they leave it."""

from __future__ import annotations

import numpy as np
import pytest

from abstraction.menu import parse_menu_book
from numeric.arrays import F32
from solver.blueprint.file import FULL, Blueprint
from solver.blueprint.walk import OFF_TREE, make_walk_tree
from solver.depth_limited.flop_start import blueprint_strategies, warm_start_flop
from solver.depth_limited.solver import DepthLimitedSolver, TableLeaves
from solver.equity.all_in import flop_wins
from solver.exact.schedules import sampled_dcfr
from solver.games.game import Game
from solver.games.tree import CHANCE, DECISION, BettingRoot, build_tree
from solver.leaves.flop_end import FlopEnd
from solver.leaves.learned import LearnedLeaves
from solver.leaves.match import Twins, leaves_of, match_nodes
from solver.leaves.rollouts import one_round_game
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.solver.leaves.test_rollouts import FLOP, few_hands

ROOT = BettingRoot(1, (300, 300), 20_000, 100)
LINE = (300, 0)
OWN_MENU = "50%, 100%, a | 100%, a | a"
"""The blueprint's menu."""


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)


def setting(blueprint: Blueprint, menu: str, extra: tuple[int, ...] = ()) -> tuple[Game, Twins]:
    tree = build_tree(ROOT, parse_menu_book(menu), {(): extra} if extra else {}, max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    twins = match_nodes(tree, ROOT, walk, blueprint.tree.find(LINE))
    return one_round_game(FLOP, tree, few_hands(4, 1)), twins


def strategies(blueprint: Blueprint, game: Game, twins: Twins) -> dict[int, F32]:
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    return blueprint_strategies(blueprint, walk, game.tree, twins, FLOP, game.labels)


def looked_up(blueprint: Blueprint, game: Game, line: tuple[int, ...]) -> F32:
    """float32[A, H]: the blueprint's strategy after a line."""
    rows = blueprint.rows(blueprint.tree.find(LINE + line))
    probabilities: F32 = rows[:, blueprint.cards.buckets(FLOP)[game.labels]] / np.float32(FULL)
    return probabilities


def no_values(game: Game) -> F32:
    """Leaf values of zero."""
    num_leaves = int((game.tree.kind == CHANCE).sum())
    return np.zeros((num_leaves, 1, game.num_hands, game.num_hands), dtype=np.float32)


def begun(blueprint: Blueprint, menu: str) -> DepthLimitedSolver:
    game, twins = setting(blueprint, menu)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    leaves = leaves_of(game.tree, ROOT, walk, twins)
    values = LearnedLeaves(FlopEnd(blueprint, game, leaves, 1, flop_wins(FLOP, game.labels), seed=5))
    solver = DepthLimitedSolver(game, values, 1, sampled_dcfr())
    warm_start_flop(solver, blueprint, walk, twins, FLOP)
    return solver


def test_without_iterations_the_blueprint_is_played(blueprint: Blueprint) -> None:
    solver = begun(blueprint, OWN_MENU)
    tree, solution = solver.game.tree, solver.solution()
    for node in np.flatnonzero(tree.kind == DECISION).tolist():
        expected = looked_up(blueprint, solver.game, tree.history_of(node))
        reached = solution.reach(int(tree.player[node]), node) > 0
        np.testing.assert_allclose(solution.strategy(node)[:, reached], expected[:, reached], atol=1e-5)


def test_first_iteration_plays_the_blueprint_and_counts_as_one(blueprint: Blueprint) -> None:
    solver = begun(blueprint, OWN_MENU)
    before = solver.solution().strategy(0).copy()
    assert solver.iterations == 0
    assert solver.solve(1) == 1
    # Player 1's average is from before the first update, player 0's from after it.
    second = int(solver.game.tree.children_of(0)[0])
    expected = looked_up(blueprint, solver.game, (0,))
    reached = solver.solution().reach(1, second) > 0
    np.testing.assert_allclose(
        solver.solution().strategy(second)[:, reached], expected[:, reached], atol=1e-4
    )
    solver.solve(200)
    assert np.abs(solver.solution().strategy(0) - before).max() > 0.2
    assert 0 < solver.first_share < 1 / 30


def test_blueprint_bets_are_shared_by_similar_sizes(blueprint: Blueprint) -> None:
    game, twins = setting(blueprint, "75% | a", extra=(600, 8_000))
    own = looked_up(blueprint, game, ())  # check, 50 %, 100 %, all-in
    rows = strategies(blueprint, game, twins)[0]
    assert game.tree.actions_of(0) == (0, 600, 750, 8_000)
    # 75 % maps to 100 %. 8,000 is near no blueprint bet, so it only gets what no other size takes.
    np.testing.assert_allclose(rows, [own[0], own[1], own[2], own[3]], atol=1e-5)
    game, twins = setting(blueprint, "75%, 90% | a")
    rows = strategies(blueprint, game, twins)[0]
    assert game.tree.actions_of(0) == (0, 750, 840)
    np.testing.assert_allclose(rows[1:].sum(axis=0), own[1:].sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(rows.sum(axis=0), 1, atol=1e-5)


def test_off_tree_solves_have_no_warm_start(blueprint: Blueprint) -> None:
    game, _ = setting(blueprint, OWN_MENU)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    lost = match_nodes(game.tree, ROOT, walk, OFF_TREE)
    leaves = leaves_of(game.tree, ROOT, walk, lost)
    values = LearnedLeaves(FlopEnd(blueprint, game, leaves, 1, flop_wins(FLOP, game.labels), seed=5))
    solver = DepthLimitedSolver(game, values, 1, sampled_dcfr())
    warm_start_flop(solver, blueprint, walk, lost, FLOP)
    assert solver.head_start == 0
    solver.solve(1)
    assert solver.first_share == 1


def test_replies_to_unused_actions_start_from_the_blueprint(blueprint: Blueprint) -> None:
    game, _ = setting(blueprint, OWN_MENU)
    solver = DepthLimitedSolver(game, TableLeaves(no_values(game)), 1, sampled_dcfr())
    tree = game.tree
    answer = tree.find((900,))
    strategies = {
        node: np.zeros((len(tree.children_of(node)), game.num_hands), np.float32) for node in (0, answer)
    }
    for rows, action in (
        (strategies[0], 0),
        (strategies[answer], 1),
    ):  # everybody checks; a bet would be called
        rows[action] = 1
    solver.warm_start(strategies, {0: 1.0, answer: 1.0}, 30)
    count = len(strategies[answer])
    start = int(tree.action_row[answer]) * game.stride
    regret = solver.regret[start : start + count * game.stride].reshape(count, -1)[:, : game.num_hands]
    assert (regret[1] > 0).all()
    assert not np.delete(regret, 1, axis=0).any()


def test_without_a_raise_the_blueprints_raise_becomes_a_call(blueprint: Blueprint) -> None:
    game, twins = setting(blueprint, "100% | -")
    node = game.tree.find((900,))
    own = looked_up(blueprint, game, (900,))
    rows = strategies(blueprint, game, twins)[node]
    np.testing.assert_allclose(rows, [own[0], own[1:].sum(axis=0)], atol=1e-5)
