from __future__ import annotations

import json

import pytest

from bench.speed.evaluator import main


def test_one_line_with_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--hands", "20000", "--boards", "100", "--repeats", "1"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["random_per_s"] > 0
    assert figures["river_board_us"] > 0
    assert figures["numba"]
