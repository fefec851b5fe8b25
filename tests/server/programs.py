"""Child processes for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DAEMON = """
import asyncio, sys
from pathlib import Path
from aiohttp import web
from tests.server.api_setups import StandIn, config_for
from server.daemon.app import make_app

async def serve():
    config = config_for(Path(sys.argv[1]), require_keys=[*sys.argv, "auto"][2])
    runner = web.AppRunner(make_app(config, StandIn()))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()

asyncio.run(serve())
"""
"""The real application with a stand-in for the workers; prints its port.

Arguments: its folder, and whether keys are needed.
"""


def start_python(program: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Start a Python process that can import this Fathom, with its output readable."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
