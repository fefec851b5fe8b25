from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.quality.aivat import main
from tests.arena.aivat_setups import LATE, use_quick_values
from tests.arena.blueprints import made_up_blueprint


@pytest.mark.slow
def test_one_line_with_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_quick_values(tmp_path, monkeypatch)
    player = f"blueprint:{made_up_blueprint(tmp_path, LATE).path}"
    assert main(["--json", "--player", player, "--hands", "60", "--workers", "1"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["hands"] == 60
    assert figures["aivat"]["sd_hand_mbb"] < figures["plain"]["sd_hand_mbb"]
