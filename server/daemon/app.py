"""The daemon's web application: lifetimes of its parts, and the routes about the daemon itself.

1. The application owns everything that outlives a request, through cleanup contexts: started in order, closed
   in reverse. The pool starts first because dealer matches use it.
2. Other modules add their routes and contexts in `make_app`, and look up what they need by the keys of
   `server.http.app_keys`.
3. Shutdown on SIGTERM: no new connections; matches leave after their current decision; requests in flight are
   answered; after `server.drain_seconds` running solves are stopped and answered with their best result.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict

from aiohttp import web

from game.definition import HUNL
from server.config.config import Config
from server.decisions import Decider
from server.http.api import add_api
from server.http.app_keys import CONFIG, DECIDER, MATCHES, METRICS, POOL, STARTED
from server.http.bodies import answer
from server.http.context import STORE
from server.http.match_routes import add_match_routes
from server.matches.acpc_match import MatchObserver, OurSide
from server.matches.manager import MatchManager
from server.matches.recorder import MatchRecorder
from server.pool.dispatcher import Dispatcher
from server.telemetry.metrics import CONTENT_TYPE, Metrics
from solver.version import fathom_version

log = logging.getLogger(__name__)

_LAG_SECONDS = 0.25
"""Interval between measurements of the event loop's lag."""


def make_app(
    config: Config,
    decider: Decider,
    metrics: Metrics | None = None,
    observers: tuple[MatchObserver, ...] = (),
) -> web.Application:
    """Build the daemon's application.

    decider    makes the decisions; a `Dispatcher` is started and closed with the application
    metrics    default: those of the dispatcher, or new ones
    observers  notified of every decision and hand of dealer matches
    """
    app = web.Application()
    pool = decider if isinstance(decider, Dispatcher) else None
    app[CONFIG], app[DECIDER], app[POOL] = config, decider, pool
    app[METRICS] = metrics or (pool.metrics if pool is not None else Metrics())
    us = OurSide(
        decider,
        app[METRICS],
        budget=config.agent.budget,
        observers=(MatchRecorder(lambda: app[STORE]), *observers),
        definition=HUNL if pool is None else pool.definition,
        ready=None if pool is None else pool.wait_until_ready,
    )
    app[MATCHES] = MatchManager(us)
    app[STARTED] = time.monotonic()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics_text)
    app.router.add_get("/v1/status", status)
    add_match_routes(app)
    app.cleanup_ctx.extend([_watch_loop, _run_pool])
    add_api(app)  # holds the hand store that matches write to: opened before them, closed after them
    app.cleanup_ctx.append(_run_matches)
    app.on_shutdown.append(_begin_drain)
    return app


async def healthz(_request: web.Request) -> web.Response:
    """Liveness: the process answers."""
    return web.json_response({"status": "ok"})


async def readyz(request: web.Request) -> web.Response:
    """Readiness: a worker is warm, so decisions can be made."""
    pool = request.app[POOL]
    if pool is None or pool.is_ready:
        return web.json_response({"status": "ready"})
    failure = pool.status().failure
    reason = f"no worker could start: {failure}" if failure else "workers are warming up"
    return web.json_response({"status": "not ready", "reason": reason}, status=503)


async def metrics_text(request: web.Request) -> web.Response:
    """Metrics in the Prometheus text format."""
    return web.Response(body=request.app[METRICS].text(), headers={"Content-Type": CONTENT_TYPE})


async def status(request: web.Request) -> web.Response:
    """Version, uptime, workers and matches."""
    app = request.app
    pool = app[POOL]
    return answer(
        request,
        {
            "version": fathom_version(),
            "uptime_seconds": round(time.monotonic() - app[STARTED], 1),
            "ready": pool is None or pool.is_ready,
            "pool": None if pool is None else asdict(pool.status()),
            "matches": [asdict(match) for match in app[MATCHES].statuses()],
        },
    )


async def _run_pool(app: web.Application) -> AsyncIterator[None]:
    pool = app[POOL]
    if pool is None:
        yield
        return
    await pool.start()
    yield
    await pool.close()  # all requests have been drained by now


async def _run_matches(app: web.Application) -> AsyncIterator[None]:
    matches = app[MATCHES]
    for spec in app[CONFIG].match:
        matches.start(spec)
    yield
    await matches.close(app[CONFIG].server.drain_seconds)


async def _begin_drain(app: web.Application) -> None:
    """Begin the shutdown. Next aiohttp waits for the handlers, then closes the contexts in reverse."""
    log.info("shutting down: answering the decisions in flight")
    app[MATCHES].leave()
    pool = app[POOL]
    if pool is not None:
        asyncio.get_running_loop().call_later(app[CONFIG].server.drain_seconds, pool.stop_all)


async def _watch_loop(app: web.Application) -> AsyncIterator[None]:
    """Measure the event loop's lag continuously."""

    async def watch() -> None:
        while True:
            due = time.monotonic() + _LAG_SECONDS
            await asyncio.sleep(_LAG_SECONDS)
            app[METRICS].loop_lag.observe(max(time.monotonic() - due, 0.0))

    task = asyncio.create_task(watch())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
