"""The claims of the papers, on what is small enough to be solved here in seconds."""

from __future__ import annotations

import importlib
import json
import pkgutil
from xml.etree import ElementTree as ET

import pytest

import lab.experiments
from lab.experiments import table1
from lab.experiments.report import Claim, Curve, Figure, Plot, Report
from lab.experiments.svg import draw
from server.cli import main

FAST = ["figure3", "figure10", "two_boards"]
ALL = [
    found.name
    for found in pkgutil.iter_modules(lab.experiments.__path__)
    if found.name not in ("measures", "report", "svg")
]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in ALL]
)
def test_the_claims_hold(name: str) -> None:
    experiment = importlib.import_module(f"lab.experiments.{name}")
    report = experiment.run(quick=True)
    assert bool(report.plots) == getattr(experiment, "CURVES", True)
    assert [claim.words for claim in report.claims if not claim.holds] == []


@pytest.mark.parametrize("name", ["leduc", "goofspiel4"])
def test_table_1_is_the_published_one_to_the_last_digit(name: str) -> None:
    for figure in table1.row(name):
        assert figure.ours == pytest.approx(figure.paper, abs=0.06), figure.name


REPORT = Report(
    "a paper",
    "chips",
    (Figure("one", 1.25, 1.0), Figure("unknown", float("inf")), Figure("undefined", float("nan"))),
    (Claim("they are equal", False),),
    (Plot("a plot", "x", "y", (Curve("a & b", ((0.0, 1.0), (1.0, 2.0))),)),),
)


def test_a_report_in_words_and_as_json() -> None:
    text = REPORT.text().splitlines()
    assert text[3].split() == ["one", "1", "1.25"]
    assert text[4].split() == ["unknown", "∞"]
    assert "FAILS: they are equal" in text
    assert not REPORT.holds
    assert text[5].split() == ["undefined", "n/a"]
    record = json.loads(json.dumps(REPORT.record(), allow_nan=False))
    assert record["figures"]["unknown"] == {"ours": None, "paper": None}
    assert record["curves"] == {"a plot: a & b": [[0.0, 1.0], [1.0, 2.0]]}


def test_plots_are_svg() -> None:
    root = ET.fromstring(draw(REPORT.plots))
    assert root.tag.endswith("svg")
    assert "a & b" in "".join(root.itertext())
    assert draw(REPORT.plots) == draw(REPORT.plots)


def test_the_command_lists_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "list"]) == 0
    listed = capsys.readouterr().out
    assert "table1" in listed
    assert "two-boards  A limit of theorem 5.3" in listed
    assert main(["lab", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["experiment"] == "figure10"
    assert main(["lab", "figure10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"]["CDBR"]["paper"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["figre3"], "unknown experiment 'figre3': did you mean figure3?"),
        (["xyzzy"], "unknown experiment 'xyzzy': choose from figure"),
        (["all", "--plot", "all.svg"], "--plot draws one experiment"),
        (["table1", "--plot", "table1.svg"], "table1 has no curves to draw"),
        (["figure9", "--plot", "nowhere/figure9.svg"], "not a file in a folder that exists"),
        (["list", "--plot", "list.svg"], "list runs nothing"),
    ],
)
def test_wrong_arguments_are_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", *arguments]) == 2
    assert words in capsys.readouterr().err
