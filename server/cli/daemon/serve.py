"""`fathom serve`: run the daemon."""

from __future__ import annotations

import argparse
import logging

from server.cli.parts.configuration import add_config_arguments, read_arguments

_EPILOG = """\
The daemon serves HTTP on --host and --port, and plays on the ACPC dealers in the configuration's [[match]]
tables. /readyz returns 200 once a worker is warm: within seconds, or minutes if the kernels must be compiled
first. SIGTERM or Ctrl-C shuts down gracefully: decisions in flight are answered and the exit status is 0. A
second signal ends the daemon at once.

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
    """Serve until a signal stops the daemon."""
    config = read_arguments(args)
    from server.daemon.preflight import verify_config
    from server.daemon.process import listen, serve
    from server.telemetry.logs import configure_logging

    verify_config(config)
    configure_logging(config.log)
    with listen(config.server) as listener:
        serve(config, listener)
    logging.getLogger("server").info("ended")
    return 0
