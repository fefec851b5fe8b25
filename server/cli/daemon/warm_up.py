"""`fathom warm-up`: compile the kernels and unpack the blueprint before the first start."""

from __future__ import annotations

import argparse
from pathlib import Path

_EPILOG = """\
Unpacks the blueprint and compiles the kernels into Fathom's cache ($XDG_CACHE_HOME/fathom, ~/.cache/fathom).
Takes a minute or two, once; afterwards a daemon is ready within seconds. Run it when building a container
image.

example:
  fathom warm-up"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument(
        "--blueprint", type=Path, metavar="FILE", help="blueprint to unpack (default: the shipped one)"
    )
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Compile, unpack and print the time it took."""
    import time

    from server.config.blueprint_choice import choose_blueprint
    from server.pool.answers import make_agent_answerer

    started = time.monotonic()
    blueprint = choose_blueprint(str(args.blueprint or ""), print)
    make_agent_answerer(str(blueprint.path)).warm_up()
    print(f"warm: {blueprint.path.name}, {time.monotonic() - started:.1f} s")
    return 0
