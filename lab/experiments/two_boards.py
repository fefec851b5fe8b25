"""A limit of theorem 5.3: subgames that are solved one by one give away more than its bound."""

from __future__ import annotations

from lab.continual.respond import Grouping, respond
from lab.experiments.figure9 import mistakes
from lab.experiments.measures import Duel, exactly
from lab.experiments.report import Claim, Figure, Report, Track, untracked
from lab.flat.registry import game_named
from responses.dial import exploitability_bound
from responses.methods import Gadget, cdrnr

P = 0.1
DEPTH = 1


def run(quick: bool = False, track: Track = untracked) -> Report:  # noqa: ARG001
    """CDRNR with the full gadget both ways, and with the resolving gadget."""
    game = game_named("two-boards")
    duel = Duel(game, mistakes(game))
    ways: dict[str, tuple[Gadget, Grouping]] = {
        "full, together": (Gadget.FULL, "level"),
        "full, one by one": (Gadget.FULL, "subgame"),
        "resolving, one by one": (Gadget.RESOLVING, "subgame"),
    }
    figures, safe = [], {}
    for name, (gadget, grouping) in track(list(ways.items())):
        response = respond(game, duel.model, cdrnr(P, gadget), DEPTH, exactly, grouping)
        exploitability, gain = duel.point(response)
        bound = exploitability_bound(gain, P)
        figures += [
            Figure(f"{name}: gain", gain),
            Figure(f"{name}: exploitability", exploitability),
            Figure(f"{name}: bound", bound),
        ]
        safe[name] = exploitability <= bound + 1e-9
    return Report(
        f"CDRNR with p = {P:g}: two subgames behind one choice of the opponent (our game)",
        "",
        tuple(figures),
        (
            Claim("solved together, they keep the bound of theorem 5.3", safe["full, together"]),
            Claim("solved one by one, as along the way of a game, they do not", not safe["full, one by one"]),
            Claim("with the resolving gadget they do, one by one, too", safe["resolving, one by one"]),
        ),
        notes=(
            "each solve counts with the other subgame as it was; both give away what the opponent lacked to"
            " go there, and the opponent gets the sum. The resolving gadget counts every loss",
        ),
    )
