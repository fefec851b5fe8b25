from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from arena.dealer.deck import Deck
from arena.errors import PlayerError
from arena.players.base import OpenHandPlayer, PolicyPlayer
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.play_style import PlayStyle, style_weights
from arena.players.policies import POLICIES
from arena.players.registry import make_player, player_identity
from game.actions import CALL, raise_to
from game.betting import start
from game.cards import parse_cards
from game.definition import HUNL, LIMIT_HOLDEM
from game.hands import hand_index, unblocked
from game.state import HandState, new_hand
from solver.blueprint.walk import OFF_TREE
from tests.arena.blueprints import NO_ALL_IN, WIDE, made_up_blueprint
from tests.reference import translation as slow

CODES = {"fold": -1, "call": 0, "raise": 300}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("blueprints")


@pytest.mark.parametrize("menus", [WIDE, NO_ALL_IN])
def test_every_action_is_legal(folder: Path, menus: str) -> None:
    ours = BlueprintPlayer("ours", made_up_blueprint(folder, menus))
    theirs = PolicyPlayer("theirs", POLICIES["random"])
    deck, off_tree = Deck(HUNL, 4), 0
    for seed in range(60):
        state: HandState = new_hand(HUNL, *deck.deal())
        hand = ours.start_hand(seed)
        seats = (hand, theirs.start_hand(seed)) if seed % 2 else (theirs.start_hand(seed), hand)
        while not state.betting.is_finished:
            actor = state.betting.actor
            if seats[actor] is hand:
                off_tree += hand.node(state.betting) == OFF_TREE
                strategy = hand.strategy(state.betting, state.visible_board)
                for action in strategy.actions:
                    state.betting.verify(action)
                assert len(set(strategy.actions)) == len(strategy.actions)
                live = unblocked(state.visible_board)
                np.testing.assert_allclose(strategy.probabilities.sum(axis=0), live, atol=1e-6)
                own = hand_index(*state.hole[actor])
                assert strategy.probability(hand.act(state, actor))[own] > 0
            state = state.apply(seats[actor].act(state, actor))
    assert off_tree < 60


def test_actions_are_sampled_from_the_reported_strategy(folder: Path) -> None:
    player = BlueprintPlayer("ours", made_up_blueprint(folder, WIDE))
    assert isinstance(player.start_hand(1), OpenHandPlayer)
    state = new_hand(HUNL, (parse_cards("AsKd"), parse_cards("7h2c")), parse_cards("Qd8s3h4c5d"))
    state = state.apply(raise_to(200)).apply(CALL)
    strategy = player.start_hand(1).strategy(state.betting, state.visible_board)
    drawn = Counter(player.start_hand(seed).act(state, 0) for seed in range(2000))
    column = strategy.probabilities[:, hand_index(*state.hole[0])]
    for action, probability in zip(strategy.actions, column, strict=True):
        assert drawn[action] / 2000 == pytest.approx(probability, abs=0.05)
    assert player.start_hand(7).act(state, 0) == player.start_hand(7).act(state, 0)


def test_sizes_that_map_to_the_same_bet_are_merged(folder: Path) -> None:
    player = BlueprintPlayer("ours", made_up_blueprint(folder, NO_ALL_IN))
    betting = start(HUNL).apply(raise_to(20000))  # no all-in in the tree: translated to a pot raise
    hand = player.start_hand(1)
    strategy = hand.strategy(betting, ())
    assert [str(action) for action in strategy.actions] == ["f", "c"]
    assert len(player.blueprint.tree.children_of(hand.node(betting))) == 3


def test_a_blueprint_of_another_game_is_refused(folder: Path) -> None:
    player = BlueprintPlayer("ours", made_up_blueprint(folder))
    with pytest.raises(ValueError, match="another game"):
        player.start_hand(1).strategy(start(LIMIT_HOLDEM), ())


@pytest.mark.kernel
def test_styles_agree_with_the_slow_twin() -> None:
    rng = Random(3)
    for _ in range(200):
        names = rng.choice(
            [["call"], ["call", "raise", "raise"], ["fold", "call"], ["fold", "call", "raise", "raise"]]
        )
        weights = [rng.choice((0, rng.randrange(256))) for _ in names]
        weights[rng.randrange(len(names))] += 1
        style = PlayStyle(
            rng.choice(("", "fold", "call", "raise")), rng.choice((1, 10)), rng.choice((0.0, 0.15, 0.6)),
            rng.choice((None, 0.0, 0.2, 0.5)),
        )  # fmt: skip
        expected = slow.style_weights(
            {style.bias: style.factor}, style.threshold, style.purify, names, weights
        )
        out = np.array(weights, dtype=np.int64)
        codes = np.array([CODES[name] for name in names], dtype=np.int32)
        total = style_weights(style.numbers(), codes, out)
        assert total == out.sum()
        np.testing.assert_allclose(out / total, [float(share) for share in expected], atol=1e-12)


def test_specifications_name_players(folder: Path) -> None:
    path = made_up_blueprint(folder).path
    assert make_player("call").name == "call"
    text = f"blueprint:{path},bias=call*10,purify=0.2"
    player = make_player(text)
    assert isinstance(player, BlueprintPlayer)
    assert player.name == text
    assert player.style == PlayStyle("call", 10, 0.0, 0.2)
    assert make_player(f"blueprint:{path},bias=fold").style.factor == 10
    other = made_up_blueprint(folder, seed=9).path
    texts = (f"blueprint:{path}", f"agent:{path}", f"blueprint:{other}", "call")
    same, agent, different, none = (player_identity(text) for text in texts)
    assert same != different
    assert agent.startswith(f"{same}-learned-offtree-solve-code")
    assert none == ""


def test_another_version_of_the_agent_is_another_player(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"agent:{made_up_blueprint(folder).path}"
    now = player_identity(text)
    assert player_identity(text) == now
    monkeypatch.setattr("arena.players.agent_player._CODE", Path(__file__))
    assert player_identity(text) != now


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nobody", "choose one of call, .*blueprint"),
        ("call:3", "neither"),
        ("blueprint:none.blueprint", "none.blueprint"),
        ("blueprint:FILE,purify=2", "from 0 to 1"),
        ("blueprint:FILE,bias=check", "fold, call, raise"),
        ("blueprint:FILE,bias=call*0", "whole number"),
        ("blueprint:FILE,bias=call*x", "whole number after"),
        ("blueprint:FILE,speed=2", "no option 'speed'"),
        ("blueprint:FILE,speed", "not an option"),
    ],
)
def test_invalid_specifications_are_refused_with_a_reason(folder: Path, text: str, reason: str) -> None:
    path = made_up_blueprint(folder).path
    with pytest.raises((PlayerError, OSError), match=reason):
        make_player(text.replace("FILE", str(path)))
