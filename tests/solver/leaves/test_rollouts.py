"""Rollouts with whole ranges against rollouts by pairs of hands, and the matching of leaves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from abstraction.buckets import BLOCKED
from abstraction.menu import parse_menu_book
from game.cards import parse_cards
from game.hands import HAND_CARDS, NUM_HANDS, unblocked
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import make_walk_tree
from solver.depth_limited.solver import DepthLimitedSolver
from solver.equity.all_in import flop_wins
from solver.exact.engine import EVALUATE
from solver.exact.kernels.walk import UPDATE
from solver.games.layout import Step
from solver.games.tree import BettingRoot, build_tree
from solver.leaves.flop_end import FlopEnd
from solver.leaves.match import SHOWDOWN_ONLY, Leaf, match_leaves
from solver.leaves.rollouts import FOUR_STRATEGIES, BlueprintRollouts, one_round_game, run_outs
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.reference.rollout import play_out

FLOP = tuple(parse_cards("AsKd7h"))
RUN_OUTS = 49 * 48
CHANCE = 1 / (45 * 44)


class AnyBuckets:
    """Meaningless buckets that depend on board and hand: real ones are slow as plain Python."""

    def __init__(self, counts: tuple[int, ...] = (8, 8, 8)) -> None:
        self._counts = dict(zip((3, 4, 5), counts, strict=True))

    def buckets(self, board: tuple[int, ...]) -> np.ndarray:
        found = (np.arange(NUM_HANDS) * 7 + sum(board) * 5) % self._counts[len(board)]
        return np.where(unblocked(board), found, BLOCKED).astype(np.uint16)

    def bucket(self, board: tuple[int, ...], hand: int) -> int:
        return int(self.buckets(board)[hand])


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    made_up = made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)
    vars(made_up)["cards"] = AnyBuckets()
    return made_up


def leaves_of(blueprint: Blueprint, root: BettingRoot, menu: str, history: tuple[int, ...]) -> list[Leaf]:
    tree = build_tree(root, parse_menu_book(menu), max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    return match_leaves(tree, root, walk, blueprint.tree.find(history))


def few_hands(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = np.zeros((2, NUM_HANDS), dtype=np.float32)
    possible = np.flatnonzero(unblocked(FLOP))
    for player in range(2):
        chosen = rng.choice(possible, count, replace=False)
        weights[player, chosen] = rng.uniform(0.2, 1, count)
    return weights


@pytest.mark.kernel
@pytest.mark.parametrize("chooser", [0, 1])
def test_range_rollouts_match_pairwise_rollouts(blueprint: Blueprint, chooser: int) -> None:
    root = BettingRoot(1, (300, 300), 20_000, 100)
    tree = build_tree(root, parse_menu_book("100%, a | a"), max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    leaves = match_leaves(tree, root, walk, blueprint.tree.find((300, 0)))
    assert any(leaf.blueprint_node == SHOWDOWN_ONLY for leaf in leaves)
    game = one_round_game(FLOP, tree, few_hands(4, 1))
    rollouts = BlueprintRollouts(FlopEnd(blueprint, game, leaves, chooser, None, seed=5))
    shape = (len(leaves), 5, game.stride)
    rng = np.random.default_rng(2)
    cards = run_outs(FLOP, 5)
    for _ in range(2):
        rollouts.next_sample()
        river = (*FLOP, *next(cards))
        reach = np.zeros(shape, dtype=np.float32)
        reach[:, 1:, : game.num_hands] = rng.uniform(0, 1, (len(leaves), 4, game.num_hands))
        reach[:, 0] = reach[:, 1:].sum(axis=1)
        for_chooser = np.zeros(shape, dtype=np.float32)
        for_other = np.zeros(shape, dtype=np.float32)
        rollouts.evaluate(True, reach, for_chooser)
        rollouts.evaluate(False, reach, for_other)
        pairs = pair_values(blueprint, leaves, game.labels, river, chooser)
        count = game.num_hands
        expected = np.einsum("lkij,li->lkj", pairs, reach[:, 0, :count])
        np.testing.assert_allclose(for_chooser[:, 1:, :count], -expected, rtol=2e-4, atol=0.05)
        expected = np.einsum("lkij,lkj->li", pairs, reach[:, 1:, :count])
        np.testing.assert_allclose(for_other[:, 0, :count], expected, rtol=2e-4, atol=0.05)


@pytest.mark.kernel
def test_choices_of_both_players_add_up(blueprint: Blueprint) -> None:
    """Each choice of the traverser is valued against the sum of the opponent's reaches by choice."""
    leaves = leaves_of(blueprint, BettingRoot(1, (300, 300), 20_000, 100), "100% | -", (300, 0))
    tree = build_tree(BettingRoot(1, (300, 300), 20_000, 100), parse_menu_book("100% | -"), max_rounds=1)
    game = one_round_game(FLOP, tree, few_hands(2, 1))
    bias, count = FOUR_STRATEGIES[:2], game.num_hands
    rollouts = BlueprintRollouts(FlopEnd(blueprint, game, leaves, 1, None, seed=5), bias, both=True)
    rollouts.next_sample()
    river = (*FLOP, *next(run_outs(FLOP, 5)))
    reach = np.zeros((len(leaves), 3, game.stride), dtype=np.float32)
    reach[:, 1:, :count] = np.random.default_rng(2).uniform(0, 1, (len(leaves), 2, count))
    reach[:, 0] = reach[:, 1:].sum(axis=1)
    value = np.zeros_like(reach)
    rollouts.evaluate(False, reach, value)
    for own, (i, hand) in product(range(2), enumerate(game.labels)):
        for n, leaf in enumerate(leaves):
            expected = 0.0
            for other, (j, met) in product(range(2), enumerate(game.labels)):
                cards = [*HAND_CARDS[hand].tolist(), *HAND_CARDS[met].tolist(), *river]
                if len(set(cards)) == len(cards):
                    factors = np.stack([bias[own], bias[other]]).astype(np.float64)
                    won = play_out(blueprint, leaf, (int(hand), int(met)), river, factors)
                    expected += float(reach[n, 1 + other, j]) * won * RUN_OUTS * CHANCE
            assert value[n, 1 + own, i] == pytest.approx(expected, rel=2e-4, abs=0.05)


def test_rollout_game_is_zero_sum(blueprint: Blueprint) -> None:
    """With any choosers, root values of both players add up to zero."""
    root = BettingRoot(1, (300, 300), 20_000, 100)
    tree = build_tree(root, parse_menu_book("100%, a | a"), max_rounds=1)
    leaves = leaves_of(blueprint, root, "100%, a | a", (300, 0))
    game = one_round_game(FLOP, tree, few_hands(20, 1))
    for both in (False, True):
        end = FlopEnd(blueprint, game, leaves, 1, flop_wins(FLOP, game.labels), seed=5)
        rollouts = BlueprintRollouts(end, both=both)
        solver = DepthLimitedSolver(game, rollouts, 1)
        solver.solve(20)
        means = [
            solver._evaluate(player, EVALUATE, RUN_OUTS) or solver.root_values(player) for player in (0, 1)
        ]
        worth = [float(mean @ game.ranges[player]) / game.pairings() for player, mean in enumerate(means)]
        assert worth[0] == pytest.approx(-worth[1], abs=0.01 * 600)


def test_control_variate_keeps_the_mean_and_reduces_variance(blueprint: Blueprint) -> None:
    """The mean is unchanged and the variance smaller; without further betting each sample is the mean."""
    root = BettingRoot(1, (300, 300), 20_000, 100)
    tree = build_tree(root, parse_menu_book("a | a"), max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    leaves = match_leaves(tree, root, walk, blueprint.tree.find((300, 0)))
    game = one_round_game(FLOP, tree, few_hands(6, 1))
    count = game.num_hands
    reach = np.zeros((len(leaves), 5, game.stride), dtype=np.float32)
    reach[:, :, :count] = 1
    found = []
    for wins in (None, flop_wins(FLOP, game.labels)):
        rollouts = BlueprintRollouts(FlopEnd(blueprint, game, leaves, 1, wins, seed=5))
        values = []
        for _ in range(RUN_OUTS):
            rollouts.next_sample()
            value = np.zeros_like(reach)
            rollouts.evaluate(False, reach, value)
            values.append(value[:, 0, :count].copy())
        found.append(np.stack(values))
    plain, steady_values = found
    np.testing.assert_allclose(steady_values.mean(axis=0), plain.mean(axis=0), rtol=1e-3, atol=0.5)
    assert steady_values.std(axis=0).mean() < 0.7 * plain.std(axis=0).mean()
    shut = [i for i, leaf in enumerate(leaves) if leaf.blueprint_node == SHOWDOWN_ONLY]
    # Two sums of floats whose difference is 0 up to rounding.
    np.testing.assert_allclose(steady_values[0, shut], steady_values[-1, shut], rtol=1e-5, atol=0.1)


def test_control_variate_is_unbiased_for_any_ranges(blueprint: Blueprint) -> None:
    """The mean over all run-outs is unchanged, whichever ranges the control variate uses."""
    root = BettingRoot(1, (300, 300), 20_000, 100)
    tree = build_tree(root, parse_menu_book("a | a"), max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    leaves = match_leaves(tree, root, walk, blueprint.tree.find((300, 0)))
    game = one_round_game(FLOP, tree, few_hands(6, 1))
    count = game.num_hands
    old, new = np.zeros((2, len(leaves), 5, game.stride), dtype=np.float32)
    old[:, :, :count] = 1
    new[:, :, :count] = np.linspace(0.2, 1.0, count)
    step, means = Step(0, UPDATE, 1.0, 1.0, 1.0, 1.0, 0.0), []
    for wins in (None, flop_wins(FLOP, game.labels)):
        rollouts = BlueprintRollouts(FlopEnd(blueprint, game, leaves, 1, wins, seed=5))
        total = np.zeros_like(new)
        for i in range(RUN_OUTS):
            rollouts.next_sample()
            value = np.zeros_like(new)
            if i == 0:
                rollouts.evaluate(False, old, value, step)
            if rollouts._controls is not None:
                rollouts._controls[False]._next = np.inf
            rollouts.evaluate(False, new, value, step)
            total += value
        means.append(total[:, 0, :count] / RUN_OUTS)
    np.testing.assert_allclose(means[1], means[0], rtol=1e-3, atol=0.5)


def pair_values(
    blueprint: Blueprint, leaves: list[Leaf], labels: np.ndarray, river: tuple[int, ...], chooser: int
) -> np.ndarray:
    """[L, K, H, H]: what the chooser's opponent wins with hand i against j, with a sample's weight."""
    result = np.zeros((len(leaves), 4, len(labels), len(labels)))
    for i, own in enumerate(labels):
        for j, other in enumerate(labels):
            cards = [*HAND_CARDS[own].tolist(), *HAND_CARDS[other].tolist(), *river]
            if len(set(cards)) < len(cards):
                continue
            hands = (int(other), int(own)) if chooser == 0 else (int(own), int(other))
            for n, leaf in enumerate(leaves):
                for k, factors in enumerate(FOUR_STRATEGIES.astype(np.float64)):
                    both = np.ones((2, 3))
                    both[chooser] = factors
                    value = play_out(blueprint, leaf, hands, river, both)
                    result[n, k, i, j] = (value if chooser == 1 else -value) * RUN_OUTS * CHANCE
    return result


def test_run_outs_come_once_and_turn_cards_alternate() -> None:
    cards = run_outs(FLOP, 3)
    drawn = [next(cards) for _ in range(RUN_OUTS)]
    assert len(set(drawn)) == RUN_OUTS
    for first in range(0, RUN_OUTS, 49):
        assert len({turn for turn, _ in drawn[first : first + 49]}) == 49
    assert all(turn != river and not {turn, river} & set(FLOP) for turn, river in drawn)


def test_leaves_of_the_blueprints_menu_match_exactly(blueprint: Blueprint) -> None:
    leaves = leaves_of(
        blueprint, BettingRoot(1, (300, 300), 20_000, 100), "50%, 100%, a | 100%, a | a", (300, 0)
    )
    tree = blueprint.tree
    assert leaves[0].blueprint_node == tree.find((300, 0, 0, 0))
    assert {leaf.scale for leaf in leaves} == {1.0}
    goes_on = [leaf for leaf in leaves if leaf.blueprint_node != SHOWDOWN_ONLY]
    assert len({leaf.blueprint_node for leaf in goes_on}) == len(goes_on) == 9
    assert all(leaf.stake == 20_000 for leaf in leaves if leaf.blueprint_node == SHOWDOWN_ONLY)


def test_other_sizes_and_pots_are_scaled(blueprint: Blueprint) -> None:
    leaves = leaves_of(blueprint, BettingRoot(1, (450, 450), 20_000, 100), "60%, a | a", (300, 0))
    check, bet = leaves[0], leaves[1]
    assert check.scale == pytest.approx(1.5)
    assert bet.stake == 450 + 540
    assert bet.blueprint_node == blueprint.tree.find((300, 0, 0, 600, 0))
    assert bet.scale == pytest.approx(990 / 600)
    subtree, _ = bet.subtree(blueprint.tree)
    assert subtree.amount.max() == 20_000


@pytest.mark.kernel
def test_solving_with_rollouts_is_deterministic(blueprint: Blueprint) -> None:
    root = BettingRoot(1, (300, 300), 20_000, 100)
    tree = build_tree(root, parse_menu_book("100%, a | a"), max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    leaves = match_leaves(tree, root, walk, blueprint.tree.find((300, 0)))
    game = one_round_game(FLOP, tree, few_hands(12, 3))
    answers = []
    for threads in (1, 2):
        wins = flop_wins(FLOP, game.labels, threads)
        rollouts = BlueprintRollouts(FlopEnd(blueprint, game, leaves, 1, wins, seed=7, threads=threads))
        solver = DepthLimitedSolver(game, rollouts, 1)
        solver.solve(5)
        answers.append(solver.solution().strategy(0))
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_allclose(answers[0].sum(axis=0), 1.0, rtol=1e-5)
