"""Speed of matches and local best response, and coverage of confidence intervals.

hands_per_s      blueprint against itself: a whole duplicate match on all cores, from cards to result
coverage         share of matches of the blueprint against itself whose 95 % interval contains the true 0
lbr_hands_per_s  local best response against the blueprint (fcpa, rounds 3-4) on all cores, without start-up;
                 a hand is a board in one seat, played with all 1,081 hands of LBR that the board allows
lbr_mbb          LBR's win rate, ± lbr_margin_mbb
"""

from __future__ import annotations

import argparse
import os
import time

from arena.duplicate.duplicate import DuplicateTerms, play_duplicate
from arena.duplicate.results import estimate
from arena.lbr.lbr import LbrSettings
from arena.lbr.run import LbrTerms, measure_lbr
from arena.runs.journal import Journal
from bench.figures import figure_parser, print_figures
from game.definition import HUNL, NUM_PLAYERS
from server.cli.parts.numbers import whole_number

QUICK = ("--hands", "200000", "--matches", "50", "--lbr-hands", "400")


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("arena", __doc__)
    parser.add_argument("--player", default="blueprint", help="a blueprint player (default: %(default)s)")
    parser.add_argument(
        "--hands",
        type=whole_number(),
        default=500_000,
        help="hands of the timed match (default: %(default)s)",
    )
    parser.add_argument(
        "--matches", type=whole_number(), default=200, help="matches for the coverage (default: %(default)s)"
    )
    parser.add_argument(
        "--match-hands",
        type=whole_number(),
        default=4_000,
        help="hands of each of these (default: %(default)s)",
    )
    parser.add_argument(
        "--lbr-hands",
        type=whole_number(0),
        default=2_000,
        help="hands of LBR, 0 for none (default: %(default)s)",
    )
    parser.add_argument(
        "--workers",
        type=whole_number(),
        default=os.cpu_count() or 1,
        help="processes or threads (default: %(default)s)",
    )
    args = parser.parse_args(argv)
    figures = _measure(args)
    print_figures(figures, args.json)
    return 0


def _measure(args: argparse.Namespace) -> dict[str, float | int | str]:
    # One long match is divided into short ones: pairs are independent, and start-up time occurs only once.
    terms = _terms(args.player, 1, args.matches * args.match_hands // 2)
    many = play_duplicate(terms, workers=args.workers)
    samples = many.samples.reshape(args.matches, -1)
    found = [estimate(match) for match in samples]
    covered = [abs(match.mean) <= match.margin for match in found]
    started = time.perf_counter()
    result = play_duplicate(_terms(args.player, 2, args.hands // 2), workers=args.workers)
    seconds = time.perf_counter() - started
    return {
        "bench": "arena",
        "hands_per_s": round(result.num_hands / seconds),
        "workers": args.workers,
        "coverage": sum(covered) / len(covered),
        "matches": args.matches,
        "match_hands": args.match_hands,
        "margin_mbb": round(sum(match.margin for match in found) / len(found), 1),
        **_measure_lbr(args.player, args.lbr_hands, args.workers),
        "player": args.player,
    }


def _measure_lbr(player: str, hands: int, workers: int) -> dict[str, float | int]:
    if hands < 2 * NUM_PLAYERS:
        return {}
    times = [(time.perf_counter(), 0)]

    def tick(journal: Journal) -> None:
        times.append((time.perf_counter(), len(journal.lines)))

    terms = LbrTerms(HUNL, player, LbrSettings("fcpa", 2, 3), 1, hands // NUM_PLAYERS)
    result = measure_lbr(terms, workers=workers, tick=tick)
    # Leave out the first chunks of each process, which include its start-up.
    (started, before), (ended, after) = times[min(2 * workers, len(times) - 2)], times[-1]
    return {
        "lbr_hands_per_s": round(NUM_PLAYERS * (after - before) / (ended - started), 1),
        "lbr_mbb": round(result.total.mean),
        "lbr_margin_mbb": round(result.total.margin),
    }


def _terms(player: str, seed: int, pairs: int) -> DuplicateTerms:
    return DuplicateTerms(HUNL, (player, player), ("A", "B"), seed, pairs)
