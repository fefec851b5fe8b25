from __future__ import annotations

import numpy as np
import pytest

from lab.flat.compile import compile_game
from lab.flat.plans import plan_of
from lab.flat.registry import GAMES, game_named
from lab.games.drawn import Choice, DrawnGame

SMALL = [name for name in GAMES if name not in ("goofspiel5", "goofspiel6")]


@pytest.mark.parametrize("name", SMALL)
def test_parents_come_before_children(name: str) -> None:
    game = game_named(name)
    for side in game.sides:
        assert (side.parent < side.first).all()
        assert side.first.tolist() == (1 + np.cumsum(side.count) - side.count).tolist()
    assert (game.public.parent < np.arange(len(game.public.parent))).all()


@pytest.mark.parametrize("name", SMALL)
def test_all_plans_end_somewhere(name: str) -> None:
    """With any plans the probabilities of all terminals add up to 1."""
    game = game_named(name)
    one, other = (plan_of(side, side.uniform()) for side in game.sides)
    assert np.isclose((game.chance * one[game.row] * other[game.column]).sum(), 1.0)


def test_exchanging_players_turns_the_utilities() -> None:
    game = game_named("leduc")
    turned = game.seen_by(1)
    assert turned.sides == game.sides[::-1]
    assert (turned.payoff == -game.payoff).all()
    assert (turned.seen_by(1).payoff == game.payoff).all()


def test_a_forgetful_player_is_refused() -> None:
    forgetful = Choice(0, "first", (Choice(0, "second", (0.0, 1.0)), Choice(0, "second", (1.0, 0.0))))
    with pytest.raises(ValueError, match="one past"):
        compile_game(DrawnGame("forgetful", forgetful))


def test_unknown_games_are_named() -> None:
    with pytest.raises(ValueError, match="did you mean leduc"):
        game_named("leducc")
