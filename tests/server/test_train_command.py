"""`fathom train` and `fathom blueprint`, with made-up cards."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from server.cli import main
from solver.blueprint import open_blueprint
from solver.blueprint_presets import named_preset
from solver.mccfr import make_plan
from solver.opponent_values import ValueSettings
from solver.training import TrainingRun
from tests.solver.test_opponent_values import even_wins
from tests.solver.training_setups import small_cards, small_dealer, small_run


@pytest.fixture(autouse=True)
def _made_up_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abstraction.presets.make_card_abstraction", lambda *_: small_cards())
    monkeypatch.setattr("abstraction.tables.open_tables", lambda *_, **__: None)
    monkeypatch.setattr("solver.holdem_deals.HoldemDealer", lambda _: small_dealer())


def train(folder: Path, *options: str) -> int:
    return main(["train", "--checkpoint", str(folder), "--quiet", "--threads", "1", *options])


def test_from_nothing_to_a_blueprint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, "--iterations", "20000", "--pack") == 0
    assert "20,480 iterations" in capsys.readouterr().out
    assert ElementTree.parse(tmp_path / "training.svg").getroot().tag.endswith("svg")
    assert main(["blueprint", "info", str(tmp_path / "tiny.blueprint"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["preset"] == "tiny"
    assert facts["iterations"] == 20_480
    assert facts["buckets"] == [169, 8, 8, 8]
    assert main(["blueprint", "verify", str(tmp_path / "tiny.blueprint")]) == 0
    assert "whole" in capsys.readouterr().out
    assert main(["blueprint", "export", str(tmp_path / "tiny.blueprint"), "--round", "flop"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "history,bucket,action,probability"
    assert len(lines) == 1 + 42 * 8
    assert any(line.startswith("r300c/c,") for line in lines)
    assert main(["blueprint", "pack", str(tmp_path / "tiny.blueprint"), str(tmp_path / "again.xz")]) == 0
    assert (tmp_path / "again.xz").read_bytes() == (tmp_path / "tiny.blueprint.xz").read_bytes()


def test_with_a_table_for_the_first_round(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("solver.opponent_values", "solver.preflop"):
        monkeypatch.setattr(f"{module}.class_wins", even_wins)
    few = partial(ValueSettings, strategies=2, response_iterations=2000, deals=2000, solve_iterations=5)
    monkeypatch.setattr("solver.opponent_values.ValueSettings", few)
    assert train(tmp_path, "--iterations", "8192", "--values", "--carry", "--pack") == 0
    packed = tmp_path / "tiny.blueprint.xz"
    capsys.readouterr()
    assert main(["blueprint", "info", str(packed), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["opponent_strategies"] == 2
    assert facts["carries_training"]


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


def test_a_blueprint_of_the_burn_in_says_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = small_run(40_000)
    run.step()
    run.save(tmp_path)
    run.close()
    assert main(["blueprint", "extract", str(tmp_path), str(tmp_path / "early.blueprint")]) == 0
    assert "holds the current strategy" in capsys.readouterr().out


def test_stopped_and_resumed_is_the_same_file(tmp_path: Path) -> None:
    options = ("--seed", "9", "--reproducible")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert train(whole, "--iterations", "8192", *options) == 0
    # As if killed: part of the plan done, the plan itself unchanged.
    plan = make_plan(named_preset("tiny").settings, 9, 8192)
    run = TrainingRun(named_preset("tiny"), plan, small_cards(), small_dealer(), threads=1)
    for _ in range(3):
        run.step()
    parts.mkdir()
    run.save(parts)
    assert train(parts, "--resume", *options) == 0
    assert (parts / "tiny.blueprint").read_bytes() == (whole / "tiny.blueprint").read_bytes()


def test_finished_trainings_can_be_made_longer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_refusals_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, "--iterations", "1024") == 0
    cases = [
        (["train", "--checkpoint", str(tmp_path), "--quiet"], "holds a training already"),
        (["train", "--preset", "huge", "--checkpoint", str(tmp_path / "x")], "choose one of tiny"),
        (["train", "--checkpoint", str(tmp_path / "y"), "--resume"], "no training to resume"),
        (["train", "--checkpoint", str(tmp_path / "z"), "--threads", "0"], "at least 1"),
        (["train", "--checkpoint", str(tmp_path / "z"), "--burn-in", "7"], "between 0 and 1"),
        (["blueprint", "info", str(tmp_path / "checkpoint.fathom")], "not a blueprint"),
        (["blueprint", "info", str(tmp_path / "none")], "none"),
        (["blueprint", "plan", "--preset", "huge"], "choose one of tiny"),
    ]
    for arguments, reason in cases:
        capsys.readouterr()
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert reason in error
        assert len(error.splitlines()) == 1


def test_plan_counts_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blueprint", "plan", "--preset", "default", "--json", "--threads", "2"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["betting_nodes"] == sum(facts["betting_nodes_by_round"])
    assert facts["artifact_bytes"] == facts["actions"]
    assert facts["actions"] > 2 * facts["infosets"]
    assert facts["expected_hours"] > 0
