from __future__ import annotations

import json

import pytest

from bench.robustness import api
from tests.arena.blueprints import WIDE, made_up_blueprint


@pytest.mark.slow
def test_the_figure_prints_one_line(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    blueprint = made_up_blueprint(tmp_path_factory.mktemp("bench"), WIDE).path
    small = ["--seconds", "0.5", "--rate", "40", "--hands", "6", "--decisions", "60", "--workers", "1"]
    assert api.main([*small, "--blueprint", str(blueprint), "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["requests"] == 20
    assert figures["errors"] == figures["hands_wrong"] == 0
    assert figures["p50_ms"] <= figures["p99_ms"] <= figures["max_ms"]
    assert figures["memory_mb"] > 10
