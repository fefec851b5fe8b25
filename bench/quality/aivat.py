"""Variance reduction by all-in adjustment and AIVAT in a match of a blueprint against a biased blueprint.

plain, allin, aivat   mean and 95 % margin in mbb/hand over duplicate pairs; standard deviation per hand;
                      reduction of the plain standard deviation, per hand and per duplicate pair
agree                 whether the AIVAT and plain means agree within their intervals
hands_per_s           hands that AIVAT corrects per second with all workers, after values are computed
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from arena.duplicate.adjusted import adjusted
from arena.duplicate.aivat_match import aivat_chips, make_evaluator
from arena.duplicate.all_in import allin_chips
from arena.duplicate.duplicate import DuplicateTerms, play_duplicate
from bench.figures import figure_parser, print_figures
from game.definition import HUNL, definition_text
from server.cli.parts.numbers import whole_number

QUICK = ("--hands", "2000")


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("aivat", __doc__)
    parser.add_argument("--player", default="blueprint", help="a blueprint player (default: %(default)s)")
    parser.add_argument("--bias", default="call*10", help="bias of its opponent (default: %(default)s)")
    parser.add_argument("--opponent", help="another opponent, instead of a bias")
    parser.add_argument("--hands", type=whole_number(), default=20_000, help="hands (default: %(default)s)")
    parser.add_argument("--seed", type=whole_number(0), default=1, help="default: %(default)s")
    parser.add_argument(
        "--workers", type=whole_number(), default=os.cpu_count() or 1, help="default: %(default)s"
    )
    args = parser.parse_args(argv)
    figures = _measure(args)
    print_figures(figures, args.json)
    return 0


def _measure(args: argparse.Namespace) -> dict[str, Any]:
    players = args.player, args.opponent or f"{args.player},bias={args.bias}"
    terms = DuplicateTerms(HUNL, players, ("A", "B"), args.seed, args.hands // 2)
    make_evaluator(definition_text(HUNL), players, args.seed)  # values are computed once, not timed
    result = play_duplicate(terms, workers=args.workers)
    allin = adjusted(result, "all-in adjusted", allin_chips(result))
    started = time.perf_counter()
    chips = aivat_chips(terms, result, args.workers)
    seconds = time.perf_counter() - started
    aivat = adjusted(result, "AIVAT", chips)
    total = result.total
    apart = abs(aivat.estimate.mean - total.mean)
    return {
        "bench": "aivat",
        "players": players,
        "hands": result.num_hands,
        "plain": {
            "mbb_per_hand": round(total.mean, 1),
            "margin_95": round(total.margin, 1),
            "sd_hand_mbb": round(float(result.mbb.std()), 1),
        },
        "allin": _rounded(allin.to_json()),
        "aivat": _rounded(aivat.to_json()),
        "agree": bool(apart <= total.margin + aivat.estimate.margin),
        "hands_per_s": round(result.num_hands / seconds),
        "workers": args.workers,
    }


def _rounded(figures: dict[str, float | None]) -> dict[str, float | None]:
    return {
        name: None if value is None else round(value, 3 if "reduction" in name else 1)
        for name, value in figures.items()
    }
