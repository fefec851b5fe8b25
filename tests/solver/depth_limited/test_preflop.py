"""Solves of the first round: equilibria of their game, with any bet, stored on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from game.actions import CALL, ActionKind, raise_to
from game.betting import start
from game.definition import HUNL
from game.hands import NUM_CLASSES
from protocol.acpc import parse_betting
from solver.agent.preflop_lookup import BlueprintPreflop
from solver.agent.preflop_solves import SolvedPreflop
from solver.blueprint.abstract_game import make_training_game
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import BlueprintWalk
from solver.decisions.decision import Method
from solver.decisions.limits import UNLIMITED, Limits
from solver.depth_limited.kernels.first_round import PickedMatrices, multiply_picked
from solver.depth_limited.opponent_values import _leaves
from solver.depth_limited.preflop import LeafTable, preflop_solver, preflop_tree
from solver.games.tree import CALL_ACTION
from solver.resolving.ranges import LEAST_SHARE
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.solver.depth_limited.test_opponent_values import even_wins


@pytest.fixture(autouse=True)
def quick_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.depth_limited.preflop.class_wins", even_wins)


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)


def made_up_table(blueprint: Blueprint, seed: int, count: int = 3) -> LeafTable:
    """Random leaf values: better classes win more, and strategies differ."""
    game = make_training_game(blueprint.tree, blueprint.num_buckets, 100.0)
    nodes = _leaves(game)[1]
    rng = np.random.default_rng(seed)
    order = np.arange(NUM_CLASSES) / NUM_CLASSES
    base = order[:, None] - order[None, :]
    noise = rng.normal(0, 0.3, (len(nodes), count, NUM_CLASSES, NUM_CLASSES))
    return LeafTable(nodes, (3 * base + noise).astype(np.float32))


def make(blueprint: Blueprint, folder: Path, iterations: int = 20, always: bool = True) -> SolvedPreflop:
    walk = BlueprintWalk(blueprint.tree, blueprint.definition)
    tables = made_up_table(blueprint, 1), made_up_table(blueprint, 2)
    return SolvedPreflop(blueprint, walk, tables, always, folder, iterations)


def test_the_solution_is_an_equilibrium_of_its_own_game(blueprint: Blueprint) -> None:
    walk = BlueprintWalk(blueprint.tree, blueprint.definition)
    tree = preflop_tree(HUNL, WIDE, {})
    gaps = []
    for iterations in (10, 400):
        solver = preflop_solver(HUNL, tree, walk.tree, made_up_table(blueprint, 1), chooser=0)
        solver.solve(iterations)
        both = [solver.response_values(player).sum() for player in range(2)]
        gaps.append(sum(both) / (1326 * 1225))
    assert gaps[1] < gaps[0] / 4
    assert 0 <= gaps[1] < 5  # chips per hand, of blinds of 50 and 100


def test_the_big_blind_may_raise_after_a_limp() -> None:
    tree = preflop_tree(HUNL, WIDE, {"c": (437,)})
    node = tree.find((0,))
    assert 437 in tree.actions_of(node)
    assert tree.player[node] == 0


@pytest.mark.parametrize("text", ["", "c", "r217", "r250r1111", "cr333", "r300r900r20000", "r20000"])
def test_every_preflop_bet_has_a_strategy(blueprint: Blueprint, tmp_path: Path, text: str) -> None:
    betting = parse_betting(HUNL, text)
    decision = make(blueprint, tmp_path).decide(betting, (), None, 1, UNLIMITED)
    assert decision.method is Method.DEPTH_LIMITED
    np.testing.assert_allclose(decision.strategy.probabilities.sum(axis=0), 1, atol=1e-4)
    for action in decision.strategy.actions:
        betting.verify(action)
    assert np.isfinite(decision.ranges).all()
    assert decision.ranges.max(axis=1).min() > 0


def test_flop_context_has_both_ranges(blueprint: Blueprint, tmp_path: Path) -> None:
    preflop = make(blueprint, tmp_path)
    betting = parse_betting(HUNL, "r275c/")
    context = preflop.context(betting, 1, UNLIMITED)
    assert context.text == "r275c/"
    assert 0 < context.ranges[0].mean() < 1
    assert 0 < context.ranges[1].mean() < 1


def test_solutions_are_stored_and_damaged_ones_solved_again(blueprint: Blueprint, tmp_path: Path) -> None:
    betting = start(HUNL).apply(raise_to(217))
    first = make(blueprint, tmp_path).decide(betting, (), None, 1, UNLIMITED)
    (file,) = tmp_path.glob("*.npy")
    again = make(blueprint, tmp_path).decide(betting, (), None, 1, UNLIMITED)
    np.testing.assert_array_equal(first.strategy.probabilities, again.strategy.probabilities)
    changed = np.load(file)
    np.save(file, np.full_like(changed, 1 / 3))
    kept = make(blueprint, tmp_path).decide(betting, (), None, 1, UNLIMITED)
    assert not np.array_equal(first.strategy.probabilities, kept.strategy.probabilities)  # it was read
    file.write_bytes(b"junk")
    mended = make(blueprint, tmp_path).decide(betting, (), None, 1, UNLIMITED)
    np.testing.assert_array_equal(first.strategy.probabilities, mended.strategy.probabilities)


def test_menu_bets_share_one_solve(blueprint: Blueprint, tmp_path: Path) -> None:
    preflop = make(blueprint, tmp_path)
    for text in ("c", "r200", "r300", "r300r900"):
        betting = parse_betting(HUNL, text)
        preflop.decide(betting, (), None, 1, UNLIMITED)
    assert len(list(tmp_path.glob("*.npy"))) == 2  # one for each seat


def test_cut_off_solve_is_continued_later(blueprint: Blueprint, tmp_path: Path) -> None:
    preflop, betting = make(blueprint, tmp_path, iterations=60), start(HUNL).apply(CALL)
    first = preflop.decide(betting, (), None, 1, Limits(seconds=0.0))
    assert 0 < first.iterations < 60
    assert not list(tmp_path.glob("*.npy"))
    whole = preflop.decide(betting, (), None, 1, UNLIMITED)
    assert whole.iterations == 60
    assert len(list(tmp_path.glob("*.npy"))) == 1
    at_once = make(blueprint, tmp_path / "other", iterations=60).decide(betting, (), None, 1, UNLIMITED)
    np.testing.assert_array_equal(whole.strategy.probabilities, at_once.strategy.probabilities)


def test_oldest_solutions_are_deleted_first(
    blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.agent.preflop_solves._MOST_FILES", 3)
    monkeypatch.setattr("solver.agent.preflop_solves._MOST_KNOWN", 2)
    preflop = make(blueprint, tmp_path, iterations=1)
    for chips in (211, 223, 227, 229, 233):
        preflop.decide(start(HUNL).apply(raise_to(chips)), (), None, 1, UNLIMITED)
        assert len(preflop._known) <= 2
    assert 2 <= len(list(tmp_path.glob("*.npy"))) <= 3


def test_menu_bets_are_looked_up(blueprint: Blueprint, tmp_path: Path) -> None:
    preflop = make(blueprint, tmp_path, always=False)
    plain = BlueprintPreflop(blueprint, BlueprintWalk(blueprint.tree, HUNL))
    for text in ("", "c", "r200", "r300r900", "cr300", "r300r900r20000"):
        betting = parse_betting(HUNL, text)
        assert not preflop.solves(betting)
        found, expected = (each.decide(betting, (), None, 1, UNLIMITED) for each in (preflop, plain))
        assert found.method is Method.BLUEPRINT
        assert found.iterations == 0
        assert found.strategy.actions == expected.strategy.actions
        np.testing.assert_array_equal(found.strategy.probabilities, expected.strategy.probabilities)
        np.testing.assert_allclose(found.ranges, expected.ranges, rtol=1e-6)
    betting = parse_betting(HUNL, "r300r900c/")
    contexts = [each.context(betting, 1, UNLIMITED) for each in (preflop, plain)]
    np.testing.assert_allclose(contexts[0].ranges, contexts[1].ranges, rtol=1e-6)
    assert not list(tmp_path.glob("*"))


@pytest.mark.parametrize("text", ["r217", "r300r777", "cr250", "r300r900r2345", "r20000", "r300r777r2400"])
def test_departure_is_solved_and_later_actions_follow_its_solution(
    blueprint: Blueprint, tmp_path: Path, text: str
) -> None:
    preflop = make(blueprint, tmp_path, always=False)
    betting = parse_betting(HUNL, text)
    while True:
        assert preflop.solves(betting)
        decision = preflop.decide(betting, (), None, 1, UNLIMITED)
        assert decision.method is Method.DEPTH_LIMITED
        np.testing.assert_allclose(decision.strategy.probabilities.sum(axis=0), 1, atol=1e-4)
        for action in decision.strategy.actions:
            betting.verify(action)
        raises = [action for action in decision.strategy.actions if action.kind is ActionKind.RAISE]
        if not raises:
            break
        betting = betting.apply(raises[0])  # in the new menu, so not another departure


def test_ranges_before_a_departure_follow_the_blueprint(blueprint: Blueprint, tmp_path: Path) -> None:
    """We open by the blueprint and face an off-tree raise: our range is the blueprint's."""
    preflop = make(blueprint, tmp_path, always=False)
    played = preflop.decide(start(HUNL), (), None, 1, UNLIMITED).after(raise_to(300))
    decision = preflop.decide(parse_betting(HUNL, "r300r777"), (), None, 1, UNLIMITED)
    ours = played.ranges[1] / played.ranges[1].max()
    np.testing.assert_allclose(decision.ranges[1], np.maximum(ours, LEAST_SHARE), rtol=1e-5)
    assert np.ptp(decision.ranges[0]) > 0  # the opponent's range follows from the solution
    # A second departure starts from the first solution's ranges.
    ours = preflop.decide(parse_betting(HUNL, "r217"), (), None, 1, UNLIMITED).after(raise_to(651)).ranges[0]
    again = preflop.decide(parse_betting(HUNL, "r217r651r2000"), (), None, 1, UNLIMITED)
    np.testing.assert_allclose(again.ranges[0], np.maximum(ours / ours.max(), LEAST_SHARE), rtol=1e-5)


def test_flop_ranges_follow_the_played_strategy(blueprint: Blueprint, tmp_path: Path) -> None:
    """Whether our call or theirs ends the round, and even if the solve was cut off."""
    preflop = make(blueprint, tmp_path, always=False, iterations=60)
    for text, action in (("r217", CALL), ("r217", raise_to(651))):
        betting = parse_betting(HUNL, text)
        decision = preflop.decide(betting, (), None, 1, Limits(seconds=0.0))
        carried, after = decision.after(action), betting.apply(action)
        at_flop = after if after.round_index else after.apply(CALL)
        context = preflop.context(at_flop, 1, UNLIMITED)
        if not after.round_index:
            assert carried.knows_flop(at_flop)
            reply = carried.replies[CALL_ACTION]
            carried = replace(carried, ranges=np.stack([carried.ranges[0], carried.ranges[1] * reply]))
        np.testing.assert_allclose(context.ranges, carried.ranges, rtol=1e-5)


@pytest.mark.kernel
@pytest.mark.parametrize("for_chooser", [False, True])
def test_leaves_that_share_matrices(for_chooser: bool) -> None:
    """Compared with numpy: two leaves of three strategies, one of one, with stakes."""
    rng = np.random.default_rng(1)
    hands, stride, choices = 5, 8, 3
    matrices = rng.normal(size=(7, hands, hands)).astype(np.float32)
    stake = np.array([1, -2, 0.5], dtype=np.float32)
    picked = PickedMatrices(np.array([1, 0, 4]), np.array([3, 1, 3]), stake)
    reach = np.zeros((3, 1 + choices, stride), dtype=np.float32)
    reach[:, 1:, :hands] = rng.uniform(size=(3, choices, hands))
    reach[0, 2] = 0  # a strategy that is never chosen
    reach[:, 0] = reach[:, 1:].sum(axis=1)
    value = np.zeros_like(reach)
    multiply_picked(matrices, picked, for_chooser, reach, value)
    for leaf, (first, count) in enumerate([(1, 3), (0, 1), (4, 3)]):
        own = [matrices[first + (k if count > 1 else 0)] * stake[leaf] for k in range(choices)]
        if for_chooser:
            expected = [-(reach[leaf, 0, :hands] @ own[k]) for k in range(choices)]
            np.testing.assert_allclose(value[leaf, 1:, :hands], expected, rtol=1e-4, atol=1e-5)
        else:
            total = sum(own[k] @ reach[leaf, 1 + k, :hands] for k in range(choices))
            np.testing.assert_allclose(value[leaf, 0, :hands], total, rtol=1e-4, atol=1e-5)


def test_rare_bets_narrow_the_range(blueprint: Blueprint, tmp_path: Path) -> None:
    """A bad open of 25 big blinds: the hands that make it still follow from the solution."""
    preflop = make(blueprint, tmp_path)
    betting = parse_betting(HUNL, "r2500c/")
    theirs = preflop.context(betting, 1, UNLIMITED).ranges[betting.actor ^ 1]
    assert theirs.max() > 2 * theirs.min()


def test_our_range_is_not_changed_by_a_continued_solve(blueprint: Blueprint, tmp_path: Path) -> None:
    """A cut-off solve is continued by the next decision, but our earlier actions keep their range."""
    preflop = make(blueprint, tmp_path, iterations=300)
    context = preflop.decide(parse_betting(HUNL, "r217"), (), None, 1, Limits(seconds=0.0)).after(
        raise_to(651)
    )
    betting = parse_betting(HUNL, "r217r651r20000")
    decision = preflop.decide(betting, (), context, 1, UNLIMITED)
    assert decision.iterations == 300
    np.testing.assert_array_equal(decision.ranges[betting.actor], context.ranges[betting.actor])
