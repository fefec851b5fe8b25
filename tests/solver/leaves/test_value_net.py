"""The value net: features, arithmetic, training, and its use by agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from abstraction.buckets import BLOCKED
from abstraction.menu import parse_menu_book
from arena.errors import PlayerError
from arena.players.registry import make_player
from game.cards import parse_cards
from game.definition import HUNL
from game.evaluator import river_strengths
from game.hands import HAND_CARDS, NUM_HANDS, hand_index, unblocked
from protocol.acpc import parse_betting
from server.cli import main
from solver.agent.agent import Agent
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import make_walk_tree
from solver.decisions.decision import Method
from solver.decisions.settings import make_settings
from solver.depth_limited.solver import DepthLimitedSolver
from solver.equity.all_in import flop_wins
from solver.games.tree import CALL_ACTION, DECISION, BettingRoot, build_tree
from solver.leaves.features import NUM_BETTING, NUM_FEATURES, NUM_HAND, betting_features, flop_classes
from solver.leaves.flop_end import FlopEnd
from solver.leaves.kernels.class_values import count_wins, rank_hands, value_by_class
from solver.leaves.match import SHOWDOWN_ONLY, Leaf, match_leaves
from solver.leaves.rollouts import FOUR_STRATEGIES, BlueprintRollouts, one_round_game
from solver.leaves.value_net import NetLeaves, ValueNetError, load_net, net_path
from solver.leaves.value_training import NetTraining, _gradients, _huber, fit, flop_examples, train_net
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.solver.value_nets import random_net

FLOP = tuple(parse_cards("AsKd7h"))
LABELS = np.flatnonzero(unblocked(FLOP))
SMALL = NetTraining(flops=2, leaves=2, classes=2, run_outs=2, epochs=1, batch=64)


class AnyBuckets:
    """Meaningless buckets: real ones are slow as plain Python."""

    def buckets(self, board: tuple[int, ...]) -> np.ndarray:
        found = (np.arange(NUM_HANDS) * 7 + sum(board) * 5) % 8
        return np.where(unblocked(board), found, BLOCKED).astype(np.uint16)


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    made_up = made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)
    vars(made_up)["cards"] = AnyBuckets()
    return made_up


def hand(text: str) -> int:
    a, b = parse_cards(text)
    return int(np.searchsorted(LABELS, hand_index(a, b)))


def some_leaves(blueprint: Blueprint) -> tuple[list[Leaf], BettingRoot]:
    root = BettingRoot(1, (300, 300), 20_000, 100)
    tree = build_tree(root, parse_menu_book("100%, a | a"), max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    return match_leaves(tree, root, walk, blueprint.tree.find((300, 0))), root


def test_classes_separate_hands_by_prospects() -> None:
    classes = flop_classes(FLOP, LABELS)
    assert classes.num_classes == len(np.unique(classes.hand_class)) == 128
    equity, now = classes.pair[..., 0], classes.pair[..., 1]
    np.testing.assert_allclose(equity + equity.T, 1, atol=1e-5)
    np.testing.assert_allclose(now + now.T, 1, atol=1e-5)
    of = classes.hand_class
    aces, pair, air = of[hand("AcAd")], of[hand("KcQs")], of[hand("3c2d")]
    assert classes.hand[aces, 0] > 0.9
    assert classes.hand[air, 0] < 0.3
    assert equity[aces, air] > 0.95
    assert equity[aces, pair] > 0.8
    assert equity[pair, air] > 0.8
    draw = of[hand("QdJd")]  # a straight draw, and a backdoor flush draw
    assert classes.hand[draw, 1] > classes.hand[aces, 1]
    assert classes.hand[draw, 6] > classes.hand[aces, 6]


def test_few_hands_get_a_class_each() -> None:
    few = LABELS[::40]
    classes = flop_classes(FLOP, few)
    assert sorted(classes.hand_class.tolist()) == list(range(len(few)))
    everybody = flop_classes(FLOP, LABELS, max_classes=len(LABELS))
    np.testing.assert_allclose(
        classes.hand[classes.hand_class], everybody.hand[everybody.hand_class[::40]], atol=1e-5
    )


@pytest.mark.kernel
def test_wins_are_counted_pair_by_pair() -> None:
    labels = np.arange(0, NUM_HANDS, 31)
    strength = river_strengths((*FLOP, *parse_cards("9c2s")))[labels]
    order, hand_class = np.argsort(strength, kind="stable"), np.arange(len(labels)) % 5
    places = np.empty(len(labels), dtype=np.float32)
    rank_hands(strength, order, places)
    tables = np.zeros((4, 5, 5), dtype=np.float32)
    count_wins(strength, order, places, hand_class, *tables)
    live = np.flatnonzero(strength > 0)
    expected = np.zeros((4, 5, 5))
    for i in live:
        beaten = (strength[live] < strength[i]).sum() + ((strength[live] == strength[i]).sum() - 1) / 2
        assert places[i] == pytest.approx(beaten / (len(live) - 1), abs=1e-6)
        for j in live:
            at = hand_class[i], hand_class[j]
            won = float(strength[i] > strength[j])
            expected[0][at] += 1
            expected[1][at] += won + 0.5 * (strength[i] == strength[j])
            expected[2][at] += won * (places[i] >= np.float32(0.8))
            expected[3][at] += won * (places[j] >= np.float32(0.7))
    assert (places[strength == 0] == -1).all()
    np.testing.assert_allclose(tables, expected, atol=1e-3)


@pytest.mark.kernel
@pytest.mark.parametrize("for_chooser", [True, False])
def test_pairs_that_share_a_card_are_excluded(for_chooser: bool) -> None:
    rng = np.random.default_rng(3)
    labels = LABELS[::60]
    hands, count, stride = HAND_CARDS[labels].astype(np.int64), len(labels), 64
    hand_class = rng.integers(4, size=count)
    values = rng.normal(size=(2, 2, 3, 4, 4)).astype(np.float32)
    reach = rng.uniform(size=(3, 4, stride)).astype(np.float32)
    value = np.zeros_like(reach)
    open_leaves = np.array([0, 2], dtype=np.int32)
    value_by_class(values, hands, hand_class, open_leaves, for_chooser, reach, value)
    apart = np.array([[not set(a) & set(b) for b in hands.tolist()] for a in hands.tolist()])
    side = 0 if for_chooser else 1
    for number, leaf in enumerate(open_leaves):
        won = values[number, side][:, hand_class][:, :, hand_class] * apart
        if for_chooser:
            np.testing.assert_allclose(value[leaf, 1:, :count], won @ reach[leaf, 0, :count], atol=1e-4)
        else:
            expected = np.einsum("kij,kj->i", won, reach[leaf, 1:, :count])
            np.testing.assert_allclose(value[leaf, 0, :count], expected, atol=1e-4)
    assert not value[1].any()


def test_the_betting_is_seen_from_the_choosers_side(blueprint: Blueprint) -> None:
    leaves, _ = some_leaves(blueprint)
    check = next(leaf for leaf in leaves if leaf.stake == 300)
    bet = next(leaf for leaf in leaves if leaf.stake == 900)
    for chooser in range(2):
        checked, called = (
            betting_features(leaf, blueprint.tree, 100, FLOP, chooser) for leaf in (check, bet)
        )
        assert len(checked) == NUM_BETTING
        assert checked[1] == pytest.approx(np.log1p(19_700 / 600))
        assert (checked[4], checked[5], checked[7]) == (chooser, 1, 0)
        assert checked[6] == (1 if chooser == 1 else -1)  # the button raised
        assert (checked[8], checked[9]) == (0, 0)
        assert called[7] == 1
        assert called[9] == pytest.approx(np.log(3))
    sides = [betting_features(bet, blueprint.tree, 100, FLOP, chooser)[8] for chooser in range(2)]
    assert sorted(sides) == [-1, 1]


def test_pair_values_match_state_values() -> None:
    net, classes = random_net(), flop_classes(FLOP, LABELS[::9])
    betting = np.random.default_rng(2).normal(size=(3, NUM_BETTING)).astype(np.float32)
    found = net.pair_values(classes, betting)
    count = classes.num_classes
    assert found.shape == (3, count, count, 4)
    for leaf, own, other in ((0, 0, 1), (1, 5, 5), (2, count - 1, 3)):
        parts = [betting[leaf], classes.hand[own], classes.hand[other], classes.pair[own, other]]
        state = np.concatenate(parts)[None]
        assert state.shape == (1, NUM_FEATURES) == (1, 34)
        np.testing.assert_allclose(found[leaf, own, other], net.values(state)[0], rtol=1e-3, atol=1e-4)


def test_gradients_are_those_of_hubers_loss() -> None:
    rng = np.random.default_rng(4)
    net = random_net()
    weights = [net.first, net.first_bias, net.second, net.second_bias, net.last, net.last_bias]
    exact = [weight.astype(np.float64) for weight in weights]
    inputs, values = rng.normal(size=(50, NUM_FEATURES)), rng.normal(size=(50, 4)) * 2

    def loss() -> float:
        hidden = np.maximum(inputs @ exact[0] + exact[1], 0)
        deeper = np.maximum(hidden @ exact[2] + exact[3], 0)
        return float(_huber(deeper @ exact[4] + exact[5] - values, 1.0).mean())

    gradients = _gradients(exact, inputs, values, 1.0)
    for weight, gradient in zip(exact, gradients, strict=True):
        at = np.unravel_index(int(np.abs(gradient).argmax()), gradient.shape)
        weight[at] += 1e-5
        above = loss()
        weight[at] -= 2e-5
        slope = (above - loss()) / 2e-5
        weight[at] += 1e-5
        assert gradient[at] == pytest.approx(slope, rel=1e-3)


def test_net_fits_a_learnable_function() -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(3, 2, size=(4000, NUM_FEATURES)).astype(np.float32)
    values = np.abs(features[:, :4] - features[:, 4:8]).astype(np.float32) / 2
    net = fit(features, values, NetTraining(epochs=15, batch=128), rng, lambda *_: None)
    errors = net.values(features) - values
    assert np.sqrt((errors**2).mean()) < 0.3 * values.std()


def test_examples_under_calling_strategies_are_equities(blueprint: Blueprint) -> None:
    calling, tree = replace(blueprint), blueprint.tree
    vars(calling)["cards"] = AnyBuckets()
    vars(calling)["bytes"] = np.zeros_like(blueprint.bytes)
    for node in np.flatnonzero(tree.kind == DECISION).tolist():
        calling.rows(node)[tree.actions_of(node).index(CALL_ACTION)] = 255
    walk = make_walk_tree(tree, blueprint.definition)
    training = replace(SMALL, run_outs=49)
    features, values = flop_examples(calling, walk, training, np.random.default_rng(6))
    equity = features[:, NUM_BETTING + 2 * NUM_HAND]
    for column in values.T:  # a call stays a call under any bias
        assert np.abs(column - (equity - 0.5)).mean() < 0.05
        assert np.corrcoef(column, equity)[0, 1] > 0.97


def test_training_is_repeatable_and_nets_survive_a_file(blueprint: Blueprint, tmp_path: Path) -> None:
    nets = [train_net(blueprint, SMALL, lambda *_: None) for _ in range(2)]
    assert nets[0][1] == nets[1][1]
    assert nets[0][1].examples > 200
    path = tmp_path / "deep" / "a.npz"
    nets[0][0].save(path)
    states = np.random.default_rng(7).normal(size=(9, NUM_FEATURES)).astype(np.float32)
    np.testing.assert_array_equal(load_net(path).values(states), nets[1][0].values(states))


def test_files_that_are_not_nets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueNetError, match="fathom blueprint net"):
        load_net(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no net")
    with pytest.raises(ValueNetError, match="not a value net"):
        load_net(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", format=np.array(99))
    with pytest.raises(ValueNetError, match="another version"):
        load_net(tmp_path / "other.npz")
    net = random_net()
    replace(net, first=net.first[:20]).save(tmp_path / "small.npz")
    with pytest.raises(ValueNetError, match="34 features"):
        load_net(tmp_path / "small.npz")


@pytest.mark.parametrize("chooser", [0, 1])
def test_net_leaves_match_the_net_and_are_zero_sum(blueprint: Blueprint, chooser: int) -> None:
    leaves, root = some_leaves(blueprint)
    tree = build_tree(root, parse_menu_book("100%, a | a"), max_rounds=1)
    weights = np.zeros((2, NUM_HANDS), dtype=np.float32)
    weights[:, LABELS[::25]] = 1
    game = one_round_game(FLOP, tree, weights)
    end = FlopEnd(blueprint, game, leaves, chooser, flop_wins(FLOP, game.labels), seed=3)
    by_net, by_rollouts = NetLeaves(end, random_net()), BlueprintRollouts(end)
    reach = np.random.default_rng(8).uniform(size=(len(leaves), 5, game.stride)).astype(np.float32)
    reach[:, :, game.num_hands :] = 0
    reach[:, 0] = reach[:, 1:].sum(axis=1)
    shut = [i for i, leaf in enumerate(leaves) if leaf.blueprint_node == SHOWDOWN_ONLY]
    assert 0 < len(shut) < len(leaves)
    found, played = np.zeros((2, *reach.shape), dtype=np.float32), np.zeros((2, *reach.shape), np.float32)
    by_net.next_sample()
    by_rollouts.next_sample()
    for number, for_chooser in enumerate((True, False)):
        by_net.evaluate(for_chooser, reach, found[number])
        by_rollouts.evaluate(for_chooser, reach, played[number])
    np.testing.assert_allclose(found[:, shut], played[:, shut], rtol=1e-4, atol=1e-2)
    count = game.num_hands
    # The chooser's opponent loses what the chooser wins.
    theirs = (found[0][:, 1:, :count] * reach[:, 1:, :count]).sum(axis=(1, 2))
    ours = (found[1][:, 0, :count] * reach[:, 0, :count]).sum(axis=1)
    np.testing.assert_allclose(np.delete(ours, shut), -np.delete(theirs, shut), rtol=1e-3)
    solver = DepthLimitedSolver(game, by_net, chooser)
    solver.solve(3)
    np.testing.assert_allclose(solver.solution().strategy(0).sum(axis=0), 1, rtol=1e-5)
    with pytest.raises(ValueNetError, match="no others"):
        NetLeaves(end, random_net(), FOUR_STRATEGIES * 2)


@pytest.mark.slow
def test_agents_use_the_net_of_their_blueprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    blueprint = made_up_blueprint(tmp_path, WIDE)
    text = f"agent:{blueprint.path},iterations=2,leaf=net"
    with pytest.raises(PlayerError, match="fathom blueprint net"):
        make_player(text)
    with pytest.raises(PlayerError, match="rollouts, net"):
        make_player(f"agent:{blueprint.path},leaf=tea")
    assert main(["blueprint", "net", str(blueprint.path), "--flops", "1", "--epochs", "1", "--json"]) == 0
    assert str(net_path(blueprint)) in capsys.readouterr().out
    agents = [Agent(blueprint, make_settings(iterations=2, leaf=leaf)) for leaf in ("net", "net", "rollouts")]
    betting = parse_betting(HUNL, "r300c/r500")
    decisions = [agent.decide(betting, FLOP, None, seed=1) for agent in agents]
    assert {decision.method for decision in decisions} == {Method.DEPTH_LIMITED}
    first, again, played = (decision.strategy.probabilities for decision in decisions)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, played)
    assert make_player(text).name == text
