"""A daemon for tests: the real application with a stand-in decider."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from aiohttp import ClientTimeout, web
from aiohttp.test_utils import TestClient, TestServer

from game.actions import CALL, FOLD, Action, raise_to
from game.betting import BettingState
from game.definition import HUNL
from game.hands import NUM_HANDS
from protocol.acpc import parse_betting
from server.config.config import Config, SecurityConfig, ServerConfig, StoreConfig
from server.daemon.app import make_app
from server.decisions import DecisionAnswer, DecisionRequest, Rung
from solver.decisions.convergence import judge
from solver.decisions.decision import Method

Client = TestClient[web.Request, web.Application]
DETAILS = {"pot": 1, "converged": False, "quality": judge(Method.EXACT, 8.4).quality}
"""The stand-in's explanation."""


def random_action(betting: BettingState, rng: Random) -> Action:
    """A random legal action; prefers small raises, so that hands last longer."""
    choices = [CALL, CALL]
    if betting.can_fold():
        choices.append(FOLD)
    bounds = betting.raise_bounds()
    if bounds is not None:
        choices.append(raise_to(min(bounds[1], bounds[0] + rng.randrange(300))))
        if rng.random() < 0.05:
            choices.append(raise_to(bounds[1]))
    return rng.choice(choices)


@dataclass
class StandIn:
    """Answers at once with a random action drawn from the request's seed; records all requests."""

    requests: list[DecisionRequest] = field(default_factory=list)
    say: str | None = None
    """If set, the answer to every request."""

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        self.requests.append(request)
        betting = parse_betting(HUNL, request.betting)
        action = str(random_action(betting, Random(f"{request.seed} {request.betting}")))
        played = request.played or action
        return DecisionAnswer(
            action=self.say or action,
            context=f"after {request.betting}{played}".encode(),
            actions=(action,),
            probabilities=np.ones((1, NUM_HANDS), dtype=np.float32),
            ranges=np.ones((2, NUM_HANDS), dtype=np.float32),
            method="exact",
            iterations=7,
            seconds=0.001,
            rung=Rung.SOLVED,
            explanation=json.dumps(DETAILS).encode() if request.explain else None,
        )


def config_for(folder: Path, **security: Any) -> Config:
    """A daemon configuration that keeps all files in one folder."""
    return Config(
        server=ServerConfig(host="127.0.0.1", port=0),
        store=StoreConfig(path=str(folder / "hands.sqlite")),
        security=SecurityConfig(keys_file=str(folder / "keys.json"), **security),
    )


@asynccontextmanager
async def running(folder: Path, decider: Any = None, config: Config | None = None) -> AsyncIterator[Client]:
    """A running daemon and a client."""
    app = make_app(config or config_for(folder), decider or StandIn())
    async with TestClient(TestServer(app), timeout=ClientTimeout(total=900)) as client:
        yield client


async def post(client: Client, path: str, body: Any, status: int = 200, **more: Any) -> Any:
    """Ask, and check the status."""
    async with client.post(path, json=body, **more) as response:
        answer = await response.json(content_type=None)
        assert response.status == status, answer
        return answer


async def get(client: Client, path: str, status: int = 200, **more: Any) -> Any:
    """Ask, and check the status."""
    async with client.get(path, **more) as response:
        answer = await response.json(content_type=None)
        assert response.status == status, answer
        return answer


async def play_hand(client: Client, rng: Random, session: str | None = None, **more: Any) -> dict[str, Any]:
    """Play one hand with random actions over /v1/hands, to its end."""
    async with client.post("/v1/hands", json={"session": session} if session else {}, **more) as response:
        assert response.status == 201
        hand = await response.json()
    session = hand["session"]
    while not hand["finished"]:
        assert hand["your_turn"]
        action = random_action(parse_betting(HUNL, hand["betting"]), rng)
        body = {"action": str(action), "betting": hand["betting"]}
        hand = await post(client, f"/v1/hands/{hand['id']}/actions", body, **more)
    return {**hand, "session": session}
