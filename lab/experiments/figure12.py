"""Figures 11, 12 and 14: gain and exploitability of CDRNR by depth, beside the restricted Nash response."""

from __future__ import annotations

from lab.cfr.opponents import unfinished
from lab.continual.respond import respond
from lab.exact.programs import restricted_nash
from lab.experiments.measures import Duel, exactly
from lab.experiments.report import Claim, Curve, Figure, Plot, Report, Track, untracked
from lab.flat.registry import game_named
from responses.dial import exploitability_bound
from responses.methods import cdrnr

DEPTHS = (1, 3, 5)
DIAL = (0.1, 0.25, 0.5, 0.75, 0.9)
ITERATIONS = 4
"""Of CFR, of the opponent."""
_ROUNDING = 1e-6
_SAME = 0.01
"""Share of the best response's gain within which two gains are the same."""


def run(quick: bool = False, track: Track = untracked) -> Report:
    """Leduc, liar's dice and Goofspiel, whose larger version is left out if it has to be quick."""
    names = ("leduc", "liars-dice4", "goofspiel4" if quick else "goofspiel5")
    duels = {name: Duel(game_named(name), unfinished(game_named(name), ITERATIONS)) for name in names}
    points = {name: _points(duels[name]) for name in track(names)}
    figures = [
        Figure(f"{name} {method} {of}", point[DIAL.index(0.5)][i])
        for name in names
        for method, point in points[name].items()
        for i, of in enumerate(("exploitability", "gain"))
    ]
    bounded = all(
        point[i][0] <= exploitability_bound(point[i][1], p) + _ROUNDING
        for each in points.values()
        for point in each.values()
        for i, p in enumerate(DIAL)
    )
    dice = points["liars-dice4"]
    same = all(
        abs(mine[1] - known[1]) <= _SAME * duels["liars-dice4"].most
        for depth in DEPTHS[1:]
        for mine, known in zip(dice[f"S{depth}"], dice["RNR"], strict=True)
    )
    return Report(
        f"Milec, Kubicek and Lisy, figures 11, 12 and 14: opponent of {ITERATIONS} CFR iterations, p = 0.5",
        "per game",
        tuple(figures),
        (
            Claim("at every depth and p, exploitability is at most gain × p / (1 - p)", bounded),
            Claim(
                "in liar's dice CDRNR gains what the restricted Nash response does, from depth 3 on",
                same,
            ),
        ),
        tuple(
            Plot(
                name,
                "exploitability",
                "gain",
                tuple(Curve(m, tuple(point)) for m, point in points[name].items()),
            )
            for name in names
        ),
        ("in liar's dice gains with depth 1 differ where p is above 0.5; the paper shows one for all",),
    )


def _points(duel: Duel) -> dict[str, list[tuple[float, float]]]:
    """Exploitability and gain by method, for every p."""
    game, model = duel.game, duel.model
    found = {"RNR": [duel.point(restricted_nash(game, model, p).strategy) for p in DIAL]}
    for depth in DEPTHS:
        found[f"S{depth}"] = [duel.point(respond(game, model, cdrnr(p), depth, exactly)) for p in DIAL]
    return found
