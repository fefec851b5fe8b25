"""Matches of the agent through the whole daemon, on our dealer or another one: time limits and legality.

warnings          warnings of the dealers: bad lines, illegal actions
timeouts          matches that a dealer ended because the daemon was late
lost_hands        hands finished by the dealers that are missing or different in the daemon's results
seconds_per_hand  of the slowest match, from the dealer's line to our reply; `budget` is the limit

The dealers allow `--budget` seconds per hand over the match, plus `--slack`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from arena.dealer.clock import TimeLimits
from bench.figures import figure_parser, print_figures
from bench.robustness._daemon import running_daemon
from bench.robustness._table import Table, Wire
from server.cli.parts.numbers import number_from_zero, positive_number, whole_number

QUICK = ("--hands", "20", "--matches", "2", "--budget", "0.2")

_ENDED = ("finished", "dealer_gone", "stopped", "failed")


def main(argv: list[str]) -> int:
    """Measure and print; exit status 1 if there were warnings, timeouts or lost hands."""
    parser = figure_parser("matches", __doc__)
    add = parser.add_argument
    add("--hands", type=whole_number(), default=1000, help="hands of each match (default: %(default)s)")
    add("--matches", type=whole_number(), default=1, help="concurrent matches (default: %(default)s)")
    add("--budget", type=positive_number, default=0.5, help="seconds per hand (default: %(default)s)")
    add(
        "--slack",
        type=number_from_zero,
        default=0.0,
        help="additional seconds per hand that the dealer allows (default: 0)",
    )
    add("--workers", type=whole_number(), default=4, help="workers of the daemon (default: %(default)s)")
    add("--blueprint", default="", metavar="FILE", help="blueprint file (default: as `fathom serve`)")
    add("--policy", default="random", help="policy of the opponent (default: %(default)s)")
    add("--seed", type=whole_number(0), default=1, help="seed of the cards (default: 1)")
    add(
        "--reference",
        default=os.environ.get("FATHOM_REFERENCE_DEALER", ""),
        metavar="DEALER",
        help="binary of another dealer (default: $FATHOM_REFERENCE_DEALER, or ours)",
    )
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(args, Path(folder))
    print_figures({"bench": "matches", **figures}, args.json)
    return int(bool(figures["warnings"] or figures["timeouts"] or figures["lost_hands"]))


def measure(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Play all matches concurrently and compare the results of dealers and daemon."""
    words = ["--workers", str(args.workers), "--budget", str(args.budget)]
    words += ["--set", f"store.path={folder / 'hands.sqlite'}"]
    words += ["--blueprint", args.blueprint] if args.blueprint else []
    limits = TimeLimits(600_000, 600_000, int(1000 * (args.budget + args.slack)))
    program = str(Path(args.reference).resolve()) if args.reference else ""
    tables = [
        Table(folder, f"match{number}", args.hands, args.seed + number, limits, args.policy, program)
        for number in range(args.matches)
    ]
    with running_daemon(*words) as daemon:
        started = time.monotonic()
        wires = [table.start() for table in tables]
        names = [
            daemon.post("/v1/matches", {"host": "127.0.0.1", "port": wire.port, "name": table.name})["match"]
            for table, wire in zip(tables, wires, strict=True)
        ]
        for table in tables:
            table.wait(None)
        seconds = time.monotonic() - started
        books = [f"/v1/matches/{name}" for name in names]
        daemon.wait_until(lambda: all(daemon.get(path)["state"] in _ENDED for path in books), 60)
        statuses = [daemon.get(path) for path in books]
        metrics = daemon.metrics()
    return _figures(args, tables, wires, statuses) | {
        "decisions": metrics.by("decisions_total", "rung"),
        "seconds": round(seconds, 1),
        "dealer": "reference" if program else "fathom",
    }


def _figures(
    args: argparse.Namespace, tables: list[Table], wires: list[Wire], statuses: list[dict[str, Any]]
) -> dict[str, Any]:
    complaints = [line for table in tables for line in table.complaints]
    for line in complaints:
        print(line, file=sys.stderr)
    lost = 0
    for table, status in zip(tables, statuses, strict=True):
        lost += args.hands - status["hands"] + int(table.chips() != status["chips"])
    replies = sorted(second for wire in wires for second in wire.reply_seconds)
    return {
        "warnings": sum("WARNING" in line for line in complaints),
        "timeouts": sum(table.status != 0 for table in tables),
        "lost_hands": lost,
        "hands": sum(status["hands"] for status in statuses),
        "matches": args.matches,
        "budget": args.budget,
        "seconds_per_hand": round(max(sum(wire.reply_seconds) / args.hands for wire in wires), 3),
        "reply_ms_p50": round(1000 * replies[len(replies) // 2]),
        "reply_ms_p99": round(1000 * replies[int(0.99 * (len(replies) - 1))]),
        "reply_ms_max": round(1000 * replies[-1]),
        "mbb_per_hand": round(sum(status["mbb_per_hand"] for status in statuses) / len(statuses)),
        "workers": args.workers,
    }
