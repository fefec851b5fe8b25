"""`fathom train` and `fathom blueprint`, with made-up cards."""

from __future__ import annotations

import errno
import json
import lzma
import os
import signal
from functools import partial
from math import inf
from pathlib import Path
from shutil import copy
from xml.etree import ElementTree

import numpy as np
import pytest

from abstraction.presets import CARD_PRESETS
from server.cli import main
from server.cli.blueprints.train import CARD_PRESET_NAMES
from solver.blueprint.file import open_blueprint
from solver.decisions.settings import AgentSettings
from solver.depth_limited.opponent_values import ValueSettings
from solver.flop_book.book import FlopBook, book_menu
from solver.training.folder import occupied
from solver.training.run import TrainingRun, read_checkpoint
from tests.solver.depth_limited.test_opponent_values import even_wins
from tests.solver.training_setups import small_cards, small_dealer, small_run


@pytest.fixture(autouse=True)
def _made_up_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abstraction.presets.make_card_abstraction", lambda *_: small_cards())
    monkeypatch.setattr("abstraction.tables.open_tables", lambda *_, **__: None)
    monkeypatch.setattr("solver.training.deals.HoldemDealer", lambda _: small_dealer())


def train(folder: Path, *options: str) -> int:
    return main(["train", "--checkpoint", str(folder), "--quiet", "--threads", "1", *options])


def test_a_training_writes_a_valid_blueprint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, "--iterations", "20000", "--pack") == 0
    assert "20,480 iterations" in capsys.readouterr().out
    assert ElementTree.parse(tmp_path / "training.svg").getroot().tag.endswith("svg")
    assert main(["blueprint", "info", str(tmp_path / "tiny.blueprint"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["preset"] == "tiny"
    assert facts["iterations"] == 20_480
    assert facts["buckets"] == [169, 8, 8, 8]
    assert main(["blueprint", "verify", str(tmp_path / "tiny.blueprint")]) == 0
    assert "valid" in capsys.readouterr().out
    assert main(["blueprint", "export", str(tmp_path / "tiny.blueprint"), "--round", "flop"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "history,bucket,action,probability"
    assert len(lines) == 1 + 42 * 8
    assert any(line.startswith("r300c/c,") for line in lines)
    assert main(["blueprint", "pack", str(tmp_path / "tiny.blueprint"), str(tmp_path / "again.xz")]) == 0
    assert (tmp_path / "again.xz").read_bytes() == (tmp_path / "tiny.blueprint.xz").read_bytes()


def test_a_training_can_add_opponent_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("solver.depth_limited.opponent_values", "solver.depth_limited.preflop"):
        monkeypatch.setattr(f"{module}.class_wins", even_wins)
    few = partial(ValueSettings, strategies=2, response_iterations=2000, deals=2000, solve_iterations=5)
    monkeypatch.setattr("solver.depth_limited.opponent_values.ValueSettings", few)
    assert train(tmp_path, "--iterations", "8192", "--values", "--carry", "--pack") == 0
    packed = tmp_path / "tiny.blueprint.xz"
    capsys.readouterr()
    assert main(["blueprint", "info", str(packed), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["opponent_strategies"] == 2
    assert facts["carries_training"]


def test_a_training_can_add_a_flop_book(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.cli.parts.flops._ITERATIONS", 2)
    assert train(tmp_path, "--iterations", "8192", "--flops", "1") == 0
    told = capsys.readouterr().out.splitlines()[-1]
    folder, _, words = told.partition(": ")
    made = [path for path in Path(folder).iterdir() if path.suffix == ".flops"]
    assert words == f"{len(made)} flops solved"
    book = FlopBook(Path(folder), open_blueprint(tmp_path / "tiny.blueprint"), book_menu(AgentSettings()))
    assert all(len(file.rows_made()) == 1 for file in book.files.values())
    assert len(book.files) == len(made) > 0


def test_blueprints_of_checkpoints_and_the_default_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert train(tmp_path, "--iterations", "8192") == 0
    early = tmp_path / "early.blueprint"
    assert main(["blueprint", "extract", str(tmp_path), str(early)]) == 0
    assert "8,192 iterations" in capsys.readouterr().out
    tables = [open_blueprint(path).table() for path in (early, tmp_path / "tiny.blueprint")]
    np.testing.assert_array_equal(*tables)
    monkeypatch.setenv("FATHOM_BLUEPRINT", str(early))
    assert main(["blueprint", "info"]) == 0
    assert str(early) in capsys.readouterr().out


def test_extracting_during_burn_in_prints_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = small_run(40_000)
    run.step()
    run.save(tmp_path)
    run.close()
    assert main(["blueprint", "extract", str(tmp_path), str(tmp_path / "early.blueprint")]) == 0
    assert "holds the current strategy" in capsys.readouterr().out


def test_an_interrupted_training_resumes_to_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--seed", "9", "--reproducible")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert train(whole, "--iterations", "8192", *options) == 0
    step, steps = TrainingRun.step, []

    def step_until_interrupted(run: TrainingRun) -> None:
        step(run)
        steps.append(run)
        if len(steps) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(TrainingRun, "step", step_until_interrupted)
    assert train(parts, "--iterations", "8192", *options) == 130
    assert 0 < read_checkpoint(parts).iterations < 8192
    # As the command says: the number of threads and what was asked for are remembered.
    assert main(["train", "--resume", "--checkpoint", str(parts), "--quiet"]) == 0
    assert (parts / "tiny.blueprint").read_bytes() == (whole / "tiny.blueprint").read_bytes()


def test_a_finished_training_can_be_extended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, "--iterations", "8192") == 0
    assert train(tmp_path, "--resume") == 0
    assert "8,192 iterations" in capsys.readouterr().out
    assert train(tmp_path, "--resume", "--iterations", "20480", "--floor", "-50000") == 0
    assert "20,480 iterations" in capsys.readouterr().out
    assert main(["blueprint", "info", str(tmp_path / "tiny.blueprint"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["iterations"] == 20_480
    assert facts["settings"]["floor"] == -50_000
    assert train(tmp_path, "--resume", "--iterations", "4096") == 2
    assert "20,480 iterations are done" in capsys.readouterr().err


def test_errors_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, "--iterations", "1024") == 0
    blueprint = str(tmp_path / "tiny.blueprint")
    cases = [
        (["train", "--checkpoint", str(tmp_path), "--quiet"], "already holds a training"),
        (["train", "--preset", "huge", "--checkpoint", str(tmp_path / "x")], "choose one of tiny"),
        (["train", "--checkpoint", str(tmp_path / "y"), "--resume"], "no training to resume"),
        (["train", "--checkpoint", str(tmp_path / "z"), "--burn-in", "7"], "between 0 and 1"),
        (["blueprint", "info", str(tmp_path / "checkpoint.fathom")], "not a blueprint"),
        (["blueprint", "info", str(tmp_path / "none")], "none"),
        (["blueprint", "plan", "--preset", "huge"], "choose one of tiny"),
        (["blueprint", "pack", blueprint, str(tmp_path / "a" / "b")], f"no folder {tmp_path / 'a'}"),
        (["blueprint", "extract", str(tmp_path), str(tmp_path / "a" / "b")], f"no folder {tmp_path / 'a'}"),
        (["blueprint", "pack", blueprint, blueprint], "another name"),
        (["blueprint", "values", blueprint, str(tmp_path / "a" / "b")], f"no folder {tmp_path / 'a'}"),
        (["blueprint", "net", blueprint, "--target", str(tmp_path / "a" / "b")], "--target"),
    ]
    for arguments, reason in cases:
        capsys.readouterr()
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert reason in error
        assert len(error.splitlines()) == 1


REFUSED_NUMBERS = [
    (["train", "--threads", "0"], "at least 1"),
    (["train", "--iterations", "0"], "at least 1"),
    (["train", "--iterations", "1e6"], "a whole number"),
    (["train", "--seed", "-1"], "at least 0"),
    (["train", "--seconds", "inf"], "a number above 0"),
    (["train", "--seconds", "nan"], "a number above 0"),
    (["train", "--interval", "-5"], "a number above 0"),
    (["train", "--floor", "nan"], "write a number, not"),
    (["train", "--prune-below", "often"], "write a number, not"),
    (["train", "--burn-in", "nan"], "write a number, not"),
    (["blueprint", "plan", "--threads", "0"], "at least 1"),
    (["blueprint", "plan", "--threads", "-2"], "at least 1"),
    (["blueprint", "measure", "--deals", "1"], "at least 100"),
    (["blueprint", "values", "a", "b", "--deals", "0"], "at least 1"),
    (["blueprint", "net", "--flops", "0"], "at least 1"),
    (["hands", "list", "--limit", "0"], "from 1 to"),
]


@pytest.mark.parametrize(("arguments", "reason"), REFUSED_NUMBERS)
def test_invalid_numbers_are_rejected(
    arguments: list[str],
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert reason in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("never", [["--prune-below", "never"], ["--prune-below=-inf"]])
def test_pruning_can_be_turned_off(never: list[str], tmp_path: Path) -> None:
    assert train(tmp_path, "--iterations", "1024", *never) == 0
    assert read_checkpoint(tmp_path).plan.settings.prune_below == -inf


def test_a_resumed_training_uses_as_many_threads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As many as in its last session, even if an earlier session used another number."""
    assert train(tmp_path / "first", "--iterations", "4096", "--threads", "3", "--carry") == 0
    source = str(tmp_path / "first" / "tiny.blueprint")
    assert train(tmp_path / "second", "--from", source, "--iterations", "8192", "--threads", "2") == 0
    capsys.readouterr()
    assert main(["train", "--resume", "--checkpoint", str(tmp_path / "second")]) == 0
    assert "2 threads" in capsys.readouterr().err
    provenance = open_blueprint(tmp_path / "second" / "tiny.blueprint").provenance
    assert provenance.threads == 3  # the most there ever were: more than one cannot be repeated


def test_a_resumed_training_keeps_its_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its preset, its seed and its other products."""
    assert train(tmp_path, "--iterations", "1024", "--carry", "--pack") == 0
    for options, reason in (
        (["--preset", "default"], "with the preset 'tiny': leave out --preset default"),
        (["--seed", "2"], "with seed 1, which cannot change: leave out --seed 2"),
        (["--iterations", "1"], ""),
    ):
        assert train(tmp_path, "--resume", *options) == (2 if reason else 0)
        assert reason in capsys.readouterr().err
    (tmp_path / "tiny.blueprint.xz").unlink()
    assert train(tmp_path, "--resume", "--iterations", "2048", "--preset", "tiny", "--seed", "1") == 0
    assert (tmp_path / "tiny.blueprint.xz").exists()
    assert open_blueprint(tmp_path / "tiny.blueprint").training is not None
    assert train(tmp_path, "--resume", "--no-carry") == 0
    assert open_blueprint(tmp_path / "tiny.blueprint").training is None


def test_a_training_continues_from_a_blueprint_that_carries_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tmp_path / "first"
    assert train(first, "--iterations", "4096", "--carry", "--seed", "5") == 0
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "tiny.blueprint.xz").write_bytes(b"somebody's")
    monkeypatch.chdir(tmp_path)
    start = ["train", "--from", str(first / "tiny.blueprint"), "--quiet", "--threads", "1"]
    for options, reason in (
        (["--iterations", "100"], "4,096 iterations are done"),
        ([], "4,096 iterations are done, all that was planned"),
        (["--iterations", "8192", "--checkpoint", str(first)], "already holds a training"),
        (
            ["--iterations", "8192", "--pack", "--checkpoint", str(kept)],
            "tiny.blueprint.xz would be overwritten",
        ),
        (["--preset", "default", "--iterations", "8192"], "leave out --preset default"),
        (["--seed", "6", "--iterations", "8192"], "leave out --seed 6"),
    ):
        assert main([*start, *options]) == 2
        assert reason in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "kept"]
    monkeypatch.setattr("server.cli.blueprints.train._PRESET", "default")  # the blueprint's is taken
    assert main([*start, "--iterations", "8192"]) == 0
    on = open_blueprint(tmp_path / "training-tiny" / "tiny.blueprint")
    assert on.provenance.iterations == 8192
    assert on.provenance.seed == 5
    assert on.training is not None


def test_a_training_continues_with_other_buckets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"8": 8, "256": 16, "1000": 32}
    monkeypatch.setattr(
        "abstraction.presets.make_card_abstraction", lambda preset, *_: small_cards(sizes[preset])
    )
    monkeypatch.setattr("abstraction.tables.open_tables", lambda cards, **_: cards.num_buckets)
    monkeypatch.setattr("solver.training.deals.HoldemDealer", lambda sizes: small_dealer(sizes=sizes))
    split = [np.eye(169), *[np.repeat(np.eye(8), 2, axis=1)] * 3]
    monkeypatch.setattr("abstraction.overlap.bucket_overlaps", lambda *_: split)
    assert train(tmp_path / "first", "--iterations", "4096", "--carry") == 0
    coarse = str(tmp_path / "first" / "tiny.blueprint")
    for options, reason in (
        (["--resume", "--cards", "256", "--checkpoint", str(tmp_path / "first")], "--from FILE --cards 256"),
        (["--from", coarse, "--cards", "257", "--iterations", "8192"], "no card preset '257'"),
        (["--from", coarse, "--cards", "256"], "4,096 iterations are done"),
        (["--cards", "257"], "no card preset '257'"),
    ):
        assert main(["train", "--quiet", *options]) == 2
        assert reason in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["first"]
    assert train(tmp_path / "same", "--from", coarse, "--cards", "8", "--iterations", "8192") == 2
    assert "leave out --cards 8" in capsys.readouterr().err
    assert train(tmp_path / "second", "--from", coarse, "--cards", "256", "--iterations", "8192") == 0
    finer = str(tmp_path / "second" / "tiny.blueprint")
    capsys.readouterr()
    assert main(["blueprint", "info", finer, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["buckets"] == [169, 16, 16, 16]
    assert facts["regrouped"] == [{"iterations": 4096, "buckets": [169, 8, 8, 8]}]
    assert main(["blueprint", "info", finer]) == 0
    assert "after 4,096 iterations, from (169, 8, 8, 8)" in capsys.readouterr().out
    assert train(tmp_path / "second", "--resume", "--iterations", "12288") == 0
    assert train(tmp_path / "third", "--iterations", "4096", "--cards", "1000") == 0
    assert open_blueprint(tmp_path / "third" / "tiny.blueprint").num_buckets == (169, 32, 32, 32)


def test_requested_options_survive_an_early_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert train(tmp_path / "first", "--iterations", "4096", "--carry") == 0

    def killed(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("server.cli.blueprints.train._train", killed)
    options = ["--from", str(tmp_path / "first" / "tiny.blueprint"), "--iterations", "8192", "--pack"]
    assert train(tmp_path / "second", *options) == 130
    checkpoint = read_checkpoint(tmp_path / "second")
    assert checkpoint.plan.iterations == 8192
    assert checkpoint.products.pack


def test_help_names_all_card_presets() -> None:
    assert CARD_PRESET_NAMES.split(", ") == list(CARD_PRESETS)


def test_reproducible_blueprints_contain_no_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        assert train(folder, "--iterations", "8192", "--carry", "--reproducible") == 0
    contents = [(tmp_path / name / "tiny.blueprint").read_bytes() for name in "ab"]
    assert contents[0] == contents[1]
    carried = str(tmp_path / "a" / "tiny.blueprint")
    # How much of a length in seconds that was is not known, nor what all of it costs.
    assert train(tmp_path / "c", "--from", carried, "--seconds", "0.2") == 2
    assert "give --iterations" in capsys.readouterr().err
    assert train(tmp_path / "c", "--from", carried, "--iterations", "9216", "--no-reproducible") == 0
    assert "core-hours" not in capsys.readouterr().out
    provenance = open_blueprint(tmp_path / "c" / "tiny.blueprint").provenance
    assert provenance.core_hours is None
    assert provenance.date is not None
    assert train(tmp_path / "c", "--resume", "--seconds", "5") == 2
    assert train(tmp_path / "c", "--resume") == 0


def test_one_training_at_a_time_in_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, "--iterations", "1024") == 0
    left = tmp_path / ".checkpoint.fathom.123.partial"
    left.write_bytes(b"of one that was killed")
    with occupied(tmp_path):
        assert not left.exists()
        assert train(tmp_path, "--resume") == 2
        assert "a training is running" in capsys.readouterr().err
        assert main(["blueprint", "extract", str(tmp_path), str(tmp_path / "early.blueprint")]) == 0
    assert train(tmp_path, "--resume") == 0


def fill_disk_at_first(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make the first two checkpoints fail; returns the iterations of all attempts."""
    save, tries = TrainingRun.save, []

    def save_on_a_full_disk(run: TrainingRun, folder: Path) -> int:
        tries.append(run.trainer.iterations)
        if len(tries) < 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(run, folder)

    monkeypatch.setattr(TrainingRun, "save", save_on_a_full_disk)
    return tries


def test_a_failed_checkpoint_is_retried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = fill_disk_at_first(monkeypatch)
    assert train(tmp_path, "--iterations", "8192", "--interval", "1e-9") == 0
    assert len(tries) > 3
    assert read_checkpoint(tmp_path).iterations == 8192
    assert capsys.readouterr().err.count("checkpoint not written") == 2


def test_the_last_checkpoint_is_retried_until_it_succeeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the end of the training, when its result is only in memory."""
    tries = fill_disk_at_first(monkeypatch)
    monkeypatch.setattr("server.cli.blueprints.train._wait", lambda *_: None)
    assert train(tmp_path, "--iterations", "1024") == 0
    assert tries == [1024] * 3
    assert capsys.readouterr().err.count("is not saved: retrying") == 2
    assert open_blueprint(tmp_path / "tiny.blueprint").provenance.iterations == 1024


def test_a_signal_abandons_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save_on_a_full_disk(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(TrainingRun, "save", save_on_a_full_disk)
    monkeypatch.setattr("server.cli.blueprints.train._wait", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    assert train(tmp_path, "--iterations", "1024") == 130
    assert not (tmp_path / "tiny.blueprint").exists()


def test_too_little_memory_is_reported_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.cli.blueprints.train.available_memory_bytes", lambda: 400_000_000)
    assert train(tmp_path / "x", "--preset", "default") == 2
    assert "GB of memory and 0.4 GB are free" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_files_that_end_in_xz_are_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(
        "server.cli.blueprints.blueprint.add_values", lambda of, target, *_: copy(of.path, target)
    )
    assert train(tmp_path / "a", "--iterations", "1024") == 0
    packed, again = tmp_path / "early.blueprint.xz", tmp_path / "values.blueprint.xz"
    assert main(["blueprint", "extract", str(tmp_path / "a"), str(packed)]) == 0
    assert main(["blueprint", "values", str(packed), str(again)]) == 0
    for file in (packed, again):
        assert file.read_bytes().startswith(b"\xfd7zXZ")
        assert open_blueprint(file).provenance.iterations == 1024
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "cache", packed.name, again.name]


def test_a_second_signal_does_not_interrupt_the_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, step = TrainingRun.save, TrainingRun.step

    def step_until_interrupted(run: TrainingRun) -> None:
        step(run)
        os.kill(os.getpid(), signal.SIGINT)

    def save_while_interrupted(run: TrainingRun, folder: Path) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return save(run, folder)

    monkeypatch.setattr(TrainingRun, "step", step_until_interrupted)
    monkeypatch.setattr(TrainingRun, "save", save_while_interrupted)
    assert train(tmp_path, "--iterations", "8192") == 130
    assert 0 < read_checkpoint(tmp_path).iterations < 8192


def test_output_to_a_pipe_has_one_line_per_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.cli.blueprints.train._seconds_between_reports", lambda *_: 0.0)
    options = ["--checkpoint", str(tmp_path), "--iterations", "4096", "--threads", "1", "--interval", "1e-9"]
    assert main(["train", *options]) == 0
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert lines[0].startswith("tiny: 240 betting nodes")
    assert [line.partition(":")[0] for line in lines[1:]] == ["25.0%", "50.0%", "75.0%", "100.0%"]
    assert all("nodes/s" in line and "regret" in line for line in lines[1:])
    assert captured.err.endswith("\n")


def test_the_progress_bar_is_removed_after_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A progress bar hides the terminal's cursor while it is shown."""
    rng = np.random.default_rng(1)
    damaged = bytearray(lzma.compress(rng.bytes(3 << 20)))
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "damaged.xz").write_bytes(damaged)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert main(["blueprint", "verify", str(tmp_path / "damaged.xz")]) == 2
    error = capsys.readouterr().err
    hide, show = "\x1b[?25l", "\x1b[?25h"
    assert error.count(hide) == error.count(show) == 1


def test_plan_estimates_costs_without_training(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blueprint", "plan", "--preset", "default", "--json", "--threads", "2"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["betting_nodes"] == sum(facts["betting_nodes_by_round"])
    assert facts["artifact_bytes"] == facts["actions"]
    assert "--carry" in facts["artifact_is_without"]
    assert facts["actions"] > 2 * facts["infosets"]
    assert main(["blueprint", "plan", "--preset", "default", "--json", "--threads", "4"]) == 0
    assert json.loads(capsys.readouterr().out)["expected_hours"] == pytest.approx(
        facts["expected_hours"] / 2, abs=1e-3
    )


def test_a_missing_file_is_a_readable_error(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["train", "--from", "nofile"], ["blueprint", "info", "nofile"]):
        assert main(command) == 2
        assert capsys.readouterr().err == f"fathom {command[0]}: nofile: no such file\n"
