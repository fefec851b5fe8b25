"""AIVAT guesses from the agent's own solves: the solution's values of the opponent's hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arena.aivat.aivat import Beliefs
from arena.aivat.hand import make_games
from arena.aivat.holdem import HoldemState
from arena.aivat.solved import SolvedGame, ask_agent
from arena.duplicate.duplicate import DuplicateTerms, play_duplicate
from arena.players.agent_player import AgentHand, AgentPlayer
from arena.players.registry import make_player
from game.cards import Cards, parse_cards
from game.definition import HUNL
from game.evaluator import river_strengths
from game.hands import HAND_CARDS, NUM_HANDS, unblocked
from protocol.acpc import parse_betting
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.history import action_code
from solver.games.tree import DECISION, FOLD
from tests.arena.aivat_setups import LATE, use_quick_values
from tests.arena.blueprints import made_up_blueprint

BOARD = parse_cards("7h8hTs2cTd")


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_quick_values(tmp_path, monkeypatch)


def asked_at(folder: Path, text: str) -> tuple[SolvedGame, HoldemState, AgentHand]:
    """A game whose agent has made its decision after a betting, and the state there."""
    player = make_player(f"agent:{made_up_blueprint(folder).path},iterations=3")
    assert isinstance(player, AgentPlayer)
    betting = parse_betting(HUNL, text)
    games = make_games(HUNL, (player, make_player("random")))
    hand = player.start_hand(5)
    board = BOARD[: HUNL.board_size(betting.round_index)]
    hand.decision(betting, board)
    game = SolvedGame(games[0], hand, betting.actor)
    state = game.root(parse_betting(HUNL, ""))
    for actions in betting.actions:
        for action in actions:
            state = game.after_action(state, action)
    return game, replace(state, board=board), hand


def some_beliefs(board: Cards, own: int, held: int) -> Beliefs:
    """A random range for us, and one hand for the opponent."""
    ours = np.random.default_rng(3).random(NUM_HANDS) ** 4 * unblocked(board)
    his = np.zeros(NUM_HANDS)
    his[held] = 0.3
    return (ours, his) if own == 0 else (his, ours)


def slow_value(solution: Solution, node: int, ours: dict[int, float], held: int, own: int) -> float:
    """Our chips × weight against one hand on the river, summed hand by hand."""
    game, tree = solution.game, solution.game.tree
    if tree.kind[node] == DECISION:
        rows, labels = solution.strategy(node), game.labels.tolist()
        total = 0.0
        for a, child in enumerate(tree.children_of(node).tolist()):
            if tree.player[node] == own:
                after = {hand: weight * rows[a, labels.index(hand)] for hand, weight in ours.items()}
            else:
                share = rows[a, labels.index(held)]
                after = {hand: weight * share for hand, weight in ours.items()}
            total += slow_value(solution, child, after, held, own)
        return total
    amount = float(tree.amount[node])
    if tree.kind[node] == FOLD:
        return sum(ours.values()) * (-amount if tree.player[node] == own else amount)
    strengths = river_strengths(BOARD).astype(int)
    return sum(
        weight * amount * float(np.sign(strengths[hand] - strengths[held])) for hand, weight in ours.items()
    )


@pytest.mark.parametrize("text", ["r300c/cc/cc/", "r300c/cc/cc/r750"])
def test_river_guesses_equal_the_values_of_the_solution(tmp_path: Path, quick: None, text: str) -> None:
    game, state, hand = asked_at(tmp_path, text)
    own = state.betting.actor
    decision = hand.decisions[state.betting.text, state.board]
    solver = getattr(decision.solved, "solver", None)
    assert isinstance(solver, Solver)
    solution, labels = solver.solution(), solver.game.labels
    held = int(labels[100])
    apart = [int(h) for h in labels if not set(HAND_CARDS[h].tolist()) & set(HAND_CARDS[held].tolist())]
    beliefs = some_beliefs(state.board, own, held)
    ours = {h: float(beliefs[own][h]) for h in apart}
    for action in decision.strategy.actions:
        after = game.after_action(state, action)
        if after.betting.is_finished:
            assert game.guess(after, beliefs) == game.payoff(after, beliefs)
            continue
        codes = solver.game.tree.actions_of(decision.node)
        child = int(solver.game.tree.children_of(decision.node)[codes.index(action_code(action))])
        expected = slow_value(solution, child, ours, held, own) / sum(ours.values())
        assert game.guess(after, beliefs) == pytest.approx(expected if own == 0 else -expected, abs=0.5)


@pytest.mark.parametrize("text", ["r300c/cc/c", "r300c/cc/r750"])
def test_guess_dealt_is_the_mean_over_river_guesses(tmp_path: Path, quick: None, text: str) -> None:
    """After our call on the turn, every river card has its own value."""
    game, state, hand = asked_at(tmp_path, text)
    own = state.betting.actor
    decision = hand.decisions[state.betting.text, state.board]
    called = next(action for action in decision.strategy.actions if str(action) == "c")
    over = game.after_action(state, called)
    held = int(np.flatnonzero(unblocked(BOARD))[200])
    beliefs = some_beliefs(state.board, own, held)
    total = mass = 0.0
    different = 0
    for card in set(range(52)) - set(state.board):
        after = game.after_deal(over, (*state.board, card))
        seen = (beliefs[0] * game.live(after), beliefs[1] * game.live(after))
        weight = game.mass(after, seen)
        if weight > 0:
            value = game.guess(after, seen)
            different += value != game.game.guess(after, seen)
            total, mass = total + weight * value, mass + weight
    assert different == 46
    assert game.guess_dealt(over, beliefs) == pytest.approx(total / mass)
    assert game.guess(over, beliefs) == pytest.approx(total / mass)


def test_without_a_solve_guesses_are_the_blueprints(tmp_path: Path, quick: None) -> None:
    game, state, hand = asked_at(tmp_path, "r300c/cc/")
    plain = game.game
    turn = next(iter(hand.decision(state.betting, state.board).strategy.actions))
    root = game.root(parse_betting(HUNL, ""))
    beliefs = some_beliefs((), 0, 7)
    assert game.guess(root, beliefs) == plain.guess(root, beliefs)
    other = SolvedGame(plain, AgentHand(game.asked._agent, 1), game.position)  # has made no decision
    after, seen = game.after_action(state, turn), some_beliefs(BOARD, game.position, 1300)
    assert other.guess(after, seen) == plain.guess(after, seen)
    assert isinstance(ask_agent(plain, (hand, hand), (True, False)), SolvedGame)
    assert ask_agent(plain, (hand, hand), (True, True)) is plain


def test_an_agent_is_measured_against_an_unknown_player(
    tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "arena.players.registry.OPEN_POLICIES", frozenset()
    )  # the caller's strategy is unknown
    text = f"agent:{made_up_blueprint(tmp_path, LATE).path},iterations=2"
    terms = DuplicateTerms(HUNL, (text, "call"), ("a", "b"), 3, 3, aivat=True)
    result = play_duplicate(terms, workers=1)
    assert result.corrected is not None
    assert np.isfinite(result.corrected).all()
    assert (result.corrected != result.chips).any()
