"""The daemon under load: latency while every worker solves, many hands at once, memory.

Runs `fathom serve` in its own process and sends requests over loopback from this process.

p50_ms, p99_ms, max_ms   latency of requests that need no solving (status, lists, single hands, health,
                         metrics), sent on a fixed schedule (open loop) while all workers solve; measured from
                         the scheduled time, so that waiting counts
rate, requests           requests per second, and their number
busy                     share of samples of the pool in which every worker was solving
errors                   requests that failed or got a status other than 200; must be 0
hands, hands_wrong       hands played concurrently at a budget of 0.1 s, and those that did not end or have a
                         wrong result by the rules; must be 0
hands_seconds            seconds for all hands
decisions                decisions requested by 16 concurrent clients, most of them before the flop
memory_mb, memory_pct    memory of the daemon's process after all decisions, and growth since a tenth of them
workers_mb               private memory of all workers together
"""

from __future__ import annotations

import argparse
import asyncio
import random
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import uvloop
from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector

from bench.figures import figure_parser, print_figures
from game.cards import parse_cards
from game.definition import HUNL
from game.state import hand_state
from protocol.acpc import parse_betting
from server.cli.parts.numbers import positive_number, whole_number

QUICK = ("--seconds", "3", "--hands", "20", "--decisions", "300", "--workers", "2")

_SOLVING = "MATCHSTATE:0:0:r300c/r600c/:QhJh|/Th9c2s/3d"
_PREFLOP = "MATCHSTATE:1:0::|AsKd"
_BUDGET_SECONDS = 0.1
_ASKERS = 16
_START_SECONDS = 900.0


@dataclass(slots=True)
class Latencies:
    """Latencies of requests that were sent on a schedule."""

    milliseconds: list[float] = field(default_factory=list)
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Daemon:
    """A running daemon."""

    http: ClientSession
    pid: int

    async def post(self, path: str, body: dict[str, object]) -> Any:
        """The JSON answer; raises `ClientError` if the request fails."""
        async with self.http.post(path, json=body) as response:
            response.raise_for_status()
            return await response.json()

    async def get(self, path: str) -> Any:
        """The JSON answer; raises `ClientError` if the request fails."""
        async with self.http.get(path) as response:
            response.raise_for_status()
            return await response.json()


def main(argv: list[str]) -> int:
    """Measure and print; exit status 1 if any answer was wrong."""
    parser = figure_parser("api", __doc__)
    parser.add_argument(
        "--blueprint", default="", metavar="FILE", help="blueprint file (default: the daemon's)"
    )
    parser.add_argument(
        "--workers", type=whole_number(), default=4, help="workers of the daemon (default: %(default)s)"
    )
    parser.add_argument(
        "--rate", type=positive_number, default=200.0, help="requests per second (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds",
        type=positive_number,
        default=20.0,
        help="duration of the requests (default: %(default)s)",
    )
    parser.add_argument(
        "--hands", type=whole_number(), default=300, help="concurrent hands (default: %(default)s)"
    )
    parser.add_argument(
        "--decisions",
        type=whole_number(0),
        default=20_000,
        help="decisions during which memory is measured (default: %(default)s)",
    )
    parser.add_argument("--verbose", action="store_true", help="print progress on stderr")
    args = parser.parse_args(argv)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(_measure(args))
    print_figures({"bench": "api", **figures}, args.json)
    return int(bool(figures["errors"] or figures["hands_wrong"]))


async def _measure(args: argparse.Namespace) -> dict[str, Any]:
    def say(text: str) -> None:
        if args.verbose:
            print(text, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        async with _serving(args, Path(folder)) as daemon:
            say("quick requests while all workers solve")
            figures = await _latency_figures(daemon, args.rate, args.seconds, args.workers)
            say(f"{args.hands} hands at once")
            figures |= await _hand_figures(daemon, args.hands)
            say(f"{args.decisions} decisions")
            figures |= await _memory_figures(daemon, args.decisions)
    return figures | {"workers": args.workers}


@asynccontextmanager
async def _serving(args: argparse.Namespace, folder: Path) -> AsyncIterator[Daemon]:
    port = _free_port()
    command = [
        sys.executable, "-m", "server.cli", "serve", "--port", str(port), "--workers", str(args.workers),
        "--set", f"store.path={folder / 'hands.sqlite'}", "--set", "log.level=error",
    ]  # fmt: skip
    if args.blueprint:
        command += ["--blueprint", args.blueprint]
    process = await asyncio.create_subprocess_exec(
        *command, stderr=None if args.verbose else asyncio.subprocess.DEVNULL
    )
    try:
        connector = TCPConnector(limit=0)
        async with ClientSession(
            f"http://127.0.0.1:{port}", connector=connector, timeout=ClientTimeout(total=600)
        ) as http:
            daemon = Daemon(http, process.pid)
            await _wait_until_warm(daemon, process, args.workers)
            yield daemon
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _wait_until_warm(daemon: Daemon, process: asyncio.subprocess.Process, workers: int) -> None:
    """Wait until every worker is warm."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.returncode is not None:
            raise OSError(f"the daemon ended with status {process.returncode} before it was ready")
        try:
            states = [worker["state"] for worker in (await daemon.get("/v1/status"))["pool"]["workers"]]
            if len(states) == workers and "starting" not in states:
                return
        except (ClientError, OSError):
            pass
        await asyncio.sleep(0.2)
    raise OSError(f"the daemon was not ready within {_START_SECONDS:g} s")


async def _latency_figures(daemon: Daemon, rate: float, seconds: float, workers: int) -> dict[str, Any]:
    hand = await daemon.post("/v1/hands", {"budget": _BUDGET_SECONDS})
    usual = ("/healthz", "/v1/status", "/v1/hands?limit=10", f"/v1/hands/{hand['id']}", "/readyz")
    paths = (*usual * 4, "/metrics")  # ten times a second is often enough to be scraped
    done = asyncio.Event()
    solving = [asyncio.create_task(_keep_solving(daemon, done)) for _ in range(2 * workers)]
    looks: list[bool] = []
    busy = asyncio.Event()
    watching = asyncio.create_task(_watch_pool(daemon, done, looks, busy))
    await busy.wait()
    latencies = await _send_on_schedule(daemon, paths, rate, seconds)
    done.set()
    await asyncio.gather(*solving, watching)
    values = np.array(latencies.milliseconds)
    return {
        "p50_ms": round(float(np.quantile(values, 0.5)), 2),
        "p99_ms": round(float(np.quantile(values, 0.99)), 2),
        "max_ms": round(float(values.max()), 2),
        "rate": rate,
        "requests": len(values),
        "busy": round(sum(looks) / max(len(looks), 1), 3),
        "errors": latencies.errors,
    }


async def _keep_solving(daemon: Daemon, done: asyncio.Event) -> None:
    while not done.is_set():
        await daemon.post("/v1/decide", {"matchstate": _SOLVING, "budget": 4.0})


async def _watch_pool(daemon: Daemon, done: asyncio.Event, looks: list[bool], busy: asyncio.Event) -> None:
    """Sample whether every worker is solving; set `busy` the first time they are."""
    while not done.is_set():
        workers = (await daemon.get("/v1/status"))["pool"]["workers"]
        all_solve = all(worker["state"] == "busy" for worker in workers)
        if busy.is_set():
            looks.append(all_solve)
        elif all_solve:
            busy.set()
        await asyncio.sleep(0.1)


async def _send_on_schedule(daemon: Daemon, paths: tuple[str, ...], rate: float, seconds: float) -> Latencies:
    loop, latencies = asyncio.get_running_loop(), Latencies()

    async def send(path: str, due: float) -> None:
        try:
            async with daemon.http.get(path) as response:
                await response.read()
                latencies.errors += response.status != 200
        except (ClientError, OSError):
            latencies.errors += 1
        latencies.milliseconds.append(1000 * (loop.time() - due))

    started, tasks = loop.time(), []
    for number in range(round(rate * seconds)):
        due = started + number / rate
        await asyncio.sleep(max(due - loop.time(), 0))
        tasks.append(asyncio.create_task(send(paths[number % len(paths)], due)))
    await asyncio.gather(*tasks)
    return latencies


async def _hand_figures(daemon: Daemon, hands: int) -> dict[str, Any]:
    started = time.monotonic()
    right = await asyncio.gather(*[_play(daemon, random.Random(number)) for number in range(hands)])
    return {
        "hands": hands,
        "hands_wrong": right.count(False),
        "hands_seconds": round(time.monotonic() - started, 1),
    }


async def _play(daemon: Daemon, rng: random.Random) -> bool:
    """Play a hand with calls and some raises; returns whether its result is correct by the rules."""
    try:
        hand = await daemon.post("/v1/hands", {"budget": _BUDGET_SECONDS})
        while not hand["finished"]:
            legal = hand["legal"]
            action = "c"
            if legal["raise"] is not None and rng.random() < 0.2:
                action = f"r{legal['raise']['least']}"
            hand = await daemon.post(f"/v1/hands/{hand['id']}/actions", {"action": action})
    except (ClientError, OSError):
        return False
    position, betting = hand["position"], parse_betting(HUNL, hand["betting"])
    hole = [parse_cards("".join(cards or [])) for cards in (hand["hole"], hand["bot_hole"])]
    if position == 1:
        hole.reverse()
    state = hand_state(betting, (hole[0], hole[1]), parse_cards("".join(hand["board"])))
    return betting.is_finished and state.values()[position] == hand["chips"]


async def _memory_figures(daemon: Daemon, decisions: int) -> dict[str, Any]:
    warm, left = max(decisions // 10, 1), iter(range(decisions))
    before = 0

    async def ask(look: Callable[[], int]) -> None:
        nonlocal before
        for number in left:
            if number == warm:
                before = look()
            line = _SOLVING if number % 100 == 0 else _PREFLOP
            await daemon.post("/v1/decide", {"matchstate": line, "budget": _BUDGET_SECONDS})

    await asyncio.gather(*[ask(lambda: _own_bytes(daemon.pid)) for _ in range(_ASKERS)])
    after = _own_bytes(daemon.pid)
    status = await daemon.get("/v1/status")
    return {
        "decisions": decisions,
        "memory_mb": round(after / 2**20, 1),
        "memory_pct": round(100 * (after - before) / max(before, 1), 2),
        "workers_mb": round(sum(worker["own_mb"] for worker in status["pool"]["workers"]), 1),
    }


def _own_bytes(pid: int) -> int:
    """The private memory of a process; 0 where it is not available."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
