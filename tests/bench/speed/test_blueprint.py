from __future__ import annotations

import json

import pytest

from bench.speed.blueprint import main


@pytest.mark.slow
def test_processes_share_one_copy_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--preset", "tiny", "--processes", "2"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["processes"] == 2
    assert figures["open_ms"] > 0
    # Memory is counted in whole pages, of which the parts of this small file may fill only a part.
    assert 0 < figures["pss_mb_total"] < figures["file_mb"] + 0.02
    assert figures["pss_mb_per_process"] == pytest.approx(figures["pss_mb_total"] / 2, abs=0.02)
