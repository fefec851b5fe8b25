"""Learned leaves match the reference, do not depend on threads, and beat the blueprint."""

from __future__ import annotations

import numpy as np
import pytest

from abstraction.menu import parse_menu_book
from game.hands import NUM_CLASSES
from solver.blueprint.file import Blueprint
from solver.blueprint.thinning import Thinning, every_action
from solver.blueprint.walk import make_walk_tree
from solver.depth_limited.solver import DepthLimitedSolver
from solver.equity.all_in import flop_wins
from solver.exact.kernels.walk import UPDATE
from solver.games.game import Game
from solver.games.layout import Step
from solver.games.tree import BettingRoot, build_tree
from solver.leaves import learned as learned_leaves
from solver.leaves.flop_end import FlopEnd
from solver.leaves.kernels.rollout import MAX_ACTIONS
from solver.leaves.learned import LearnedLeaves
from solver.leaves.match import SHOWDOWN_ONLY, Leaf, match_leaves
from solver.leaves.rollouts import one_round_game, padded, run_outs
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.reference.learned_leaves import SlowLearner
from tests.solver.leaves.test_rollouts import CHANCE, FLOP, RUN_OUTS, AnyBuckets, few_hands

KEPT = (0.7, 0.4)


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    """A blueprint whose buckets need padding, with more of them on the river."""
    counts = (8, 13, 21)
    made_up = made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE, buckets=(NUM_CLASSES, *counts))
    vars(made_up)["cards"] = AnyBuckets(counts)
    return made_up


def setting(blueprint: Blueprint, menu: str = "100%, a | a", count: int = 4) -> tuple[list[Leaf], Game]:
    root = BettingRoot(1, (300, 300), 20_000, 100)
    tree = build_tree(root, parse_menu_book(menu), max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    leaves = match_leaves(tree, root, walk, blueprint.tree.find((300, 0)))
    return leaves, one_round_game(FLOP, tree, few_hands(count, 1))


def step(traverser: int) -> Step:
    return Step(traverser, UPDATE, *KEPT, 1.0, 1.0, 0.0)


def slow_twin(blueprint: Blueprint, leaves: list[Leaf], game: Game) -> SlowLearner:
    mass = game.ranges.sum(axis=1, dtype=np.float64)
    prior = {r: learned_leaves._VISITS * mass[0] * mass[1] / padded(blueprint.num_buckets[r]) for r in (2, 3)}
    return SlowLearner(blueprint, leaves, game.labels, game.ranges.astype(np.float64), prior)


def keep_all(blueprint: Blueprint) -> Thinning:
    """A thinning that removes nothing."""
    tree = blueprint.tree
    return Thinning(np.ones(tree.num_nodes, dtype=np.bool_), every_action(tree))


@pytest.mark.kernel
@pytest.mark.parametrize("chooser", [0, 1])
@pytest.mark.parametrize("thins", [False, True])
def test_learning_matches_the_reference(
    blueprint: Blueprint, chooser: int, thins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all bets, decisions have two to four actions; with a thinned tree two or three."""
    if not thins:
        monkeypatch.setitem(vars(blueprint), "thinning", keep_all(blueprint))
    leaves, game = setting(blueprint)
    assert any(leaf.blueprint_node == SHOWDOWN_ONLY for leaf in leaves)
    fast = LearnedLeaves(FlopEnd(blueprint, game, leaves, chooser, None, seed=5))
    slow, cards, count = slow_twin(blueprint, leaves, game), run_outs(FLOP, 5), game.num_hands
    rng = np.random.default_rng(2)
    going_on = [i for i, leaf in enumerate(leaves) if leaf.blueprint_node != SHOWDOWN_ONLY]
    for _ in range(2):
        fast.next_sample()
        river = (*FLOP, *next(cards))
        for traverser in range(2):
            for_chooser = traverser == chooser
            reach = np.zeros((len(leaves), 2, game.stride), dtype=np.float32)
            reach[:, :, :count] = rng.uniform(0, 1, (len(leaves), 1, count))
            value = np.zeros_like(reach)
            fast.evaluate(for_chooser, reach, value, step(traverser))
            expected = slow.learn(traverser, river, reach[:, 0, :count], CHANCE * RUN_OUTS, KEPT)
            found = value[:, 1 if for_chooser else 0, :count]
            np.testing.assert_allclose(found[going_on], expected[going_on], rtol=2e-3, atol=0.5)
    for (leaf, node), regret in slow.regret.items():
        place = _place(fast, blueprint.thinning, leaves, leaf, node)
        actions, buckets = regret.shape
        table = fast._lessons.regret[MAX_ACTIONS * place :][: MAX_ACTIONS * padded(buckets)]
        learned = table.reshape(MAX_ACTIONS, -1)[:actions, :buckets]
        np.testing.assert_allclose(learned, regret, rtol=2e-3, atol=2.0)


def _place(fast: LearnedLeaves, thinning: Thinning, leaves: list[Leaf], leaf: int, node: int) -> int:
    """Where the words of a blueprint node start, below one leaf."""
    book = fast._book
    begin = book.program.segments[book.segments[leaf, :, 0], 4:6]
    numbers = [int(n) for first, last in begin for n in book.program.up[first:last, 5]]
    # The first decision below a leaf has its lowest number; the others follow in the blueprint's order.
    offset = min(numbers) if numbers else 0
    return int(book.base[offset + int(thinning.kept[leaves[leaf].blueprint_node : node].sum())])


@pytest.mark.kernel
def test_evaluation_does_not_learn(blueprint: Blueprint) -> None:
    leaves, game = setting(blueprint)
    learned = LearnedLeaves(FlopEnd(blueprint, game, leaves, 0, None, seed=5))
    learned.next_sample()
    reach = np.ones((len(leaves), 2, game.stride), dtype=np.float32)
    before = learned._book.words.copy()
    learned.evaluate(True, reach, np.zeros_like(reach))
    np.testing.assert_array_equal(learned._book.words, before)
    learned.evaluate(True, reach, np.zeros_like(reach), step(0))
    assert (learned._book.words != before).any()


def test_strategy_words_always_add_up(blueprint: Blueprint) -> None:
    leaves, game = setting(blueprint, count=40)
    learned = LearnedLeaves(FlopEnd(blueprint, game, leaves, 0, flop_wins(FLOP, game.labels), seed=5))
    DepthLimitedSolver(game, learned, 0).solve(30)
    words = learned._book.words
    sums = sum((words >> np.uint32(8 * byte)) & np.uint32(255) for byte in range(4))
    assert set(np.unique(sums)) <= {0, 255}  # 0: padding


def test_learning_does_not_depend_on_threads(blueprint: Blueprint) -> None:
    leaves, game = setting(blueprint, "50%, 100%, a | a", count=40)
    solved = []
    for threads in (1, 2):
        wins = flop_wins(FLOP, game.labels, threads)
        learned = LearnedLeaves(FlopEnd(blueprint, game, leaves, 1, wins, seed=5, threads=threads))
        solver = DepthLimitedSolver(game, learned, 1)
        solver.solve(20)
        solved.append(solver.solution().average.copy())
    np.testing.assert_array_equal(*solved)


def test_learned_strategies_lose_less_than_the_blueprint(blueprint: Blueprint) -> None:
    """Below one leaf, a learning opponent wins more from a fixed blueprint than from a learning one."""
    leaves, game = setting(blueprint, "a | a", count=60)
    (leaf,) = [i for i, leaf in enumerate(leaves) if leaf.blueprint_node != SHOWDOWN_ONLY]
    shape = (len(leaves), 2, game.stride)
    gained = []
    for learners in ((0,), (0, 1)):
        learned = LearnedLeaves(FlopEnd(blueprint, game, leaves, 0, flop_wins(FLOP, game.labels), seed=5))
        reaches = np.zeros((2, *shape), dtype=np.float32)
        reaches[:, :, :, : game.num_hands] = game.ranges[:, None, None]
        won = []
        for _ in range(400):
            learned.next_sample()
            value = np.zeros(shape, dtype=np.float32)
            for player in range(2):
                value[:] = 0
                teach = step(player) if player in learners else None
                learned.evaluate(player == 0, reaches[1 - player], value, teach)
                if player == 0:
                    won.append(float(value[leaf, 1, : game.num_hands] @ game.ranges[0]))
        gained.append(np.mean(won[200:]))
    assert gained[0] > gained[1]
