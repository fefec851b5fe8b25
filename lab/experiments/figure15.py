"""Figure 15: gain against exploitability in two rounds of biased rock, paper, scissors."""

from __future__ import annotations

import numpy as np

from lab.cfr.opponents import random_strategy
from lab.continual.respond import respond
from lab.experiments.measures import Duel, exactly
from lab.experiments.report import Claim, Curve, Figure, Plot, Report, Track, untracked
from lab.flat.registry import game_named
from responses.methods import Gadget, cdbr, cdrnr, ses

SEED = 1
DEPTH = 1
"""To the end of the round."""
_STEPS = 20
_ROUNDING = 1e-6


def run(quick: bool = False, track: Track = untracked) -> Report:
    """One random opponent, all p."""
    game = game_named("biased-rps")
    duel = Duel(game, random_strategy(game, SEED))
    best = respond(game, duel.model, cdbr(), DEPTH, exactly)
    dial = np.linspace(0, 1, (_STEPS // 2 if quick else _STEPS) + 1)[:-1].tolist()
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in (*_GADGETS, "CDBR-NE", "SES")}
    for p in track(dial):
        for name, gadget in _GADGETS.items():
            curves[name].append(
                duel.point(respond(game, duel.model, cdrnr(p, gadget), DEPTH, exactly, "subgame"))
            )
        curves["CDBR-NE"].append(duel.point(duel.blended(best, p)))
        curves["SES"].append(duel.point(respond(game, duel.model, ses(p), DEPTH, exactly)))
    most = {name: max(gain for _, gain in points) for name, points in curves.items()}
    return Report(
        "Milec, Kubicek and Lisy, figure 15: the largest gain for some p in two-round biased RPS",
        "of the best response's gain",
        tuple(Figure(name, gain / duel.most, 0.0 if name == "SES" else None) for name, gain in most.items()),
        (
            Claim(
                "SES gains nothing where only moves at the same time are hidden",
                most["SES"] < 0.01 * duel.most,
            ),
            Claim(
                "at the same exploitability the full gadget gains most, then the others alike, then CDBR-NE",
                _ordered(curves),
            ),
        ),
        (
            Plot(
                "biased-rps",
                "exploitability",
                "gain",
                tuple(Curve(n, tuple(sorted(c))) for n, c in curves.items()),
            ),
        ),
        ("the payoffs are ours: the paper does not print them",),
    )


def _ordered(curves: dict[str, list[tuple[float, float]]]) -> bool:
    """Whether curves lie above each other as in the paper; answers may be mixed, so they are interpolated."""
    heights = np.arange(0, 2, 0.1)
    full, resolving, margin, blend = (
        np.interp(heights, *np.transpose(_best(curves[name]))) for name in (*_GADGETS, "CDBR-NE")
    )
    same = np.abs(resolving - margin) < _ROUNDING
    return bool((same & (full >= resolving - _ROUNDING) & (resolving >= blend - _ROUNDING)).all())


def _best(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The largest gain at each exploitability; where p changes the answer, several answers are optimal."""
    best: dict[float, float] = {}
    for exploitability, gain in points:
        key = round(exploitability, 6)
        best[key] = max(gain, best.get(key, -np.inf))
    return sorted(best.items())


_GADGETS = {"full": Gadget.FULL, "resolving": Gadget.RESOLVING, "max-margin": Gadget.MAX_MARGIN}
