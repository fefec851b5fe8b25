"""Figure 3: what the gadgets make of a bad action in the coin game, and what it really costs."""

from __future__ import annotations

import numpy as np

from lab.continual.gadgets import gadget_problem
from lab.exact.programs import equilibrium, solve_saddle
from lab.experiments.report import Claim, Figure, Report, Track, untracked
from lab.flat.game import FlatGame
from lab.flat.plans import worst_case
from lab.flat.registry import game_named
from lab.flat.saddle import Saddle
from numeric.arrays import F64
from responses.methods import Gadget, Method
from responses.partition import by_subgame

CURVES = False
PUBLISHED = {Gadget.RESOLVING: -3.5, Gadget.MAX_MARGIN: -2.0, Gadget.REACH_MAX_MARGIN: -2.0}
FULL = -3.0


def run(quick: bool = False, track: Track = untracked) -> Report:  # noqa: ARG001
    """Play (P), where quitting is the equilibrium."""
    game = game_named("coin")
    play = always(game, 0)
    figures = [Figure("full gadget", worst_case(game, play), FULL)]
    for gadget in track(list(PUBLISHED)):
        worth = solve_saddle(below_gadget(game, Method(0.0, gadget), play)).value
        figures.append(Figure(f"{gadget.value} gadget", worth, PUBLISHED[gadget]))
    right = all(abs(figure.ours - (figure.paper or 0.0)) < 1e-6 for figure in figures)
    return Report(
        "Milec, Kubicek and Lisy, figure 3: utility of action P in the coin game, as gadgets see it",
        "",
        tuple(figures),
        (Claim("resolving overestimates what the action costs and max-margin underestimates it", right),),
        notes=(
            "the picture is lost: utilities follow from the text as far as it says them (lab/games/drawn.py)",
        ),
    )


def always(game: FlatGame, action: int) -> F64:
    """The strategy of one action, in a game in which player 0 acts once."""
    strategy = np.zeros(game.sides[0].num_sequences)
    strategy[[0, 1 + action]] = 1.0
    return strategy


def below_gadget(game: FlatGame, method: Method, ours: F64 | None = None, model: F64 | None = None) -> Saddle:
    """Player 0's decision below a gadget with the equilibrium's values; bound to a strategy if given."""
    tree = game.public
    partition = by_subgame(tree.parent, tree.level, tree.actor == 0, int(tree.level.max()))
    reaches = np.zeros(game.sides[1].num_sequences) if model is None else model
    step = partition.at(partition.places[0])
    problem = gadget_problem(game, step, equilibrium(game).strategy, reaches, method)
    if ours is None:
        return problem
    return Saddle(problem.game, ours, np.ones_like(problem.solved), problem.model, problem.seen, method.p)
