"""Hands per second of an ACPC match over loopback: `fathom dealer` with two `fathom acpc --policy random`.

With `--reference DEALER` the same match (same cards, same players, same actions) also runs on that dealer, in
turn with ours. Both dealers run in two ways: as they do when no flag is given, reporting every line on
stderr, here a file (`ratio`: ours to the reference's); and with `-q`, where only the match itself is left
(`ratio_quiet`). Both ways write the log file. A ratio is the median over the rounds, because the matches of a
round share the machine's mood; its `spread` holds the quartiles. Time counts from both players being
connected to the score: starting processes is not in it.
"""

from __future__ import annotations

import argparse
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

from game.definition import HUNL, definition_text
from server.cli.numbers import whole_number

_SEED = 20
_CLIENT_SEEDS = ("1", "2")
_FATHOM = [sys.executable, "-m", "server.cli"]
_LIMIT_SECONDS = 300
_MODES: dict[str, list[str]] = {"": [], "_quiet": ["-q"]}
"""Flags by what the names of the figures end with."""


def main(argv: list[str]) -> int:
    """Measure; one line, JSON on request."""
    parser = argparse.ArgumentParser(prog="fathom bench acpc", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    parser.add_argument(
        "--hands", type=whole_number(), default=500, help="hands per match (default: %(default)s)"
    )
    parser.add_argument(
        "--rounds", type=whole_number(), default=15, help="matches per dealer and way (default: %(default)s)"
    )
    parser.add_argument(
        "--reference",
        default=os.environ.get("FATHOM_REFERENCE_DEALER"),
        metavar="DEALER",
        help="binary of the reference dealer (default: $FATHOM_REFERENCE_DEALER, or leave it out)",
    )
    args = parser.parse_args(argv)
    dealers = {"": [*_FATHOM, "dealer"]}
    if args.reference is not None:
        dealers["reference_"] = [os.path.abspath(args.reference)]
    matches = [(dealer, mode) for mode in _MODES for dealer in dealers]
    speeds: dict[tuple[str, str], list[float]] = {match: [] for match in matches}
    for number in range(args.rounds):
        # Every round plays every match, each time beginning with another one.
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
            client.stderr.readline()  # says that it is connected and begins to play
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
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    running.enter_context(process)
    running.callback(process.kill)  # does nothing to one that has ended
    return process
