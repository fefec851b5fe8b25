"""A limit of theorem 5.3: it is for one growing trunk, not for answers that are joined from many ways."""

from __future__ import annotations

from lab.cfr.opponents import uniform
from lab.continual.respond import respond
from lab.experiments.figure9 import mistakes
from lab.experiments.measures import Duel, exactly
from lab.experiments.report import Claim, Figure, Report, Track, untracked
from lab.flat.registry import game_named
from responses.dial import exploitability_bound
from responses.methods import Gadget, cdrnr
from responses.partition import Partition, by_level, by_subgame

CURVES = False
P = 0.1
DEPTH = 1
_ROUNDING = 1e-6
_TOGETHER, _GROWING, _ALONE = "by level", "in a growing trunk", "each on its own way"
_CASES = (
    ("two-boards", Gadget.FULL, _TOGETHER),
    ("two-boards", Gadget.FULL, _GROWING),
    ("two-boards", Gadget.FULL, _ALONE),
    ("two-boards", Gadget.RESOLVING, _ALONE),
    ("leduc", Gadget.FULL, _ALONE),
    ("leduc", Gadget.RESOLVING, _ALONE),
)
"""Game, gadget, and how subgames are solved."""

Case = tuple[str, Gadget, str]


def run(quick: bool = False, track: Track = untracked) -> Report:  # noqa: ARG001
    """CDRNR with the full gadget in all ways, and with the resolving gadget."""
    duels = {name: _duel(name) for name, _, _ in _CASES}
    figures, safe = [], {}
    for case in track(_CASES):
        name, gadget, way = case
        duel = duels[name]
        response = respond(duel.game, duel.model, cdrnr(P, gadget), _partition(duel, way), exactly)
        exploitability, gain = duel.point(response)
        bound = exploitability_bound(gain, P)
        words = f"{name}, {gadget.value}, {way}"
        figures += [
            Figure(f"{words}: gain", gain),
            Figure(f"{words}: exploitability", exploitability),
            Figure(f"{words}: bound", bound),
        ]
        safe[case] = exploitability <= bound + _ROUNDING
    return Report(
        f"CDRNR with p = {P:g}: two subgames behind one choice of the opponent (our game), and Leduc",
        "",
        tuple(figures),
        (
            _claim("solved by level, subgames keep the bound of theorem 5.3", safe, Gadget.FULL, _TOGETHER),
            _claim("one by one in a growing trunk they keep it, too", safe, Gadget.FULL, _GROWING),
            _claim("joined from solves on their own ways they miss it", safe, Gadget.FULL, _ALONE, False),
            _claim("with the resolving gadget such answers keep it", safe, Gadget.RESOLVING, _ALONE),
        ),
        notes=(
            "on its own way a solve knows nothing of what others decide, and takes play there to be optimal;"
            " both give away what the opponent lacked to go there, and the opponent gets the sum. The"
            " resolving gadget counts every loss",
        ),
    )


def _claim(words: str, safe: dict[Case, bool], gadget: Gadget, way: str, expected: bool = True) -> Claim:
    """A claim about all games that were solved in a way."""
    return Claim(words, all(kept is expected for case, kept in safe.items() if case[1:] == (gadget, way)))


def _duel(name: str) -> Duel:
    game = game_named(name)
    return Duel(game, mistakes(game) if name == "two-boards" else uniform(game))


def _partition(duel: Duel, way: str) -> Partition:
    tree = duel.game.public
    ours = tree.actor == 0
    if way == _TOGETHER:
        return by_level(tree.level, ours, DEPTH)
    return by_subgame(tree.parent, tree.level, ours, DEPTH, growing=way == _GROWING)
