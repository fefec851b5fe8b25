"""Definition and description of converged solutions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from game.cards import parse_cards
from game.definition import HUNL
from protocol.acpc import parse_betting
from solver.agent.agent import Agent
from solver.blueprint.file import Blueprint
from solver.decisions.convergence import CONVERGED_PCT, judge
from solver.decisions.decision import Method
from solver.decisions.explanation import explain
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.arena.players.test_agent_player import QUICK


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)


@pytest.mark.parametrize(
    ("method", "pct", "converged", "quality"),
    [
        (Method.EXACT, 0.6, True, "solved: exploitable for 0.60 % of the pot"),
        (
            Method.SAFE,
            CONVERGED_PCT,
            True,
            "solved: exploitable for 2.00 % of the pot, the price of safety included",
        ),
        (Method.DEPTH_LIMITED, -0.01, True, "solved: exploitable for about 0.00 % of the pot"),
        (Method.DEPTH_LIMITED, 8.4, False, "not converged: exploitable for about 8.40 % of the pot"),
        (Method.DEPTH_LIMITED, None, None, "solved: how exploitable it is was not measured"),
        (Method.BLUEPRINT, None, None, "looked up in the blueprint, nothing was solved"),
        (Method.BOOK, None, None, "looked up in the flop book, nothing was solved now"),
        (None, None, None, "neither solved nor looked up: there was no time"),
    ],
)
def test_threshold_and_description(
    method: Method | None, pct: float | None, converged: bool | None, quality: str
) -> None:
    found = judge(method, pct)
    assert (found.converged, found.quality) == (converged, quality)


@pytest.mark.parametrize(("iterations", "converged"), [(1, False), (500, True)])
def test_a_river_converges_with_iterations(blueprint: Blueprint, iterations: int, converged: bool) -> None:
    board = tuple(parse_cards("Th9c2s3d4d"))
    agent = Agent(blueprint, replace(QUICK, river=replace(QUICK.river, max_iterations=iterations)))
    told = explain(agent.decide(parse_betting(HUNL, "r300c/cc/cc/r777"), board, None, seed=1))
    assert told["iterations"] == iterations
    assert told["converged"] is converged
    assert (told["exploitability_pct"] <= CONVERGED_PCT) is converged
    assert told["quality"].startswith("solved" if converged else "not converged")


def test_exploitability_is_relative_to_the_root_pot(blueprint: Blueprint) -> None:
    """Exploitability in % refers to the pot at the root of the solve, before the bet."""
    board = tuple(parse_cards("Th9c2s3d4d"))
    agent = Agent(blueprint, replace(QUICK, river=replace(QUICK.river, max_iterations=3)))
    decision = agent.decide(parse_betting(HUNL, "r300c/cc/cc/r20000"), board, None, seed=1)
    told, lost = explain(decision), decision.exploitability()
    assert lost is not None
    assert told["exploitability_pct"] == pytest.approx(100 * lost / 600, abs=0.001)
    assert told["pot"] == 20_300
    assert told["converged"] is False


def test_looked_up_decisions_say_so(blueprint: Blueprint) -> None:
    told = explain(Agent(blueprint, QUICK).decide(parse_betting(HUNL, ""), (), None, seed=1))
    assert told["converged"] is None
    assert told["quality"] == "looked up in the blueprint, nothing was solved"
