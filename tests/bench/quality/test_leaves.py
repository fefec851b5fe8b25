"""The benchmark `leaves`: both methods agree, and it detects wrong values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.quality import leaves
from bench.quality.leaves import Verdict, compare, draw_case, main, summary
from solver.leaves.rollouts import FOUR_STRATEGIES
from tests.arena.blueprints import made_up_blueprint


@pytest.mark.slow
def test_both_methods_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blueprint = made_up_blueprint(tmp_path)
    options = ["--leaves", "2", "--samples", "20000", "--blueprint", str(blueprint.path)]
    assert main(["--json", *options]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["agree"]
    assert figures["leaves"] == 2
    assert figures["both_ways"] < 1e-5
    assert figures["raised"] == figures["highest"] == {"fold": 1.0, "call": 1.0, "raise": 1.0}


@pytest.mark.slow
def test_play_outs_of_another_strategy_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blueprint = made_up_blueprint(tmp_path)
    case = draw_case(blueprint, np.random.default_rng(2), from_blueprint=False)
    monkeypatch.setattr(leaves, "FOUR_STRATEGIES", FOUR_STRATEGIES[::-1])
    figures = summary([compare(blueprint, case, 20_000)])
    assert not figures["agree"]
    assert figures["raised"] != {"fold": 1.0, "call": 1.0, "raise": 1.0}


def test_frequencies_count_only_real_choices() -> None:
    offered = np.array([[10, 20, 0]] * 4)
    taken = np.array([[2, 8, 0], [4, 6, 0], [1, 9, 0], [2, 8, 0]])
    same = Verdict(np.zeros(4), np.zeros(4), np.ones(4), 0.0, offered, taken)
    figures = summary([same])
    assert figures["agree"]
    assert figures["raised"] == figures["highest"] == {"fold": 1.0, "call": 1.0}


def test_zero_leaves_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--leaves", "0"])
    assert "argument --leaves: write a whole number of at least 1" in capsys.readouterr().err
