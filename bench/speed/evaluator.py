"""Speed of the compiled hand evaluator on one core.

random_per_s         seven-card hands of uint8[N, 7] in random order, one strength each
random_cold_per_s    the same, with the tables evicted from the caches before each batch of 10,000
river_board_us       strengths of the 1081 live hands of a board, mean over random boards
river_board_1326_us  the same written to all 1326 hands, blocked ones 0
enumerate_per_s      all 133,784,560 seven-card hands, counted by strength
table_seconds        building the tables, once per process
"""

from __future__ import annotations

import importlib
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from bench.figures import figure_parser, print_figures
from game import evaluator_tables
from game.evaluator import NUM_LIVE_HANDS, fill_river, fill_river_live, fill_strengths_7, strength_counts
from game.hands import NUM_HANDS
from numeric.arrays import U8, U16
from numeric.jit import kernel
from server.cli.parts.numbers import whole_number

COLD_BATCH = 10_000
FLUSH_BYTES = 64 << 20  # more than the last-level cache of common machines


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("evaluator", __doc__)
    parser.add_argument(
        "--hands", type=whole_number(), default=10_000_000, help="random hands (default: %(default)s)"
    )
    parser.add_argument(
        "--boards", type=whole_number(), default=20_000, help="random boards (default: %(default)s)"
    )
    parser.add_argument(
        "--repeats",
        type=whole_number(),
        default=5,
        help="runs, of which the best counts (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, help="seed of the random cards (default: %(default)s)"
    )
    args = parser.parse_args(argv)
    figures = _measure(args.hands, args.boards, args.repeats, args.seed)
    print_figures(figures, args.json)
    return 0


def _measure(num_hands: int, num_boards: int, repeats: int, seed: int) -> dict[str, float | int | str]:
    rng = np.random.default_rng(seed)
    hands, boards = _random_cards(rng, num_hands, 7), _random_cards(rng, num_boards, 5)
    strengths = np.empty(num_hands, dtype=np.uint16)
    live, every = np.empty(NUM_LIVE_HANDS, dtype=np.uint16), np.empty(NUM_HANDS, dtype=np.uint16)
    random_s = _best(lambda: fill_strengths_7(hands, strengths), repeats)
    live_s = _best(lambda: _river_boards(boards, True, live), repeats)
    every_s = _best(lambda: _river_boards(boards, False, every), repeats)
    enumerate_s = _best(strength_counts, min(repeats, 3))
    return {
        "bench": "evaluator",
        "random_per_s": round(num_hands / random_s),
        "random_cold_per_s": round(_cold_rate(hands, strengths, repeats)),
        "river_board_us": round(live_s / num_boards * 1e6, 3),
        "river_board_1326_us": round(every_s / num_boards * 1e6, 3),
        "enumerate_per_s": round(133_784_560 / enumerate_s),
        "table_seconds": round(_best(lambda: importlib.reload(evaluator_tables), 1), 3),
        "hands": num_hands,
        "boards": num_boards,
        "cpu": _cpu_name(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": np.__version__,
    }


def _random_cards(rng: np.random.Generator, count: int, num_cards: int) -> U8:
    """Independent deals by Floyd's algorithm for sampling without replacement, one column at a time."""
    cards = np.empty((count, num_cards), dtype=np.uint8)
    for i in range(num_cards):
        largest = 52 - num_cards + i
        drawn = rng.integers(0, largest + 1, size=count, dtype=np.uint8)
        repeated = (cards[:, :i] == drawn[:, None]).any(axis=1)
        cards[:, i] = np.where(repeated, largest, drawn)
    return np.ascontiguousarray(rng.permuted(cards, axis=1))


def _best(run: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest run, after one run for compilation."""
    run()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _cold_rate(hands: U8, strengths: U16, repeats: int) -> float:
    """Hands per second with cold caches before every batch; the median batch."""
    other_data = np.zeros(FLUSH_BYTES, dtype=np.uint8)
    seconds = []
    for batch in range(4 * repeats):
        start_row = batch * COLD_BATCH % max(len(hands) - COLD_BATCH, 1)
        rows = slice(start_row, start_row + COLD_BATCH)
        other_data += 1
        start = time.perf_counter()
        fill_strengths_7(hands[rows], strengths[rows])
        seconds.append(time.perf_counter() - start)
    return len(hands[:COLD_BATCH]) / float(np.median(seconds))


@kernel
def _river_boards(boards: U8, live_only: bool, out: U16) -> int:
    """Fill `out` for one board after the other; returns a sum so that the work is not optimised away."""
    total = 0
    for n in range(boards.shape[0]):
        if live_only:
            fill_river_live(boards[n], out)
        else:
            fill_river(boards[n], out)
        total += out[n % out.shape[0]]
    return total


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
