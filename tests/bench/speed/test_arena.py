from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.speed.arena import _measure_lbr, main
from tests.arena.blueprints import made_up_blueprint, use_made_up_tables


@pytest.mark.slow
def test_one_line_with_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_made_up_tables(monkeypatch)
    player = f"blueprint:{made_up_blueprint(tmp_path).path}"
    options = [
        "--hands",
        "2000",
        "--matches",
        "10",
        "--match-hands",
        "200",
        "--workers",
        "2",
        "--lbr-hands",
        "0",
    ]
    assert main(["--json", "--player", player, *options]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["hands_per_s"] > 0
    assert 0 <= figures["coverage"] <= 1


@pytest.mark.slow
def test_local_best_response(monkeypatch: pytest.MonkeyPatch) -> None:
    equal = np.zeros((1326, 1326), dtype=np.float32)  # not needed against this player
    monkeypatch.setattr("arena.lbr.run.preflop_wins", lambda: equal)
    figures = _measure_lbr("check-down", 6, 1)
    assert figures["lbr_hands_per_s"] > 0
    assert figures["lbr_mbb"] > 500
