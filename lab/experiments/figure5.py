"""Figures 5 and 13: gain and exploitability of all responses in Leduc, against unfinished CFR strategies."""

from __future__ import annotations

import math

import numpy as np

from lab.cfr.opponents import unfinished
from lab.continual.respond import cfr_engine, respond
from lab.exact.programs import restricted_nash
from lab.experiments.measures import Duel, exactly
from lab.experiments.report import Claim, Curve, Figure, Plot, Report, Track, untracked
from lab.flat.registry import game_named
from numeric.arrays import F64
from responses.dial import exploitability_bound
from responses.methods import cdbr, cdrnr, ses
from responses.partition import by_stage

ITERATIONS = (1, 2, 4, 8, 16, 34)
"""Of CFR, by opponent."""
DIAL = (0.1, 0.25, 0.5, 0.75, 0.9)
_FULL, _QUICK = (1000, 500), (200, 100)
"""Iterations of CFR+ for a step, and of its value function (VF), as in the paper and in less time."""
_SMALL = 0.1
"""Share of the gain that a small exploitability has at most."""
_NEAR = 0.25
"""Share of BNE's gain within which SES's is."""
_ROUNDING = 1e-6
_DRAWN = ("RNR 0.5", "BNE", "CDBR-NE 0.5", "SES 0.5", "CDRNR 0.1", "CDRNR 0.5", "CDRNR-VF 0.5", "BR")

Points = dict[str, tuple[float, float]]
"""Exploitability and gain by method."""


def run(quick: bool = False, track: Track = untracked) -> Report:
    """Respond to all opponents; the value function is rougher if it has to be quick."""
    game = game_named("leduc")
    duels = [Duel(game, unfinished(game, n)) for n in ITERATIONS]
    points = [_points(duel, *(_QUICK if quick else _FULL)) for duel in track(duels)]
    mean = {name: np.mean([each[name] for each in points], axis=0) for name in points[0]}
    figures = [
        Figure(f"{name} {of}", mean[name][i])
        for name in mean
        for i, of in enumerate(("exploitability", "gain"))
        if i or name != "BR"
    ]
    columns = dict(zip(ITERATIONS, points, strict=True))
    shares = {n: each["CDRNR 0.5"][0] / each["CDRNR 0.5"][1] for n, each in columns.items()}
    figures += [
        Figure(f"CDRNR 0.5 exploitability of gain, {n} iterations", share) for n, share in shares.items()
    ]
    return Report(
        f"Milec, Kubicek and Lisy, figure 5: Leduc by rounds, means over {len(duels)} opponents",
        "chips per game",
        tuple(figures),
        _claims(points, mean),
        (_plot("exploitability", columns, 0), _plot("gain", columns, 1)),
        (
            "steps are rounds, as in the paper (figure 13: split by the round, as in the main text)",
            'the paper: CDRNR for p = 0.5 "rarely reaches even a tenth of the gain in exploitability":'
            f" here {min(shares.values()):.0%} to {max(shares.values()):.0%}, by opponent",
        ),
    )


def _points(duel: Duel, iterations: int, value_iterations: int) -> Points:
    """Exploitability and gain by method.

    SES by CFR+: it goes on from an equilibrium, of which linear programs find any, and the gain depends on
    which. CFR+ is close to one and the same.
    """
    game, model = duel.game, duel.model
    tree = game.public
    together, apart = (by_stage(tree.parent, tree.stage(), tree.actor == 0, both) for both in (True, False))
    whole, imperfect = cfr_engine(iterations), cfr_engine(iterations, value_iterations)
    best = respond(game, model, cdbr(), together, exactly)
    strategies: dict[str, F64] = {"BNE": duel.safest, "CDBR": best}
    for p in DIAL:
        strategies |= {
            f"RNR {p:g}": restricted_nash(game, model, p).strategy,
            f"CDRNR {p:g}": respond(game, model, cdrnr(p), together, exactly),
            f"CDRNR-VF {p:g}": respond(game, model, cdrnr(p), together, imperfect),
            f"CDBR-NE {p:g}": duel.blended(best, p),
            f"SES {p:g}": respond(game, model, ses(p), apart, whole),
        }
    return {"BR": (float("nan"), duel.most)} | {name: duel.point(found) for name, found in strategies.items()}


def _plot(title: str, points: dict[int, Points], of: int) -> Plot:
    """One curve per method over the opponents, by their iterations."""
    curves = [
        Curve(name, tuple((math.log2(n), each[name][of]) for n, each in points.items()))
        for name in _DRAWN
        if of or name != "BR"
    ]
    return Plot(title, "CFR iterations of the opponent (log2)", title, tuple(curves))


def _claims(points: list[Points], mean: dict[str, F64]) -> tuple[Claim, ...]:
    bounded = all(
        each[f"CDRNR {p:g}"][0] <= exploitability_bound(each[f"CDRNR {p:g}"][1], p) + _ROUNDING
        for each in points
        for p in DIAL
    )
    twice = any(
        mean[f"CDRNR {p:g}"][1] >= 2 * mean["BNE"][1]
        and mean[f"CDRNR {p:g}"][0] <= _SMALL * mean[f"CDRNR {p:g}"][1]
        for p in DIAL
    )
    blends = sorted(tuple(mean[f"CDBR-NE {p:g}"]) for p in DIAL)
    above = all(
        mean[f"CDRNR {p:g}"][1] >= np.interp(mean[f"CDRNR {p:g}"][0], *np.transpose(blends)) - _ROUNDING
        for p in DIAL
    )
    return (
        Claim("CDRNR's exploitability is at most gain × p / (1 - p), for every opponent and p", bounded),
        Claim(
            f"for some p CDRNR gains twice what BNE does, and is exploitable by less than {_SMALL:.0%} of it",
            twice,
        ),
        Claim("at the same exploitability CDRNR gains more than CDBR-NE", above),
        Claim(
            f"SES gains what BNE does to {_NEAR:.0%}, at every p",
            all(abs(mean[f"SES {p:g}"][1] / mean["BNE"][1] - 1) < _NEAR for p in DIAL),
        ),
    )
