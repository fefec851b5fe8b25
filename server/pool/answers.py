"""The agent as workers use it: from a `DecisionRequest` to a `DecisionAnswer`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Protocol

from protocol.acpc import parse_betting
from server.decisions import DecisionAnswer, DecisionRequest, Rung, parse_action
from server.pool.messages import Estimate
from server.pool.rehearsal import rehearsal
from solver.agent.agent import Agent
from solver.agent.street_solves import LEAST_ITERATIONS
from solver.blueprint.file import open_blueprint
from solver.decisions.decision import Decision, Method
from solver.decisions.explanation import explain
from solver.decisions.limits import Limits
from solver.decisions.settings import TURN
from solver.resolving.context import Context

_AFTERWARDS_SECONDS = {TURN: 0.08}
"""Time reserved for building the next decision's context, by street: the turn's covers every river card."""
_EXPLAINING_SECONDS = 0.1
"""Time reserved for values and exploitability if an explanation is requested."""
_MOST_AFTERWARDS = 0.3
"""Maximum share of the time budget reserved for both."""
_SOLVES_PER_ESTIMATE = 16


class Answerer(Protocol):
    """Makes decisions inside a worker process. Calls block."""

    def warm_up(self) -> None:
        """Load and compile everything that would slow down the first decision."""

    def answer(self, request: DecisionRequest, limits: Limits) -> DecisionAnswer:
        """Decide within the limits."""

    def estimate(self) -> Estimate | None:
        """The last solve's exploitability, if it was sampled. Called after its answer has been sent."""


class AgentAnswerer:
    """An `Answerer` that solves with `solver.agent.agent.Agent`."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._solves = 0
        self._sample: Decision | None = None

    def warm_up(self) -> None:
        """Load or compile the kernels."""
        self._agent.warm_up()
        for request in rehearsal(self._agent.blueprint.definition):
            # Enough time to choose solving over a look-up, but stopped after one iteration.
            self.answer(request, Limits(1.0, lambda: True, 1))

    def answer(self, request: DecisionRequest, limits: Limits) -> DecisionAnswer:
        """Solve, and draw an action for the hand held."""
        agent = self._agent
        betting = parse_betting(agent.blueprint.definition, request.betting)
        context = None if request.context is None else Context.from_bytes(request.context)
        needed = _AFTERWARDS_SECONDS.get(betting.round_index, 0.0) + _EXPLAINING_SECONDS * request.explain
        if limits.seconds is not None:
            limits = replace(limits, seconds=limits.seconds - min(needed, _MOST_AFTERWARDS * limits.seconds))
        decision = agent.decide(betting, request.board, context, request.seed, limits)
        # Bet translation needs one seed per hand; adding the betting gives each decision its own draw.
        action = decision.strategy.draw(request.hand, Random(f"{request.seed} {request.betting}"))
        played = action if request.played is None else parse_action(request.played)
        is_solved = decision.method not in {Method.BLUEPRINT, Method.BOOK}
        # Postflop decisions are looked up in the blueprint only if there is no time to solve them.
        hurried = decision.iterations < LEAST_ITERATIONS and (
            is_solved or (decision.method is Method.BLUEPRINT and betting.round_index > 0)
        )
        self._solves += is_solved
        self._sample = decision if is_solved and self._solves % _SOLVES_PER_ESTIMATE == 0 else None
        return DecisionAnswer(
            action=str(action),
            context=decision.after(played).to_bytes(),
            actions=tuple([str(choice) for choice in decision.strategy.actions]),
            probabilities=decision.strategy.probabilities,
            ranges=decision.ranges,
            method=decision.method.value,
            iterations=decision.iterations,
            seconds=decision.seconds,
            rung=Rung.BEST_SO_FAR if hurried or limits.stop() else Rung.SOLVED,
            explanation=json.dumps(explain(decision, request.hand)).encode() if request.explain else None,
        )

    def estimate(self) -> Estimate | None:
        """Sampled: one solve in 16, because a best response costs as much as a few iterations."""
        decision, self._sample = self._sample, None
        chips = None if decision is None else decision.exploitability()
        if decision is None or chips is None:
            return None
        return Estimate(decision.betting.round_index, chips / decision.betting.definition.big_blind)


def make_agent_answerer(blueprint: str) -> Answerer:
    """An agent that plays the blueprint in this file."""
    return AgentAnswerer(Agent(open_blueprint(Path(blueprint))))
