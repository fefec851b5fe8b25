from __future__ import annotations

import json

import pytest

from bench.speed.buckets import main


@pytest.mark.slow
def test_one_line_with_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--presets", "32", "--sample", "0.02", "--flops", "7:11"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["relabelled"] == {"flops": 4, "turns": 6, "rivers": 40, "mismatches": 0}
    for name in ("flop", "turn", "river"):
        assert figures["speed_ms"]["32"][name]["best"] > 0
        assert 0 < figures["quality"]["32"][name]["share_of_variance"] < 0.2
