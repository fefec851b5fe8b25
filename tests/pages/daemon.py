"""A daemon for the browser: the real application with a quick stand-in, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from aiohttp import web

from game.actions import raise_to
from game.definition import HUNL
from protocol.acpc import parse_betting
from server.daemon.app import make_app
from server.decisions import DecisionAnswer, DecisionRequest, Progress
from solver.decisions.convergence import judge
from solver.decisions.decision import Method
from solver.decisions.explanation import grids
from solver.decisions.settings import FLOP, TURN
from tests.server.api_setups import StandIn, config_for

_LONG_SECONDS = 2.0
_SLOW_SECONDS = 60.0


class Opponent(StandIn):
    """Checks and calls; folds to an all-in, so that people can win and lose.

    Flops it looks up, turns are not converged. With thirty seconds a hand it thinks for a minute before the
    flop: time to look.
    """

    def __init__(self) -> None:
        super().__init__()
        self.since: dict[int, float] = {}

    def progress(self, request: DecisionRequest) -> Progress | None:
        since = self.since.get(id(request))
        return None if since is None else Progress(int(120 * (time.monotonic() - since)), 2000)

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        is_slow = "/" not in request.betting and request.seconds > _LONG_SECONDS
        self.since[id(request)] = time.monotonic()
        await asyncio.sleep(_SLOW_SECONDS if is_slow else 0.05)
        del self.since[id(request)]
        answer = await super().decide(request)
        betting = parse_betting(HUNL, request.betting)
        facing_all_in = betting.max_spent >= HUNL.stacks[betting.actor]
        action = "f" if facing_all_in else "c"
        bounds = betting.raise_bounds()
        names = (action,) if bounds is None else (action, str(raise_to(bounds[0])))
        probabilities = np.full((len(names), 1326), 1 / len(names), dtype=np.float32)
        ranges = np.random.default_rng(5).random((2, 1326), dtype=np.float32)
        told = None
        if request.explain and betting.round_index != FLOP:
            told = grids(ranges, betting.actor, names, probabilities)
            pct = 8.4 if betting.round_index == TURN else 0.4
            found = judge(Method.EXACT, pct)
            told |= {
                "exploitability_pct": pct,
                "converged": found.converged,
                "quality": found.quality,
                "range_strategy": dict.fromkeys(names, 1 / len(names)),
            }
        return replace(
            answer,
            method=(Method.BLUEPRINT if betting.round_index == FLOP else Method.EXACT).value,
            action=action,
            actions=names,
            probabilities=probabilities,
            ranges=ranges,
            explanation=None if told is None else json.dumps(told).encode(),
        )


async def _serve(folder: Path, require_keys: str) -> None:
    runner = web.AppRunner(make_app(config_for(folder, require_keys=require_keys), Opponent()))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), sys.argv[2]))
