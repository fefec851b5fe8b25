"""Flop and turn decisions looked up when there is no time to solve them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from abstraction.buckets import BLOCKED
from game.actions import CALL
from game.cards import parse_cards
from game.definition import HUNL
from game.hands import unblocked
from protocol.acpc import parse_betting
from solver.agent.agent import Agent
from solver.blueprint.file import FULL, Blueprint
from solver.decisions.decision import Method
from solver.decisions.limits import Limits
from solver.decisions.settings import make_settings
from solver.games.tree import CALL_ACTION
from tests.arena.blueprints import WIDE, made_up_blueprint

FLOP = tuple(parse_cards("Ks8d3c"))
TURN = (*FLOP, *parse_cards("2h"))
NO_TIME, TIME = Limits(seconds=0.0), Limits(seconds=0.6)


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)


@pytest.fixture
def agent(blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Agent(blueprint, make_settings(iterations=4))


def test_without_time_to_solve_the_blueprint_is_played(blueprint: Blueprint, agent: Agent) -> None:
    for line, board, history in (("r300c/", FLOP, (300, 0)), ("r300c/cc/", TURN, (300, 0, 0, 0))):
        decision = agent.decide(parse_betting(HUNL, line), board, None, 1, NO_TIME)
        assert decision.method is Method.BLUEPRINT
        buckets = blueprint.cards.buckets(board)
        rows = blueprint.rows(blueprint.tree.find(history))[:, np.where(buckets == BLOCKED, 0, buckets)]
        expected = rows / np.float32(FULL) * unblocked(board)
        np.testing.assert_allclose(decision.strategy.probabilities, expected, rtol=1e-6)
        assert agent.decide(parse_betting(HUNL, line), board, None, 1, TIME).method is not Method.BLUEPRINT


def test_ranges_follow_the_blueprint(blueprint: Blueprint, agent: Agent) -> None:
    """Both players check: the turn ranges follow from Bayes' rule."""
    first = agent.decide(parse_betting(HUNL, "r300c/"), FLOP, None, 1, NO_TIME)
    later = agent.decide(parse_betting(HUNL, "r300c/cc/"), TURN, first.after(CALL), 1, NO_TIME)
    buckets = blueprint.cards.buckets(FLOP)
    live = unblocked(TURN)
    node = blueprint.tree.find((300, 0))
    for player in (first.betting.actor, 1 - first.betting.actor):
        checks = blueprint.rows(node)[blueprint.tree.actions_of(node).index(CALL_ACTION)]
        expected = np.where(live, first.ranges[player] * checks[np.where(live, buckets, 0)], 0.0)
        np.testing.assert_allclose(
            later.ranges[player], np.maximum(expected / expected.max(), 1e-4 * live), rtol=1e-4
        )
        node = blueprint.tree.find((300, 0, 0))


def test_off_tree_bets_are_solved(agent: Agent) -> None:
    decision = agent.decide(parse_betting(HUNL, "r300c/r417"), FLOP, None, 1, NO_TIME)
    assert decision.method is Method.DEPTH_LIMITED


def test_flops_are_looked_up_on_request(blueprint: Blueprint) -> None:
    """Regardless of time, as long as all bets are in the tree."""
    agent = Agent(blueprint, make_settings(iterations=4, flop="offtree"))
    methods = {
        line: agent.decide(parse_betting(HUNL, line), board, None, 1).method
        for line, board in (("r300c/", FLOP), ("r300c/r417", FLOP), ("r300c/cc/", TURN))
    }
    assert methods == {
        "r300c/": Method.BLUEPRINT,
        "r300c/r417": Method.DEPTH_LIMITED,
        "r300c/cc/": Method.EXACT,
    }
    with pytest.raises(ValueError, match="unknown flop method 'lookup': choose one of solve, offtree"):
        make_settings(flop="lookup")


def test_rivers_are_always_solved(agent: Agent) -> None:
    board = (*TURN, *parse_cards("9s"))
    decision = agent.decide(parse_betting(HUNL, "r300c/cc/cc/"), board, None, 1, NO_TIME)
    assert decision.method is not Method.BLUEPRINT
