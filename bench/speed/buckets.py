"""Quality and speed of card buckets, and their independence of suit names.

quality    for each preset and round, over hands on random boards not used for clustering: the variance of
           equity against a random hand within a bucket (equity in 0..1, squared), its square root, and its
           share of the total variance
speed      milliseconds to compute the buckets of all hands on one board on one core, including the cache and
           the search for the canonical board: best, median and 90th percentile over random boards
relabelled number of boards on which buckets computed directly were compared with those of the canonical
           board; `mismatches` counts hands whose buckets differ and must be 0. `--flops all` tests all 22,100
"""

from __future__ import annotations

import json
import platform
import time
from itertools import combinations, islice
from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from abstraction.buckets import BLOCKED, CardAbstraction, fill_river_buckets, fill_tail_buckets
from abstraction.equity import (
    HISTOGRAM_COLUMNS,
    MAX_SCORE,
    NUM_BINS,
    fill_histograms,
    new_sorted_river,
    score_river,
    sort_river,
)
from abstraction.features import BOARDS_PER_CHUNK, ROUND_NAMES
from abstraction.isomorphism import canonical_board
from abstraction.presets import CARD_PRESETS, make_card_abstraction
from abstraction.threads import run_chunks
from bench.figures import figure_parser
from game.cards import Cards
from game.evaluator import NUM_LIVE_HANDS
from game.hands import NUM_HANDS
from numeric.arrays import F64, U8, U16
from numeric.jit import kernel
from server.cli.parts.numbers import positive_number, whole_number

QUICK = ("--presets", "32", "--sample", "0.2")

QUALITY_BOARDS = {3: 300, 4: 2_000, 5: 5_000}
SPEED_BOARDS = {3: 15, 4: 200, 5: 1_000}
RELABELLED_BOARDS = {4: 300, 5: 2_000}
NUM_FLOPS = 22_100


def main(argv: list[str]) -> int:
    """Measure and print; exit status 1 if a relabelling changed a bucket."""
    parser = figure_parser("buckets", __doc__)
    parser.add_argument(
        "--presets",
        default="256,1000,2000",
        help=f"card presets, of {', '.join(CARD_PRESETS)} (default: %(default)s)",
    )
    parser.add_argument(
        "--flops",
        default="0:100",
        help="which of the 22,100 flops to relabel: START:END or all (default: %(default)s)",
    )
    parser.add_argument(
        "--sample",
        type=positive_number,
        default=1.0,
        help="factor for the number of boards (default: 1)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, help="seed of clustering and boards (default: %(default)s)"
    )
    args = parser.parse_args(argv)
    start, end = (0, NUM_FLOPS) if args.flops == "all" else map(int, args.flops.split(":"))
    with Progress(console=Console(stderr=True), transient=True) as progress:
        figures = _measure(args.presets.split(","), start, end, args.sample, args.seed, progress)
    if args.json:
        print(json.dumps(figures))
    else:
        _print_tables(figures)
    return 1 if figures["relabelled"]["mismatches"] else 0


def _measure(
    presets: list[str], start: int, end: int, sample: float, seed: int, progress: Progress
) -> dict[str, Any]:
    rng = np.random.default_rng([seed, 1])
    quality, speed, made = {}, {}, {}
    for preset in presets:
        began = time.perf_counter()
        made[preset] = make_card_abstraction(preset, seed, progress)
        seconds = time.perf_counter() - began
        quality[preset] = {"clustering_seconds": round(seconds, 1), "digest": made[preset].digest}
    for num_cards, name in ROUND_NAMES.items():
        boards = _random_boards(rng, QUALITY_BOARDS[num_cards] * sample, num_cards)
        equities = _equities(boards, progress)
        for preset, abstraction in made.items():
            quality[preset][name] = _quality(abstraction, boards, equities)
    for preset, abstraction in made.items():
        speed[preset] = {
            name: _speed(abstraction, _random_boards(rng, SPEED_BOARDS[num_cards] * sample, num_cards))
            for num_cards, name in ROUND_NAMES.items()
        }
    return {
        "bench": "buckets",
        "quality": quality,
        "speed_ms": speed,
        "relabelled": _relabel(next(iter(made.values())), start, end, sample, rng, progress),
        "seed": seed,
        "cpu": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": np.__version__,
    }


def _random_boards(rng: np.random.Generator, count: float, num_cards: int) -> U8:
    boards = [rng.permutation(52)[:num_cards] for _ in range(max(2, round(count)))]
    return np.array(boards, dtype=np.uint8)


def _equities(boards: U8, progress: Progress) -> F64:
    """Exact equity against a random hand, [boards, 1326]; NaN for blocked hands."""
    equities = np.full((len(boards), NUM_HANDS), np.nan)

    def work(first: int, last: int) -> None:
        fill = _fill_river_equities if boards.shape[1] == 5 else _fill_mean_equities
        fill(boards[first:last], equities[first:last])

    label = f"{ROUND_NAMES[boards.shape[1]]} equities"
    run_chunks(work, len(boards), BOARDS_PER_CHUNK[boards.shape[1]], progress, label)
    return equities


@kernel
def _fill_mean_equities(boards: U8, equities: F64) -> None:
    histograms = np.empty((NUM_HANDS, HISTOGRAM_COLUMNS), dtype=np.uint32)
    for n in range(boards.shape[0]):
        fill_histograms(boards[n], histograms)
        for hand in range(NUM_HANDS):
            total, weighted = 0, 0
            for column in range(HISTOGRAM_COLUMNS):
                total += histograms[hand, column]
                weighted += histograms[hand, column] * column
            if total:
                equities[n, hand] = weighted / (total * NUM_BINS)


@kernel
def _fill_river_equities(boards: U8, equities: F64) -> None:
    river, scores = new_sorted_river(), np.empty(NUM_LIVE_HANDS, dtype=np.int32)
    for n in range(boards.shape[0]):
        score_river(river, sort_river(boards[n], river), scores)
        for h in range(NUM_LIVE_HANDS):
            equities[n, river.hands[h]] = scores[h] / MAX_SCORE


def _quality(abstraction: CardAbstraction, boards: U8, equities: F64) -> dict[str, float]:
    buckets = np.array([abstraction.buckets(tuple(board)) for board in boards.tolist()])
    live = buckets != BLOCKED
    bucket, equity = buckets[live].astype(np.int64), equities[live]
    count = np.bincount(bucket)
    mean = np.bincount(bucket, weights=equity) / np.maximum(count, 1)
    within = float(np.mean((equity - mean[bucket]) ** 2))
    return {
        "variance": round(within, 8),
        "sd": round(within**0.5, 5),
        "share_of_variance": round(within / float(equity.var()), 6),
        "buckets_used": int((count > 0).sum()),
    }


def _speed(abstraction: CardAbstraction, boards: U8) -> dict[str, float]:
    fresh = CardAbstraction.from_arrays(abstraction.to_arrays())  # with an empty cache
    fresh.buckets(tuple(boards[0].tolist()))
    milliseconds = []
    different = {canonical_board(tuple(board))[0]: tuple(board) for board in boards[1:].tolist()}
    for board in different.values():
        start = time.perf_counter()
        fresh.buckets(board)
        milliseconds.append((time.perf_counter() - start) * 1e3)
    best, median, slow = np.percentile(milliseconds, [0, 50, 90])
    return {"best": round(best, 3), "median": round(median, 3), "p90": round(slow, 3)}


def _relabel(
    abstraction: CardAbstraction,
    start: int,
    end: int,
    sample: float,
    rng: np.random.Generator,
    progress: Progress,
) -> dict[str, int]:
    flops = np.array(list(islice(combinations(range(52), 3), start, end)), dtype=np.uint8)
    figures, mismatches = {}, 0
    for boards in (
        flops,
        *[_random_boards(rng, sample * count, n) for n, count in RELABELLED_BOARDS.items()],
    ):
        name = ROUND_NAMES[boards.shape[1]]

        def work(first: int, last: int, boards: U8 = boards) -> int:
            return sum(_changed(abstraction, tuple(board)) for board in boards[first:last].tolist())

        chunk = BOARDS_PER_CHUNK[boards.shape[1]]
        mismatches += sum(run_chunks(work, len(boards), chunk, progress, f"{name}s relabelled"))
        figures[f"{name}s"] = len(boards)
    return {**figures, "mismatches": mismatches}


def _changed(abstraction: CardAbstraction, board: Cards) -> int:
    """The number of hands whose bucket on this board differs from the canonical board's."""
    class_of_hand, centroids = abstraction.search_inputs(len(board))
    found: U16 = np.full(NUM_HANDS, BLOCKED, dtype=np.uint16)
    cards = np.array(board, dtype=np.uint8)
    if len(board) == 5:
        fill_river_buckets(cards, class_of_hand, centroids, found)
    else:
        fill_tail_buckets(cards, centroids, found)
    return int((found != abstraction.buckets(board)).sum())


def _print_tables(figures: dict[str, Any]) -> None:
    console = Console()
    quality = Table("preset", "round", "variance within", "sd", "share", "best ms", "median ms", "p90 ms")
    for preset, by_round in figures["quality"].items():
        for name in ROUND_NAMES.values():
            found, speed = by_round[name], figures["speed_ms"][preset][name]
            quality.add_row(
                preset,
                name,
                f"{found['variance']:.6f}",
                f"{found['sd']:.4f}",
                f"{found['share_of_variance']:.3%}",
                f"{speed['best']:.3f}",
                f"{speed['median']:.3f}",
                f"{speed['p90']:.3f}",
            )
    console.print(quality)
    console.print(f"relabelled: {figures['relabelled']}")
