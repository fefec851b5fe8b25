"""The daemon process: listening socket, event loop, signals and shutdown."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket

import uvloop
from aiohttp import web

from server.config.blueprint_choice import choose_blueprint
from server.config.config import Config, ServerConfig
from server.config.reader import config_text
from server.daemon.app import make_app
from server.http.app_keys import METRICS
from server.pool.agent_pool import make_pool
from solver.blueprint.file import Blueprint
from solver.version import fathom_version

log = logging.getLogger("server")

_BACKLOG = 1024
_FORCED_STATUS = 130


def listen(config: ServerConfig) -> socket.socket:
    """Open the listening socket, before any slow start-up work."""
    try:
        family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
        return socket.create_server((config.host, config.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise OSError(
            f"cannot listen on {config.host}:{config.port} ({error.strerror}): choose with --host and --port"
        ) from error


def serve(config: Config, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, then answer what is in flight and return; blocks."""
    log.debug("configuration:\n%s", config_text(config))
    blueprint = choose_blueprint(config.agent.blueprint, log.info)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(config, blueprint, listener))


async def _serve(config: Config, blueprint: Blueprint, listener: socket.socket) -> None:
    app = make_app(config, make_pool(config.workers, blueprint))
    app[METRICS].build.info({"version": fathom_version(), "blueprint": blueprint.identity})
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=config.server.drain_seconds + 1.0)
    stopping = _stop_signals()
    try:
        await runner.setup()  # if it fails, it closes what had already started
        await web.SockSite(runner, listener).start()
        facts = {"workers": config.workers.count, "blueprint": blueprint.provenance.preset}
        host, port = listener.getsockname()[:2]
        log.info("serving on http://%s:%d", host, port, extra={"facts": facts})
        _settle()
        await stopping.wait()
    finally:
        await runner.cleanup()


def _settle() -> None:
    """Keep garbage collection pauses of the event loop short."""
    gc.collect()
    gc.freeze()  # loaded modules and tables are permanent: scanning them takes tens of milliseconds each time


def _stop_signals() -> asyncio.Event:
    """An event set by the first SIGTERM or SIGINT; the second one ends the process at once."""
    stopping = asyncio.Event()

    def on_signal() -> None:
        if stopping.is_set():
            os._exit(_FORCED_STATUS)  # the workers notice and exit
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, on_signal)
    return stopping
