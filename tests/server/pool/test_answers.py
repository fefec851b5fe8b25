"""The agent as workers use it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from game.cards import parse_cards
from game.hands import parse_hand
from server.decisions import DecisionRequest
from server.pool.answers import AgentAnswerer
from solver.agent.agent import Agent
from solver.decisions.limits import Limits
from solver.decisions.settings import AgentSettings
from solver.resolving.context import Context
from tests.arena.blueprints import WIDE, made_up_blueprint


def test_the_context_follows_the_played_action_and_explanations_are_included(tmp_path: Path) -> None:
    answerer = AgentAnswerer(Agent(made_up_blueprint(tmp_path, WIDE)))
    river = DecisionRequest(
        match="m",
        betting="cc/cc/cc/",
        board=parse_cards("Th9c2s3d4h"),
        hand=parse_hand("QhJh"),
        context=None,
        seed=1,
        seconds=0.1,
    )
    drawn = answerer.answer(river, Limits(0.1, lambda: False, 1))
    assert drawn.context is not None
    assert Context.from_bytes(drawn.context).text == f"cc/cc/cc/{drawn.action}"
    assert drawn.explanation is None
    # Whatever it would have done: this is what happened.
    played = answerer.answer(replace(river, played="r20000", explain=True), Limits(0.1, lambda: False, 1))
    assert played.context is not None
    assert Context.from_bytes(played.context).text == "cc/cc/cc/r20000"
    assert played.explanation is not None
    told = json.loads(played.explanation)
    assert told["hand"] == "QhJh"
    assert len(told["own_range"]) == 169
    assert told["street"] == "river"


def test_the_agent_reports_progress(tmp_path: Path) -> None:
    answerer = AgentAnswerer(Agent(made_up_blueprint(tmp_path, WIDE)))
    river = DecisionRequest("m", "cc/cc/cc/", parse_cards("Th9c2s3d4h"), parse_hand("QhJh"), None, 1, 0.5)
    told: list[tuple[int, int]] = []
    answer = answerer.answer(river, Limits(0.5, threads=1, report=lambda *news: told.append(news)))
    done = [iterations for iterations, _ in told]
    assert done == sorted(done)
    assert done[-1] == answer.iterations
    assert {most for _, most in told} == {AgentSettings().river.max_iterations}
