"""Slumbot's API as the daemon serves it: the behaviour its clients rely on."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from random import Random

import pytest

from protocol.slumbot import ClientSession, SlumbotError
from server.config.keys import add_key
from tests.server.api_setups import Client, StandIn, config_for, post, random_action, running


async def play_hand(client: Client, session: ClientSession, rng: Random, prefix: str) -> int:
    async with client.post(f"{prefix}/new_hand", json=session.new_hand()) as response:
        hand = session.receive(response.status, await response.json())
    while hand.result is None:
        action = random_action(hand.state.betting, rng)
        body = session.act(action)
        before = hand.action
        async with client.post(f"{prefix}/act", json=body) as response:
            answer = await response.json()
            assert answer["old_action"] == before
            hand = session.receive(response.status, answer)
    assert hand.disagreement() is None
    assert hand.result.bot_hole, "shown at the end, also after a fold"
    return hand.result.winnings


@pytest.mark.parametrize("prefix", ["/api", "/slumbot/api"])
def test_a_slumbot_client_can_play(tmp_path: Path, prefix: str) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            session, rng, total, positions = ClientSession(), Random(1), 0, []
            for number in range(1, 26):
                total += await play_hand(client, session, rng, prefix)
                assert session.hand is not None
                assert session.hand.result is not None
                assert session.hand.result.session_hands == number
                assert session.hand.result.session_total == total
                positions.append(session.hand.position)
            assert all(a != b for a, b in itertools.pairwise(positions))

    asyncio.run(play())


def test_a_lost_response_can_be_recovered(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:
            first = await post(client, "/api/new_hand", {})
            moved = await post(client, "/api/act", {"token": first["token"], "incr": _call(first["action"])})
            again = await post(client, "/api/new_hand", {"token": first["token"]})
            assert again["action"] == moved["action"]
            assert again["hole_cards"] == first["hole_cards"]

    asyncio.run(play())


def _call(action: str) -> str:
    return "c" if action == "" else "k"


def test_errors_match_slumbots(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:
            hand = await post(client, "/api/new_hand", {})
            token = hand["token"]
            for increment, phrase in [
                ("x", "Unexpected character in action"),
                ("b", "Missing bet size"),
                ("b1", "Bet too small"),
                ("b20001", "Bet too big"),
                ("k" if hand["action"] == "" else "c", "Illegal "),
            ]:
                answer = await post(client, "/api/act", {"token": token, "incr": increment})
                assert answer["error_msg"].startswith(phrase)
            await post(client, "/api/act", {"token": "lost", "incr": "c"}, 401)
            await post(client, "/api/new_hand", {"token": "lost"}, 401)
            await post(client, "/api/act", {"token": token}, 400)
            await post(client, "/api/act", {}, 400)
            await post(client, "/api/login", {"username": "u"}, 400)
            async with client.post("/api/act", data=b"{") as response:
                assert response.status == 415
            headers = {"Content-Type": "application/json"}
            async with client.post("/api/act", data=b"{", headers=headers) as response:
                assert response.status == 400
                assert "error_msg" in await response.json()
            async with client.post("/api/new_hand") as response:  # no body at all is as good as {}
                assert response.status == 200
            fresh = (await post(client, "/api/login", {"username": "u", "password": ""}))["token"]
            answer = await post(client, "/api/act", {"token": fresh, "incr": "c"})
            assert answer == {"error_msg": "No hand in progress"}

    asyncio.run(play())


def test_the_password_is_a_key_if_keys_are_required(tmp_path: Path) -> None:
    async def play() -> None:
        key = add_key(tmp_path / "keys.json", "alice", ["play"])
        other = add_key(tmp_path / "keys.json", "bob", ["solve"])
        async with running(tmp_path, config=config_for(tmp_path, require_keys="always")) as client:
            answer = await post(client, "/api/new_hand", {}, 401)
            assert "error_msg" in answer
            await post(client, "/api/login", {"username": "a", "password": "guess"}, 401)
            await post(client, "/api/login", {"username": "a", "password": other}, 401)
            session = ClientSession()
            async with client.post("/api/login", json=session.login("a", key)) as response:
                session.receive_login(response.status, await response.json())
            await play_hand(client, session, Random(4), "/api")
            bearer = {"Authorization": f"Bearer {key}"}
            await post(client, "/api/new_hand", {}, 200, headers=bearer)

    asyncio.run(play())


def test_refusals_reach_the_client_as_errors(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            session = ClientSession(token="lost")
            async with client.post("/api/new_hand", json=session.new_hand()) as response:
                with pytest.raises(SlumbotError) as error:
                    session.receive(response.status, await response.json())
            assert error.value.session_lost

    asyncio.run(play())
