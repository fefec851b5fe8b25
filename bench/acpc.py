"""Hands per second of an ACPC match over loopback: `fathom dealer` with two `fathom acpc --policy random`.

With `--reference DEALER` the same match (same cards, same players, same actions) also runs on that dealer, in
turn with ours. Time counts from both players being connected to the score: starting processes is not in it.
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

from game.definition import HUNL, definition_text

_SEED = 20
_CLIENT_SEEDS = ("1", "2")
_FATHOM = [sys.executable, "-m", "server.cli"]
_LIMIT_SECONDS = 300


def main(argv: list[str]) -> int:
    """Measure; one line, JSON on request."""
    parser = argparse.ArgumentParser(prog="fathom bench acpc", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    parser.add_argument("--hands", type=int, default=1000, help="hands per match (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="matches per dealer (default: %(default)s)")
    parser.add_argument(
        "--reference",
        default=os.environ.get("FATHOM_REFERENCE_DEALER"),
        metavar="DEALER",
        help="binary of the reference dealer (default: $FATHOM_REFERENCE_DEALER, or leave it out)",
    )
    args = parser.parse_args(argv)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(args.rounds):
        # Turn about, so that neither dealer always follows the other.
        if args.reference is not None and number % 2:
            theirs.append(_hands_per_second([os.path.abspath(args.reference)], args.hands))
        ours.append(_hands_per_second([*_FATHOM, "dealer"], args.hands))
        if args.reference is not None and not number % 2:
            theirs.append(_hands_per_second([os.path.abspath(args.reference)], args.hands))
    # Neighbouring matches share the machine's mood: their ratio is steadier than that of two medians.
    ratios = [our_speed / their_speed for our_speed, their_speed in zip(ours, theirs, strict=False)]
    figures: dict[str, object] = {
        "bench": "acpc",
        "hands_per_s": round(statistics.median(ours), 1),
        "hands_per_s_best": round(max(ours), 1),
        "reference_hands_per_s": round(statistics.median(theirs), 1) if theirs else None,
        "reference_hands_per_s_best": round(max(theirs), 1) if theirs else None,
        "ratio": round(statistics.median(ratios), 3) if ratios else None,
        "ratio_best": round(max(ours) / max(theirs), 3) if theirs else None,
        "hands": args.hands,
        "rounds": args.rounds,
    }
    if args.json:
        print(json.dumps(figures))
    else:
        print("  ".join(f"{name} {value}" for name, value in figures.items()))
    return 0


def _hands_per_second(dealer: list[str], hands: int) -> float:
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as running:
        Path(directory, "hunl.game").write_text(definition_text(HUNL), encoding="ascii")
        terms = ["match", "hunl.game", str(hands), str(_SEED), "A", "B", "-q", "--start_timeout", "60000"]
        table = _launch([*dealer, *terms], directory, running)
        assert table.stdout is not None
        ports = table.stdout.readline().split()
        clients = [
            _launch(
                [*_FATHOM, "acpc", "127.0.0.1", port, "--policy", "random", "--seed", seed],
                directory,
                running,
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


def _launch(command: list[str], directory: str, running: contextlib.ExitStack) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        command,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    running.enter_context(process)
    running.callback(process.kill)  # does nothing to one that has ended
    return process
