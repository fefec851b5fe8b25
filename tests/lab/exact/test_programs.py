from __future__ import annotations

import numpy as np
import pytest

from lab.cfr.opponents import random_strategy, uniform
from lab.exact.programs import best_equilibrium, equilibrium, restricted_nash, safe_response
from lab.flat.plans import best_response, expected, worst_case
from lab.flat.registry import game_named


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("leduc", -0.0856),  # verified by OpenSpiel (b-inary/postflop-solver, tests/leduc.rs)
        ("goofspiel4", 0.0),
        ("biased-rps", 0.0),
        ("rps-plus", 0.0),
        ("coin", 0.0),
        ("pennies", 0.5),
    ],
)
def test_values_are_as_published(name: str, value: float) -> None:
    answer = equilibrium(game_named(name))
    assert answer.value == pytest.approx(value, abs=1e-4)
    assert worst_case(game_named(name), answer.strategy) == pytest.approx(answer.value, abs=1e-7)


def test_rps_plus_is_played_as_published() -> None:
    """40 % rock and paper, 20 % scissors (Brown, Sandholm and Amos, 2018)."""
    assert np.allclose(equilibrium(game_named("rps-plus")).strategy[1:], [0.4, 0.4, 0.2])


@pytest.mark.parametrize(("name", "share"), [("leduc", 32.6), ("goofspiel4", 77.1)])
def test_the_best_equilibrium_wins_as_much_of_the_best_response_as_published(name: str, share: float) -> None:
    """Table 1 of Milec, Kubicek and Lisy, against uniformly random play."""
    game = game_named(name)
    value, model = equilibrium(game).value, uniform(game)
    best = best_equilibrium(game, model)
    assert worst_case(game, best.strategy) == pytest.approx(value, abs=1e-6)
    won = 100 * (best.value - value) / (best_response(game, model)[0] - value)
    assert won == pytest.approx(share, abs=0.06)


def test_the_dial_goes_from_an_equilibrium_to_a_best_response() -> None:
    game = game_named("leduc")
    model = random_strategy(game, 1)
    assert restricted_nash(game, model, 0.0).value == pytest.approx(equilibrium(game).value, abs=1e-7)
    assert restricted_nash(game, model, 1.0).value == pytest.approx(best_response(game, model)[0], abs=1e-7)


@pytest.mark.parametrize("name", ["leduc", "goofspiel4"])
def test_restricted_nash_responses_are_on_the_pareto_curve(name: str) -> None:
    """None with the same exploitability wins more (McCracken and Bowling, 2004)."""
    game = game_named(name)
    model, value = random_strategy(game, 2), equilibrium(game).value
    for p in (0.2, 0.5, 0.8):
        response = restricted_nash(game, model, p).strategy
        exploitability = value - worst_case(game, response)
        best = safe_response(game, model, exploitability)
        assert expected(game, response, model) == pytest.approx(best.value, abs=1e-5)
