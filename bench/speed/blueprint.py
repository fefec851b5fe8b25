"""Time and memory to open a blueprint, alone and shared by several processes.

open_ms             opening it in a new process, median; a compressed file has been unpacked before
cards_ms            building the search structures for hands on boards, which are made on first use
unpack_s            unpacking a compressed file, done once per machine
pss_mb_total        memory of all processes' maps of the file after each has read all of it
pss_mb_per_process  the same per process: proportional set size, shared pages are divided (Linux only)
file_mb, packed_mb  size of the mapped file, and of the given file if it was compressed

Without FILE, a file of the preset's size with random contents is used.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from abstraction.opponents import OPPONENT_CLASSES
from bench.figures import figure_parser, print_figures
from server.cli.parts.numbers import whole_number
from solver.blueprint.file import open_blueprint, quantise, unpack, write_blueprint
from solver.blueprint.provenance import Provenance
from solver.training.presets import named_preset

QUICK = ("--preset", "tiny")

_CHILD = """
import sys
from bench.speed.blueprint import read_in_step
read_in_step(sys.argv[1])
"""


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("blueprint", __doc__)
    parser.add_argument("file", type=Path, nargs="?", help="a .blueprint file, compressed or not")
    parser.add_argument("--preset", default="default", help="preset whose size to use (default: %(default)s)")
    parser.add_argument(
        "--processes",
        type=whole_number(),
        default=4,
        help="processes that share the file (default: %(default)s)",
    )
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        path = args.file or _made_up(args.preset, Path(folder) / "made-up.blueprint")
        figures = _measure(path, args.processes, Path(folder))
    print_figures(figures, args.json)
    return 0


def _measure(path: Path, processes: int, folder: Path) -> dict[str, object]:
    start = time.perf_counter()
    unpack(path, cache=folder)
    unpack_s = time.perf_counter() - start
    mapped = unpack(path)
    children = [_start(path) for _ in range(processes)]
    opened = [_ask(child, "open") for child in children]
    weights = [_ask(child, "weigh") for child in children]
    for child in children:
        child.communicate()
    total = sum(weight["pss_mb"] for weight in weights)
    return {
        "bench": "blueprint",
        "open_ms": round(median(answer["open_ms"] for answer in opened), 2),
        "cards_ms": round(median(answer["cards_ms"] for answer in opened), 2),
        "unpack_s": round(unpack_s, 2) if mapped != path else None,
        "processes": processes,
        "pss_mb_total": round(total, 2),
        "pss_mb_per_process": round(total / processes, 2),
        "file_mb": round(mapped.stat().st_size / 1e6, 2),
        "packed_mb": round(path.stat().st_size / 1e6, 2) if mapped != path else None,
        "file": str(path),
    }


def _start(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def _ask(child: subprocess.Popen[str], what: str) -> dict[str, float]:
    assert child.stdin is not None
    assert child.stdout is not None
    print(what, file=child.stdin, flush=True)
    answer: dict[str, float] = json.loads(child.stdout.readline())
    return answer


def read_in_step(text: str) -> None:
    """Run one process: open the file on request, then report its memory after all have read the file."""
    path = Path(text)
    input()
    start = time.perf_counter()
    blueprint = open_blueprint(path)
    opened = time.perf_counter()
    assert blueprint.cards.num_buckets == blueprint.num_buckets
    made = time.perf_counter()
    int(blueprint.bytes.sum(dtype=np.int64))
    print(json.dumps({"open_ms": 1e3 * (opened - start), "cards_ms": 1e3 * (made - opened)}), flush=True)
    input()
    print(json.dumps({"pss_mb": _pss_mb(blueprint.path)}), flush=True)
    input_is_closed = sys.stdin.read()  # stay alive, so that pages remain shared
    assert not input_is_closed


def _pss_mb(path: Path) -> float:
    """The proportional set size of this process's maps of a file."""
    maps = Path("/proc/self/smaps")
    if not maps.exists():
        return float("nan")
    found, inside = 0, False
    for line in maps.read_text(encoding="utf-8").splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            inside = line.endswith(str(path.resolve()))
        elif inside and line.startswith("Pss:"):
            found += int(line.split()[1])
    return found * 1024 / 1e6


def _made_up(preset_name: str, path: Path) -> Path:
    """A blueprint of the preset's size: random strategies, evenly spread centroids."""
    preset = named_preset(preset_name)
    game, rng = preset.game(), np.random.default_rng(1)
    counts = np.repeat(game.betting.num_actions, game.node_buckets)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    chances = rng.random(game.table_size, dtype=np.float32)
    chances /= np.repeat(np.add.reduceat(chances, starts), counts)
    levels = [np.linspace(0, 1, count)[:, None] for count in game.num_buckets[1:]]
    cards = {
        "opponent_classes": OPPONENT_CLASSES,
        "flop": np.repeat(levels[0] * 255, 32, axis=1).astype(np.uint8),
        "turn": np.repeat(levels[1] * 255, 32, axis=1).astype(np.uint8),
        "river": np.repeat(levels[2] * 1000, 8, axis=1).astype(np.int16),
    }
    provenance = Provenance(preset.name, 0, 0, {}, 0, "made up", None, None)
    write_blueprint(path, preset.definition, preset.menus, game, quantise(game, chances), cards, provenance)
    return path
