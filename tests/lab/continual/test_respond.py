from __future__ import annotations

import numpy as np
import pytest

from lab.cfr.net import Fitting
from lab.cfr.net_values import NetTraining, train
from lab.cfr.opponents import random_strategy, unfinished, uniform
from lab.cfr.solver import SaddleSolver
from lab.continual.respond import FlatStepSolver, Grouping, cfr_engine, net_engine, respond
from lab.exact.programs import equilibrium, restricted_nash, solve_saddle
from lab.flat.game import FlatGame
from lab.flat.plans import best_response, expected, plan_of, worst_case
from lab.flat.registry import game_named
from lab.flat.saddle import Saddle
from numeric.arrays import F64
from responses.continual import ContinualResponse
from responses.dial import exploitability_bound
from responses.methods import Gadget, Method, cdbr, cdrnr, ses
from responses.partition import by_level, by_subgame

GAMES = ["leduc", "goofspiel4", "biased-rps"]


def exact(problem: Saddle) -> F64:
    return solve_saddle(problem).strategy


def opponents(game: FlatGame) -> list[F64]:
    return [uniform(game), unfinished(game, 5), random_strategy(game, 1)]


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("name", [*GAMES, "pennies"])
def test_cdbr_never_wins_less_than_the_value(name: str, depth: int) -> None:
    game = game_named(name)
    value = equilibrium(game).value
    for model in opponents(game):
        response = respond(game, model, cdbr(), depth, exact)
        assert value - 1e-6 <= expected(game, response, model) <= best_response(game, model)[0] + 1e-6


def test_cdbr_can_win_less_than_an_equilibrium() -> None:
    """Appendix F: 2/3, the equilibrium 2, the best response 10/3."""
    game = game_named("pennies")
    side = game.sides[1]
    model = uniform(game)
    for key, odds in (("them", (2 / 3, 1 / 3)), ("two tails", (1.0, 0.0))):
        first = side.first[side.keys.index(key)]
        model[first : first + 2] = odds
    response = respond(game, model, cdbr(), 1, exact)
    assert expected(game, response, model) == pytest.approx(2 / 3)
    assert expected(game, equilibrium(game).strategy, model) == pytest.approx(2.0)
    assert best_response(game, model)[0] == pytest.approx(10 / 3)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("name", GAMES)
def test_the_bound_on_exploitability_holds(name: str, p: float) -> None:
    """Theorem 5.3, with all decisions of a level solved together; and theorem 5.2."""
    game = game_named(name)
    value = equilibrium(game).value
    for model in opponents(game):
        response = respond(game, model, cdrnr(p), 1, exact)
        gain = expected(game, response, model) - value
        exploitability = value - worst_case(game, response)
        assert gain >= -1e-6
        assert exploitability <= exploitability_bound(gain, p) + 1e-6


def test_on_ways_of_their_own_subgames_miss_the_bound() -> None:
    """Greed on one of two boards is free, and each solve takes it; greed on both costs 1."""
    game = game_named("two-boards")
    side, model = game.sides[1], uniform(game)
    model[side.first], model[side.first + 1] = 0.0, 1.0
    assert equilibrium(game).value == pytest.approx(-1.0)
    together = respond(game, model, cdrnr(0.1), 1, exact)
    assert worst_case(game, together) == pytest.approx(-1.0)
    assert expected(game, together, model) == pytest.approx(0.5)
    tree = game.public
    growing = by_subgame(tree.parent, tree.level, tree.actor == 0, 1, growing=True)
    assert worst_case(game, respond(game, model, cdrnr(0.1), growing, exact)) == pytest.approx(-1.0)
    apart = respond(game, model, cdrnr(0.1), 1, exact, "subgame")
    assert expected(game, apart, model) == pytest.approx(1.0)
    assert worst_case(game, apart) == pytest.approx(-2.0)
    assert exploitability_bound(1.0 + 1.0, 0.1) < 1.0


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("p", [0.1, 0.5])
@pytest.mark.parametrize("name", [*GAMES, "two-boards"])
def test_with_the_resolving_gadget_the_bound_holds_subgame_by_subgame(name: str, p: float, seat: int) -> None:
    """It adds up what each private state loses in each subgame, which is at least what the opponent wins."""
    game = game_named(name).seen_by(seat)
    value = equilibrium(game).value
    for model in opponents(game):
        response = respond(game, model, cdrnr(p, Gadget.RESOLVING), 1, exact)
        gain = expected(game, response, model) - value
        assert gain >= -1e-6
        assert value - worst_case(game, response) <= exploitability_bound(gain, p) + 1e-6


@pytest.mark.parametrize(
    ("gadget", "grouping"),
    [(gadget, "level" if gadget is Gadget.FULL else "subgame") for gadget in Gadget],
)
def test_without_trust_all_gadgets_are_safe(gadget: Gadget, grouping: Grouping) -> None:
    """The full one by level only: on ways of their own it is safe or not, by which optimum is found."""
    game = game_named("leduc")
    value = equilibrium(game).value
    response = respond(game, uniform(game), cdrnr(0.0, gadget), 1, exact, grouping)
    assert worst_case(game, response) == pytest.approx(value, abs=1e-6)


def test_gadgets_for_one_subgame_refuse_steps_of_several() -> None:
    game = game_named("leduc")
    model, tree = uniform(game), game.public
    levels = by_level(tree.level, tree.actor == 0, 1)
    with pytest.raises(ValueError, match=r"max-margin gadget is for one subgame.*use by_subgame"):
        respond(game, model, ses(0.5), levels, exact)
    with pytest.raises(ValueError, match=r"grouping 'level': the resolving gadget"):
        respond(game, model, cdrnr(0.5, Gadget.RESOLVING), 1, exact, "level")
    with pytest.raises(ValueError, match=r"grouping 'subgame': a partition says itself"):
        respond(game, model, cdrnr(0.5), levels, exact, "subgame")


def test_what_is_no_model_is_refused() -> None:
    game = game_named("leduc")
    model = uniform(game)
    negative = model.copy()
    negative[1:3] = (-1.0, 2.0)
    for wrong, words in (
        (game_named("goofspiel4").sides[1].uniform(), r"has \d+ numbers, one per sequence"),
        (model[:-1], "one per sequence"),
        (model * 7, "add up to 7, not to 1"),
        (np.full_like(model, np.nan), "add up to nan"),
        (negative, "a probability is -1"),
    ):
        with pytest.raises(ValueError, match=words):
            respond(game, wrong, cdbr(), 1, exact)
    with pytest.raises(ValueError, match="depth -1"):
        respond(game, model, cdbr(), -1, exact)


@pytest.mark.parametrize("iterations", [0, -3])
def test_no_iterations_are_refused(iterations: int) -> None:
    with pytest.raises(ValueError, match="at least 1 is needed"):
        unfinished(game_named("coin"), iterations)
    with pytest.raises(ValueError, match="at least 1 is needed"):
        cfr_engine(iterations)
    with pytest.raises(ValueError, match="at least 1 is needed"):
        cfr_engine(10, iterations)


def test_without_a_depth_limit_it_is_the_restricted_nash_response() -> None:
    game = game_named("leduc")
    model, p = random_strategy(game, 1), 0.4
    response = respond(game, model, cdrnr(p), 100, exact)
    mixed = p * expected(game, response, model) + (1 - p) * worst_case(game, response)
    assert mixed == pytest.approx(restricted_nash(game, model, p).value, abs=1e-6)


def test_ses_wins_nothing_where_only_moves_are_hidden() -> None:
    """Appendix G: reaches say nothing in repeated rock, paper, scissors; CDRNR wins against the moves."""
    game = game_named("biased-rps")
    model = random_strategy(game, 1)
    assert expected(game, respond(game, model, ses(0.9), 1, exact), model) < 0.2
    assert expected(game, respond(game, model, cdrnr(0.9), 1, exact), model) > 0.5


@pytest.mark.parametrize(
    "method",
    [cdbr(), cdrnr(0.3), cdrnr(0.3, Gadget.RESOLVING), cdrnr(0.3, Gadget.REACH_MAX_MARGIN), ses(0.5)],
)
@pytest.mark.parametrize("name", ["leduc", "goofspiel4"])
def test_every_step_by_cfr_agrees_with_the_linear_program(name: str, method: Method) -> None:
    """From the same steps before, the answers are worth the same."""
    game = game_named(name)
    model = random_strategy(game, 2)
    worth: list[tuple[float, float]] = []

    def both(problem: Saddle) -> F64:
        worth.append((SaddleSolver(problem).run(1000).answer().value, solve_saddle(problem).value))
        return exact(problem)

    respond(game, model, method, 1, both)
    assert len(worth) > 2
    found, known = np.array(worth).T
    assert np.abs(found - known).max() < 1e-3


def test_cfr_alone_wins_what_the_linear_programs_win() -> None:
    game = game_named("goofspiel4")
    model = uniform(game)
    by_cfr = respond(game, model, cdbr(), 1, cfr_engine(1000))
    assert expected(game, by_cfr, model) == pytest.approx(
        expected(game, respond(game, model, cdbr(), 1, exact), model), abs=0.01
    )


def test_a_response_can_be_asked_on_one_way_only() -> None:
    """As at a table: the answers agree with the whole strategy, and only steps on the way are solved."""
    game = game_named("goofspiel4")
    model, tree = uniform(game), game.public
    solved = []

    def counting(problem: Saddle) -> F64:
        solved.append(problem)
        return exact(problem)

    partition = by_level(tree.level, tree.actor == 0, 1)
    response = ContinualResponse(partition, FlatStepSolver(game, model, cdrnr(0.5), counting))
    places = partition.places
    first = response.at(places[0])
    assert len(solved) == 1
    whole = respond(game, model, cdrnr(0.5), 1, exact)
    here = game.sides[0].sequences_in(game.sides[0].public == places[0])
    assert np.allclose(first[here], whole[here])
    assert plan_of(game.sides[0], first)[0] == 1.0


def test_a_roughly_trained_net_is_good_enough_to_win() -> None:
    """CDBRNN: a net of a few seconds wins most of what CDBR1 does."""
    game = game_named("leduc")
    net = train(game, NetTraining(examples=50, iterations=200, fitting=Fitting(epochs=20)))
    value = equilibrium(game).value
    for model in opponents(game):
        by_net, by_program = (
            expected(game, respond(game, model, cdbr(), 1, engine), model) - value
            for engine in (net_engine(net, 300), exact)
        )
        assert by_net > 0.6 * by_program
