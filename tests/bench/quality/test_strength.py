from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.quality.strength import main
from tests.arena.aivat_setups import LATE, use_quick_values
from tests.arena.blueprints import made_up_blueprint


def test_a_measurement_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_quick_values(tmp_path, monkeypatch)
    player, journal = f"blueprint:{made_up_blueprint(tmp_path, LATE).path}", tmp_path / "hands.jsonl"
    command = ["--agent", player, "--against", player, "--save", str(journal)]
    assert main([*command, "--json", "--hands", "60"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["hands"] >= 60
    assert abs(figures["mbb"]) < 2 * figures["ci95"]
    assert sum(line["pairs"] for line in figures["lines"]) * 2 == figures["hands"]
    assert figures["mbb"] == pytest.approx(sum(line["adds_mbb"] for line in figures["lines"]), abs=0.1)
    # A killed run: half a line at the end, so a pair has only its first hand.
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    assert main([*command, "--hands", "80"]) == 0
    assert "sd_mbb" in capsys.readouterr().out
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["seed"] == 1
    assert len(lines) >= 81
    with pytest.raises(SystemExit):
        main([*command, "--hands", "80", "--seed", "2"])
    assert "another match" in capsys.readouterr().err
