from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.quality import budgets
from tests.arena.aivat_setups import use_quick_values
from tests.arena.blueprints import TINY, made_up_blueprint


def test_budgets_are_measured_saved_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_quick_values(tmp_path, monkeypatch)
    path = made_up_blueprint(tmp_path, TINY).path
    kept, plot = tmp_path / "kept", tmp_path / "budgets.svg"
    command = ["--agent", f"agent:{path}", "--against", f"blueprint:{path}", "--iterations", "2,4"]
    command += ["--seconds", "0", "--save", str(kept)]
    assert budgets.main([*command, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert [point["option"] for point in figures["points"]] == ["iterations=2", "iterations=4"]
    journals = {file.name: file.read_bytes() for file in kept.iterdir()}
    assert sorted(journals) == ["iterations=2.jsonl", "iterations=4.jsonl"]
    deals = [
        {(hand["line"], hand["number"], hand["cards"]) for hand in map(json.loads, text.splitlines()[1:])}
        for text in journals.values()
    ]
    assert deals[0] == deals[1]
    assert 2 * len(deals[0]) == figures["points"][0]["hands"]
    # Again, from the journals only.
    assert budgets.main([*command, "--plot", str(plot)]) == 0
    printed = capsys.readouterr().out
    assert all(str(point["mbb"]) in printed for point in figures["points"])
    assert {file.name: file.read_bytes() for file in kept.iterdir()} == journals
    texts = [text.text or "" for text in ElementTree.parse(plot).findall("{*}text")]
    assert f"agent:{path} against blueprint:{path}" in texts
    assert {"iterations=2", "iterations=4", "0"} <= set(texts)


def test_points_are_drawn_at_the_right_coordinates() -> None:
    points = [
        {"option": "budget=5", "mbb": 100.0, "ci95": 20.0, "seconds_per_hand": 4.0},
        {"option": "budget=1", "mbb": -50.0, "ci95": 40.0, "seconds_per_hand": 1.0},
        {"option": "budget=2", "mbb": 10.0, "ci95": 30.0, "seconds_per_hand": 2.0},
    ]
    root = ElementTree.fromstring(budgets.draw("one against another", points))
    across = [float(circle.attrib["cx"]) for circle in root.findall("{*}circle")]
    down = [float(circle.attrib["cy"]) for circle in root.findall("{*}circle")]
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)  # a factor of two each
    assert (down[0] - down[1]) / (down[1] - down[2]) == pytest.approx(60 / 90, abs=0.01)
    [zero] = [line for line in root.findall("{*}line") if line.attrib["class"] == "zero"]
    assert down[1] < float(zero.attrib["y1"]) < down[0]
    bars = [line for line in root.findall("{*}line") if line.attrib["class"] == "bar"]
    heights = [abs(float(bar.attrib["y1"]) - float(bar.attrib["y2"])) for bar in bars[::3]]
    assert heights[0] == pytest.approx(2 * heights[2], abs=0.3)
