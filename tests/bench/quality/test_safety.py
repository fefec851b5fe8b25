from __future__ import annotations

import json

import pytest

from bench.quality import safety


def test_the_figure_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    status = safety.main(["--spots", "1", "--first", "1", "--coarse", "10", "--fine", "40", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["spots"] == 1
    assert status == int(figures["resolve_worse"] + figures["reach_worse"] > 0)
    assert figures["reach_pct"] <= figures["before_pct"] + figures["tolerance_pct"]
