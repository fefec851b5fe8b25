from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.aivat.holdem import HoldemGame, HoldemState
from arena.aivat.translation import TranslatedGame, ask_blueprint
from arena.players.base import HandPlayer
from arena.players.blueprint_player import BlueprintHand, BlueprintPlayer
from arena.players.registry import make_player
from game.actions import CALL, FOLD, Action, raise_to
from game.betting import start
from game.definition import HUNL
from tests.arena.aivat.test_holdem import BOARD, some_game, sparse_beliefs
from tests.arena.blueprints import WIDE, made_up_blueprint

TO_THE_RIVER = [CALL, CALL, CALL, CALL, CALL, CALL]
BETWEEN = raise_to(275)
"""Into a pot of 200 on the river: between half of it, 200, and all of it, 300 chips in total."""


def careful_game(folder: Path) -> tuple[HoldemGame, BlueprintPlayer]:
    blueprint, plain = some_game(folder, WIDE)
    game = HoldemGame(HUNL, plain.game, plain.strategy, plain.values, plain.tables, careful=True)
    return game, BlueprintPlayer("a", blueprint)


def follow(game: HoldemGame | TranslatedGame, actions: list[Action]) -> HoldemState:
    state = game.root(start(HUNL))
    for action in actions:
        size = HUNL.board_size(state.betting.round_index)
        if size > len(state.board):
            state = game.after_deal(state, BOARD[:size])
        state = game.after_action(state, action)
    return state


def test_bets_are_translated_as_the_blueprint_does(tmp_path: Path) -> None:
    game, player = careful_game(tmp_path)
    found = set()
    for seed in range(20):
        hand = player.start_hand(seed)
        state = follow(TranslatedGame(game, hand, 1), [*TO_THE_RIVER, BETWEEN])
        assert game.game.tree_node[state.node] == hand.node(state.betting)
        assert state.scale != game.game.unit
        found.add(state.node)
    nearest = follow(game, [*TO_THE_RIVER, BETWEEN]).node
    assert len(found) == 2
    assert nearest in found
    in_tree = follow(TranslatedGame(game, player.start_hand(1), 1), [*TO_THE_RIVER, raise_to(300)])
    assert in_tree.scale == game.game.unit


def test_folds_and_calls_count_in_real_chips(tmp_path: Path) -> None:
    """One action ahead: folds and calls that end the hand are exact, the rest is guessed."""
    game, player = careful_game(tmp_path)
    hand = player.start_hand(3)
    asked = TranslatedGame(game, hand, 1)
    state = follow(asked, [*TO_THE_RIVER, BETWEEN])
    beliefs = sparse_beliefs(BOARD)
    strategy = hand.strategy(state.betting, BOARD)
    expected = weight = 0.0
    for action, row in zip(strategy.actions, strategy.probabilities.astype(np.float64), strict=True):
        after = beliefs[0], beliefs[1] * row
        following = asked.after_action(state, action)
        mass = game.mass(state, after)
        if mass == 0:
            continue
        exact = action in (FOLD, CALL)
        assert exact == following.betting.is_finished
        value = game.payoff(following, after) if exact else game.guess(following, after)
        expected += mass * value
        weight += mass
    assert weight == pytest.approx(game.mass(state, beliefs))
    assert asked.guess(state, beliefs) == pytest.approx(expected / weight)
    assert asked.guess(state, beliefs) != pytest.approx(game.guess(state, beliefs))
    other = TranslatedGame(game, hand, 0)  # not the player's turn
    assert other.guess(state, beliefs) == game.guess(state, beliefs)


def test_states_before_a_rounds_first_action_use_the_tree(tmp_path: Path) -> None:
    game, player = careful_game(tmp_path)
    asked = TranslatedGame(game, player.start_hand(3), 0)  # the first to act on a flop
    over = follow(asked, [raise_to(250), CALL])
    flop = asked.after_deal(over, BOARD[:3])
    assert flop.scale != game.game.unit
    assert flop.betting.actor == 0
    beliefs = sparse_beliefs(BOARD[:3])
    assert asked.guess(flop, beliefs) == game.guess(flop, beliefs)
    assert asked.guess_dealt(over, beliefs) == game.guess_dealt(over, beliefs)


def test_translation_applies_to_players_of_the_same_blueprint(tmp_path: Path) -> None:
    game, player = careful_game(tmp_path)
    stranger = BlueprintPlayer("b", made_up_blueprint(tmp_path, WIDE, seed=2)).start_hand(1)
    hand: BlueprintHand = player.start_hand(1)
    somebody: HandPlayer = make_player("random").start_hand(1)
    found = ask_blueprint(game, (somebody, hand))
    assert isinstance(found, TranslatedGame)
    assert (found.asked, found.position) == (hand, 1)
    assert ask_blueprint(game, (somebody, stranger)) is game
    quick = HoldemGame(HUNL, game.game, game.strategy, game.values, game.tables)
    assert ask_blueprint(quick, (hand, somebody)) is quick
