from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.aivat.node_values import cached_node_values, compute_node_values, make_places, new_branches
from arena.aivat.self_play import Sums, play_deals, smooth_values
from game.definition import HUNL
from numeric.arrays import U8
from solver.blueprint.abstract_game import ListDealer, TrainingGame
from solver.blueprint.layout import Deals
from solver.training.presets import named_preset
from solver.training.toys import leduc
from tests.reference.self_play import self_play
from tests.solver.training_setups import small_dealer


def some_strategy(game: TrainingGame, seed: int) -> U8:
    """A random strategy in 255ths; some actions are never taken."""
    rng = np.random.default_rng(seed)
    strategy = np.zeros(game.table_size, dtype=np.uint8)
    for n in range(len(game.betting.base)):
        count, at = int(game.betting.num_actions[n]), int(game.betting.base[n])
        rows = rng.multinomial(255, rng.dirichlet(np.full(count, 0.4)), size=int(game.node_buckets[n])).T
        strategy[at : at + rows.size] = rows.reshape(-1)
    return strategy


def played(game: TrainingGame, deals: Deals, strategy: U8, least: float) -> Sums:
    places, ends = make_places(game)
    shape = (2, int(ends[-1]))
    sums = Sums(np.zeros(shape, np.float32), np.zeros(shape, np.float32))
    play_deals(game.betting, places, deals, strategy, least, sums, new_branches(game))
    return sums


@pytest.mark.kernel
def test_sums_match_the_reference() -> None:
    game, deals = leduc()
    rng = np.random.default_rng(2)
    outcome = rng.uniform(-1, 1, deals.outcome.shape).astype(np.float32)  # by round, as if dealt
    deals = Deals(deals.buckets[::7], outcome[::7])
    strategy = some_strategy(game, 1)
    places, _ = make_places(game)

    def chances(n: int, bucket: int) -> list[float]:
        at, count, buckets = (
            int(game.betting.base[n]),
            int(game.betting.num_actions[n]),
            int(game.node_buckets[n]),
        )
        rows = strategy[at : at + count * buckets].reshape(count, buckets)
        return [float(p) / 255 for p in rows[:, bucket]]

    sums = played(game, deals, strategy, least=0.0)
    expected = self_play(game, places, deals, chances)
    assert np.count_nonzero(sums.weight) == len(expected)
    for (place, player, bucket), (weight, value) in expected.items():
        at = int(places.base[place]) + bucket
        assert sums.weight[player, at] == pytest.approx(weight, rel=1e-4)
        assert sums.value[player, at] == pytest.approx(value, rel=1e-4, abs=1e-4)


def test_dropping_branches_changes_nothing_on_average() -> None:
    game, deals = leduc()
    many = Deals(np.tile(deals.buckets, (300, 1)), np.tile(deals.outcome, (300, 1)))
    strategy = some_strategy(game, 2)
    exact, dropped = played(game, deals, strategy, 0.0), played(game, many, strategy, 0.3)
    np.testing.assert_allclose(dropped.weight / 300, exact.weight, atol=0.3)
    root = slice(0, game.num_buckets[0])  # 120 deals: the mean of 300 times as many has a deviation of 0.02
    assert dropped.value[0, root].sum() / 36_000 == pytest.approx(exact.value[0, root].sum() / 120, abs=0.08)


@pytest.mark.kernel
def test_smoothing_matches_plain_loops() -> None:
    game, _ = leduc()
    places, ends = make_places(game)
    rng = np.random.default_rng(1)
    weight = rng.random((2, int(ends[-1]))).astype(np.float32)
    value = rng.normal(size=weight.shape).astype(np.float32)
    values, means = np.empty_like(weight), np.empty(len(ends), np.float32)
    smooth_values(places, ends, Sums(weight, value), 2, 0.5, values, means)
    for place, end in enumerate(ends.tolist()):
        first = int(places.base[place])
        mean = value[0, first:end].sum() / weight[0, first:end].sum()
        assert means[place] == pytest.approx(mean, rel=1e-4)
        size = -(-(end - first) // 2)
        for p in range(2):
            for at in range(first, end):
                near = slice(
                    first + (at - first) // size * size, min(first + (at - first) // size * size + size, end)
                )
                group = (value[p, near].sum() + 0.5 * mean) / (weight[p, near].sum() + 0.5)
                expected = (value[p, at] + 0.5 * group) / (weight[p, at] + 0.5)
                assert values[p, at] == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_root_value_is_the_profiles_value() -> None:
    game, deals = leduc()
    strategy = some_strategy(game, 3)
    values = compute_node_values(game, strategy, ListDealer(deals), deals=200_000, seed=5, threads=2)
    exact = played(game, deals, strategy, 0.0)
    base, size = int(values.places.base[0]), game.num_buckets[0]
    expected = exact.value[0, base : base + size].sum() / exact.weight[0, base : base + size].sum()
    assert values.means[0] == pytest.approx(expected, abs=0.05)


def test_places_cover_everything_before_the_river() -> None:
    """All nodes before the river, and the first river nodes."""
    game = named_preset("tiny").game()
    places, ends = make_places(game)
    rounds = game.betting.column % 4
    assert (places.of_node[rounds < 3] >= 0).all()
    starts = np.flatnonzero((places.of_node >= 0) & (rounds == 3))
    assert len(starts) == 27
    assert len(ends) == 6 + 18 + 54 + 27 + (3 + 9 + 27) + (2 + 6 + 18)
    assert game.unit == HUNL.big_blind


def test_values_are_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    game = named_preset("tiny").game()
    strategy = some_strategy(game, 4)
    first = cached_node_values(game, strategy, small_dealer(), deals=5_000)
    (path,) = tmp_path.rglob("*.values")
    again = cached_node_values(game, strategy, small_dealer(), deals=5_000)
    np.testing.assert_array_equal(first.values, again.values)
    np.testing.assert_array_equal(first.means, again.means)
    cached_node_values(game, some_strategy(game, 5), small_dealer(), deals=5_000)
    assert len(list(path.parent.iterdir())) == 2
