"""Progress of the bot's decision: visible while it thinks, to its opponent only, without revealing cards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from server.client import FathomClient, FathomError, Thinking
from server.config.keys import add_key
from server.daemon.app import make_app
from server.decisions import DecisionAnswer, DecisionRequest, Progress
from server.http.context import TABLE
from server.http.thinking import EVERY_SECONDS
from tests.server.api_setups import Client, StandIn, config_for, get, post, running
from tests.server.http.test_api_security import bearer, everything, verify_silence
from tests.server.stand_ins import run, until

EVENTS = {"Accept": "text/event-stream"}
NOT_THINKING = {
    "thinking": False,
    "street": None,
    "iterations": None,
    "most_iterations": None,
    "seconds": None,
    "seconds_allowed": None,
}


class Slow(StandIn):
    """Checks and calls once released; counts progress requests."""

    def __init__(self) -> None:
        super().__init__(say="c")
        self.may_answer = asyncio.Event()
        self.looks = 0

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        answer = await super().decide(request)
        await self.may_answer.wait()
        return answer

    def progress(self, request: DecisionRequest) -> Progress | None:
        assert request is self.requests[-1]
        self.looks += 1
        return None if self.looks == 1 else Progress(10 * self.looks, 2000)


async def events(response: Any) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    name = ""
    async for line in response.content:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


RAISE = {"action": "r300"}
"""A raise, so that the bot has to act in either position."""


async def my_turn(client: Client, slow: Slow, **more: Any) -> dict[str, Any]:
    """A hand that waits for the opponent's first action."""
    slow.may_answer.set()
    hand: dict[str, Any] = await post(client, "/v1/hands", {"budget": 3.0}, 201, **more)
    slow.may_answer.clear()
    slow.looks = 0
    return hand


def test_an_actions_progress_is_streamed_until_the_bot_acts(tmp_path: Path) -> None:
    async def check() -> None:
        slow = Slow()
        async with running(tmp_path, slow) as client:
            hand = await my_turn(client, slow)
            path = f"/v1/hands/{hand['id']}"
            assert await get(client, f"{path}/thinking") == NOT_THINKING
            told, asked = [], len(slow.requests)
            async with client.post(f"{path}/actions", json=RAISE, headers=EVENTS) as response:
                assert response.status == 200
                assert response.content_type == "text/event-stream"
                async for name, content in events(response):
                    told.append((name, content))
                    if slow.looks >= 3 and not slow.may_answer.is_set():
                        # Somebody else may look, too: another window, or the same one loaded again.
                        seen = await get(client, f"{path}/thinking")
                        assert seen["iterations"] >= 40
                        assert seen["most_iterations"] == 2000
                        slow.may_answer.set()
            assert [name for name, _ in told] == ["thinking"] * (len(told) - 1) + ["hand"]
            first, second = told[0][1], told[1][1]
            assert first["thinking"]
            assert first["street"] == "pre-flop"
            assert first["iterations"] is first["most_iterations"] is None, "it waits for a worker"
            assert second["iterations"] == 20
            assert second["most_iterations"] == 2000
            assert 0 < first["seconds"] < second["seconds"]
            assert first["seconds_allowed"] == round(slow.requests[asked].seconds, 3)
            assert told[-1][1] == await get(client, path)
            assert await get(client, f"{path}/thinking") == NOT_THINKING

    run(check())


def test_a_new_hands_progress_is_streamed(tmp_path: Path) -> None:
    async def check() -> None:
        slow = Slow()
        async with running(tmp_path, slow) as client:
            for _ in range(200):
                slow.may_answer.clear()
                waiting = asyncio.create_task(_stream(client, "/v1/hands", {}))
                await until(lambda: slow.looks >= 2 or waiting.done())  # noqa: B023
                slow.may_answer.set()
                told = await waiting
                assert told[-1][0] == "hand"
                assert told[-1][1]["session"]
                if len(told) > 1:
                    assert told[0][1]["street"] == "pre-flop"
                    return
            raise AssertionError("the bot never had the button")

    run(check())


async def _stream(client: Client, path: str, body: Any, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    headers = {**EVENTS, **more.pop("headers", {})}
    async with client.post(path, json=body, headers=headers, **more) as response:
        assert response.status == 200, await response.text()
        return [event async for event in events(response)]


def test_errors_are_the_same_as_without_a_stream(tmp_path: Path) -> None:
    async def check() -> None:
        slow = Slow()
        async with running(tmp_path, slow) as client:
            hand = await my_turn(client, slow)
            path = f"/v1/hands/{hand['id']}/actions"
            for body, status in (({"action": "r1"}, 422), ({}, 400), ({"action": "c", "betting": "f"}, 409)):
                await post(client, path, body, status, headers=EVENTS)
            await post(client, "/v1/hands/nobody/actions", RAISE, 404, headers=EVENTS)
            await post(client, "/v1/hands", {"session": "unknown"}, 404, headers=EVENTS)

            # Too late: while it waits for its turn, the other action is played.
            body = {**RAISE, "betting": hand["betting"]}
            both = [asyncio.create_task(_stream(client, path, body)) for _ in range(2)]
            await until(lambda: slow.looks > 4)
            slow.may_answer.set()
            ends = sorted([(await told)[-1] for told in both], key=lambda end: end[0])
            assert [name for name, _ in ends] == ["failed", "hand"]
            assert (ends[0][1]["status"], ends[0][1]["code"]) == (409, "moved-on")

    run(check())


def test_unexpected_errors_in_a_stream_reveal_no_details(tmp_path: Path) -> None:
    async def check() -> None:
        slow = Slow()
        async with running(tmp_path, slow) as client:
            hand = await my_turn(client, slow)
            assert client.server is not None
            store = client.server.app[TABLE]._store

            async def broken(*_records: object) -> None:
                raise RuntimeError("the bot holds AsKd")

            store.save = broken  # type: ignore[method-assign]
            path = f"/v1/hands/{hand['id']}/actions"
            waiting = asyncio.create_task(_stream(client, path, RAISE))
            await until(lambda: slow.looks > 1)
            slow.may_answer.set()
            name, problem = (await waiting)[-1]
            assert name == "failed"
            assert problem["status"] == 500
            assert "AsKd" not in json.dumps(problem)

    run(check())


class Leaving(TestServer):
    """Unlike in other tests, and as in the daemon, a disconnect does not cancel the handler."""

    async def _make_runner(self, **options: Any) -> web.BaseRunner[web.Request]:
        return await super()._make_runner(**{**options, "handler_cancellation": False})


def test_an_action_is_played_even_if_the_client_disconnects(tmp_path: Path) -> None:
    async def check() -> None:
        slow = Slow()
        app = make_app(config_for(tmp_path), slow)
        async with TestClient(Leaving(app)) as client:
            hand = await my_turn(client, slow)
            path = f"/v1/hands/{hand['id']}"
            async with client.post(f"{path}/actions", json=RAISE, headers=EVENTS) as response:
                await response.content.readline()
                response.close()
            looks = -1
            while looks != slow.looks:  # until progress is no longer requested
                looks = slow.looks
                await asyncio.sleep(3 * EVERY_SECONDS)
            slow.may_answer.set()
            await post(client, "/v1/hands", {"session": hand["session"]})  # waits for it
            seen = await get(client, path)
            assert seen["betting"].startswith(hand["betting"] + "r300c")

    run(check())


def test_progress_is_hidden_from_other_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    alice, bob = (bearer(add_key(file, name, ["play"])) for name in ("alice", "bob"))
    admin = bearer(add_key(file, "root", ["admin"]))
    solver = bearer(add_key(file, "solver", ["solve"]))

    async def check() -> None:
        slow = Slow()
        async with running(tmp_path, slow, config_for(tmp_path, require_keys="always")) as client:
            hand = await my_turn(client, slow, headers=alice)
            path = f"/v1/hands/{hand['id']}"
            waiting = asyncio.create_task(_stream(client, f"{path}/actions", RAISE, headers=alice))
            await until(lambda: slow.looks > 1)
            assert (await get(client, f"{path}/thinking", headers=alice))["thinking"]
            assert (await get(client, f"{path}/thinking", headers=admin))["thinking"]
            await get(client, f"{path}/thinking", 404, headers=bob)
            await get(client, f"{path}/thinking", 403, headers=solver)
            await get(client, f"{path}/thinking", 401)
            await post(client, f"{path}/actions", RAISE, 404, headers={**EVENTS, **bob})
            await post(client, "/v1/hands", {"session": hand["session"]}, 404, headers={**EVENTS, **bob})
            slow.may_answer.set()
            await waiting

    run(check())


def test_progress_does_not_reveal_the_bots_cards(tmp_path: Path) -> None:
    async def check() -> None:
        slow = Slow()
        async with running(tmp_path, slow) as client:
            hand = await my_turn(client, slow)
            path = f"/v1/hands/{hand['id']}/actions"
            while not hand["finished"]:
                slow.may_answer.clear()
                slow.looks = 0
                waiting = asyncio.create_task(_stream(client, path, {"action": "c"}))
                await until(lambda: slow.looks > 1 or waiting.done())  # noqa: B023
                said = json.dumps(await get(client, f"/v1/hands/{hand['id']}/thinking"))
                slow.may_answer.set()
                *told, (name, hand) = await waiting
                assert name == "hand"
                said += json.dumps([content for _, content in told])
                assert str(slow.requests[-1].seed) not in said
                if not hand["finished"]:
                    said += json.dumps(hand) + await everything(client, hand["id"])
                verify_silence(tmp_path, hand["id"], said, shown=False)

    run(check())


def test_the_client_reports_progress(tmp_path: Path) -> None:
    async def check() -> None:
        slow = Slow()
        async with running(tmp_path, slow) as client:
            hand = await my_turn(client, slow)
            loop, told = asyncio.get_running_loop(), list[Thinking]()

            def take(thinking: Thinking) -> None:
                told.append(thinking)
                if len(told) == 3:
                    loop.call_soon_threadsafe(slow.may_answer.set)

            def play() -> None:
                address = f"http://127.0.0.1:{client.port}"
                with FathomClient(address) as fathom:
                    mine = fathom.hand(str(hand["id"]))
                    assert not fathom.thinking(mine.id).thinking
                    after = fathom.act(mine, "r300", on_thinking=take)
                    assert after.betting.startswith(mine.betting + "r300")
                    with pytest.raises(FathomError, match="the betting is"):
                        fathom.act(mine, "r300", on_thinking=take)
                    assert fathom.new_hand(on_thinking=take).session
                    assert fathom.status()["ready"], "the connection is good for more"

            await asyncio.to_thread(play)
            assert told[0].thinking
            assert told[0].iterations is None
            assert told[2].most_iterations == 2000

    run(check())
