from __future__ import annotations

import numpy as np
import pytest

from lab.cfr.opponents import random_strategy, unfinished, uniform
from lab.continual.local import local_best_response
from lab.exact.programs import equilibrium
from lab.flat.game import FlatGame
from lab.flat.plans import best_response, expected
from lab.flat.registry import game_named
from lab.games.leduc import CALL, FOLD, Leduc
from numeric.arrays import F64
from tests.reference import local_best_response as slow


def by_key(game: FlatGame, player: int, strategy: F64) -> dict[object, list[float]]:
    side = game.sides[player]
    return {
        key: strategy[first : first + count].tolist()
        for key, first, count in zip(side.keys, side.first, side.count, strict=True)
    }


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_that_of_the_slow_reference(seed: int, narrow: bool) -> None:
    game = game_named("leduc")
    model = random_strategy(game, seed)
    response = local_best_response(game, model, FOLD, CALL, narrow)
    assert by_key(game, 0, response) == slow.respond(Leduc(), by_key(game, 1, model), narrow)


@pytest.mark.parametrize("player", [0, 1])
def test_it_wins_from_weak_opponents_but_not_more_than_a_best_response(player: int) -> None:
    game = game_named("leduc").seen_by(player)
    value = equilibrium(game).value
    for model in (uniform(game), unfinished(game, 4), random_strategy(game, 3)):
        response = local_best_response(game, model, FOLD, CALL)
        assert value + 0.5 < expected(game, response, model) <= best_response(game, model)[0] + 1e-9


def test_without_narrowing_it_can_win_less_than_the_value() -> None:
    game = game_named("leduc")
    model, value = unfinished(game, 34), equilibrium(game).value
    assert expected(game, local_best_response(game, model, FOLD, CALL), model) > value
    assert expected(game, local_best_response(game, model, FOLD, CALL, narrow=False), model) < value


def test_actions_are_those_of_the_rules() -> None:
    side = game_named("leduc").sides[0]
    assert side.action[0] == -1
    assert np.isin(side.action[1:], [0, 1, 2]).all()
    assert (side.action == CALL).sum() == side.num_infosets
