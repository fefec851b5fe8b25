"""The bot's reasoning is stored on request, and shown only when and as far as allowed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from server.decisions import DecisionAnswer, DecisionRequest
from solver.decisions.explanation import grids
from tests.server.api_setups import DETAILS, Client, StandIn, get, post, running
from tests.server.stand_ins import run

SECRET = {"hand": "AsKd", "strategy": {"c": 1.0}, "values": {"c": 12.0}}


class Explaining(StandIn):
    """Explains the hand held, as a worker does."""

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        answer = await super().decide(request)
        told = {"pot": 100, "own_range": [1.0] * 169, **SECRET}
        return replace(answer, explanation=json.dumps(told).encode() if request.explain else None)


async def play(client: Client, choose: Any, **body: Any) -> dict[str, Any]:
    """A hand in which the bot decided something."""
    session = None
    while True:
        async with client.post("/v1/hands", json={"session": session, **body}) as response:
            hand = await response.json()
        session = hand["session"]
        acted = hand["betting"] != ""
        while not hand["finished"]:
            action = choose(hand)
            hand = await post(client, f"/v1/hands/{hand['id']}/actions", {"action": action})
            acted = acted or action != "f"
        if acted:
            return hand


def call(_hand: dict[str, Any]) -> str:
    return "c"


def fold_when_possible(hand: dict[str, Any]) -> str:
    return "f" if hand["legal"]["fold"] and hand["betting"] else "c"


def test_after_a_showdown_everything_is_shown(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path, Explaining(say="c")) as client:
            hand = await play(client, call, explain=True)
            told = await get(client, f"/v1/hands/{hand['id']}/thoughts")
            assert told["shown_down"]
            assert len(told["thoughts"]) == 4, "one a street"
            assert [thought["number"] for thought in told["thoughts"]] == [0, 1, 2, 3]
            assert all(thought["details"]["hand"] == "AsKd" for thought in told["thoughts"])
            assert told["thoughts"][0]["action"] == "c"

    run(check())


@pytest.mark.parametrize("bot", ["f", "r20000"])
def test_after_a_fold_the_hand_held_stays_secret(tmp_path: Path, bot: str) -> None:
    """Whoever folds: ranges are shown, but not the hand, its strategy and its values."""

    async def check() -> None:
        async with running(tmp_path, Explaining(say=bot)) as client:
            choose = fold_when_possible if bot != "f" else lambda hand: "r300"
            hand = await play(client, choose, explain=True)
            assert hand["bot_hole"] is None
            told = await get(client, f"/v1/hands/{hand['id']}/thoughts")
            assert not told["shown_down"]
            assert told["thoughts"]
            for thought in told["thoughts"]:
                assert not SECRET.keys() & thought["details"].keys()
                assert not SECRET.keys() & thought.keys()
                assert thought["details"]["own_range"] == [1.0] * 169

    run(check())


def test_thoughts_are_unavailable_during_the_hand(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path, Explaining(say="c")) as client:
            hand = await post(client, "/v1/hands", {"explain": True}, 201)
            problem = await get(client, f"/v1/hands/{hand['id']}/thoughts", 409)
            assert problem["code"] == "not-over"
            await get(client, "/v1/hands/nobody/thoughts", 404)

    run(check())


def test_thoughts_are_stored_only_on_request(tmp_path: Path) -> None:
    async def check() -> None:
        decider = Explaining(say="c")
        async with running(tmp_path, decider) as client:
            hand = await play(client, call)
            assert (await get(client, f"/v1/hands/{hand['id']}/thoughts"))["thoughts"] == []
            assert not any(request.explain for request in decider.requests)

    run(check())


def test_a_looked_up_decision_has_ranges(tmp_path: Path) -> None:
    class LookedUp(StandIn):
        async def decide(self, request: DecisionRequest) -> DecisionAnswer:
            return replace(await super().decide(request), explanation=None, method="blueprint")

    async def check() -> None:
        async with running(tmp_path, LookedUp(say="c")) as client:
            hand = await play(client, call, explain=True)
            told = (await get(client, f"/v1/hands/{hand['id']}/thoughts"))["thoughts"]
            assert len(told) == 4
            assert told[0]["details"]["converged"] is None
            assert told[0]["details"]["quality"] == "looked up in the blueprint, nothing was solved"
            assert len(told[0]["details"]["own_range"]) == 169
            assert len(told[0]["details"]["opponent_range"]) == 169

    run(check())


@pytest.mark.parametrize(
    ("told", "converged"),
    [({"exploitability_pct": 8.4}, False), ({"exploitability_pct": 0.4}, True), (DETAILS, False)],
)
def test_thoughts_include_convergence(tmp_path: Path, told: dict[str, Any], converged: bool) -> None:
    """Including those stored by earlier versions, which lack these fields."""

    class Told(StandIn):
        async def decide(self, request: DecisionRequest) -> DecisionAnswer:
            return replace(await super().decide(request), explanation=json.dumps(told).encode())

    async def check() -> None:
        async with running(tmp_path, Told(say="c")) as client:
            hand = await play(client, call, explain=True)
            thoughts = (await get(client, f"/v1/hands/{hand['id']}/thoughts"))["thoughts"]
            for thought in thoughts:
                assert thought["details"]["converged"] is converged
                start = "solved: " if converged else "not converged: "
                assert thought["details"]["quality"].startswith(start + "exploitable for ")

    run(check())


def test_a_hand_is_still_explained_after_a_restart(tmp_path: Path) -> None:
    async def check() -> None:
        decider = Explaining(say="c")
        async with running(tmp_path, decider) as client:
            hand = await post(client, "/v1/hands", {"explain": True}, 201)
        async with running(tmp_path, decider) as client:
            while not hand["finished"]:
                hand = await post(client, f"/v1/hands/{hand['id']}/actions", {"action": "c"})
            told = await get(client, f"/v1/hands/{hand['id']}/thoughts")
            assert len(told["thoughts"]) == 4

    run(check())


def test_grids_average_over_possible_hands_only() -> None:
    """Hands blocked by the board have no strategy: they must not dilute their class's average."""
    rng = np.random.default_rng(Random(1).randrange(100))
    probabilities = rng.random((2, 1326)).astype(np.float32)
    probabilities /= probabilities.sum(axis=0)
    probabilities[:, ::3] = 0.0
    told = grids(np.ones((2, 1326), dtype=np.float32), 0, ("c", "r300"), probabilities)
    shares = np.array(list(told["strategy_grid"].values())).sum(axis=0)
    np.testing.assert_allclose(shares[np.array(told["own_range"]) > 0], 1.0, atol=2e-4)
