"""One solve in its own process: the request on stdin, progress and result on stdout, one JSON line each.

It is a separate process because building trees and loading kernels holds the interpreter lock for seconds,
and because its memory is freed when it ends. Any further input on stdin, or its end, stops the solve, and the
result is then the best so far: if the daemon dies, no process is left behind.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

from server.solves.input import check_memory, read_limits, read_spot, read_tree
from server.solves.result import Outcome, look_at, result_record
from solver.exact.schedules import named_schedule
from solver.exact.solver import Progress, Solver
from solver.games.paths import find_place

VARIANT = "default"

_REPORT_SECONDS = 0.1


def main() -> int:
    """Solve the request read from stdin."""
    request = json.loads(sys.stdin.readline())
    os.nice(request["nice"])
    try:
        _solve(request)
    except ValueError as error:
        # The messages name command line options; the request has fields of the same names.
        _tell({"event": "failed", "detail": str(error).replace("--", "")})
    except MemoryError:
        _tell({"event": "failed", "detail": "not enough memory for this solve"})
    return 0


def _solve(request: dict[str, Any]) -> None:
    args = SimpleNamespace(**request["spot"])
    spot = read_spot(args)  # type: ignore[arg-type]
    limits = read_limits(args)  # type: ignore[arg-type]
    tree = read_tree(spot)
    needed = check_memory(spot, tree, request["threads"])
    if needed > request["memory_bytes"]:
        most = request["memory_bytes"] >> 20
        raise ValueError(
            f"this solve needs {needed >> 20} MB of memory, the limit is {most} MB: offer fewer sizes,"
            " narrow the ranges, or start on a later street"
        )
    game = spot.game(tree)
    place = find_place(spot, game, request["node"])
    if place.any_card:
        raise ValueError("node: leaves a card open: name it, e.g. Td for *")
    solver = Solver(game, named_schedule(VARIANT, 0), request["threads"])
    _tell({"event": "started", "memory_bytes": solver.memory_bytes})
    stop = _Stop(solver)
    solver.run(0)  # loads the kernels before the clock starts
    report = _Reporter(spot.pot)
    deadline = time.monotonic() + min(limits.seconds or request["most_seconds"], request["most_seconds"])
    try:
        target = None if limits.target is None else limits.target * spot.pot
        found = solver.solve(limits.iterations or 1_000_000_000, target, deadline, report)
    finally:
        was_stopped = stop.end()
    outcome = Outcome(
        spot, solver.solution(), solver.quality(), found.seconds, solver.memory_bytes, solver.engine.threads,
        VARIANT, (),
    )  # fmt: skip
    record = result_record(outcome, look_at(outcome, place))
    _tell({"event": "result", "stopped": was_stopped, "result": record})


class _Reporter:
    """Reports progress at a limited rate."""

    def __init__(self, pot: float) -> None:
        self._pot = pot
        self._told = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._told + _REPORT_SECONDS or progress.exploitability is None:
            return
        self._told = now
        _tell(
            {
                "event": "progress",
                "iterations": progress.iterations,
                "seconds": round(progress.seconds, 3),
                "exploitability_chips": float(f"{progress.exploitability:.6g}"),
                "exploitability_pct": float(f"{100 * progress.exploitability / self._pot:.6g}"),
            }
        )


class _Stop:
    """Stops the solver on further input, or the end, of stdin."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._asked = False
        threading.Thread(target=self._watch, daemon=True).start()

    def end(self) -> bool:
        """Stop watching because the solver is done; returns whether it was stopped."""
        with self._lock:
            self._ended.set()
            self._solver.engine.stop_word[0] = 0
            return self._asked

    def _watch(self) -> None:
        sys.stdin.readline()
        while not self._ended.is_set():
            with self._lock:
                if not self._ended.is_set():
                    # Repeatedly: the solver clears a stop that arrives between two of its calls.
                    self._asked = True
                    self._solver.stop()
            self._ended.wait(0.05)


def _tell(record: dict[str, object]) -> None:
    print(json.dumps(record, separators=(",", ":")), flush=True)  # noqa: T201 - the protocol


if __name__ == "__main__":
    sys.exit(main())
