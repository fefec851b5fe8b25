"""Stand-ins for the agent, in workers and in the daemon: fast, with failures on demand.

The request's match selects a worker stand-in's behaviour: `sleep` thinks until it is stopped, `count` also
reports progress, `deaf` ignores stops, `die:FILE` kills its worker unless FILE exists (and creates it),
`leak` uses much memory, and so on. Any other match is answered at once with a check or call.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import uvloop

from game.definition import HUNL, GameDefinition
from server.decisions import DecisionAnswer, DecisionRequest, Rung
from server.pool.messages import Estimate
from solver.decisions.limits import Limits

FACTORY = "tests.server.stand_ins:make_stand_in"
LEAK_MB = 64

_T = TypeVar("_T")


class StandIn:
    """An `Answerer`."""

    def __init__(self) -> None:
        self.kept: list[bytearray] = []
        self.estimated = False

    def warm_up(self) -> None:
        pass

    def answer(self, request: DecisionRequest, limits: Limits) -> DecisionAnswer:
        kind, _, rest = request.match.partition(":")
        if kind == "sleep":
            deadline = time.monotonic() + float(rest or "inf")
            while not limits.stop() and time.monotonic() < deadline:
                time.sleep(0.001)
        elif kind == "count":
            done = 0
            while not limits.stop():
                done += 1
                limits.report(done, 10**9)
                time.sleep(0.001)
        elif kind == "deaf":
            threading.Event().wait()
        elif kind == "die" and not Path(rest).exists():
            Path(rest).touch()
            os._exit(9)
        elif kind == "error":
            raise ValueError("the secret is AsKd")
        elif kind == "leak":
            self.kept.append(bytearray(os.urandom(1024) * 1024 * LEAK_MB))
        self.estimated = kind == "estimate"
        action = "r1" if kind == "illegal" else "c"
        rung = Rung.BEST_SO_FAR if limits.stop() else Rung.SOLVED
        return made_up_answer(
            action, request, rung, method=f"pid {os.getpid()}", iterations=limits.threads or 0
        )

    def estimate(self) -> Estimate | None:
        return Estimate(3, 0.75) if self.estimated else None


def make_stand_in(**arguments: str) -> StandIn:
    if "refuse" in arguments:
        raise ValueError(arguments["refuse"])
    return StandIn()


class StandInFallback:
    """A stand-in for the blueprint fallback."""

    definition: GameDefinition = HUNL

    def __init__(self, action: str = "c") -> None:
        self.action = action

    def warm_up(self) -> None:
        pass

    def answer(self, request: DecisionRequest) -> DecisionAnswer:
        if self.action == "raise":
            raise RuntimeError("the blueprint is broken")
        return made_up_answer(self.action, request, Rung.BLUEPRINT)


class StandInDecider:
    """A `Decider` in the test's process that checks and calls."""

    def __init__(self) -> None:
        self.requests: list[DecisionRequest] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        self.requests.append(request)
        await self.may_answer.wait()
        return made_up_answer("c", request, Rung.SOLVED)


def made_up_answer(
    action: str, request: DecisionRequest, rung: Rung, method: str = "made-up", iterations: int = 1
) -> DecisionAnswer:
    return DecisionAnswer(
        action=action,
        context=b"after " + request.betting.encode(),
        actions=(action,),
        probabilities=np.ones((1, 1326), dtype=np.float32),
        ranges=np.ones((2, 1326), dtype=np.float32),
        method=method,
        iterations=iterations,
        seconds=0.001,
        rung=rung,
    )


def ask(
    match: str = "quick", seconds: float = 300.0, betting: str = "", context: bytes | None = None
) -> DecisionRequest:
    return DecisionRequest(match, betting, (), 5, context, 7, seconds)


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run on the daemon's event loop. The generous timeout allows for compiling kernels."""

    async def limited() -> _T:
        return await asyncio.wait_for(work, 600)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(limited())


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition becomes true."""
    while not condition():  # noqa: ASYNC110 - about other processes, too: there is no event to wait for
        await asyncio.sleep(0.005)
