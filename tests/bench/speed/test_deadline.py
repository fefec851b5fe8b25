from __future__ import annotations

import json

import pytest

from bench.speed import deadline


def test_the_figure_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert deadline.main(["--spots", "4", "--max-deadline", "0.05", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["spots"] == 4
    assert figures["invalid_strategies"] == 0
    assert figures["overshoot_ms_p50"] <= figures["overshoot_ms_p99"] <= figures["overshoot_ms_max"]


def test_zero_spots_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        deadline.main(["--spots", "0"])
    assert "argument --spots: write a whole number of at least 1, not '0'" in capsys.readouterr().err


def test_requests_are_reproducible() -> None:
    a, b = deadline.random_request(3, 4, 0.1), deadline.random_request(3, 4, 0.1)
    assert (a.board, a.pot, a.behind, a.menu) == (b.board, b.pot, b.behind, b.menu)
    assert len(a.board) == 4
    assert (a.ranges == b.ranges).all()
