"""Figures 6 and 7: gain of CDBR with three depths, against unfinished CFR and random strategies."""

from __future__ import annotations

import math

from lab.cfr.opponents import random_strategy, unfinished
from lab.continual.respond import respond
from lab.experiments.measures import Duel, exactly
from lab.experiments.report import Claim, Curve, Figure, Plot, Report, Track, untracked
from lab.flat.registry import game_named
from responses.methods import cdbr

DEPTHS = (1, 3, 5)
ITERATIONS = (1, 2, 4, 8, 16, 34, 64)
SEEDS = (1, 2, 3, 4, 5)
_ROUNDING = 1e-6

Gains = dict[tuple[str, str, int], dict[str, float]]
"""Gain by method, by game, kind of opponent and its number."""


def run(quick: bool = False, track: Track = untracked) -> Report:
    """Leduc, Goofspiel and liar's dice; with less of each if it has to be quick."""
    names = ("leduc", "goofspiel4", "liars-dice4") if quick else ("leduc", "goofspiel5", "liars-dice4")
    iterations = ITERATIONS[::3] if quick else ITERATIONS
    seeds = SEEDS[:2] if quick else SEEDS
    gains: Gains = {}
    for name in track(names):
        game = game_named(name)
        for n in iterations:
            gains[name, "CFR", n] = _gains(Duel(game, unfinished(game, n)))
        for seed in seeds:
            gains[name, "random", seed] = _gains(Duel(game, random_strategy(game, seed)))
    plots = [_plot(name, "CFR", iterations, gains) for name in names]
    methods = [f"CDBR{depth}" for depth in DEPTHS]
    return Report(
        "Milec, Kubicek and Lisy, figures 6 and 7: share of the best response's gain, means over opponents",
        "",
        tuple(
            _figure(name, kind, method, gains)
            for name in names
            for kind in ("CFR", "random")
            for method in methods
        ),
        (
            Claim(
                "CDBR never gains less than nothing",
                all(gain >= -_ROUNDING for each in gains.values() for gain in each.values()),
            ),
            Claim(
                "a larger depth sometimes gains less",
                any(
                    each["CDBR3"] < each["CDBR1"] or each["CDBR5"] < each["CDBR3"] for each in gains.values()
                ),
            ),
        ),
        tuple(plots),
        ("random strategies have odds drawn evenly from all; the paper does not say how its are",),
    )


def _gains(duel: Duel) -> dict[str, float]:
    found = {
        f"CDBR{depth}": duel.gain(respond(duel.game, duel.model, cdbr(), depth, exactly)) for depth in DEPTHS
    }
    return {"BR": duel.most} | found


def _figure(name: str, kind: str, method: str, gains: Gains) -> Figure:
    shares = [each[method] / each["BR"] for key, each in gains.items() if key[:2] == (name, kind)]
    return Figure(f"{name} {method}, {kind}", sum(shares) / len(shares))


def _plot(name: str, kind: str, numbers: tuple[int, ...], gains: Gains) -> Plot:
    methods = gains[name, kind, numbers[0]]
    curves = [Curve(m, tuple((math.log2(n), gains[name, kind, n][m]) for n in numbers)) for m in methods]
    return Plot(name, "CFR iterations of the opponent (log2)", "gain", tuple(curves))
