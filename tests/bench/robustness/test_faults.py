"""The benchmarks `faults` and `matches` in short runs: many faults, and no hand is lost."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.robustness import faults, matches
from bench.robustness._daemon import Metrics
from tests.arena.blueprints import WIDE, made_up_blueprint


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(made_up_blueprint(tmp_path_factory.mktemp("faults"), WIDE).path)


def test_no_fault_costs_a_hand(blueprint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "reliability.md"
    document.write_text("Figures:\n<!-- fathom bench faults -->\nold\n<!-- end -->\nthe end\n")
    words = ["--hands", "8", "--budget", "0.2", "--slack", "60", "--response", "60", "--kill-every", "0.5"]
    words += ["--workers", "2", "--blueprint", blueprint, "--table", str(document), "--json"]
    assert faults.main(words) == 0
    figures = json.loads(capsys.readouterr().out)
    assert {name: figures[name] for name in faults.MUST_BE_ZERO} == dict.fromkeys(faults.MUST_BE_ZERO, 0)
    assert figures["hands"] == 8
    assert figures["junk_lines"] > 0
    assert figures["cuts"] == 1
    assert figures["cut_match"].startswith("dealer_gone")
    assert figures["exit_status"] == 0
    lines = document.read_text().splitlines()
    assert "| `lost_hands` | 0 |" in lines
    assert "old" not in lines
    assert lines[-1] == "the end"


@pytest.mark.parametrize(
    ("stopped", "reason", "uncounted"), [(0, "hung", 0), (1, "hung", 0), (1, "died", 1), (0, "died", 0)]
)
def test_stops_without_a_restart_are_uncounted(stopped: int, reason: str, uncounted: int) -> None:
    """On a busy machine a worker may seem to hang that nobody stopped: it is no uncounted event."""
    metrics = Metrics(
        "# TYPE fathom_worker_restarts counter\n"
        f'fathom_worker_restarts_total{{reason="{reason}"}} 1.0\n'
        "# EOF\n"
    )
    table: Any = SimpleNamespace(complaints=[], status=0, chips=lambda: 0)
    wire: Any = SimpleNamespace(reply_seconds=[], junk_sent=0)
    status = {"hands": 0, "chips": 0, "malformed_lines": 0, "opponent": "main"}
    injured = faults.Injured(stopped=set(range(stopped)))
    args = Namespace(hands=0, budget=1.0, workers=1)
    figures = faults._figures(args, table, (wire, table), [status], metrics, injured, {})
    assert figures["uncounted_events"] == uncounted


def test_a_match_runs_without_a_warning(blueprint: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--hands", "6", "--matches", "2", "--budget", "0.2", "--slack", "60", "--workers", "1"]
    assert matches.main([*words, "--reference", "", "--blueprint", blueprint, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["warnings"], figures["timeouts"], figures["lost_hands"]) == (0, 0, 0)
    assert figures["hands"] == 12


def test_a_document_without_markers_is_refused(tmp_path: Path) -> None:
    document = tmp_path / "empty.md"
    document.write_text("nothing here\n")
    with pytest.raises(ValueError, match="no place for the table"):
        faults.put_table(document, {})
