"""Comparison of CFR variants: exploitability by iteration on ten recorded spots.

For each variant and spot, exploitability in % of the pot after fixed numbers of iterations; then, over the
spots, the geometric mean and the ratio to plain CFR+. Deterministic: no figure is a time. The improved CFR+
of depth-limited solving needs to know its last iteration, so it is run separately for each number. With
--rises instead: the largest ratio of exploitability to its best value so far, by spot.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from abstraction.menu import parse_menu_book
from bench.figures import figure_parser, print_figures
from game.cards import parse_cards
from game.ranges import parse_range
from server.cli.parts.numbers import whole_number
from solver.exact import schedules
from solver.exact.schedules import Schedule
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.holdem import holdem_game
from solver.games.tree import build_tree, even_root

QUICK = ("--spots", "river")
CHECKPOINTS = (10, 20, 30, 50, 70, 100, 150, 200, 300, 450, 650, 1000)


@dataclass(frozen=True, slots=True)
class RecordedSpot:
    """A spot in text form."""

    board: str
    pot: int
    behind: int
    menu: str
    ranges: tuple[str, str]


ALL = "22+, A2+, K2+, Q2+, J2+, T2+, 92+, 82+, 72+, 62+, 52+, 42+, 32"
WIDE = "22+, A2+, K5o+, K2s+, Q8o+, Q4s+, J8o+, J6s+, T8o+, T6s+, 97o+, 95s+, 86s+, 75s+, 64s+, 54s"
TIGHT = "66+, A8s+, ATo+, KTs+, KJo+, QTs+, JTs, T9s, 98s"
CALLER = "22-TT, A2s-AJs, A9o-AQo, K8s-KQs, KTo-KQo, Q9s+, QJo, J8s+, T8s+, 97s+, 86s+, 75s+, 65s, 54s"

RECORDED = {
    "river 1": RecordedSpot("AsKd7h4c2s", 1000, 9500, "50%, 100%, a | 100%, a", (ALL, ALL)),
    "river 2": RecordedSpot("QhJh8c5d5s", 600, 1700, "33%, 75%, a | 60%, a", (WIDE, WIDE)),
    "river 3": RecordedSpot("9c8c7c2d2h", 2400, 8800, "75%, a | 100%, a", (CALLER, TIGHT)),
    "river 4": RecordedSpot("KsTs6s3sQd", 800, 19600, "50%, 100%, 200% | 100%, a", (WIDE, CALLER)),
    "river 5": RecordedSpot("6h6d4c4sAh", 5000, 4000, "33%, a | a", (CALLER, TIGHT)),
    "river 6": RecordedSpot("Ts9h5c3d2c", 300, 4850, "66%, 150%, a | 75%, a", (ALL, WIDE)),
    "turn 1": RecordedSpot("AsKd7h4c", 4000, 8000, "100%, a | a", (WIDE, WIDE)),
    "turn 2": RecordedSpot("QhJh8c5d", 600, 1700, "75%, a | a", (CALLER, TIGHT)),
    "turn 3": RecordedSpot("9c8c7c2d", 2400, 8800, "75% | a", (CALLER, WIDE)),
    "turn 4": RecordedSpot("Kd6s6h2c", 900, 2100, "50%, a | a", (TIGHT, CALLER)),
}


VARIANTS = schedules.VARIANTS | {
    "pcfr+": lambda _: schedules.pcfr_plus(),
    "pdcfr+": lambda _: schedules.pdcfr_plus(),
}
NEIGHBOURS = {
    f"dcfr-{keep:g}": lambda _, keep=keep: schedules.dcfr(keep_negative=keep) for keep in (0.1, 0.15, 0.3)
}
"""Other factors of negative regrets, measured only if requested."""
CHECK_RISE_EVERY = 5


def recorded_game(spot: RecordedSpot) -> Game:
    """The game of a recorded spot."""
    board = parse_cards(spot.board)
    tree = build_tree(even_root(len(board) - 2, spot.pot, spot.behind), parse_menu_book(spot.menu))
    return holdem_game(board, tree, np.stack([parse_range(text) for text in spot.ranges]))


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("variants", __doc__)
    parser.add_argument("--spots", default="", help="only spots whose name contains this, e.g. river")
    parser.add_argument("--variants", nargs="*", choices=VARIANTS | NEIGHBOURS, default=list(VARIANTS))
    parser.add_argument("--rises", action="store_true", help="measure how far exploitability rises instead")
    parser.add_argument(
        "--iterations", type=whole_number(), default=1000, help="iterations (default: %(default)s)"
    )
    parser.add_argument("--threads", type=whole_number(), default=1, help="threads (default: %(default)s)")
    parser.add_argument("--plot", type=Path, help="write the mean curves to this SVG file")
    args = parser.parse_args(argv)
    names = [name for name in RECORDED if args.spots in name]
    if args.rises:
        return print_rises(names, args.variants, args.iterations, args.threads, args.json)
    curves = {
        variant: [measure(RECORDED[name], variant, args.iterations, args.threads) for name in names]
        for variant in args.variants
    }
    marks = [mark for mark in CHECKPOINTS if mark <= args.iterations]
    means = {variant: np.exp(np.log(np.array(curve)).mean(axis=0)) for variant, curve in curves.items()}
    figures: dict[str, object] = {"bench": "variants", "spots": len(names), "iterations": marks}
    for variant, mean in means.items():
        figures[f"mean_pct {variant}"] = [float(f"{value:.3g}") for value in mean]
    for mark in (300, 1000):
        if "cfr+" in means and mark in marks:
            k = marks.index(mark)
            figures[f"ratio_to_cfr+ at {mark}"] = {
                variant: round(float(mean[k] / means["cfr+"][k]), 3) for variant, mean in means.items()
            }
    print_figures(figures, args.json)
    if args.plot:
        args.plot.write_text(draw(marks, {name: mean.tolist() for name, mean in means.items()}))
    return 0


def print_rises(names: list[str], variants: list[str], iterations: int, threads: int, as_json: bool) -> int:
    """Measure and print the worst rise of each variant on each spot; exit status 0."""
    rises = {
        variant: {name: round(worst_rise(RECORDED[name], variant, iterations, threads), 2) for name in names}
        for variant in variants
    }
    if as_json:
        print(json.dumps({"bench": "variants", "iterations": iterations, "worst_rise": rises}))
    else:
        for variant, row in rises.items():
            print(f"{variant:16} {row}")
    return 0


def worst_rise(spot: RecordedSpot, variant: str, iterations: int, threads: int) -> float:
    """The largest ratio of exploitability to its minimum so far, checked every five iterations; 1 if none."""
    solver = Solver(recorded_game(spot), (VARIANTS | NEIGHBOURS)[variant](iterations), threads)
    least, rise = np.inf, 1.0
    while solver.iterations < iterations:
        solver.run(min(CHECK_RISE_EVERY, iterations - solver.iterations))
        now = solver.exploitability()
        least, rise = min(least, now), max(rise, now / least)
    return rise


def measure(spot: RecordedSpot, variant: str, iterations: int, threads: int) -> list[float]:
    """Exploitability in % of the pot at each checkpoint."""
    game = recorded_game(spot)
    marks = [mark for mark in CHECKPOINTS if mark <= iterations]
    if variant == "improved-cfr+":
        return [_percent(game, spot.pot, VARIANTS[variant](mark), [mark], threads)[0] for mark in marks]
    return _percent(game, spot.pot, (VARIANTS | NEIGHBOURS)[variant](iterations), marks, threads)


def _percent(game: Game, pot: int, schedule: Schedule, marks: list[int], threads: int) -> list[float]:
    solver = Solver(game, schedule, threads)
    found = []
    for mark in marks:
        solver.run(mark - solver.iterations)
        found.append(solver.exploitability() / pot * 100)
    return found


def draw(marks: list[int], curves: dict[str, list[float]]) -> str:
    """Log-log curves as an SVG document."""
    colours = ("#0b6e4f", "#999999", "#c1292e", "#235789", "#f1a208", "#8a4fff", "#ff6fb5", "#3bceac")
    width, height, left, top = 640, 400, 60, 20
    inner_width, inner_height = width - left - 130, height - top - 50
    low = np.floor(np.log10(min(min(curve) for curve in curves.values())))
    high = np.ceil(np.log10(max(max(curve) for curve in curves.values())))
    first, last = np.log10(marks[0]), np.log10(marks[-1])

    def x(mark: float) -> float:
        return float(left + (np.log10(mark) - first) / (last - first) * inner_width)

    def y(percent: float) -> float:
        return float(top + (high - np.log10(percent)) / (high - low) * inner_height)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for power in range(int(low), int(high) + 1):
        level = y(10.0**power)
        parts.append(
            f'<line x1="{left}" x2="{left + inner_width}" y1="{level:.1f}" y2="{level:.1f}" stroke="#ddd"/>'
        )
        parts.append(f'<text x="{left - 6}" y="{level + 4:.1f}" text-anchor="end">{10.0**power:g} %</text>')
    parts += [
        f'<text x="{x(mark):.1f}" y="{top + inner_height + 18}" text-anchor="middle">{mark}</text>'
        for mark in marks
        if mark in (10, 30, 100, 300, 1000)
    ]
    middle = left + inner_width / 2
    parts.append(
        f'<text x="{middle}" y="{height - 8}" text-anchor="middle">iterations; '
        "exploitability in % of the pot, geometric mean over the spots</text>"
    )
    for k, (name, curve) in enumerate(curves.items()):
        points = " ".join(f"{x(m):.1f},{y(v):.1f}" for m, v in zip(marks, curve, strict=True))
        colour = colours[k % len(colours)]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(
            f'<text x="{left + inner_width + 10}" y="{top + 16 + 18 * k}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])
