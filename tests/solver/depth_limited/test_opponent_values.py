"""The leaf table of the first round against plain recursion, and the responses it is made from."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from game.hands import NUM_CLASSES
from solver.blueprint.abstract_game import ListDealer, make_training_game, new_deals
from solver.blueprint.file import add_tables, open_blueprint
from solver.depth_limited import opponent_values
from solver.depth_limited.kernels.leaf_tables import Strategies, value_leaves
from solver.depth_limited.opponent_values import (
    ValueSettings,
    make_opponent_values,
    pack_values,
    read_values,
    weaken,
)
from solver.depth_limited.preflop import LeafTable
from solver.equity.class_pairs import class_pairs
from solver.training.deal_response import respond
from solver.training.deals import HoldemDealer
from solver.training.toys import kuhn
from solver.training.trainer import Trainer, TrainingSettings, make_plan
from tests.arena.blueprints import TINY, made_up_blueprint, made_up_tables
from tests.reference.leaf_values import play_out


def even_wins() -> np.ndarray:
    """A stand-in for all-in results, which would be counted over all boards."""
    order = np.arange(NUM_CLASSES, dtype=np.float32)
    return (np.sign(order[:, None] - order[None, :]) * np.float32(0.3)).astype(np.float32)


@pytest.fixture(autouse=True)
def quick_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("solver.depth_limited.opponent_values", "solver.depth_limited.preflop"):
        monkeypatch.setattr(f"{module}.class_wins", even_wins)


@pytest.mark.kernel
@pytest.mark.parametrize("chooser", [0, 1])
def test_leaf_values_match_plain_recursion(tmp_path: Path, chooser: int) -> None:
    blueprint, other = (made_up_blueprint(tmp_path, TINY, seed, spread=0.1) for seed in (1, 2))
    game = make_training_game(blueprint.tree, blueprint.num_buckets, 100.0)
    leaves, nodes = opponent_values._leaves(game)
    assert len(nodes) == len(set(nodes)) > 1
    deals = new_deals(3, 4)
    rng = np.random.default_rng(3)
    deals.buckets[:] = rng.integers(0, 8, deals.buckets.shape)
    deals.outcome[:] = rng.uniform(-1, 1, deals.outcome.shape)
    ours, theirs = blueprint.table(), [blueprint.table(), other.table()]
    to_bytes = partial(opponent_values._bytes, game)
    together = np.stack([to_bytes(table) for table in theirs], axis=-1).reshape(-1)
    strategies = Strategies(chooser, 2, game.betting.base, to_bytes(ours), np.ascontiguousarray(together))
    sums = np.zeros((len(nodes), 2, NUM_CLASSES, NUM_CLASSES))
    counts = np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64)
    work = np.zeros(2 * len(game.betting.base), dtype=np.float32)
    listed = np.zeros((2, len(game.betting.base)), dtype=np.int32)
    value_leaves(game.betting, leaves, strategies, deals, work, listed, sums, counts)
    assert counts.sum() == 3
    expected = np.zeros_like(sums)
    sign = -1 if chooser == 0 else 1
    for d in range(3):
        own, his = deals.buckets[d, 4 * (1 - chooser)], deals.buckets[d, 4 * chooser]
        for k in range(2):
            both = (theirs[k], ours) if chooser == 0 else (ours, theirs[k])
            for leaf, first in enumerate(leaves.first):
                expected[leaf, k, own, his] += sign * play_out(game, deals, d, int(first), both)
    np.testing.assert_allclose(sums, expected, atol=2e-3)


def test_weakened_strategies_gain_nothing_on_the_blueprint() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0, 5, (2, 3, NUM_CLASSES, NUM_CLASSES)).astype(np.float32)
    reach = rng.uniform(0, 1, (2, NUM_CLASSES))
    weakened = weaken(values, reach)
    pairs = class_pairs()
    for leaf in range(2):
        gets = [-(reach[leaf] @ (pairs * weakened[leaf, k])) for k in range(3)]
        met = reach[leaf] @ pairs
        for k in (1, 2):
            assert ((gets[k] - gets[0]) / met).max() < 1e-3
    np.testing.assert_array_equal(weakened[:, 0], values[:, 0])
    assert (weakened >= values - 1e-6).all()


@pytest.mark.parametrize("learner", [0, 1])
def test_only_the_learner_changes_and_finds_a_best_response(learner: int) -> None:
    game, deals = kuhn()
    plan = make_plan(TrainingSettings(prune_from=1.0), 1, 20_000)
    trainer = Trainer(game, ListDealer(deals), plan, learner=learner)
    is_fixed = opponent_values._element_player(game) != learner
    rng = np.random.default_rng(2)
    trainer.regret[is_fixed] = rng.uniform(0.5, 1, int(is_fixed.sum()))
    before = trainer.regret.copy()
    fixed = trainer.average_strategy()  # no sums yet, so this is the current strategy
    while not trainer.is_done:
        trainer.run_slice()
    ratio = trainer.regret[is_fixed] / before[is_fixed]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)
    trainer.sums[:] = 0
    learned = trainer.average_strategy()
    both = (learned, fixed) if learner == 0 else (fixed, learned)
    won = np.mean([play_out(game, deals, d, 0, both) for d in range(len(deals.outcome))])
    best, sign = respond(game, fixed, deals).fitted[learner], -1.0 if learner else 1.0
    assert won * sign == pytest.approx(best, abs=0.01)
    plain = np.mean([play_out(game, deals, d, 0, (fixed, fixed)) for d in range(len(deals.outcome))])
    assert best - plain * sign > 0.1  # there was something to learn


def test_table_is_stored_in_its_blueprint(tmp_path: Path) -> None:
    blueprint = made_up_blueprint(tmp_path, TINY)
    assert read_values(blueprint) is None
    settings = ValueSettings(strategies=3, response_iterations=2_000, deals=2_000, solve_iterations=5)
    said: list[tuple[str, float]] = []
    tables = make_opponent_values(
        blueprint, HoldemDealer(made_up_tables()), settings, lambda *told: said.append(told)
    )
    assert any("strategy 3" in text for text, _ in said)
    shares = [share for _, share in said]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert tables[0].values.shape == (len(tables[0].nodes), 3, NUM_CLASSES, NUM_CLASSES)
    # The response differs from the blueprint.
    assert np.abs(tables[0].values[:, 1] - tables[0].values[:, 0]).max() > 0.1
    path = tmp_path / "with-values.blueprint"
    add_tables(blueprint.path, path, pack_values(tables))
    again = read_values(open_blueprint(path, verify=True))
    assert again is not None
    for before, after in zip(tables, again, strict=True):
        assert isinstance(after, LeafTable)
        assert after.nodes == before.nodes
        step = np.abs(before.values).max(axis=-1, keepdims=True) / 127
        assert (np.abs(after.values - before.values) <= 0.51 * step + 1e-6).all()


def test_leaf_values_do_not_depend_on_threads(tmp_path: Path) -> None:
    """The blueprint's own values come from the same deals for any number of threads."""
    blueprint = made_up_blueprint(tmp_path, TINY)
    tables = [
        make_opponent_values(
            blueprint,
            HoldemDealer(made_up_tables()),
            ValueSettings(strategies=1, deals=9_000, threads=threads),
            lambda *_: None,
        )
        for threads in (1, 2)
    ]
    for one, two in zip(*tables, strict=True):
        np.testing.assert_allclose(one.values, two.values, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="at least 1"):
        ValueSettings(threads=0)
