"""Hands per second of an ACPC match over loopback: `fathom dealer` with two `fathom acpc --policy random`.

With `--reference DEALER` the same match (same cards, players and actions) also runs on that dealer, in turn
with ours. Both dealers run in two modes: by default they report every line on stderr, here a file (`ratio`:
our speed over the reference's); with `-q` they do not (`ratio_quiet`). Both modes write the log file. A ratio
is the median over rounds, since matches of the same round run under similar machine load; `spread` holds the
quartiles. Time is measured from the moment both players are connected to the score, without process start.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import BinaryIO

from bench.figures import figure_parser
from game.definition import HUNL, definition_text
from server.cli.parts.numbers import whole_number

_SEED = 20
_CLIENT_SEEDS = ("1", "2")
_FATHOM = [sys.executable, "-m", "server.cli"]
_LIMIT_SECONDS = 300
_MODES: dict[str, list[str]] = {"": [], "_quiet": ["-q"]}
"""Dealer flags by the suffix of the figures' names."""


def main(argv: list[str]) -> int:
    """Measure and print one line, in JSON with --json."""
    parser = figure_parser("acpc", __doc__)
    parser.add_argument(
        "--hands", type=whole_number(), default=500, help="hands per match (default: %(default)s)"
    )
    parser.add_argument(
        "--rounds", type=whole_number(), default=15, help="matches per dealer and mode (default: %(default)s)"
    )
    parser.add_argument(
        "--reference",
        default=os.environ.get("FATHOM_REFERENCE_DEALER"),
        metavar="DEALER",
        help="binary of the reference dealer (default: $FATHOM_REFERENCE_DEALER; without it, only ours runs)",
    )
    args = parser.parse_args(argv)
    dealers = {"": [*_FATHOM, "dealer"]}
    if args.reference is not None:
        dealers["reference_"] = [os.path.abspath(args.reference)]
    matches = [(dealer, mode) for mode in _MODES for dealer in dealers]
    speeds: dict[tuple[str, str], list[float]] = {match: [] for match in matches}
    for number in range(args.rounds):
        # Every round plays every match, starting with a different one.
        first = number % len(matches)
        for dealer, mode in matches[first:] + matches[:first]:
            flags = _MODES[mode]
            speeds[dealer, mode].append(_hands_per_second(dealers[dealer], flags, args.hands))
    figures: dict[str, object] = {"bench": "acpc"}
    for mode in _MODES:
        for dealer in dealers:
            figures[f"{dealer}hands_per_s{mode}"] = round(statistics.median(speeds[dealer, mode]), 1)
        if args.reference is not None:
            figures |= _ratio(mode, speeds["", mode], speeds["reference_", mode])
    figures |= {"hands": args.hands, "rounds": args.rounds}
    if args.json:
        print(json.dumps(figures))
    else:
        print("  ".join(f"{name} {value}" for name, value in figures.items()))
    return 0


def _ratio(mode: str, ours: list[float], theirs: list[float]) -> dict[str, object]:
    ratios = [our_speed / their_speed for our_speed, their_speed in zip(ours, theirs, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    return {
        f"ratio{mode}": round(statistics.median(ratios), 3),
        f"ratio{mode}_spread": [round(low, 3), round(high, 3)],
    }


def _hands_per_second(dealer: list[str], flags: list[str], hands: int) -> float:
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as running:
        Path(directory, "hunl.game").write_text(definition_text(HUNL), encoding="ascii")
        terms = ["match", "hunl.game", str(hands), str(_SEED), "A", "B", *flags, "--start_timeout", "60000"]
        report = running.enter_context(Path(directory, "report").open("wb"))
        table = _launch([*dealer, *terms], directory, running, report)
        assert table.stdout is not None
        ports = table.stdout.readline().split()
        clients = [
            _launch(
                [*_FATHOM, "acpc", "127.0.0.1", port, "--policy", "random", "--seed", seed],
                directory,
                running,
                subprocess.PIPE,
            )
            for port, seed in zip(ports, _CLIENT_SEEDS, strict=True)
        ]
        for client in clients:
            assert client.stderr is not None
            client.stderr.readline()  # the message that it is connected and starts to play
        started = time.perf_counter()
        score = table.stdout.readline()
        elapsed = time.perf_counter() - started
        for process in (table, *clients):
            process.communicate(timeout=_LIMIT_SECONDS)
        if not score.startswith("SCORE:"):
            raise RuntimeError(f"{dealer} did not finish the match")
    return hands / elapsed


def _launch(
    command: list[str], directory: str, running: contextlib.ExitStack, stderr: int | BinaryIO
) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        command,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    running.enter_context(process)
    running.callback(process.kill)  # no effect on a process that has ended
    return process
