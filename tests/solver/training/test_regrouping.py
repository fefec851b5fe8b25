"""Trainings continued with other buckets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from game.hands import NUM_CLASSES
from numeric.arrays import F32, F64
from solver.blueprint.abstract_game import TrainingGame
from solver.blueprint.file import open_blueprint
from solver.blueprint.provenance import Regrouping
from solver.training.presets import named_preset
from solver.training.regrouping import burn_in_since, plan_regrouped, regroup, regroup_regrets
from solver.training.run import TrainingState, extract, parse_record, restore
from solver.training.trainer import make_plan
from tests.solver.training_setups import small_cards, small_dealer, small_run

PRUNE_BELOW = -30_000.0


def games(buckets: int) -> tuple[TrainingGame, TrainingGame]:
    """The tiny game with its eight buckets, and with other buckets."""
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


def test_split_buckets_keep_their_strategies() -> None:
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
        # Regrets are divided among the new buckets by hands.
        np.testing.assert_allclose(now[::2], 0.2 * 0.3 * before, rtol=1e-5)
        np.testing.assert_allclose(now[1::2], 0.2 * 0.7 * before, rtol=1e-5)


def test_bucket_from_several_gets_their_shares() -> None:
    rng = np.random.default_rng(6)
    counts = rng.integers(0, 50, size=(8, 5)).astype(np.float64)
    counts[:, 4] = 0  # an empty bucket
    old, new = games(5)
    regret = some_regrets(old)
    after = regroup_regrets(old, regret, new, overlaps(counts), PRUNE_BELOW)
    node = int(np.flatnonzero(old.node_round == 2)[0])
    rows, now = old.rows(regret, node), new.rows(after, node)
    for j in range(5):
        for action in range(rows.shape[1]):
            expected = sum(rows[k, action] * counts[k, j] / counts[k].sum() for k in range(8))
            assert now[j, action] == pytest.approx(0.2 * expected, rel=1e-4, abs=1e-3)


def test_pruned_actions_stay_pruned_if_the_mean_does() -> None:
    old, new = games(2)
    counts = np.zeros((8, 2))
    counts[:4, 0] = counts[4:, 1] = 10
    regret = np.full(old.table_size, 100.0, dtype=np.float32)
    flop, river = (int(np.flatnonzero(old.node_round == round_)[0]) for round_ in (1, 3))
    assert old.prunable(flop).all()
    for node in (flop, river):
        old.rows(regret, node)[:5, 0] = -36_000
    after = regroup_regrets(old, regret, new, overlaps(counts), PRUNE_BELOW)
    assert new.rows(after, flop)[0, 0] == -36_000
    assert PRUNE_BELOW < new.rows(after, flop)[1, 0] < 0  # pruned in only one of the four
    # Without pruning everything is scaled.
    assert new.rows(after, river)[0, 0] == pytest.approx(0.2 * 4 * -36_000)


def half_done() -> TrainingState:
    run = small_run(20_000)
    while not run.trainer.progress > 0.5:
        run.step()
    run.close()
    trainer = run.trainer
    return TrainingState(run.record(), run.cards, trainer.regret, trainer.sums)


SPLIT = overlaps(np.repeat(np.eye(8), 2, axis=1))


def test_regrouped_training_continues_and_is_recorded(tmp_path: Path) -> None:
    state, finer = half_done(), small_cards(16)
    assert state.sums.any()
    iterations = state.record["iterations"]
    run = restore(
        tmp_path,
        regroup(state, finer, SPLIT, PRUNE_BELOW),
        small_dealer(sizes=finer.num_buckets),
        1,
    )
    assert run.trainer.iterations == iterations
    assert run.trainer.core_seconds == state.record["core_seconds"]
    assert not run.trainer.sums.any()
    while not run.is_done:
        run.step()
    run.save(tmp_path)
    run.close()
    extract(tmp_path, tmp_path / "finer.blueprint")
    blueprint = open_blueprint(tmp_path / "finer.blueprint", verify=True)
    assert blueprint.num_buckets == (NUM_CLASSES, 16, 16, 16)
    assert blueprint.provenance.regrouped == (Regrouping(iterations, (NUM_CLASSES, 8, 8, 8)),)


def test_buckets_may_change_twice() -> None:
    state = half_done()
    twice = np.repeat(np.eye(16), 2, axis=1)
    finer = regroup(state, small_cards(16), SPLIT, PRUNE_BELOW)
    finest = regroup(finer, small_cards(32), overlaps(twice), PRUNE_BELOW)
    assert [regrouping.buckets[1] for regrouping in finest.record["regrouped"]] == [8, 16]
    assert finest.record["buckets"] == [NUM_CLASSES, 32, 32, 32]
    old, new = games(32)
    flop = int(np.flatnonzero(old.node_round == 1)[0])
    learned = old.rows(state.regret, flop)
    assert learned.any()
    np.testing.assert_allclose(new.rows(finest.regret, flop)[::4], 0.01 * learned, rtol=1e-5)


def test_longer_plan_keeps_the_scale_and_restarts_the_burn_in(tmp_path: Path) -> None:
    state, finer = half_done(), small_cards(16)
    before = parse_record(tmp_path, state.record, state.cards)
    longer = make_plan(before.plan.settings, before.plan.seed, 80_000)
    plan = plan_regrouped(longer, before, burn_in=None)
    done = before.iterations / longer.iterations
    assert plan.settings.burn_in == pytest.approx(done + 0.25 * (1 - done))
    assert plan_regrouped(longer, before, burn_in=0.9).settings.burn_in == 0.9
    dealer = small_dealer(sizes=finer.num_buckets)
    run = restore(tmp_path, regroup(state, finer, SPLIT, PRUNE_BELOW), dealer, 1, plan)
    as_it_was = TrainingState(state.record, state.cards, state.regret.copy(), state.sums.copy())
    coarse = restore(tmp_path, as_it_was, small_dealer(), 1, plan)
    assert run.trainer.weight == coarse.trainer.weight
    old, new = games(16)
    np.testing.assert_allclose(
        new.rows(run.trainer.regret, 0), 0.2 * old.rows(coarse.trainer.regret, 0), rtol=1e-5
    )
    assert run.trainer.stale_average
    run.close()
    coarse.close()


def test_burn_in_stays_a_share_of_the_buckets_training(tmp_path: Path) -> None:
    """Holds for any number of longer plans, and for another change of buckets."""
    state = half_done()
    before = parse_record(tmp_path, state.record, state.cards)
    done = before.iterations
    plan = plan_regrouped(make_plan(before.plan.settings, 3, 40_000), before, burn_in=None)
    begun = replace(before, plan=plan, iterations=2 * done, seconds=2 * before.seconds, regrouped_at=done)
    longer = burn_in_since(make_plan(plan.settings, 3, 400_000), begun, done)
    begin = longer.settings.burn_in * longer.iterations
    assert begin == pytest.approx(done + 0.25 * (longer.iterations - done))
    by_time = burn_in_since(make_plan(plan.settings, 3, seconds=10 * before.seconds), begun, done)
    assert by_time.settings.burn_in == pytest.approx(0.1 + 0.25 * 0.9)
    again = plan_regrouped(make_plan(plan.settings, 3, 400_000), begun, burn_in=None)
    assert again.settings.burn_in * again.iterations == pytest.approx(
        2 * done + 0.25 * (again.iterations - 2 * done)
    )
