"""Typed keys of the objects that handlers find in the application."""

from __future__ import annotations

from aiohttp import web

from server.config.config import Config
from server.decisions import Decider
from server.matches.manager import MatchManager
from server.pool.dispatcher import Dispatcher
from server.telemetry.metrics import Metrics

CONFIG = web.AppKey("config", Config)
METRICS = web.AppKey("metrics", Metrics)
DECIDER: web.AppKey[Decider] = web.AppKey("decider")
POOL: web.AppKey[Dispatcher | None] = web.AppKey("pool")
"""None if the decider is not a `Dispatcher`, as in tests."""
MATCHES = web.AppKey("matches", MatchManager)
STARTED = web.AppKey("started", float)
"""`time.monotonic()` when the application was created."""
