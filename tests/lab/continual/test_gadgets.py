"""The coin game of figure 3 and the two games of figure 8 (Milec, Kubicek and Lisy)."""

from __future__ import annotations

import numpy as np
import pytest

from lab.continual.gadgets import alternatives, cut, gadget_problem, gifts
from lab.exact.programs import equilibrium, solve_saddle
from lab.flat.game import FlatGame
from lab.flat.plans import plan_of, worst_case
from lab.flat.registry import game_named
from lab.flat.saddle import Saddle
from numeric.arrays import F64
from responses.methods import Gadget, Method
from responses.partition import Part, by_subgame


def our_step(game: FlatGame) -> Part:
    tree = game.public
    partition = by_subgame(tree.parent, tree.level, tree.actor == 0, 100)
    return partition.at(partition.places[0])


def pure(game: FlatGame, action: int) -> F64:
    strategy = np.zeros(game.sides[0].num_sequences)
    strategy[[0, 1 + action]] = 1.0
    return strategy


def worth(game: FlatGame, gadget: Gadget, strategy: F64) -> float:
    """What a strategy gets below a gadget whose alternatives are those of an equilibrium."""
    before = equilibrium(game).strategy
    problem = gadget_problem(
        game, our_step(game), before, np.zeros(game.sides[1].num_sequences), Method(0.0, gadget)
    )
    bound = Saddle(problem.game, strategy, np.ones_like(problem.solved), problem.model, problem.seen, 0.0)
    return solve_saddle(bound).value


@pytest.mark.parametrize(
    ("gadget", "utility"),
    [(Gadget.RESOLVING, -3.5), (Gadget.MAX_MARGIN, -2.0), (Gadget.REACH_MAX_MARGIN, -2.0)],
)
def test_gadgets_misjudge_the_coin_game_as_published(gadget: Gadget, utility: float) -> None:
    game = game_named("coin")
    assert worth(game, gadget, pure(game, 0)) == pytest.approx(utility)
    assert worth(game, gadget, pure(game, 1)) == pytest.approx(0.0)


def test_the_full_gadget_judges_it_rightly() -> None:
    game = game_named("coin")
    assert worst_case(game, pure(game, 0)) == pytest.approx(-3.0)


def test_a_subgame_keeps_the_private_states_apart() -> None:
    game = game_named("coin")
    subgame = cut(game, our_step(game).root or 0, Gadget.RESOLVING)
    assert len(subgame.entries) == 4
    assert alternatives(subgame, plan_of(game.sides[0], pure(game, 0))).tolist() == [-2.0, -0.5, -1.0, 4.0]


def test_mistakes_on_the_way_are_gifts() -> None:
    """Heads costs us 2 (1) counterfactually, tails 0.5 (-4): showing tails gives up 1.5 (5)."""
    game = game_named("coin")
    plan = plan_of(game.sides[0], pure(game, 0))
    subgame = cut(game, our_step(game).root or 0, Gadget.MAX_MARGIN)
    assert gifts(game, subgame, plan).tolist() == pytest.approx([0.0, 1.5, 0.0, 5.0])
