"""Figures 4, 8 and 9: which of five actions each gadget can find, whatever p is."""

from __future__ import annotations

import numpy as np

from lab.exact.programs import solve_saddle
from lab.experiments.figure3 import always, below_gadget
from lab.experiments.report import Claim, Curve, Figure, Plot, Report, Track, untracked
from lab.flat.game import FlatGame
from lab.flat.plans import plan_of
from lab.flat.registry import game_named
from lab.flat.saddle import Saddle, whole_game
from lab.games.drawn import GAINS
from numeric.arrays import F64
from responses.methods import Gadget, Method

CASES = (
    ("breaks-max-margin", Gadget.FULL, 5),
    ("breaks-max-margin", Gadget.MAX_MARGIN, 2),
    ("breaks-max-margin", Gadget.REACH_MAX_MARGIN, 2),
    ("breaks-resolving", Gadget.FULL, 5),
    ("breaks-resolving", Gadget.RESOLVING, 2),
)
"""Game, gadget, and how many actions are found."""
_ACTIONS = len(GAINS)
_STEPS = 100


def run(quick: bool = False, track: Track = untracked) -> Report:  # noqa: ARG001
    """Solve each game for every p, and value every action."""
    figures, plots = [], []
    for name, gadget, published in track(CASES):
        game = game_named(name)
        found = {best_action(game, gadget, p) for p in np.linspace(0, 1, _STEPS + 1)[1:-1].tolist()}
        figures.append(Figure(f"{name}, {gadget.value} gadget", len(found), published))
        plots.append(_plot(game, name, gadget))
    return Report(
        "Milec, Kubicek and Lisy, figure 9: actions that are best for some p",
        "of 5",
        tuple(figures),
        (
            Claim(
                "the full gadget finds all five actions, max-margin and resolving two of them",
                all(figure.ours == figure.paper for figure in figures),
            ),
        ),
        tuple(plots),
        ("the pictures of both games are lost: these are built to have the property (lab/games/drawn.py)",),
    )


def best_action(game: FlatGame, gadget: Gadget, p: float) -> int:
    """The action that the response with a gadget plays most."""
    return int(np.argmax(solve_saddle(_problem(game, gadget, p)).strategy[1:]))


def value_of(game: FlatGame, gadget: Gadget, p: float, action: int) -> float:
    """What an action is worth to the response."""
    return solve_saddle(_problem(game, gadget, p, always(game, action))).value


def _problem(game: FlatGame, gadget: Gadget, p: float, ours: F64 | None = None) -> Saddle:
    model = plan_of(game.sides[1], mistakes(game))
    if gadget is not Gadget.FULL:
        return below_gadget(game, Method(p, gadget), ours, model)
    problem = whole_game(game, p, model)
    if ours is None:
        return problem
    return Saddle(game, ours, np.ones_like(problem.solved), model, problem.seen, p)


def mistakes(game: FlatGame) -> F64:
    """The model: always the last action."""
    side = game.sides[1]
    strategy = np.zeros(side.num_sequences)
    strategy[0] = 1.0
    strategy[side.first + side.count - 1] = 1.0
    return strategy


def _plot(game: FlatGame, name: str, gadget: Gadget) -> Plot:
    # Values are linear in p, so two points draw them.
    curves = [
        Curve(f"action {action + 1}", tuple((p, value_of(game, gadget, p, action)) for p in (0.0, 1.0)))
        for action in range(_ACTIONS)
    ]
    return Plot(f"{name}, {gadget.value}", "p", "value of the action", tuple(curves))
