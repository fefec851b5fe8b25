"""`/v1/events`: live metrics of the daemon, for the dashboard."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from aiohttp import web

from server.http.app_keys import MATCHES, METRICS, POOL, STARTED
from server.http.solve_routes import EVENT_STREAM
from server.telemetry.watch import EVERY_SECONDS, Watch
from solver.version import fathom_version

WATCH = web.AppKey("watch", Watch)


def add_event_routes(app: web.Application) -> None:
    """Add the route and start its `Watch`."""
    app.router.add_get("/v1/events", follow)
    app.cleanup_ctx.append(_run_watch)
    app.on_shutdown.append(_end_streams)


async def follow(request: web.Request) -> web.StreamResponse:
    """Stream events: `history` (the last minutes), then a `point` every two seconds until disconnected."""
    watch = request.app[WATCH]
    response = web.StreamResponse(headers={"Content-Type": EVENT_STREAM, "X-Accel-Buffering": "no"})
    await response.prepare(request)
    facts = {"version": fathom_version(), "every_seconds": EVERY_SECONDS, "points": watch.points}
    try:
        await response.write(_event("history", facts))
        async for point in watch.follow():
            await response.write(_event("point", point))
    except ConnectionResetError:
        pass  # the client disconnected
    return response


def _event(name: str, body: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(body, separators=(',', ':'))}\n\n".encode()


async def _run_watch(app: web.Application) -> AsyncIterator[None]:
    watch = app[WATCH] = Watch(app[METRICS], lambda: _more(app))
    task = asyncio.create_task(watch.run())
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def _end_streams(app: web.Application) -> None:
    """End the streams: an open one would delay the daemon's shutdown."""
    await app[WATCH].close()


def _more(app: web.Application) -> dict[str, Any]:
    pool = app[POOL]
    status = None if pool is None else pool.status()
    return {
        "uptime_seconds": round(time.monotonic() - app[STARTED], 1),
        "ready": pool is None or pool.is_ready,
        "pool": [] if status is None else [asdict(worker) for worker in status.workers],
        "running": 0 if status is None else status.running,
        "matches": [asdict(match) for match in app[MATCHES].statuses()[-20:]],
    }
