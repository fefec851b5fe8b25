from __future__ import annotations

import numpy as np
import pytest

from lab.cfr.opponents import random_strategy
from lab.flat.game import FlatGame
from lab.flat.plans import best_response, expected, plan_of, strategy_of, worst_case
from lab.flat.registry import GAMES, game_named
from numeric.arrays import F64
from tests.reference import histories as slow

pytestmark = pytest.mark.kernel


def by_key(game: FlatGame, player: int, strategy: F64) -> slow.Strategy:
    side = game.sides[player]
    return {
        key: strategy[first : first + count].tolist()
        for key, first, count in zip(side.keys, side.first.tolist(), side.count.tolist(), strict=True)
    }


def both(game: FlatGame, seed: int) -> tuple[F64, F64]:
    return random_strategy(game.seen_by(1), seed), random_strategy(game, seed + 1)


@pytest.mark.parametrize("name", ["biased-rps", "coin", "leduc", "liars-dice4"])
def test_expected_utility_is_the_sum_over_histories(name: str) -> None:
    game = game_named(name)
    ours, theirs = both(game, 1)
    known = slow.expected(GAMES[name](), (by_key(game, 0, ours), by_key(game, 1, theirs)))
    assert np.isclose(expected(game, ours, theirs), known)


@pytest.mark.parametrize("name", ["leduc", "goofspiel4"])
def test_no_strategy_beats_the_best_response(name: str) -> None:
    game = game_named(name)
    theirs = random_strategy(game, 1)
    value, response = best_response(game, theirs)
    assert np.isclose(expected(game, response, theirs), value)
    for seed in range(2, 6):
        assert expected(game, random_strategy(game.seen_by(1), seed), theirs) < value


def test_uniform_play_in_leduc_loses_as_published() -> None:
    """NashConv 4.747222 of the uniform strategies (OpenSpiel, exploitability_test.py)."""
    game = game_named("leduc")
    one, other = (side.uniform() for side in game.sides)
    assert np.isclose(best_response(game, other)[0] - worst_case(game, one), 4.747222, atol=1e-6)


def test_plans_and_strategies_are_two_ways_to_say_the_same() -> None:
    side = game_named("leduc").sides[0]
    strategy = random_strategy(game_named("leduc").seen_by(1), 3)
    assert np.allclose(strategy_of(side, plan_of(side, strategy)), strategy)
