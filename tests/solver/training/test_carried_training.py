"""Trainings resumed from the state that a blueprint carries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.blueprint.file import BlueprintError, add_tables, open_blueprint, pack, unpack
from solver.training.carried_training import fold_in, from_steps, to_steps, to_weight_steps, unfold
from solver.training.run import restore, resume
from solver.training.trainer import make_plan
from tests.solver.training_setups import small_dealer, small_run


def test_steps_preserve_sign_and_magnitude() -> None:
    rng = np.random.default_rng(1)
    numbers = (rng.choice([-1, 1], 10_000) * np.exp2(rng.uniform(-5.9, 18.9, 10_000))).astype(np.float32)
    again = from_steps(to_steps(numbers))
    assert np.abs(again / numbers - 1).max() < 0.0719
    tiny = np.array([0, 0.01, -0.01], dtype=np.float32)
    assert (from_steps(to_steps(tiny)) == 0).all()
    assert from_steps(to_steps(np.array([1e9, -1e9], dtype=np.float32)))[1] < -500_000


def test_weights_of_any_size_are_preserved(tmp_path: Path) -> None:
    run = small_run(2_000)
    run.step()
    run.trainer.sums[:] = 2.0**22
    path = tmp_path / "carried.blueprint"
    run.write(path)
    fold_in(run, path)
    other = restore(path, unfold(path), small_dealer(), 1)
    # The error is at most half a byte for a probability and 7.2 % for a weight.
    np.testing.assert_allclose(other.trainer.sums, run.trainer.sums, rtol=0.09)
    run.close()
    other.close()


def test_signed_byte_weights_of_old_files_are_read() -> None:
    old = np.arange(128, dtype=np.int8)
    np.testing.assert_array_equal(from_steps(old), from_steps(old.astype(np.uint8)))
    weights = np.exp2(np.linspace(-5, 19, 100)).astype(np.float32)
    np.testing.assert_array_equal(to_steps(weights), to_weight_steps(weights))


def test_carried_training_can_be_resumed(tmp_path: Path) -> None:
    run = small_run(20_000)
    while not run.is_done:
        run.step()
    run.report()
    path = tmp_path / "carried.blueprint"
    plain = run.write(path)
    assert fold_in(run, path) > plain
    pack(path, tmp_path / "carried.blueprint.xz")
    again = unpack(tmp_path / "carried.blueprint.xz", cache=tmp_path / "cache")
    settings = run.trainer.plan.settings
    longer = make_plan(settings, run.trainer.plan.seed, 40_000, batch=run.trainer.plan.batch)
    other = restore(again, unfold(again), small_dealer(), 1)
    assert other.trainer.iterations == run.trainer.iterations
    before, after = run.trainer.regret, other.trainer.regret
    large = np.abs(before) > 1
    assert large.sum() > 1_000
    assert np.abs(after[large] / before[large] - 1).max() < 0.0719
    # Sums are probabilities in bytes times a weight, so the average is unchanged up to a byte.
    difference = np.abs(run.trainer.average_strategy() - other.trainer.average_strategy())
    seen = run.trainer.sums > 0.1
    assert difference[seen].max() < 2 / 255
    assert other.trainer.core_seconds == run.trainer.core_seconds
    assert [row[:3] for row in other.history] == [row[:3] for row in run.history]
    other.save(tmp_path)
    other.close()
    on = resume(tmp_path, small_dealer(), 1, longer)
    while not on.is_done:
        on.step()
    assert on.trainer.iterations == longer.iterations
    on.close()
    run.close()


def test_early_records_are_read_with_defaults(tmp_path: Path) -> None:
    run = small_run(20_000, threads=2)
    run.step()
    path = tmp_path / "carried.blueprint"
    run.write(path)
    fold_in(run, path)
    early = {name: value for name, value in run.record().items() if name not in ("threads", "products")}
    add_tables(path, path, {}, {"training": early})
    other = restore(path, unfold(path), small_dealer(), 1)
    assert other.most_threads == 2
    assert other.products.carry
    run.close()
    other.close()


def test_blueprint_without_training_is_refused(tmp_path: Path) -> None:
    run = small_run(2_000)
    run.step()
    path = tmp_path / "plain.blueprint"
    run.write(path)
    run.close()
    assert open_blueprint(path).training is None
    with pytest.raises(BlueprintError, match="--carry"):
        unfold(path)
