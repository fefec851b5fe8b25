"""Rollouts of adapted continuations: learned strategies, frozen, and biased copies of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from game.definition import HUNL
from game.hands import unblocked
from numeric.arrays import F32
from protocol.acpc import parse_betting
from solver.agent.agent import Agent
from solver.blueprint.file import Blueprint
from solver.decisions.decision import Method
from solver.decisions.settings import ADAPTED, ROLLOUTS, make_settings
from solver.depth_limited.solver import DepthLimitedSolver
from solver.equity.all_in import flop_wins
from solver.leaves.adapted_rollouts import AdaptedRollouts
from solver.leaves.flop_end import FlopEnd
from solver.leaves.learned import LearnedLeaves
from solver.leaves.rollouts import FOUR_STRATEGIES, ONE_STRATEGY, BlueprintRollouts
from tests.solver.leaves.test_learned import blueprint as blueprint
from tests.solver.leaves.test_learned import setting
from tests.solver.leaves.test_rollouts import FLOP

ITERATIONS = 30


def values(leaves: BlueprintRollouts, reach: F32) -> F32:
    """Values of the chooser's opponent, on the next run-out."""
    leaves.next_sample()
    found = np.zeros_like(reach)
    leaves.evaluate(False, reach, found)
    return found[:, : 1 + leaves.both_choose]


@pytest.mark.kernel
def test_one_continuation_plays_the_learned_strategies_frozen(blueprint: Blueprint) -> None:
    leaves, game = setting(blueprint, count=20)
    end = FlopEnd(blueprint, game, leaves, 0, flop_wins(FLOP, game.labels), seed=5)
    learned = LearnedLeaves(end)
    solver = DepthLimitedSolver(game, learned, 0)
    solver.solve(ITERATIONS)
    adapted = AdaptedRollouts(replace(end, seed=9), learned, ONE_STRATEGY)
    same_cards = LearnedLeaves(replace(end, seed=9))
    same_cards.words[:] = learned.words
    solver.solve(2 * ITERATIONS)
    assert (learned.words != same_cards.words).any()
    reach = np.zeros((len(leaves), 2, game.stride), dtype=np.float32)
    reach[:, :, : game.num_hands] = game.ranges[1]
    # The chooser's values are in the second row, the opponent's in the first.
    np.testing.assert_allclose(values(adapted, reach)[:, 1], values(same_cards, reach)[:, 0], rtol=1e-5)


def test_choosing_among_continuations_gains_value(blueprint: Blueprint) -> None:
    """Against the same opponent, the best of four continuations is at least as good as the first."""
    leaves, game = setting(blueprint, count=20)
    end = FlopEnd(blueprint, game, leaves, 0, flop_wins(FLOP, game.labels), seed=5)
    learned = LearnedLeaves(end)
    DepthLimitedSolver(game, learned, 0).solve(ITERATIONS)
    won = []
    for bias in (ONE_STRATEGY, FOUR_STRATEGIES):
        adapted = AdaptedRollouts(replace(end, seed=9), learned, bias)
        solver = DepthLimitedSolver(game, adapted, 0)
        solver.solve(1)
        won.append(float(solver.response_values(0, samples=200) @ game.ranges[0]))
    assert won[1] > won[0]


def test_agents_use_adapted_leaves_on_request(blueprint: Blueprint) -> None:
    betting = parse_betting(HUNL, "r300c/r500")
    found = {}
    for leaf, count in ((ADAPTED, 4), (ADAPTED, 1), (ROLLOUTS, 4)):
        agent = Agent(blueprint, make_settings(iterations=9, leaf=leaf, values=count))
        decision = agent.decide(betting, FLOP, None, seed=1)
        assert decision.method is Method.DEPTH_LIMITED
        probabilities = decision.strategy.probabilities
        np.testing.assert_allclose(probabilities.sum(axis=0)[unblocked(FLOP)], 1, rtol=1e-4)
        found[leaf, count] = probabilities
    assert not np.array_equal(found[ADAPTED, 4], found[ADAPTED, 1])
    assert not np.array_equal(found[ADAPTED, 4], found[ROLLOUTS, 4])
