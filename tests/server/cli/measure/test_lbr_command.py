from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from server.cli import main


@pytest.fixture(autouse=True)
def no_preflop_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the preflop equity table: these players do not need it, and it takes half a minute."""
    monkeypatch.setattr("arena.lbr.run.preflop_wins", lambda: np.zeros((1326, 1326), dtype=np.float32))


def test_always_folding_loses_750(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lbr", "fold", "--hands", "2", "--workers", "1", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    result = json.loads(line)
    assert result["mbb_per_hand"] == pytest.approx(750, abs=0.5)
    assert main(["lbr", "fold", "--hands", "4", "--workers", "1", "--actions", "fc"]) == 0
    assert "+250 ± 0 mbb/hand from fold, over 4 hands" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["random"], "measure an agent, or one of blueprint, call, check-down, fold, min-raise"),
        (["fold", "--hands", "1"], "at least 2"),
        (["fold", "--rounds", "5"], "not a span of rounds"),
        (["fold", "--actions", "fcp"], "actions"),
        (["nobody"], "no player"),
        (["fold", "--game", "leduc"], "four rounds"),
    ],
)
def test_bad_arguments_are_refused(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lbr", *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_the_journal_of_another_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["lbr", "fold", "--hands", "2", "--workers", "1", "--save", str(tmp_path / "run")]
    assert main(command) == 0
    assert main([*command, "--seed", "2"]) == 2
    assert "seed 1, not 2" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["lbr", "check-down", "--hands", "60", "--workers", "1", "--rounds", "4", "--json", "--save"]
    journal = tmp_path / "torn.lbr"
    code = (
        "import sys, numpy as np, arena.lbr.run as run; from server.cli import main;"
        "run.preflop_wins = lambda: None; sys.exit(main(sys.argv[1:]))"
    )
    arguments = [sys.executable, "-c", code, *command, str(tmp_path / "torn")]
    said = tmp_path / "said"
    with (
        said.open("w") as output,
        subprocess.Popen(arguments, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline and process.poll() is None:
            if journal.exists() and len(journal.read_text().splitlines()) > 3:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert journal.exists(), said.read_text()
    assert len(journal.read_text().splitlines()) > 2, said.read_text()
    assert main([*command, str(tmp_path / "torn")]) == 0
    assert main([*command, str(tmp_path / "whole")]) == 0
    torn, whole = capsys.readouterr().out.splitlines()
    assert torn == whole
