"""A training that goes on with other buckets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from game.hands import NUM_CLASSES
from solver.blueprint import open_blueprint
from solver.blueprint_presets import named_preset
from solver.layout import F32, F64
from solver.regrouping import regroup, regroup_regrets
from solver.training import TrainingState, resume, write_checkpoint
from solver.training_game import TrainingGame
from tests.solver.training_setups import small_cards, small_dealer, small_run

PRUNE_BELOW = -30_000.0


def games(buckets: int) -> tuple[TrainingGame, TrainingGame]:
    """The tiny game with its eight buckets, and with others."""
    tiny = named_preset("tiny")
    return tiny.game(), tiny.game((NUM_CLASSES, buckets, buckets, buckets))


def overlaps(after_flop: F64) -> list[F64]:
    return [np.eye(NUM_CLASSES), after_flop, after_flop, after_flop]


def some_regrets(game: TrainingGame) -> F32:
    return np.random.default_rng(5).normal(0, 1000, game.table_size).astype(np.float32)


def strategies(rows: F32) -> F32:
    """Regret matching."""
    positive = np.maximum(rows, 0)
    total = positive.sum(axis=1, keepdims=True)
    even = np.full_like(rows, 1 / rows.shape[1])
    return np.where(total > 0, positive / np.where(total > 0, total, 1), even)


def test_buckets_that_are_split_play_as_before() -> None:
    old, new = games(16)
    shares = np.zeros((8, 16))
    for k in range(8):
        shares[k, 2 * k], shares[k, 2 * k + 1] = 30, 70
    regret = some_regrets(old)
    after = regroup_regrets(old, regret, new, overlaps(shares), PRUNE_BELOW)
    for node in range(len(old.betting.base)):
        before, now = old.rows(regret, node), new.rows(after, node)
        if len(before) == NUM_CLASSES:
            np.testing.assert_allclose(now, 0.2 * before, rtol=1e-6)
            continue
        np.testing.assert_allclose(strategies(now[::2]), strategies(before), atol=1e-5)
        np.testing.assert_allclose(strategies(now[1::2]), strategies(before), atol=1e-5)
        # What was learned is divided among them, by hands.
        np.testing.assert_allclose(now[::2], 0.2 * 0.3 * before, rtol=1e-5)
        np.testing.assert_allclose(now[1::2], 0.2 * 0.7 * before, rtol=1e-5)


def test_a_bucket_from_several_gets_the_share_of_each() -> None:
    rng = np.random.default_rng(6)
    counts = rng.integers(0, 50, size=(8, 5)).astype(np.float64)
    counts[:, 4] = 0  # no hand is in it
    old, new = games(5)
    regret = some_regrets(old)
    after = regroup_regrets(old, regret, new, overlaps(counts), PRUNE_BELOW)
    node = int(np.flatnonzero(old.betting.column % 4 == 2)[0])
    rows, now = old.rows(regret, node), new.rows(after, node)
    for j in range(5):
        for action in range(rows.shape[1]):
            expected = sum(rows[k, action] * counts[k, j] / counts[k].sum() for k in range(8))
            assert now[j, action] == pytest.approx(0.2 * expected, rel=1e-4, abs=1e-3)


def test_what_was_hopeless_stays_so_if_it_was_for_all() -> None:
    old, new = games(2)
    counts = np.zeros((8, 2))
    counts[:4, 0] = counts[4:, 1] = 10
    regret = np.full(old.table_size, 100.0, dtype=np.float32)
    node = int(np.flatnonzero(old.betting.column % 4 == 1)[0])
    old.rows(regret, node)[:5, 0] = -36_000
    after = new.rows(regroup_regrets(old, regret, new, overlaps(counts), PRUNE_BELOW), node)
    assert after[0, 0] == -36_000
    assert PRUNE_BELOW < after[1, 0] < 0  # one of four had given up on it
    assert (after[:, 1:] > 0).all()


def test_a_training_goes_on_and_its_blueprint_tells(tmp_path: Path) -> None:
    run = small_run(20_000)
    for _ in range(3):
        run.step()
    trainer, finer = run.trainer, small_cards(16)
    split = np.repeat(np.eye(8), 2, axis=1)
    state = TrainingState(run.record(), run.cards, trainer.regret, trainer.sums)
    write_checkpoint(tmp_path, regroup(state, finer, overlaps(split)))
    on = resume(tmp_path, small_dealer(sizes=finer.num_buckets), 1)
    assert on.trainer.iterations == trainer.iterations
    assert on.core_seconds == run.core_seconds
    assert not on.trainer.sums.any()
    while not on.is_done:
        on.step()
    on.write(tmp_path / "finer.blueprint")
    blueprint = open_blueprint(tmp_path / "finer.blueprint", verify=True)
    assert blueprint.num_buckets == (NUM_CLASSES, 16, 16, 16)
    assert blueprint.provenance.regrouped == [[trainer.iterations, [NUM_CLASSES, 8, 8, 8]]]
    run.close()
    on.close()
