"""Add the HTTP API to the daemon's application."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncIterator

from aiohttp import web

from server.config.config import Config, keys_path, store_path
from server.config.keys import KeyRing, parse_key_line
from server.config.reader import ConfigError
from server.decisions import DecisionAnswer, DecisionRequest, Progress
from server.http.app_keys import CONFIG, DECIDER, METRICS, POOL
from server.http.context import KEYS, LIMITER, PUSH_FOLD, SOLVES, STORE, TABLE
from server.http.decide_routes import add_decide_routes
from server.http.docs_routes import add_docs_routes
from server.http.event_routes import add_event_routes
from server.http.guard import guard, seal
from server.http.hand_routes import add_hand_routes
from server.http.limits import RateLimiter
from server.http.push_fold_routes import add_push_fold_routes
from server.http.slumbot_routes import add_slumbot_routes
from server.http.solve_routes import add_solve_routes
from server.http.thought_routes import add_thought_routes
from server.http.web_routes import add_web_routes
from server.play.push_fold_table import PushFoldTable
from server.play.table import Table
from server.pool.dispatcher import Dispatcher
from server.solves.jobs import SolveJobs, SolveSettings
from server.store.hand_store import HandStore
from server.telemetry.metrics import Metrics
from server.telemetry.store_metrics import StoreCollector

_WARM_UP_SECONDS = 30.0
"""How long decisions wait for the first worker; after that the blueprint plays."""


def add_api(app: web.Application) -> None:
    """Add the routes under `/v1` and `/api` about hands and solving, and the guard around all requests.

    Raises `ConfigError` if the daemon would be reachable from other machines without keys.
    """
    config = app[CONFIG]
    app[KEYS] = needed_keys(config)
    security = config.security
    limited = app[KEYS] is not None
    app[LIMITER] = RateLimiter(
        security.requests_per_second if limited else 0.0,
        security.burst,
        security.requests_at_once if limited else 0,
    )
    app[SOLVES] = SolveJobs(
        SolveSettings(
            at_once=config.solve.at_once,
            most_seconds=config.solve.seconds,
            memory_mb=config.solve.memory_mb,
            threads=config.solve.threads,
        )
    )
    app.middlewares.append(guard)
    app.on_response_prepare.append(seal)
    add_decide_routes(app)
    add_hand_routes(app)
    add_solve_routes(app)
    add_slumbot_routes(app)
    add_docs_routes(app)
    add_thought_routes(app)
    add_push_fold_routes(app)
    add_event_routes(app)
    add_web_routes(app)
    app.cleanup_ctx.append(_keep_hands)
    app.on_shutdown.append(_end_solves)


def is_loopback(host: str) -> bool:
    """Whether an address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def needed_keys(config: Config) -> KeyRing | None:
    """The accepted keys; None if no key is needed. Raises `ConfigError` if keys are needed but missing."""
    security = config.security
    if security.require_keys == "auto" and is_loopback(config.server.host):
        return None
    path = keys_path(config)
    keys = KeyRing(path, [parse_key_line(line) for line in security.keys])
    if not len(keys):
        raise ConfigError(
            f"server.host = {config.server.host!r} is reachable from other machines, and there are no keys in"
            f" {path}: create one with `fathom keys add NAME`, or listen on 127.0.0.1"
        )
    return keys


async def _keep_hands(app: web.Application) -> AsyncIterator[None]:
    config = app[CONFIG]
    store = await asyncio.to_thread(HandStore, store_path(config))
    app[STORE] = store
    app[METRICS].registry.register(StoreCollector(store))
    pool = app[POOL]
    decider = app[DECIDER] if pool is None else _OnceWarm(pool)
    app[TABLE] = Table(decider, store, config.agent.budget, _Counter(app[METRICS]))
    app[PUSH_FOLD] = PushFoldTable(store)
    yield
    await asyncio.to_thread(store.close)


async def _end_solves(app: web.Application) -> None:
    await app[SOLVES].close()


class _OnceWarm:
    """The pool, but early decisions wait for the first worker instead of falling back to the blueprint."""

    def __init__(self, pool: Dispatcher) -> None:
        self._pool = pool
        self._was_warm = False

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        """Decide; in time once the first worker has been warm."""
        if not self._was_warm and not self._pool.status().failure:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_WARM_UP_SECONDS):
                    await self._pool.wait_until_ready()
            self._was_warm = True
        return await self._pool.decide(request)

    def progress(self, request: DecisionRequest) -> Progress | None:
        """Progress of a request; None while it waits for the first worker."""
        return self._pool.progress(request)


class _Counter:
    """Counts the table's events in the metrics."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def hand_finished(self, channel: str, opponent: str, chips: int) -> None:
        self._metrics.hands.labels(channel).inc()
        self._metrics.winnings.labels(self._metrics.opponent(opponent)).inc(chips)

    def answer_replaced(self) -> None:
        self._metrics.fallbacks.labels("check_fold", "illegal_answer").inc()
