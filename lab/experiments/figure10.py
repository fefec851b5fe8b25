"""Figure 10: a look ahead can win less than an equilibrium, because it expects no mistakes behind it."""

from __future__ import annotations

from lab.continual.respond import respond
from lab.exact.programs import equilibrium
from lab.experiments.measures import exactly
from lab.experiments.report import Claim, Figure, Report, Track, untracked
from lab.flat.game import FlatGame
from lab.flat.plans import best_response, expected
from lab.flat.registry import game_named
from numeric.arrays import F64
from responses.methods import cdbr

CURVES = False
DEPTH = 1
"""The look ahead ends before player 1 chooses what to pay."""
_NEAR = 1e-6


def run(quick: bool = False, track: Track = untracked) -> Report:  # noqa: ARG001
    """Respond to the model of appendix F."""
    game = game_named("pennies")
    model = spendthrift(game)
    nash = equilibrium(game)
    figures = (
        Figure("value of the game", nash.value, 1 / 2),
        Figure("CDBR", expected(game, respond(game, model, cdbr(), DEPTH, exactly), model), 2 / 3),
        Figure("equilibrium", expected(game, nash.strategy, model), 2.0),
        Figure("best response", best_response(game, model)[0], 10 / 3),
    )
    near = all(abs(figure.ours - (figure.paper or 0.0)) < _NEAR for figure in figures)
    return Report(
        "Milec, Kubicek and Lisy, figure 10: matching pennies with a twist, utility against the model",
        "",
        figures,
        (
            Claim(
                "all as published: CDBR wins more than the value of the game, but less than an equilibrium",
                near,
            ),
        ),
    )


def spendthrift(game: FlatGame) -> F64:
    """Heads with probability 2/3, and pays 10 after two tails."""
    side = game.sides[1]
    strategy = side.uniform()
    for key, odds in (("them", (2 / 3, 1 / 3)), ("two tails", (1.0, 0.0))):
        first = side.first[side.keys.index(key)]
        strategy[first : first + 2] = odds
    return strategy
