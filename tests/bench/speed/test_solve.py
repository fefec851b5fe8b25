from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.speed import solve, variants


def test_solve_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve.main(["--spot", "river", "--target", "1", "--repeats", "2", "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    figures = json.loads(lines[0])
    wanted = (
        "spot", "threads", "variant", "iterations", "cpu_s_to_1pct", "cpu_s_to_0_5pct", "cpu_s_to_0_1pct",
        "wall_s_to_0_5pct", "ms_per_iteration", "memory_mb", "value", "compile_s", "start_s",
    )  # fmt: skip
    assert set(wanted) <= set(figures)
    assert figures["exploitability_pct"] <= 1
    assert figures["cpu_s_to_0_1pct"] is None  # not asked for
    # postflop-solver finds -32.25 on the same tree: the bracket must hold it.
    assert figures["value_low"] < -32.25 < figures["value_high"]


def test_variants_compare_and_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "curves.svg"
    arguments = ["--spots", "river 5", "--iterations", "20", "--plot", str(plot), "--json"]
    assert variants.main(arguments) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["iterations"] == [10, 20]
    assert all(len(figures[f"mean_pct {name}"]) == 2 for name in variants.VARIANTS)
    assert len(ElementTree.parse(plot).findall("{*}polyline")) == len(variants.VARIANTS)
