"""`fathom warm-up`: do now what would make a first start slow."""

from __future__ import annotations

import argparse
from pathlib import Path

_EPILOG = """\
Unpacks the blueprint and compiles the kernels into Fathom's cache ($XDG_CACHE_HOME/fathom, ~/.cache/fathom).
Takes a minute or two once; afterwards a daemon is ready in seconds. Container images do this when built."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("--blueprint", type=Path, metavar="FILE", help="default: the one with Fathom")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Compile and say how long it took."""
    import time

    from server.blueprint_choice import choose_blueprint
    from server.pool.answers import make_agent_answerer

    started = time.monotonic()
    blueprint = choose_blueprint(str(args.blueprint or ""), print)
    make_agent_answerer(str(blueprint.path)).warm_up()
    print(f"warm: {blueprint.path.name}, {time.monotonic() - started:.1f} s")
    return 0
