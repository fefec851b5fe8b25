from __future__ import annotations

import json

import pytest

from bench.speed.mccfr import main


@pytest.mark.slow
def test_one_line_with_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--preset", "tiny", "--seconds", "0.3", "--warm-up", "0.1", "--threads", "2"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["threads"] == 2
    assert figures["nodes_per_s"] > figures["traversals_per_s"] > 0
    assert figures["deals_per_s"] > 0
    assert figures["nodes_per_cpu_s"] > 0
    assert figures["infosets"] == 2_886


@pytest.mark.slow
def test_number_of_buckets_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--json", "--preset", "tiny", "--seconds", "0.1", "--warm-up", "0.1", "--buckets", "100"]
    assert main(arguments) == 0
    # 6 nodes before the flop, 234 after.
    assert json.loads(capsys.readouterr().out)["infosets"] == 6 * 169 + 234 * 100
    with pytest.raises(SystemExit):
        main([*arguments[:-1], "0"])
    assert "--buckets: write a whole number from 1 to" in capsys.readouterr().err
