"""A match through the whole daemon with injected faults: killed workers, junk lines, lost connections.

The daemon is a separate process (`fathom serve`); the dealer, the random opponent and the fault injection run
in this process. A worker is killed every `--kill-every` seconds, one is stopped, junk lines are sent between
the dealer's lines, a second match is cut off in the middle of a hand, and for a tenth of the hands the hand
store cannot grow, as on a full disk.

illegal_actions   warnings of the dealer
late_actions      violations of the dealer's limits: `--budget` per hand on average (kept by the time bank),
                  and `--response` for one action
lost_hands        hands finished by the dealer that are missing or different in the daemon's results or in its
                  hand store
uncounted_events  junk lines, kills, stops, cuts and full disks that are missing in the metrics

All four must be 0; otherwise the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from arena.dealer.clock import TimeLimits
from bench.figures import figure_parser, print_figures
from bench.robustness._daemon import Daemon, Metrics, running_daemon
from bench.robustness._table import Table, Wire
from server.cli.parts.numbers import number_from_zero, positive_number, whole_number
from server.store.hand_reader import HandQuery, HandReader

QUICK = ("--hands", "20", "--budget", "0.2", "--kill-every", "1")

_JUNK = (
    b"nonsense\r\n",
    b"\x00\xff\xfe binary \x80\r\n",
    b"MATCHSTATE:0:0\r\n",
    b"MATCHSTATE:7:0::AsKd|\r\n",
    b"MATCHSTATE:0:1:r1:AsKd|\r\n",
    b"x" * 10_000 + b"\r\n",
)
_FULL_BYTES = 1 << 14
"""File size that simulates a full disk: less than a store after a few hands, more than shared memory."""
_BEGIN, _END = "<!-- fathom bench faults -->", "<!-- end -->"
"""Markers around the table in a document."""


@dataclass
class Injured:
    """The faults that were injected."""

    killed: set[int] = field(default_factory=set)
    stopped: set[int] = field(default_factory=set)
    cuts: int = 0
    full_from: int | None = None
    full_until: int | None = None
    """Numbers of hands after which the disk was full, and writable again."""

    @property
    def disk_was_full(self) -> bool:
        """Whether the daemon must have tried to write while the disk was full."""
        return self.full_from is not None and (self.full_until or 0) > self.full_from + 1


def main(argv: list[str]) -> int:
    """Measure and print; exit status 1 if a figure that must be 0 is not."""
    parser = figure_parser("faults", __doc__)
    add = parser.add_argument
    add("--hands", type=whole_number(), default=500, help="hands of the match (default: %(default)s)")
    add("--budget", type=positive_number, default=0.5, help="seconds per hand (default: %(default)s)")
    add(
        "--response",
        type=positive_number,
        default=5.0,
        help="seconds for one action at most (default: %(default)s)",
    )
    add(
        "--slack",
        type=number_from_zero,
        default=0.0,
        help="additional seconds per hand that the dealer allows (default: 0)",
    )
    add("--workers", type=whole_number(), default=4, help="workers of the daemon (default: %(default)s)")
    add(
        "--kill-every",
        type=positive_number,
        default=2.0,
        metavar="SECONDS",
        help="seconds between kills of a worker (default: %(default)s)",
    )
    add("--blueprint", default="", metavar="FILE", help="blueprint file (default: as `fathom serve`)")
    add("--seed", type=whole_number(0), default=1, help="seed of cards, opponent and faults (default: 1)")
    add("--table", type=Path, metavar="FILE", help="also update the table of figures in this document")
    args = parser.parse_args(argv)
    if args.table is not None:
        _split(args.table)  # fail now instead of after the measurement
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(args, Path(folder))
    if args.table is not None:
        put_table(args.table, figures)
    print_figures({"bench": "faults", **figures}, args.json)
    return int(any(figures[name] for name in MUST_BE_ZERO))


MUST_BE_ZERO = ("illegal_actions", "late_actions", "lost_hands", "uncounted_events")


def measure(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Play with injected faults, and compare the daemon's counts with what happened."""
    words = ["--workers", str(args.workers), "--budget", str(args.budget), "--set", "log.format=json"]
    words += ["--set", "workers.hang_seconds=1.0", "--set", f"store.path={folder / 'hands.sqlite'}"]
    words += ["--blueprint", args.blueprint] if args.blueprint else []
    limits = TimeLimits(int(1000 * args.response), 600_000, int(1000 * (args.budget + args.slack)))
    with running_daemon(*words) as daemon:
        daemon.wait_until(lambda: len(daemon.worker_pids("idle")) == args.workers)
        table = Table(folder, "main", args.hands, args.seed, limits)
        other = Table(
            folder, "cut", max(args.hands, 1000), args.seed + 1, limits
        )  # it is cut off before its end
        wire = table.start()
        started = time.monotonic()
        names = [_start(daemon, wire, "main")]
        injured = _hurt(args, daemon, table, wire, other, names)
        seconds = time.monotonic() - started
        daemon.wait_until(lambda: all(_match(daemon, name)["state"] in _ENDED for name in names), 60)
        statuses = [_match(daemon, name) for name in names]
        hurt = len(injured.killed | injured.stopped)
        with suppress(RuntimeError):  # uncounted events show in the figures
            daemon.wait_until(lambda: daemon.metrics().total("worker_restarts_total") >= hurt, 20)
        with suppress(RuntimeError):
            daemon.wait_until(lambda: not daemon.metrics().total("store_waiting"), 20)
        metrics = daemon.metrics()
        status, drain = daemon.end()
    stored = _stored_hands(folder / "hands.sqlite")
    return _figures(args, table, (wire, other), statuses, metrics, injured, stored) | {
        "seconds": round(seconds, 1),
        "exit_status": status,
        "drain_seconds": round(drain, 2),
    }


_ENDED = ("finished", "dealer_gone", "stopped", "failed")


def _hurt(
    args: argparse.Namespace, daemon: Daemon, table: Table, wire: Wire, other: Table, names: list[str]
) -> Injured:
    """Inject all faults until the match is over."""
    rng, injured = Random(args.seed), Injured()
    next_kill = time.monotonic() + args.kill_every
    junk_due = [args.hands * share // 10 for share in range(9, -1, -1)]
    second: Wire | None = None
    while not table.wait(0.05):
        if time.monotonic() >= next_kill:
            next_kill += args.kill_every
            pids = set(daemon.worker_pids("idle", "busy")) - injured.stopped
            injured.killed |= _signal_one(rng, pids, signal.SIGKILL)
        done = wire.hands_shown
        while junk_due and done >= junk_due[-1]:
            junk_due.pop()
            wire.add_junk(rng.choice(_JUNK))
        if not injured.stopped and done >= args.hands // 4:
            injured.stopped = _signal_one(rng, set(daemon.worker_pids("busy")), signal.SIGSTOP)
        _fill_disk(args, daemon, injured, done)
        if second is None and done >= args.hands // 2:
            second = other.start()
            names.append(_start(daemon, second, "cut"))
        if second is not None and not injured.cuts and second.hands_shown >= args.hands // 10:
            second.cut()
            injured.cuts = 1
    _fill_disk(args, daemon, injured, args.hands)
    if second is None:  # the match ended too early
        second = other.start()
        names.append(_start(daemon, second, "cut"))
    if not injured.cuts:
        daemon.wait_until(lambda: _match(daemon, names[-1])["state"] == "playing", 60)
        second.cut()
        injured.cuts = 1
    other.wait(None)
    return injured


def _fill_disk(args: argparse.Namespace, daemon: Daemon, injured: Injured, done: int) -> None:
    """Prevent the daemon from growing any file for a while; its log goes into a pipe."""
    pid, (_, hard) = daemon.process.pid, resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
    if injured.full_from is None and args.hands > done >= args.hands * 6 // 10:
        injured.full_from = done
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (_FULL_BYTES, hard))
    elif injured.full_from is not None and injured.full_until is None and done >= args.hands * 7 // 10:
        injured.full_until = done
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


def _signal_one(rng: Random, pids: set[int], number: signal.Signals) -> set[int]:
    """Send a signal to one of the processes, if any; returns the set of those that got it."""
    if not pids:
        return set()
    pid = rng.choice(sorted(pids))
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return {pid}
    return set()


def _start(daemon: Daemon, wire: Wire, name: str) -> str:
    return str(daemon.post("/v1/matches", {"host": "127.0.0.1", "port": wire.port, "name": name})["match"])


def _match(daemon: Daemon, name: str) -> dict[str, Any]:
    found: dict[str, Any] = daemon.get(f"/v1/matches/{name}")
    return found


def _figures(
    args: argparse.Namespace,
    table: Table,
    second: tuple[Wire, Table],
    statuses: list[dict[str, Any]],
    metrics: Metrics,
    injured: Injured,
    stored: dict[str, list[int]],
) -> dict[str, Any]:
    wire, _ = second
    main_match, *others = statuses
    complaints = table.complaints
    for line in complaints:
        print(line, file=sys.stderr)
    replies = sorted(wire.reply_seconds)
    restarts = metrics.by("worker_restarts_total", "reason")
    lost = abs(args.hands - main_match["hands"]) + int(main_match["chips"] != table.chips())
    for status in statuses:
        kept = stored.get(status["opponent"], [])
        lost += abs(status["hands"] - len(kept)) + int(sum(kept) != status["chips"])
    uncounted = [
        wire.junk_sent - main_match["malformed_lines"],
        wire.junk_sent - int(metrics.total("malformed_lines_total")),
        max(len(injured.killed | injured.stopped) - sum(restarts.values()), 0),
        max(len(injured.stopped) - int(bool(restarts.get("hung"))), 0),
        injured.cuts - int(metrics.total("match_ends_total", state="dealer_gone")),
        int(injured.disk_was_full and not metrics.total("store_failures_total")),
        int(metrics.total("store_dropped_total")),
        int(metrics.total("hands_total")) - sum(status["hands"] for status in statuses),
    ]
    return {
        "illegal_actions": sum("WARNING" in line for line in complaints),
        "late_actions": sum("time" in line for line in complaints) + int(table.status != 0),
        "lost_hands": lost,
        "uncounted_events": sum(map(abs, uncounted)),
        "hands": main_match["hands"],
        "kills": len(injured.killed),
        "stops": len(injured.stopped),
        "cuts": injured.cuts,
        "junk_lines": wire.junk_sent,
        "cut_match": f"{others[0]['state']} after {others[0]['hands']} hands" if others else "none",
        "store_failures": int(metrics.total("store_failures_total")),
        "hands_in_store": sum(map(len, stored.values())),
        "worker_restarts": restarts,
        "redispatches": int(metrics.total("redispatches_total")),
        "decisions": metrics.by("decisions_total", "rung"),
        "fallbacks": metrics.by("fallbacks_total", "rung", "reason"),
        "reply_ms_p50": round(1000 * replies[len(replies) // 2]) if replies else 0,
        "reply_ms_p99": round(1000 * replies[int(0.99 * (len(replies) - 1))]) if replies else 0,
        "reply_ms_max": round(1000 * replies[-1]) if replies else 0,
        "loop_lag_over_50_ms": _share_of_long_lags(metrics),
        "seconds_per_hand": round(sum(replies) / max(args.hands, 1), 3),
        "budget": args.budget,
        "workers": args.workers,
    }


def _stored_hands(path: Path) -> dict[str, list[int]]:
    """Chips of every finished hand in the store, by opponent."""
    reader, found = HandReader(path), dict[str, list[int]]()
    try:
        for _, hand in reader.hands(HandQuery(finished=True, limit=1_000_000)):
            found.setdefault(hand.opponent, []).append(hand.chips or 0)
    finally:
        reader.close()
    return found


def _share_of_long_lags(metrics: Metrics) -> float:
    """The share of samples in which the daemon's event loop was late by more than 50 ms."""
    short = metrics.total("event_loop_lag_seconds_bucket", le="0.05")
    return round(1 - short / max(metrics.total("event_loop_lag_seconds_count"), 1), 4)


def put_table(path: Path, figures: dict[str, Any]) -> None:
    """Replace the table between the markers in a document."""
    before, after = _split(path)
    rows = [f"| `{name}` | {_cell(value)} |" for name, value in figures.items()]
    table = "\n".join(["\n", "| figure | value |", "| --- | --- |", *rows, "\n"])
    path.write_text(before + table + after, encoding="utf-8")


def _split(path: Path) -> tuple[str, str]:
    """The text of a document before and after the table, including the marker lines."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{path} has no place for the table: add the lines {_BEGIN} and {_END}")
    return before + begin, end + after


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {count}" for name, count in value.items()) or "none"
    return str(value)
