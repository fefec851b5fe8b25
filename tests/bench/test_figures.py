"""Figures as JSON and as text."""

from __future__ import annotations

import json

import pytest

from bench.figures import print_figures

FIGURES = {"bench": "any", "hands": 20_000, "agree": True, "seconds": 1.5}


def test_json_output_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_figures(FIGURES, as_json=True)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == FIGURES


def test_text_output_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_figures(FIGURES, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["bench    any", "hands    20,000", "agree    True", "seconds  1.5"]
