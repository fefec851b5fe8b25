from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from numeric import table_file
from numeric.table_file import FileKind, write_tables
from solver.blueprint.file import open_blueprint
from solver.training.run import CHECKPOINT, CheckpointError, extract, read_checkpoint, resume
from tests.solver.training_setups import small_dealer, small_plan, small_run

SCRIPT = """
import sys
from pathlib import Path
from tests.solver.training_setups import small_run
run, folder = small_run(400_000, reproducible=True), Path(sys.argv[1])
while True:
    run.step()
    run.save(folder)
    print(run.trainer.iterations, flush=True)
"""


def test_a_resumed_training_ends_in_the_same_bytes(tmp_path: Path) -> None:
    whole = small_run(reproducible=True)
    while not whole.is_done:
        whole.step()
    whole.report()
    whole.write(tmp_path / "whole.blueprint")
    half = small_run(reproducible=True)
    for _ in range(7):
        half.step()
    half.report()
    half.save(tmp_path)
    half.step()  # lost
    rest = resume(tmp_path, small_dealer(), threads=1)
    assert rest.trainer.iterations == 7 * half.trainer.plan.batch * half.trainer.plan.slice_batches
    while not rest.is_done:
        rest.step()
    rest.write(tmp_path / "rest.blueprint")
    assert (tmp_path / "rest.blueprint").read_bytes() == (tmp_path / "whole.blueprint").read_bytes()
    np.testing.assert_array_equal(rest.trainer.regret, whole.trainer.regret)


def test_extended_training_survives_a_stop(tmp_path: Path) -> None:
    """Finished, extended, stopped in the new burn-in, resumed: same bytes as without the stop."""
    longer = small_plan(200_000)
    for folder, stop in ((tmp_path / "whole", False), (tmp_path / "parts", True)):
        folder.mkdir()
        run = small_run(20_000, reproducible=True)
        while not run.is_done:
            run.step()
        run.save(folder)
        run = resume(folder, small_dealer(), threads=1, plan=longer)
        assert not run.is_done
        assert run.trainer.stale_average
        if stop:
            run.step()
            run.save(folder)
            run = resume(folder, small_dealer(), threads=1)
            assert run.trainer.stale_average
        while not run.is_done:
            run.step()
        run.write(folder / "tiny.blueprint")
    parts, whole = tmp_path / "parts" / "tiny.blueprint", tmp_path / "whole" / "tiny.blueprint"
    assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.slow
def test_a_killed_training_loses_at_most_one_interval_and_ends_in_the_same_bytes(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd(),
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    assert process.stdout is not None
    saved = [int(process.stdout.readline()) for _ in range(4)]
    time.sleep(0.01)  # to be killed somewhere in a slice or a write
    process.send_signal(signal.SIGKILL)
    saved += [int(line) for line in process.stdout]
    process.wait()
    process.stdout.close()
    found = read_checkpoint(tmp_path)
    step = saved[1] - saved[0]
    assert found.iterations in (saved[-1], saved[-1] + step)
    undisturbed = small_run(400_000, reproducible=True)
    for name, run in (("rest", resume(tmp_path, small_dealer(), threads=1)), ("whole", undisturbed)):
        while not run.is_done:
            run.step()
        run.write(tmp_path / name)
    assert (tmp_path / "rest").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_checkpoint_replaced_while_it_is_read_does_not_mix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_run(40_000)
    run.step()
    run.save(tmp_path)
    iterations, regret = run.trainer.iterations, run.trainer.regret.copy()
    read = table_file.json.loads

    def read_while_it_is_replaced(text: bytes) -> object:
        run.step()
        run.save(tmp_path)
        return read(text)

    monkeypatch.setattr(table_file.json, "loads", read_while_it_is_replaced)
    again = resume(tmp_path, small_dealer(), threads=1)
    assert again.trainer.iterations == iterations
    np.testing.assert_array_equal(again.trainer.regret, regret)
    again.close()
    run.close()


def test_a_blueprint_names_the_most_threads_of_its_training(tmp_path: Path) -> None:
    run = small_run(20_000, threads=2)
    run.step()
    run.save(tmp_path)
    run.close()
    early = extract(tmp_path, tmp_path / "early.blueprint")
    assert not early.is_average
    assert open_blueprint(tmp_path / "early.blueprint").provenance.threads == 2
    again = resume(tmp_path, small_dealer(), threads=1)
    while not again.is_done:
        again.step()
    again.save(tmp_path)
    again.close()
    assert extract(tmp_path, tmp_path / "late.blueprint").is_average
    assert open_blueprint(tmp_path / "late.blueprint").provenance.threads == 2


def test_reports_have_progress_and_statistics() -> None:
    run = small_run(40_000, threads=2)
    reports = []
    while not run.is_done:
        for _ in range(5):
            if not run.is_done:
                run.step()
        reports.append(run.report())
    assert [r.progress for r in reports] == sorted(r.progress for r in reports)
    assert reports[-1].progress == 1
    assert reports[-1].seconds_left == 0
    assert reports[-1].regret < reports[0].regret
    assert reports[-1].averaging
    assert not reports[0].averaging
    assert 0 < reports[-1].drift < 0.5
    assert all(r.nodes_per_s > r.iterations_per_s > 0 for r in reports)
    assert 0 < run.trainer.core_seconds < 4 * run.trainer.seconds
    run.close()


def test_end_of_burn_in_is_not_counted_as_drift() -> None:
    """The first average is not compared with the current strategy before it."""
    run = small_run(40_000)
    drifts = []
    while not run.is_done:
        run.step()
        report = run.report()
        drifts.append((report.averaging, np.isnan(report.drift)))
    run.close()
    first = drifts.index((True, True))
    assert not drifts[first - 1][0]
    assert [unknown for _, unknown in drifts].count(True) == 2  # and the very first


def test_the_history_of_a_long_training_is_thinned() -> None:
    run = small_run(2_000)
    run.step()
    for i in range(3_000):
        run.trainer.iterations = 1024 * (i + 1)
        run.report()
    iterations = np.array([point[0] for point in run.history])
    assert len(iterations) == 500
    assert iterations[0] == 1024
    assert iterations[-1] == 1024 * 3_000
    assert np.diff(iterations).max() <= 8 * 1024
    run.close()


def test_bad_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no training to resume"):
        read_checkpoint(tmp_path)
    run = small_run(2_000)
    run.save(tmp_path)
    path = tmp_path / CHECKPOINT
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(CheckpointError, match="cut off"):
        read_checkpoint(tmp_path)
    damaged = bytearray(whole)
    damaged[-10] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(CheckpointError, match="damaged"):
        resume(tmp_path, small_dealer(), threads=1)
    write_tables(path, FileKind(b"FATHOMB\n", 1, "blueprint", ValueError), {}, {"x": np.zeros(1)})
    with pytest.raises(CheckpointError, match="not a training checkpoint"):
        read_checkpoint(tmp_path)
