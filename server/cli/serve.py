"""`fathom serve`: run the daemon."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from server.cli.config import add_config_arguments, read_arguments

_EPILOG = """\
The daemon answers HTTP on --host and --port, and plays on the ACPC dealers of the configuration's [[match]]
tables. /readyz says yes once a worker is warm: seconds, or minutes where kernels have to be compiled first.
SIGTERM and Ctrl-C drain: decisions in flight go out, then it ends with status 0.

examples:
  fathom serve                                        on 127.0.0.1:8080, with the default blueprint
  fathom serve --port 9000 --workers 2 --budget 2
  fathom serve --config fathom.toml --set log.format=json
  curl -s localhost:8080/v1/status"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    add_config_arguments(parser)
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Serve until told to stop."""
    config = read_arguments(args)
    import uvloop
    from aiohttp import web

    from server.app import make_app
    from server.blueprint_choice import choose_blueprint
    from server.config_reader import config_text
    from server.logs import configure_logging
    from server.metrics import fathom_version
    from server.pool.dispatcher import Dispatcher
    from server.pool.fallback import BlueprintFallback
    from server.pool.worker_process import WorkerSpec

    configure_logging(config.log)
    log = logging.getLogger("server")
    log.debug("configuration\n%s", config_text(config))
    blueprint = choose_blueprint(config.agent.blueprint, log.info)
    spec = WorkerSpec(arguments={"blueprint": str(Path(blueprint.path).absolute())}, nice=config.workers.nice)
    loop = uvloop.new_event_loop()
    server = config.server

    async def make() -> web.Application:
        pool = Dispatcher(config.workers, spec, BlueprintFallback(blueprint))
        pool.metrics.build.info({"version": fathom_version(), "blueprint": blueprint.identity})
        return make_app(config, pool)

    log.info(
        "serving on http://%s:%d", server.host, server.port,
        extra={"facts": {"workers": config.workers.count, "blueprint": blueprint.provenance.preset}},
    )  # fmt: skip
    web.run_app(
        make(), host=server.host, port=server.port, print=None, access_log=None,
        shutdown_timeout=server.drain_seconds + 1.0, loop=loop,
    )  # fmt: skip
    log.info("ended")
    return 0
