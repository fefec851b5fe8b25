"""Explanations of decisions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from game.cards import parse_cards
from game.definition import HUNL
from game.hands import HAND_CLASS, hand_index
from protocol.acpc import parse_betting
from solver.agent.agent import Agent
from solver.decisions.explanation import explain, grid_places
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.arena.players.test_agent_player import QUICK


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    return Agent(made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE), QUICK)


def hand(text: str) -> int:
    return hand_index(*parse_cards(text))


def test_grids_have_pairs_on_the_diagonal_and_suited_hands_above() -> None:
    places = grid_places()
    assert sorted(places) == list(range(169))
    at = {text: int(places[HAND_CLASS[hand(text)]]) for text in ("AsAh", "2c2d", "AsKs", "AsKh", "3h2h")}
    assert at == {"AsAh": 0, "2c2d": 168, "AsKs": 1, "AsKh": 13, "3h2h": 11 * 13 + 12}


@pytest.mark.parametrize(
    ("text", "board", "method", "leaves"),
    [
        ("", "", "blueprint", "none: looked up"),
        ("r300c/cr450", "Th9c2s", "depth-limited", "turn and river are learned on the way"),
        ("r300c/cc/c", "Th9c2s3d", "exact", "none: solved to the end of the hand"),
    ],
)
def test_explanation_has_plain_values(agent: Agent, text: str, board: str, method: str, leaves: str) -> None:
    decision = agent.decide(parse_betting(HUNL, text), tuple(parse_cards(board)), None, seed=1)
    told = explain(decision, hand("QhJh"))
    assert json.loads(json.dumps(told)) == told
    assert told["method"] == method
    assert told["leaf_method"] == leaves
    assert sum(told["strategy"].values()) == pytest.approx(1, abs=1e-3)
    assert len(told["own_range"]) == len(told["opponent_range"]) == 169
    total = np.sum([told["strategy_grid"][name] for name in told["strategy"]], axis=0)
    np.testing.assert_allclose(total, 1, atol=2e-3)
    if method == "blueprint":
        assert told["values"] is None
        assert told["exploitability"] is None
    else:
        assert told["exploitability"] > 0
        assert set(told["phases"]) == {"set_up", "solve"}


def test_fold_loses_the_chips_put_in_and_the_nuts_win(agent: Agent) -> None:
    board = tuple(parse_cards("QsJsTs2d3c"))
    decision = agent.decide(parse_betting(HUNL, "r300c/cc/cc/r777"), board, None, seed=1)
    nuts = explain(decision, hand("AsKs"))["values"]
    air = explain(decision, hand("4h5h"))["values"]
    assert nuts["f"] == air["f"] == -300
    assert nuts["c"] > 500
    assert nuts["c"] == pytest.approx(777, abs=1)  # no hand beats it
    assert air["c"] < nuts["c"]
    values = decision.values()
    assert values is not None
    assert np.isnan(values[:, hand("QsJs")]).all()
