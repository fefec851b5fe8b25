"""A limit of theorem 5.3: subgames that are solved one by one give away more than its bound."""

from __future__ import annotations

from lab.continual.respond import Grouping, respond
from lab.experiments.figure9 import mistakes
from lab.experiments.measures import Duel, exactly
from lab.experiments.report import Claim, Figure, Report, Track, untracked
from lab.flat.registry import game_named
from responses.dial import exploitability_bound
from responses.methods import cdrnr

P = 0.1
DEPTH = 1


def run(quick: bool = False, track: Track = untracked) -> Report:  # noqa: ARG001
    """CDRNR with the full gadget, both ways."""
    game = game_named("two-boards")
    duel = Duel(game, mistakes(game))
    ways: dict[str, Grouping] = {"together": "level", "one by one": "subgame"}
    figures, safe = [], {}
    for name, grouping in track(list(ways.items())):
        exploitability, gain = duel.point(respond(game, duel.model, cdrnr(P), DEPTH, exactly, grouping))
        bound = exploitability_bound(gain, P)
        figures += [
            Figure(f"{name}: gain", gain),
            Figure(f"{name}: exploitability", exploitability),
            Figure(f"{name}: bound", bound),
        ]
        safe[name] = exploitability <= bound + 1e-9
    return Report(
        f"CDRNR with the full gadget, p = {P:g}: two subgames behind one choice of the opponent (our game)",
        "",
        tuple(figures),
        (
            Claim("solved together, they keep the bound of theorem 5.3", safe["together"]),
            Claim("solved one by one, as along the way of a game, they do not", not safe["one by one"]),
        ),
        notes=(
            "each solve counts with the other subgame as it was; both give away what the opponent lacked to"
            " go there, and the opponent gets the sum",
        ),
    )
