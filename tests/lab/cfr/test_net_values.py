from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from lab.cfr.net import Fitting, fit
from lab.cfr.net_values import NetTraining, NetValues, RangeNet, error, roots_of, train
from lab.cfr.opponents import random_strategy
from lab.cfr.values import CfrValues
from lab.flat.game import FlatGame
from lab.flat.plans import plan_of
from lab.flat.registry import game_named
from numeric.arrays import F64, I64

TINY = NetTraining(examples=2, iterations=20, fitting=Fitting(hidden=8, epochs=2))


def test_a_net_learns_a_product() -> None:
    rng = np.random.default_rng(1)
    inputs = rng.uniform(-1.0, 1.0, size=(2000, 2))
    values = inputs.prod(axis=1, keepdims=True)
    net = fit(inputs[:1500], values[:1500], Fitting(hidden=64, epochs=100, batch=64), rng)
    wrong = net.values(inputs[1500:]) - values[1500:]
    assert wrong.std() < 0.1 * values.std()


def test_a_few_seconds_of_training_beat_the_mean() -> None:
    """The full training is to about 0.2."""
    net = train(game_named("leduc"), NetTraining(examples=50, iterations=200, fitting=Fitting(epochs=20)))
    assert error(net, NetTraining(examples=5), seed=2) < 0.6


def test_training_is_deterministic() -> None:
    game = game_named("leduc")
    one, same = train(game, TINY), train(game, TINY)
    other = train(game, replace(TINY, seed=2))
    for a, b, c in zip(one.net.weights, same.net.weights, other.net.weights, strict=True):
        assert (a == b).all()
        assert (a != c).any()


def test_values_add_up_to_nothing() -> None:
    game = game_named("leduc")
    net = train(game, TINY)
    seen = game.public.level < game.public.level.min() + 2
    reaches = tuple(plan_of(side, side.uniform()) for side in game.sides)
    ours, theirs = NetValues(net, seen).values((reaches[0], reaches[1]))
    assert np.abs(ours).max() > 0.0
    assert reaches[0] @ ours + reaches[1] @ theirs == pytest.approx(0.0, abs=1e-12)


@dataclass(frozen=True)
class Perfect:
    """Answers as a net would that made no errors."""

    game: FlatGame
    iterations: int

    @property
    def roots(self) -> object:
        return roots_of(self.game)

    def values(self, which: I64, ranges: tuple[F64, F64]) -> tuple[F64, F64]:
        roots = roots_of(self.game)
        found = np.zeros_like(ranges[0]), np.zeros_like(ranges[1])
        for row, root in enumerate(which.tolist()):
            solver = CfrValues(self.game, ~self.game.public.below(int(roots.place[root])), self.iterations)
            reaches = []
            for player, side in enumerate(self.game.sides):
                reach, entries = np.zeros(side.num_sequences), roots.entries[player][root]
                reach[entries[entries >= 0]] = ranges[player][row][entries >= 0]
                reaches.append(reach)
            for player, value in enumerate(solver.values((reaches[0], reaches[1]))):
                entries = roots.entries[player][root]
                found[player][row] = np.where(entries >= 0, value[entries], 0.0)
        return found


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("name", ["leduc", "goofspiel4"])
def test_ranges_go_in_and_values_come_out_where_they_belong(name: str, levels: int) -> None:
    game = game_named(name)
    seen = game.public.level < game.public.level.min() + levels
    turned = game.seen_by(1)
    reaches = (
        plan_of(game.sides[0], random_strategy(turned, 1)),
        plan_of(game.sides[1], random_strategy(game, 2)),
    )
    net: RangeNet = Perfect(game, 50)  # type: ignore[assignment]
    found = NetValues(net, seen).values(reaches)
    for ours, expected in zip(found, CfrValues(game, seen, 50).values(reaches), strict=True):
        # Rounding may decide whether a regret is 0, and so what CFR+ does next.
        np.testing.assert_allclose(ours, expected, atol=1e-3)
