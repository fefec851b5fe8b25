"""The dashboard's data: percentiles of recent activity, and the event stream's beginning and end."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest

from server.http.event_routes import WATCH
from server.telemetry.metrics import Metrics
from server.telemetry.watch import KEPT, WINDOW, Watch, grown, percentile, spread
from tests.server.api_setups import play_hand, running
from tests.server.stand_ins import run

INF = math.inf


def test_percentiles_are_linear_within_a_bucket() -> None:
    buckets = {0.1: 0.0, 0.2: 10.0, 1.0: 20.0, INF: 20.0}
    assert percentile(buckets, 0.5) == pytest.approx(0.2)
    assert percentile(buckets, 0.25) == pytest.approx(0.15)
    assert percentile(buckets, 0.75) == pytest.approx(0.6)
    assert percentile(buckets, 1.0) == pytest.approx(1.0)


def test_values_beyond_all_buckets_give_the_largest_bound() -> None:
    assert percentile({0.1: 0.0, 5.0: 1.0, INF: 10.0}, 0.95) == 5.0


def test_negative_margins() -> None:
    buckets = {-1.0: 1.0, 0.0: 2.0, 1.0: 4.0, INF: 4.0}
    assert percentile(buckets, 0.5) == pytest.approx(0.0)
    assert percentile(buckets, 0.25) == pytest.approx(-1.0)


def test_no_samples_have_no_percentile() -> None:
    assert spread({}) == {"count": 0, "p50": None, "p95": None, "p99": None}
    assert percentile({0.1: 0.0, INF: 0.0}, 0.5) is None
    assert grown({1.0: 3.0}, {1.0: 5.0, 2.0: 7.0}) == {1.0: 2.0, 2.0: 7.0}


def test_percentiles_cover_only_the_recent_window() -> None:
    async def check() -> None:
        metrics = Metrics()
        watch = Watch(metrics, lambda: {"more": 1})
        metrics.solve_seconds.labels("river", "exact").observe(9.0)
        await watch.look()
        assert watch.points[-1]["streets"]["river"]["count"] == 1
        for _ in range(WINDOW + 1):
            await watch.look()
        assert watch.points[-1]["streets"]["river"]["count"] == 0
        metrics.solve_seconds.labels("river", "exact").observe(0.3)
        metrics.solve_seconds.labels("river", "safe").observe(0.3)
        metrics.deadline_margin.observe(-0.3)
        metrics.fallbacks.labels("blueprint", "deadline").inc()
        await watch.look()
        point = watch.points[-1]
        assert point["streets"]["river"]["count"] == 2
        assert 0.25 < point["streets"]["river"]["p50"] <= 0.5
        assert point["methods"]["exact"]["count"] == point["methods"]["safe"]["count"] == 1
        assert point["margin"]["late"] == 1
        assert point["margin"]["p1"] < 0
        assert point["fallbacks"] == {"blueprint deadline": 1.0}
        assert point["more"] == 1
        assert point["memory_bytes"] > 0
        for _ in range(KEPT + 5):
            await watch.look()
        assert len(watch.points) == KEPT

    run(check())


async def read_events(stream: Any, wanted: int) -> list[tuple[str, Any]]:
    found = []
    while len(found) < wanted:
        block = (await stream.readuntil(b"\n\n")).decode()
        name, data = block.strip().split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_the_stream_has_history_then_points(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as client:
            await play_hand(client, Random(1))
            async with client.get("/v1/events") as response:
                assert response.headers["Content-Type"] == "text/event-stream"
                assert response.headers["Cache-Control"] == "no-store"
                watch = client.app[WATCH]
                await watch.look()
                (first, history), (second, point) = await read_events(response.content, 2)
            assert (first, second) == ("history", "point")
            assert history["version"]
            assert sum(point["hands"].values()) == 1
            assert point["ready"]
            assert point["matches"] == []

    run(check())


def test_streams_do_not_delay_shutdown(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as client:
            response = await client.get("/v1/events")
            await read_events(response.content, 1)
            closing = asyncio.create_task(client.server.close())
            await response.content.read()  # the stream ends at shutdown
            await closing
            response.close()

    run(asyncio.wait_for(check(), 300))
