"""Win rate against the blueprint by seconds per hand, as a table and a plot.

Runs a measurement of `fathom bench strength` for every budget (or number of iterations), all with the same
deals. --save keeps its journals. If they already contain the requested hands, or with --seconds 0, no hands
are played and only the plot is drawn again.

mbb, ci95          win rate of the agent in mbb/hand of a whole match, and half the width of the 95 % interval
hands, seconds     hands played from the flop on, and the time for them, summed over workers
seconds_per_hand   time the agent used per hand of a match
p50_s, p99_s       seconds of its decisions after the flop
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

from arena.errors import MatchAborted, PlayerError
from arena.report.html import signed, ticks
from bench.figures import figure_parser
from bench.quality.strength import measure, parse_options
from game.definition import HUNL

QUICK = ("--iterations", "5", "--hands", "40")

_COLUMNS = ("mbb", "ci95", "hands", "seconds", "seconds_per_hand", "p50_s", "p99_s")
_STYLE = """
text{font:13px system-ui,sans-serif;fill:#444;stroke:#fff;stroke-width:4px;paint-order:stroke}
.title{font-size:16px;font-weight:600;fill:#111}.value{font-weight:600;fill:#111}
.paper{fill:#fff}.grid{stroke:#e3e3e3}.zero{stroke:#888;stroke-width:1.5}circle{fill:#235789}
.bar{stroke:#235789;stroke-width:2}.curve{fill:none;stroke:#235789;stroke-width:1.5;stroke-dasharray:2 4}
@media (prefers-color-scheme:dark){text{fill:#b8b8b8;stroke:#16181c}.title,.value{fill:#f2f2f2}
.paper{fill:#16181c}.grid{stroke:#33363c}.zero{stroke:#8a8a8a}
.bar,.curve{stroke:#6cb2e8}circle{fill:#6cb2e8}}
"""
_WIDTH, _HEIGHT = 720, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 24, 66, 52
_CAP = 6
"""Half the width of the end of an error bar."""


def main(argv: list[str]) -> int:
    """Measure, print and draw; exit status 0."""
    parser = figure_parser("budgets", __doc__)
    parser.add_argument(
        "--agent", default="agent", help="a player; budget or iterations are added (default: agent)"
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--budgets", default="0.2,1,5", help="seconds per hand (default: %(default)s)")
    effort.add_argument("--iterations", help="numbers of iterations instead of seconds, e.g. 30,100,300")
    parser.add_argument("--save", type=Path, metavar="DIR", help="folder for journals, to resume from")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="plot the result to this file")
    args = parse_options(parser, argv)
    if "budget=" in args.agent or "iterations=" in args.agent:
        parser.error(f"--agent {args.agent}: leave out its budget; give it as --budgets or --iterations")
    try:
        points = [measure_one(args, option) for option in effort_options(args)]
    except (MatchAborted, PlayerError) as error:
        parser.error(str(error))
    if args.json:
        figures = {"agent": args.agent, "against": args.against, "seed": args.seed, "points": points}
        print(json.dumps({"bench": "budgets", **figures}))
    else:
        print(table(points))
    if args.plot:
        args.plot.write_text(draw(f"{args.agent} against {args.against}", points), encoding="utf-8")
    return 0


def effort_options(args: argparse.Namespace) -> list[str]:
    """The player options, one for each measurement."""
    name, values = ("budget", args.budgets) if args.iterations is None else ("iterations", args.iterations)
    return [f"{name}={value.strip()}" for value in values.split(",")]


def measure_one(args: argparse.Namespace, option: str) -> dict[str, Any]:
    """Play with one option, or read the journal; blocks."""
    save = None
    if args.save:
        args.save.mkdir(parents=True, exist_ok=True)
        save = args.save / f"{option}.jsonl"
    terms = {**vars(args), "agent": f"{args.agent},{option}", "save": save}
    figures = measure(argparse.Namespace(**terms), HUNL)
    return {"option": option, **{name: figures[name] for name in _COLUMNS}}


def table(points: Sequence[dict[str, Any]]) -> str:
    """The figures as a table."""
    rows = [f"{'':<18}" + "".join(f"{name:>18}" for name in _COLUMNS)]
    rows += [
        f"{point['option']:<18}" + "".join(f"{point[name]:>18}" for name in _COLUMNS) for point in points
    ]
    return "\n".join(rows)


def draw(title: str, points: Sequence[dict[str, Any]]) -> str:
    """An SVG document: a point with its error bar for every measurement, seconds on a logarithmic axis."""
    points = sorted(points, key=lambda point: point["seconds_per_hand"])
    seconds: list[float] = [max(point["seconds_per_hand"], 1e-3) for point in points]
    first, last = log10(seconds[0]) - 0.15, log10(seconds[-1]) + 0.15
    low: float = min(0.0, *(point["mbb"] - point["ci95"] for point in points))
    high: float = max(0.0, *(point["mbb"] + point["ci95"] for point in points))
    room = 0.08 * ((high - low) or 1.0)
    low, high = low - room, high + 3 * room  # labels are above the bars
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def x(at: float) -> float:
        return _LEFT + (right - _LEFT) * (log10(at) - first) / (last - first)

    def y(mbb: float) -> float:
        return _TOP + (bottom - _TOP) * (high - mbb) / (high - low)

    parts = []
    for tick in ticks(low, high):
        kind = "zero" if tick == 0 else "grid"
        parts += [
            _line(kind, _LEFT, y(tick), right, y(tick)),
            _text(_LEFT - 8, y(tick) + 4, signed(tick), "end"),
        ]
    for tick in _log_ticks(first, last):
        parts += [_line("grid", x(tick), _TOP, x(tick), bottom), _text(x(tick), bottom + 18, f"{tick:g}")]
    places = [(x(at), y(point["mbb"])) for at, point in zip(seconds, points, strict=True)]
    parts.append(f'<polyline class="curve" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in places)}"/>')
    for point, (across, down) in zip(points, places, strict=True):
        top, end = y(point["mbb"] + point["ci95"]), y(point["mbb"] - point["ci95"])
        parts += [
            _line("bar", across, top, across, end),
            _line("bar", across - _CAP, top, across + _CAP, top),
            _line("bar", across - _CAP, end, across + _CAP, end),
            f'<circle cx="{across:.1f}" cy="{down:.1f}" r="4.5"/>',
            _text(across, top - 24, point["option"]),
            _text(across, top - 8, f"{signed(point['mbb'])} ± {point['ci95']:,.0f}", kind="value"),
        ]
    parts += [
        _text(_LEFT, 26, title, "start", "title"),
        _text(_LEFT, 46, "mbb/hand with 95 % intervals: luck taken out, the same deals for all", "start"),
        _text((_LEFT + right) / 2, _HEIGHT - 12, "seconds of thought per hand"),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"><style>{_STYLE}</style>\n'
        f'<rect class="paper" width="{_WIDTH}" height="{_HEIGHT}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _log_ticks(first: float, last: float) -> list[float]:
    """1, 2, 5, 10 and so on between two powers of ten."""
    found = [step * 10.0**power for power in range(floor(first), ceil(last) + 1) for step in (1, 2, 5)]
    return [tick for tick in found if first <= log10(tick) <= last]


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
