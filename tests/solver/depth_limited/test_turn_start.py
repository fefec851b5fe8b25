"""Warm start of turn solves from the blueprint, on the turn and on every river."""

from __future__ import annotations

import numpy as np
import pytest

from abstraction.menu import parse_menu_book
from game.cards import parse_cards
from game.hands import NUM_HANDS, unblocked
from numeric.arrays import F32
from solver.blueprint.file import FULL, Blueprint
from solver.blueprint.walk import OFF_TREE, make_walk_tree
from solver.depth_limited.turn_start import _ITERATIONS, _LEAST_REACH, _REGRET, warm_start_turn
from solver.exact.solver import Solver
from solver.games.holdem import holdem_game
from solver.games.tree import DECISION, BettingRoot, build_tree
from solver.leaves.match import match_nodes
from tests.arena.blueprints import WIDE, made_up_blueprint

BOARD = parse_cards("Th6d3cKs")
ROOT = BettingRoot(2, (300, 300), 20_000, 100)
LINE = (300, 0, 0, 0)
"""A raise and a call, and checks on the flop."""
OWN_MENU = "50%, 100%, a | 100%, a | a"
"""The blueprint's menu."""
FEW = "100% | a"


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)


def few_hands() -> F32:
    """float32[2, 1326]: five hands per player, some of which share cards with rivers."""
    rng = np.random.default_rng(3)
    weights = np.zeros((2, NUM_HANDS), dtype=np.float32)
    possible = np.flatnonzero(unblocked(BOARD))
    for player in range(2):
        weights[player, rng.choice(possible, 5, replace=False)] = rng.uniform(0.2, 1, 5)
    return weights


def begun(
    blueprint: Blueprint,
    menu: str = OWN_MENU,
    line: tuple[int, ...] = LINE,
    bets: tuple[int, ...] = (),
) -> Solver:
    """A solver after the warm start. The root offers more bets if they are given."""
    tree = build_tree(ROOT, parse_menu_book(menu), {(): bets} if bets else None)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    solver = Solver(holdem_game(BOARD, tree, few_hands()))
    twin = blueprint.tree.find(line) if line else OFF_TREE
    warm_start_turn(solver, blueprint, walk, match_nodes(tree, ROOT, walk, twin))
    return solver


def looked_up(blueprint: Blueprint, solver: Solver, node: int, board: int) -> F32:
    """float32[A, H]: the blueprint's strategy at a node; any values for blocked hands."""
    game = solver.game
    rows = blueprint.rows(blueprint.tree.find(LINE + game.tree.history_of(node)))
    buckets = blueprint.cards.buckets(game.board_cards[board])[game.labels]
    return np.asarray(rows[:, np.minimum(buckets, rows.shape[1] - 1)] / np.float32(FULL))


def table_rows(solver: Solver, table: F32, node: int, board: int) -> F32:
    """float32[A, H]: a node's rows of a solver's table."""
    game = solver.game
    num_actions = len(game.tree.children_of(node))
    start = int(game.boards.table[board]) + int(game.tree.action_row[node]) * game.stride
    return table[start : start + num_actions * game.stride].reshape(num_actions, -1)[:, : game.num_hands]


def decisions(solver: Solver, round_index: int) -> list[int]:
    tree = solver.game.tree
    return np.flatnonzero((tree.kind == DECISION) & (tree.round == round_index)).tolist()


def test_without_iterations_the_turn_plays_the_blueprint(blueprint: Blueprint) -> None:
    solver = begun(blueprint)
    solution = solver.solution()
    assert solver.iterations == 0
    for node in decisions(solver, 0):
        reached = solution.reach(int(solver.game.tree.player[node]), node) > 0
        expected = looked_up(blueprint, solver, node, 0)
        np.testing.assert_allclose(solution.strategy(node)[:, reached], expected[:, reached], atol=1e-5)


def test_initial_regrets_match_the_reference_on_every_card(
    blueprint: Blueprint,
) -> None:
    solver = begun(blueprint)
    game, tree = solver.game, solver.game.tree
    for board in (0, *list(game.boards_of_round(1))[::7]):
        live = unblocked(game.board_cards[board])[game.labels]
        for node in decisions(solver, 0 if board == 0 else 1):
            player = int(tree.player[node])
            # The opponent's reach by the blueprint on these cards.
            reach, child = game.ranges[1 - player].astype(np.float64), node
            while child > 0:
                parent = int(tree.parent[child])
                if tree.kind[parent] == DECISION and tree.player[parent] != player:
                    there = board if tree.round[parent] == tree.round[node] else 0
                    action = int(np.flatnonzero(tree.children_of(parent) == child)[0])
                    reach = reach * looked_up(blueprint, solver, parent, there)[action]
                child = parent
            # Any bucket may stand for blocked hands, and their values are part of the sum.
            least = _LEAST_REACH * game.ranges[1 - player].sum()
            low, high = reach[live].sum(), reach[live].sum() + game.ranges[1 - player][~live].sum()
            faced = max(300, *tree.history_of(node), 300)
            scale = _REGRET * faced * game.chance[int(tree.round[node])]
            got = table_rows(solver, solver.regret, node, board)[:, live]
            worth = got.sum(axis=0)
            assert (worth >= scale * max(low, least) * (1 - 1e-4)).all()
            assert (worth <= scale * max(high, least) * (1 + 1e-4)).all()
            np.testing.assert_allclose(
                got / worth, looked_up(blueprint, solver, node, board)[:, live], atol=1e-5
            )


def test_only_the_first_rounds_average_is_initialised(blueprint: Blueprint) -> None:
    solver = begun(blueprint)
    rivers = int(solver.game.boards.table[1])
    assert solver.average[:rivers].any()
    assert not solver.average[rivers:].any()


def test_iterations_continue_after_the_head_start(blueprint: Blueprint) -> None:
    solver = begun(blueprint)
    before = solver.solution().strategy(0).copy()
    assert solver.run(1) == 1
    assert solver.iterations == 1
    assert solver.first_share == pytest.approx(solver.schedule.share_of(_ITERATIONS + 1, _ITERATIONS + 1))
    reached = solver.game.ranges[0] > 0
    moved = np.abs(solver.solution().strategy(0) - before)[:, reached]
    assert 0 < moved.max() <= solver.first_share + 1e-5
    solver.run(20)
    assert np.abs(solver.solution().strategy(0) - before)[:, reached].max() > 0.01


def test_warm_started_solves_converge_to_the_same_strategies(blueprint: Blueprint) -> None:
    solver = begun(blueprint, FEW)
    assert solver.head_start == _ITERATIONS
    plain = Solver(solver.game)
    for one in (solver, plain):
        one.run(1000)
    pot = 2 * ROOT.spent[0]
    assert solver.exploitability() < 1e-3 * pot
    ours, theirs = (one.quality().values for one in (solver, plain))
    np.testing.assert_allclose(ours, theirs, atol=2e-3 * pot)


def test_decisions_below_a_bet_unlike_any_of_the_blueprint_start_from_zero(blueprint: Blueprint) -> None:
    """The answer to a bet of one pot is no answer to one of thirty, unless that is an all-in of both."""
    near, far, all_in = 1_100, 10_000, 20_000
    solver = begun(blueprint, bets=(near, far, all_in))
    tree = solver.game.tree
    for bet, warm in ((near, True), (far, False), (all_in, True)):
        facing = tree.find((bet,))
        assert table_rows(solver, solver.regret, facing, 0).any() == warm
        below = [node for node in decisions(solver, 1) if tree.history_of(node)[:1] == (bet,)]
        assert len(below) > 0 or bet == all_in
        river = int(next(iter(solver.game.boards_of_round(1))))
        assert all(table_rows(solver, solver.regret, node, river).any() == warm for node in below)


def test_off_tree_solves_start_from_zero(blueprint: Blueprint) -> None:
    solver = begun(blueprint, line=())
    assert solver.head_start == 0
    assert not solver.regret.any()
    assert not solver.average.any()
