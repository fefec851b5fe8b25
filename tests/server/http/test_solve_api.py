from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse

from tests.server.api_setups import Client, config_for, get, post, running

RIVER = {
    "board": "AsKd7h4c2s",
    "pot": 1000,
    "stack": 2000,
    "oop": "QQ+,AK",
    "ip": "TT+,AQs",
    "menu": "50%, a",
}
LONG = {"board": "AsKd7h4c", "pot": 1000, "stack": 5000, "target_pct": 0.001}
"""A turn with all hands, which takes all the time that the daemon allows: on two fast cores 25 seconds leave
0.04 % of the pot. A small river would be solved before a test cancels it.
"""
START_SECONDS = 600
"""As long as the daemon waits for a solve's process, which may have to compile kernels."""


async def events(response: ClientResponse) -> list[tuple[str, Any]]:
    """All events of an event stream."""
    found = []
    for block in (await response.text()).split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


async def wait_for_end(client: Client, path: str) -> Any:
    async with asyncio.timeout(START_SECONDS):
        while True:
            solve = await get(client, path)
            if solve["state"] != "running":
                return solve
            await asyncio.sleep(0.05)


def test_a_solve_runs_in_the_background_and_streams_events(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            solve = await post(client, "/v1/solve", {**RIVER, "target_pct": 0.5, "node": "x"}, 202)
            path = f"/v1/solve/{solve['id']}"
            async with client.get(f"{path}/events") as response:
                assert response.content_type == "text/event-stream"
                told = await events(response)
            names = [name for name, _ in told]
            assert names[0] == "solve"
            assert "progress" in names
            assert names[-1] == "result"
            result = told[-1][1]["result"]
            assert result["exploitability_pct"] < 0.5
            assert result["converged"] is True
            assert result["quality"].startswith("solved: exploitable for 0.")
            assert result["node"]["path"] == "x"
            shown = await get(client, path)
            assert shown["state"] == "done"
            assert shown["result"] == result
            assert shown["progress"]["iterations"] > 0
            async with client.get(f"{path}/events", headers={"Last-Event-ID": str(len(told) - 2)}) as again:
                assert [name for name, _ in await events(again)] == ["solve", "result"]
            listed = await get(client, "/v1/solve")
            assert [one["id"] for one in listed["solves"]] == [solve["id"]]
            assert "result" not in listed["solves"][0]
            await get(client, "/v1/solve/nobody", 404)
            await get(client, "/v1/solve/nobody/events", 404)

    asyncio.run(play())


def test_a_cancelled_solve_keeps_its_result(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            streamed = await client.post("/v1/solve", json=LONG, headers={"Accept": "text/event-stream"})
            path = streamed.headers["Location"]
            async with asyncio.timeout(START_SECONDS):
                while b"event: progress" not in await streamed.content.readline():
                    pass
            async with client.delete(path) as response:
                assert response.status == 200
                assert (await response.json())["state"] == "cancelled"
            solve = await get(client, path)
            assert solve["result"]["iterations"] > 0
            await streamed.read()

    asyncio.run(play())


def test_disconnecting_cancels_a_streamed_solve(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            streamed = await client.post("/v1/solve", json=LONG, headers={"Accept": "text/event-stream"})
            path = streamed.headers["Location"]
            await streamed.content.readline()
            streamed.close()
            solve = await wait_for_end(client, path)
            assert solve["state"] == "cancelled"

    asyncio.run(play())


def test_concurrent_solves_are_limited_and_end_with_the_daemon(tmp_path: Path) -> None:
    async def play() -> list[Any]:
        async with running(tmp_path) as client:
            for _ in range(2):
                await post(client, "/v1/solve", LONG, 202)
            problem = await post(client, "/v1/solve", LONG, 429)
            assert problem["code"] == "busy"
            from server.http.context import SOLVES

            assert client.server is not None
            return client.server.app[SOLVES].list(None)

    jobs = asyncio.run(play())
    for job in jobs:
        assert job.state == "cancelled"
        assert job.process is None or job.process.returncode is not None


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"board": "As"}, 422, "board: "),
        ({"board": None}, 400, "board: is missing"),
        ({"pot": 0}, 400, "pot"),
        ({"pot": "1000"}, 400, "pot"),
        ({"stack": None}, 400, "stack: is missing"),
        ({"oop": "ZZ"}, 422, "oop"),
        ({"oop": "@/etc/passwd"}, 400, "files cannot be read"),
        ({"ip": "  @/etc/passwd"}, 400, "files cannot be read"),
        ({"menu": "all the chips"}, 422, "menu"),
        ({"iterations": 10**9}, 400, "iterations"),
        ({"target_pct": 0}, 400, "target_pct"),
        ({"seconds": 1e9}, 400, "seconds"),
        ({"lock": "x"}, 400, "lock"),
    ],
)
def test_invalid_spots_are_rejected(tmp_path: Path, change: dict[str, Any], status: int, words: str) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            problem = await post(client, "/v1/solve", {**RIVER, **change}, status)
            assert words in problem["detail"]

    asyncio.run(play())


def test_solves_that_are_too_large_fail_with_a_reason(tmp_path: Path) -> None:
    async def play() -> None:
        from dataclasses import replace

        from server.config.config import SolveConfig

        config = replace(config_for(tmp_path), solve=SolveConfig(memory_mb=16))
        async with running(tmp_path, config=config) as client:
            big = {"board": "AsKd7h4c", "pot": 100, "stack": 2000}
            solve = await post(client, "/v1/solve", big, 202)
            ended = await wait_for_end(client, f"/v1/solve/{solve['id']}")
            assert ended["state"] == "failed"
            assert "16 MB" in ended["detail"]
            wrong = await post(client, "/v1/solve", {**RIVER, "node": "b99"}, 202)
            ended = await wait_for_end(client, f"/v1/solve/{wrong['id']}")
            assert ended["state"] == "failed"
            assert ended["detail"]

    asyncio.run(play())
