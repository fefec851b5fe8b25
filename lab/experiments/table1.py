"""Table 1: how much of the best response's gain CDBR and the best equilibrium win from uniform play."""

from __future__ import annotations

from collections.abc import Callable

from lab.cfr.opponents import uniform
from lab.continual.respond import cfr_engine, respond
from lab.exact.programs import best_equilibrium, equilibrium
from lab.experiments.measures import Duel, exactly
from lab.experiments.report import Claim, Figure, Report, Track, untracked
from lab.flat.plans import best_response, expected
from lab.flat.registry import game_named
from responses.methods import cdbr
from responses.partition import Partition, by_level

CURVES = False
DEPTHS = (1, 3, 5)

PUBLISHED = {
    "leduc": (74.4, 96.0, 97.1, 32.6),
    "goofspiel4": (98.5, 100.0, 100.0, 77.1),
    "goofspiel5": (93.5, 100.0, 100.0, 50.4),
    "goofspiel6": (90.7, 100.0, 100.0, 45.9),
}
"""CDBR1, CDBR3, CDBR5 and BNE, in per cent."""

_NEAR = 2.0
"""Points within which a figure is reproduced."""
_BY_LINEAR_PROGRAM = ("leduc", "goofspiel4", "goofspiel5")
_ITERATIONS = 300
"""Of CFR+, for each step in the game that is too large for linear programs."""


def run(quick: bool = False, track: Track = untracked) -> Report:
    """Respond to uniform play in all games; the largest is left out if it has to be quick."""
    names = [name for name in PUBLISHED if not quick or name in _BY_LINEAR_PROGRAM]
    figures = [figure for name in track(names) for figure in row(name)]
    near = [figure for figure in figures if abs(figure.ours - (figure.paper or 0.0)) <= _NEAR]
    return Report(
        "Milec, Kubicek and Lisy, table 1: gain against uniform play, of that of the best response",
        "%",
        (*figures, *_readings()),
        (
            Claim(
                f"all {len(figures)} figures are within {_NEAR:g} points of the published ones",
                len(near) == len(figures),
            ),
        ),
        notes=(
            "a step looks at our action and n more, chance included, and only this action is kept; the other"
            " readings of `the number of actions CDBR was allowed to look at` give the lines below the table",
            "Goofspiel has a descending deck and counts points; player 0 responds",
        ),
    )


def row(name: str) -> list[Figure]:
    """The row of one game."""
    game = game_named(name)
    model = uniform(game)
    paper = PUBLISHED[name]
    small = name in _BY_LINEAR_PROGRAM
    # Goofspiel is symmetric: its value is 0.
    value = equilibrium(game).value if small else 0.0
    most = best_response(game, model)[0] - value
    found = []
    for depth, published in zip(DEPTHS, paper, strict=False):
        response = respond(game, model, cdbr(), depth, exactly if small else cfr_engine(_ITERATIONS))
        won = 100 * (expected(game, response, model) - value) / most
        found.append(Figure(f"{name} CDBR{depth}", won, published))
    safest = best_equilibrium(game, model, value)
    found.append(Figure(f"{name} BNE", 100 * (safest.value - value) / most, paper[-1]))
    return found


def _readings() -> list[Figure]:
    """What other readings of a step give in Leduc."""
    game = game_named("leduc")
    duel, tree = Duel(game, uniform(game)), game.public
    ours, moves = tree.actor == 0, tree.level - tree.stage()
    readings: dict[str, Callable[[int], Partition]] = {
        "chance not counted": lambda depth: by_level(moves, ours, depth),
        "steps do not overlap": lambda depth: by_level(
            tree.level - tree.level.min(), ours, depth, overlap=False
        ),
        "the own action counts": lambda depth: by_level(tree.level, ours, depth - 1),
    }
    found = []
    for name, partition in readings.items():
        for depth, published in zip(DEPTHS, PUBLISHED["leduc"], strict=False):
            response = respond(game, duel.model, cdbr(), partition(depth), exactly)
            found.append(
                Figure(f"leduc CDBR{depth}, {name}", 100 * duel.gain(response) / duel.most, published)
            )
    return found
