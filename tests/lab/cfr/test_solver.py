from __future__ import annotations

import numpy as np
import pytest

from lab.cfr.opponents import random_strategy, unfinished, uniform
from lab.cfr.solver import SaddleSolver
from lab.cfr.values import CfrValues
from lab.exact.programs import equilibrium, solve_saddle
from lab.flat.plans import best_response, plan_of
from lab.flat.registry import GAMES, game_named
from lab.flat.saddle import Saddle, whole_game
from tests.reference import histories as slow


def depth_limited(name: str, levels: int, p: float, seed: int = 1) -> Saddle:
    """The first step of a response to a random model."""
    game = game_named(name)
    level = game.public.level - game.public.level.min()
    nothing = np.zeros(len(level), dtype=np.bool_)
    model = plan_of(game.sides[1], random_strategy(game, seed))
    return Saddle(game, game.sides[0].uniform(), nothing, model, level < levels, p)


@pytest.mark.kernel
@pytest.mark.parametrize("name", ["biased-rps", "coin", "pennies"])
def test_plain_cfr_is_that_of_the_slow_reference(name: str) -> None:
    game = game_named(name)
    solver = SaddleSolver(whole_game(game), plus=False).run(7)
    for player, strategy in enumerate((solver.strategy(), solver.their_strategy())):
        known = slow.average_after(GAMES[name](), 7)[player]
        side = game.sides[player]
        for key, first, count in zip(side.keys, side.first.tolist(), side.count.tolist(), strict=True):
            assert strategy[first : first + count] == pytest.approx(known[key])


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("name", "levels"), [("leduc", 2), ("leduc", 4), ("goofspiel4", 3), ("biased-rps", 2)]
)
def test_cfr_solves_what_the_linear_program_solves(name: str, levels: int, p: float) -> None:
    problem = depth_limited(name, levels, p)
    solver = SaddleSolver(problem).run(2000)
    exact = solve_saddle(problem).value
    assert solver.answer().value == pytest.approx(exact, abs=1e-3)
    assert solver.answer().value <= exact + 1e-9 <= solver.possible() + 2e-9


def test_what_is_solved_stays() -> None:
    """The second step, in both solvers."""
    first = depth_limited("leduc", 2, 0.5)
    level = first.game.public.level - 2
    solved = (level < 1) & (first.game.public.actor == 0)
    second = Saddle(first.game, equilibrium(first.game).strategy, solved, first.model, level < 4, 0.5)
    exact, found = solve_saddle(second), SaddleSolver(second).run(1000)
    kept = first.game.sides[0].sequences_in(second.bound)
    assert (found.strategy()[kept] == second.ours[kept]).all()
    assert np.allclose(exact.strategy[kept], second.ours[kept])
    assert found.answer().value == pytest.approx(exact.value, abs=1e-3)


@pytest.mark.parametrize(("name", "levels"), [("goofspiel4", 4), ("biased-rps", 2)])
def test_cfr_as_value_function_stands_for_solving_everything(name: str, levels: int) -> None:
    problem = depth_limited(name, levels, 0.5)
    found = SaddleSolver(problem, CfrValues(problem.game, problem.seen, 100)).run(200).strategy()
    # What the strategy above the depth limit is worth with the best continuation.
    bound = Saddle(problem.game, found, problem.seen, problem.model, problem.seen, problem.p)
    assert solve_saddle(bound).value == pytest.approx(solve_saddle(problem).value, abs=0.01)


def test_few_iterations_are_exploitable_and_many_are_not() -> None:
    game = game_named("leduc")
    gains = [best_response(game, unfinished(game, n))[0] for n in (1, 10, 100)]
    assert gains[0] > gains[1] > gains[2] > equilibrium(game).value
    assert np.allclose(unfinished(game, 1), uniform(game))


@pytest.mark.kernel
def test_the_value_function_knows_what_a_mistake_would_pay() -> None:
    """After two tails player 1 pays 1, not 10; both players agree on the sum."""
    game = game_named("pennies")
    seen = game.public.level < 2
    uniform_plans = (
        plan_of(game.sides[0], game.sides[0].uniform()),
        plan_of(game.sides[1], game.sides[1].uniform()),
    )
    ours, theirs = CfrValues(game, seen, 200).values(uniform_plans)
    tails = (2, 2)  # sequences of both players
    assert ours[tails[0]] == pytest.approx(0.5, abs=1e-3)
    assert theirs[tails[1]] == pytest.approx(-0.5, abs=1e-3)
    assert np.count_nonzero(ours) == np.count_nonzero(theirs) == 1
