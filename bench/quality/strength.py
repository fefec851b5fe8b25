"""Win rate of the agent against its own blueprint, with variance reduced by strata and AIVAT.

Agent and blueprint have the same strategy before the flop. So hands that end there cancel over both seats,
and the lines that reach the flop have known probabilities and beliefs. For each line, hands are dealt from
the beliefs, played in both seats and corrected by AIVAT; more hands are played on lines where they reduce the
variance most per second.

mbb, ci95          win rate of the agent in mbb/hand of a whole match, and half the width of the 95 % interval
hands, seconds     hands played from the flop on, and the time for them, summed over workers
seconds_per_hand   time the agent uses per hand of a match, hands that end before the flop included
p50_s, p99_s       seconds of its decisions after the flop, weighted by their frequency in a match
reach              share of hands that reach the flop
sd_hand_mbb        standard deviation per hand of this measurement: ci95 / 1.96 * sqrt(hands)
left_out_mbb       possible error from lines too rare to be played, if half of each such pot changed hands
lines              share of hands, pot, pairs of hands played, their mean and standard deviation (mbb/hand),
                   and the line's contribution to the result, with its margin
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from arena.duplicate.flop_lines import FlopLines
from arena.duplicate.line_duel import LineDuel, LineHand, Task, make_line_duel, parse_line_hand
from arena.errors import MatchAborted, PlayerError
from arena.players.base import HANDS_PER_PAIR
from arena.players.registry import player_identity
from arena.runs.journal import Journal
from arena.runs.statistics import Z_95
from arena.runs.strata import Strata, Stratum
from arena.runs.workers import WorkerPool
from bench.figures import figure_parser
from game.definition import HUNL, GameDefinition, definition_text
from server.cli.parts.numbers import number_from_zero, whole_number

QUICK = ("--agent", "agent,iterations=10", "--hands", "40")

_SAY_SECONDS = 10.0
_GROWTH = 0.75
"""Exponent of the pot in standard deviations (blueprint against itself, pots of 2 to 54 big blinds)."""

Numbers = dict[int, dict[int, LineHand]]
"""The hands of a line, by number and seat."""


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("strength", __doc__)
    parser.add_argument("--agent", default="agent,iterations=60", help="a player (default: %(default)s)")
    parser.add_argument(
        "--save", type=Path, metavar="FILE.jsonl", help="journal of all hands, to resume from"
    )
    args = parse_options(parser, argv)
    try:
        figures = measure(args, HUNL)
    except (MatchAborted, PlayerError) as error:
        parser.error(str(error))
    if args.json:
        print(json.dumps(figures))
    else:
        print(table(figures))
    return 0


def parse_options(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Parse the options of `measure` except `agent` and `save`, which the parser has already."""
    parser.add_argument("--against", default="blueprint", help="opponent of the agent (default: %(default)s)")
    parser.add_argument(
        "--hands", type=whole_number(), help="stop when the journal has so many hands (default: 1000)"
    )
    parser.add_argument(
        "--seconds",
        type=number_from_zero,
        help="stop after so many seconds, once every line was played twice",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, help="seed of the deals (default: %(default)s)"
    )
    parser.add_argument("--workers", type=whole_number(), default=1, help="processes (default: %(default)s)")
    args = parser.parse_args(argv)
    if args.hands is None and args.seconds is None:
        args.hands = 1000
    return args


def measure(args: argparse.Namespace, definition: GameDefinition) -> dict[str, Any]:
    """Play the requested hands and return the figures; blocks."""
    players = args.agent, args.against
    journal = Journal(args.save, _terms(args, definition), magic="")
    try:
        make = partial(make_line_duel, definition_text(definition), players, args.seed)
        duel = make()
        measurement = Measurement(duel.found, definition.big_blind)
        measurement.add(journal.lines)
        _play(duel, make, measurement, journal, args)
    finally:
        journal.close()
    return {"bench": "strength", "agent": args.agent, "against": args.against, **measurement.figures()}


class Measurement:
    """Pairs of hands and the win rate estimated from them."""

    def __init__(self, found: FlopLines, big_blind: int) -> None:
        self._found, self._mbb = found, 1000.0 / big_blind
        self._numbers: list[Numbers] = [{} for _ in found.lines]
        self._index = {line.text: index for index, line in enumerate(found.lines)}
        self.strata = Strata([Stratum(line.probability, line.pot**_GROWTH) for line in found.lines])
        self._next = [0] * len(found.lines)

    @property
    def hands(self) -> int:
        """Number of hands in complete pairs."""
        return HANDS_PER_PAIR * sum(s.count for s in self.strata.strata)

    def add(self, lines: list[str]) -> None:
        """Add journal lines; a pair counts once, when it is complete."""
        for text in lines:
            hand = parse_line_hand(text)
            index = self._index.get(hand.line)
            if index is None:
                continue
            pair = self._numbers[index].setdefault(hand.number, {})
            is_new = hand.seat not in pair
            pair[hand.seat] = hand
            if is_new and len(pair) == HANDS_PER_PAIR:
                value = sum(x.value for x in pair.values()) / HANDS_PER_PAIR
                self.strata.strata[index].add(value, sum(x.seconds for x in pair.values()))
                self._next[index] = max(self._next[index], hand.number + 1)

    def next_task(self) -> Task:
        """The line on which another pair reduces the variance most."""
        index = self.strata.next()
        number = self._next[index]
        self._next[index] += 1
        return index, number

    def estimate(self) -> tuple[float, float]:
        """The win rate in mbb/hand, and half the width of its 95 % interval."""
        return self._mbb * self.strata.mean, self._mbb * self.strata.margin

    def figures(self) -> dict[str, Any]:
        """All figures, rounded."""
        mean, margin = self.estimate()
        known = math.isfinite(margin)
        return {
            "mbb": round(mean, 2),
            "ci95": round(margin, 2) if known else None,
            "hands": self.hands,
            "seconds": round(sum(s.seconds for s in self.strata.strata), 1),
            **self._time(),
            "reach": round(sum(line.probability for line in self._found.lines), 4),
            "sd_hand_mbb": round(margin / Z_95 * math.sqrt(self.hands)) if known else None,
            "left_out_mbb": round(self._mbb * self._found.left_out_chips, 2),
            "lines": self._by_line(),
        }

    def _time(self) -> dict[str, float]:
        total = self._found.seconds_before
        times: list[float] = []
        weights: list[float] = []
        for line, pairs in zip(self._found.lines, self._numbers, strict=True):
            hands = [hand for pair in pairs.values() for hand in pair.values()]
            for hand in hands:
                share = line.probability / len(hands)
                total += share * hand.think
                times += hand.decisions
                weights += [share] * len(hand.decisions)
        return {
            "seconds_per_hand": round(total, 4),
            "p50_s": round(_quantile(times, weights, 0.5), 4),
            "p99_s": round(_quantile(times, weights, 0.99), 4),
        }

    def _by_line(self) -> list[dict[str, Any]]:
        errors, scale = self.strata.errors(), self._mbb
        return [
            {
                "line": line.text,
                "share": round(line.probability, 5),
                "pot": line.pot,
                "pairs": s.count,
                "mean_mbb": round(scale * s.mean, 1),
                "sd_mbb": round(scale * math.sqrt(s.squares / max(s.count - 1, 1))),
                "adds_mbb": round(scale * line.probability * s.mean, 2),
                "margin_mbb": round(scale * Z_95 * float(error), 2),
            }
            for line, s, error in zip(self._found.lines, self.strata.strata, errors, strict=True)
        ]


def table(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    names = ("share", "pot", "pairs", "mean_mbb", "sd_mbb", "adds_mbb", "margin_mbb")
    rows = [f"{'line':<24}" + "".join(f"{name:>12}" for name in names)]
    rows += [f"{row['line']:<24}" + "".join(f"{row[name]:>12}" for name in names) for row in figures["lines"]]
    rows += [f"{name:<18}{value}" for name, value in figures.items() if name != "lines"]
    return "\n".join(rows)


def _terms(args: argparse.Namespace, definition: GameDefinition) -> dict[str, Any]:
    """The terms that must be the same to resume a measurement."""
    players = [args.agent, args.against]
    return {
        "journal": "fathom strength 1",
        "game": definition_text(definition),
        "players": players,
        "identities": [player_identity(text) for text in players],
        "seed": args.seed,
    }


def _play(
    duel: LineDuel,
    make: partial[LineDuel],
    measurement: Measurement,
    journal: Journal,
    args: argparse.Namespace,
) -> None:
    started = said = time.monotonic()

    def tasks() -> Iterator[Task]:
        while not _is_enough(measurement, args, time.monotonic() - started):
            yield measurement.next_task()

    for text in _run(duel, make, args.workers, tasks()):
        journal.add(text)
        measurement.add(text.splitlines())
        if time.monotonic() - said > _SAY_SECONDS:
            said = time.monotonic()
            mean, margin = measurement.estimate()
            message = (
                f"{measurement.hands} hands, {said - started:.0f} s: {mean:+.1f} ± {margin:.1f} mbb/hand"
            )
            print(message, file=sys.stderr, flush=True)


def _is_enough(measurement: Measurement, args: argparse.Namespace, seconds: float) -> bool:
    strata = measurement.strata
    if strata.in_pilot:
        return False
    started = HANDS_PER_PAIR * sum(s.started for s in strata.strata)
    return (args.hands is not None and started >= args.hands) or (
        args.seconds is not None and seconds >= args.seconds
    )


def _run(duel: LineDuel, make: partial[LineDuel], workers: int, tasks: Iterator[Task]) -> Iterator[str]:
    if workers == 1:
        yield from map(duel, tasks)
        return
    with WorkerPool[Task, str](make, workers) as pool:
        for _, text, _ in pool.run(tasks):
            yield text


def _quantile(values: list[float], weights: list[float], share: float) -> float:
    if not values:
        return 0.0
    order = np.argsort(values)
    reached = np.cumsum(np.array(weights)[order])
    at = int(np.searchsorted(reached, share * reached[-1]))
    return float(np.array(values)[order][min(at, len(values) - 1)])
