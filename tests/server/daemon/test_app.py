"""The daemon's application over real sockets."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from aiohttp import ClientSession, web
from prometheus_client.parser import text_string_to_metric_families

from server.config.config import Config, LogConfig, MatchConfig, WorkersConfig
from server.daemon.app import make_app
from server.decisions import Decider, Rung
from server.pool.dispatcher import Dispatcher
from server.pool.worker_process import WorkerSpec
from server.telemetry.logs import HumanFormatter, JsonFormatter, configure_logging
from tests.server.matches.test_matches import SCRIPT, listening
from tests.server.stand_ins import FACTORY, StandInDecider, StandInFallback, ask, run, until

CONFIG = Config()


class Client:
    """A client of a running application."""

    def __init__(self, session: ClientSession, app: web.Application) -> None:
        self.session, self.app = session, app

    async def json(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        async with self.session.request(method, path, data=data, headers=headers) as response:
            return response.status, await response.json(content_type=None)


@asynccontextmanager
async def serving(decider: Decider, config: Config = CONFIG) -> AsyncIterator[Client]:
    app = make_app(config, decider)
    runner = web.AppRunner(app, shutdown_timeout=10)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        async with ClientSession(f"http://127.0.0.1:{runner.addresses[0][1]}") as session:
            yield Client(session, app)
    finally:
        await runner.cleanup()


def dispatcher(count: int = 1, **arguments: str) -> Dispatcher:
    config = WorkersConfig(count=count, nice=0, memory_mb=0, late_seconds=30, hang_seconds=60)
    return Dispatcher(config, WorkerSpec(FACTORY, arguments), StandInFallback())


def test_ready_means_that_a_worker_is_warm() -> None:
    async def check() -> None:
        pool = dispatcher(count=2)
        async with serving(pool) as client:
            assert await client.json("GET", "/healthz") == (200, {"status": "ok"})
            status, body = await client.json("GET", "/readyz")
            assert (status, body["status"]) in ((503, "not ready"), (200, "ready"))
            await until(lambda: pool.is_ready)
            assert await client.json("GET", "/readyz") == (200, {"status": "ready"})
            await until(lambda: len(pool.status().workers) == 2)
            status, body = await client.json("GET", "/v1/status")
            assert status == 200
            assert body["ready"] is True
            assert len(body["pool"]["workers"]) == 2
            assert body["matches"] == []

    run(check())


def test_a_pool_that_cannot_start_says_why() -> None:
    async def check() -> None:
        pool = dispatcher(refuse="the blueprint is gone")
        async with serving(pool) as client:
            await until(lambda: bool(pool.status().failure))
            status, body = await client.json("GET", "/readyz")
            assert status == 503
            assert "the blueprint is gone" in body["reason"]
            assert (await client.json("GET", "/healthz"))[0] == 200

    run(check())


def test_metrics_are_in_the_prometheus_format() -> None:
    async def check() -> None:
        pool = dispatcher()
        async with serving(pool) as client:
            await until(lambda: pool.is_ready)
            assert (await pool.decide(ask("sleep:0.01", betting="r300"))).rung is Rung.SOLVED
            async with client.session.get("/metrics") as response:
                assert response.headers["Content-Type"].startswith("text/plain; version=")
                families = {
                    family.name: family for family in text_string_to_metric_families(await response.text())
                }
        for name in (
            "solve_seconds",
            "queue_wait_seconds",
            "deadline_margin_seconds",
            "event_loop_lag_seconds",
        ):
            assert families[f"fathom_{name}"].type == "histogram"
        for name in ("decisions", "fallbacks", "worker_restarts", "hands", "worker_page_faults"):
            assert families[f"fathom_{name}"].type == "counter"
        for name in ("workers", "queue_length", "winnings_chips", "matches"):
            assert families[f"fathom_{name}"].type == "gauge"
        (answered,) = [s for s in families["fathom_decisions"].samples if s.name.endswith("_total")]
        assert answered.labels == {"rung": "solved"}
        assert answered.value == 1

    run(check())


def test_matches_are_started_listed_and_stopped_over_http() -> None:
    async def check() -> None:
        async with serving(StandInDecider()) as client, listening(SCRIPT) as dealer:
            order = {"host": "127.0.0.1", "port": dealer.port, "name": "Bob"}
            status, started = await client.json("POST", "/v1/matches", order)
            assert (status, started["opponent"]) == (201, "Bob")
            from server.http.app_keys import MATCHES

            await client.app[MATCHES].wait(started["match"])
            status, shown = await client.json("GET", f"/v1/matches/{started['match']}")
            assert (status, shown["state"], shown["hands"]) == (200, "finished", 2)
            status, listed = await client.json("GET", "/v1/matches")
            assert listed == {"matches": [shown]}
            assert await client.json("DELETE", f"/v1/matches/{started['match']}") == (200, shown)
            assert (await client.json("DELETE", "/v1/matches/m7"))[0] == 404
            assert (await client.json("GET", "/v1/matches/m7"))[0] == 404

    run(check())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "object"),
        (b"{", "not JSON"),
        (b"[" * 5000, "deep"),
        (b"[]", "object"),
        ({"host": "h"}, "needs port"),
        ({"host": "h", "port": "1"}, "a whole number"),
        ({"host": "h", "port": 1, "colour": 2}, "no key 'colour'"),
        ({"host": "h", "port": 1, "game": "/etc/passwd"}, "unknown game '/etc/passwd'"),
        ({"host": "h", "port": 1, "game": "kuhn"}, "is not for the game"),
    ],
)
def test_bad_match_requests_are_rejected_with_a_reason(body: object, words: str) -> None:
    async def check() -> None:
        async with serving(StandInDecider()) as client:
            status, answer = await client.json("POST", "/v1/matches", body)
            assert status == 400
            assert words in answer["detail"]
            assert (await client.json("GET", "/v1/matches"))[1] == {"matches": []}

    run(check())


def test_configured_matches_start_and_stop_with_the_daemon() -> None:
    async def check() -> None:
        decider = StandInDecider()
        async with listening(SCRIPT) as dealer:
            config = replace(CONFIG, match=(MatchConfig("127.0.0.1", dealer.port),))
            decider.may_answer.clear()
            async with serving(decider, config):
                await until(lambda: len(decider.requests) == 1)
                asyncio.get_running_loop().call_later(0.2, decider.may_answer.set)
            # The daemon is gone, and the decision that was in flight has gone out.
            await until(lambda: len(dealer.replies) >= 2)
            assert dealer.replies[:2] == dealer.expected()[:2]

    run(check())


def test_log_lines_as_text_and_json() -> None:
    record = logging.LogRecord("server.x", logging.INFO, "f", 1, "hand %d", (3,), None)
    record.facts = {"chips": -50}
    assert HumanFormatter().format(record).endswith("info    server.x: hand 3  chips=-50")
    event = json.loads(JsonFormatter().format(record))
    assert (event["level"], event["message"], event["chips"]) == ("info", "hand 3", -50)


def test_logging_is_configured_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    level, stream = root.level, StringIO()
    try:
        configure_logging(LogConfig(format="json", level="warning"), stream)
        logging.getLogger("server.y").info("quiet")
        try:
            raise ValueError("oops")
        except ValueError:
            logging.getLogger("server.y").exception("loud\nand long")
    finally:
        root.setLevel(level)
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["message"] == "loud\nand long"
    assert "ValueError: oops" in json.loads(line)["traceback"]
