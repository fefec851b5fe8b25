"""The benchmark `offtree`: no faults in play, and faults are detected."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from bench.robustness.offtree import STREETS, Tally, examine, main, play_hand
from game.actions import CALL, FOLD, raise_to
from game.definition import HUNL
from game.hands import NUM_HANDS
from protocol.acpc import parse_betting
from solver.agent.agent import Agent
from solver.decisions.decision import Decision, Method
from solver.decisions.range_strategy import RangeStrategy
from solver.decisions.settings import make_settings
from solver.resolving.ranges import full_ranges
from tests.arena.blueprints import made_up_blueprint


@pytest.mark.slow
def test_prints_one_line_without_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blueprint = made_up_blueprint(tmp_path)
    options = ["--hands", "12", "--iterations", "1", "--again", "0.5", "--processes", "1"]
    assert main(["--json", *options, "--blueprint", str(blueprint.path)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert all(figures["decisions"][street] > 0 for street in STREETS)
    assert figures["asked_twice"] > 0
    assert max(bets["largest"] for bets in figures["bets"].values()) > 1


@pytest.mark.slow
def test_different_answers_to_the_same_decision_are_counted(tmp_path: Path) -> None:
    blueprint = made_up_blueprint(tmp_path)
    agent, other = (Agent(blueprint, make_settings(iterations=count)) for count in (1, 2))
    tally = Tally()
    for number in range(4):
        play_hand(agent, other, Random(number), 1.0, tally)
    assert tally.counts["different"] > 0
    assert not tally.counts["errors"]


def sound_decision() -> Decision:
    betting = parse_betting(HUNL, "r300c/r600")
    rows = np.full((3, NUM_HANDS), 1 / 3, dtype=np.float32)
    board = (0, 1, 2)
    live = np.array([not {a, b} & set(board) for b in range(52) for a in range(b)])
    strategy = RangeStrategy((FOLD, CALL, raise_to(1200)), rows * live)
    return Decision(betting, board, strategy, full_ranges(), Method.DEPTH_LIMITED, 3)


def faults(decision: Decision) -> dict[str, int]:
    tally = Tally()
    examine(decision, tally)
    return dict(tally.counts)


def test_faults_of_one_decision() -> None:
    sound = sound_decision()
    rows = sound.strategy.probabilities
    assert faults(sound) == {}
    looked_up = replace(sound, method=Method.BLUEPRINT)
    assert faults(looked_up) == {"unsolved": 1}
    tally = Tally()
    examine(looked_up, tally, may_look_up=True)
    assert dict(tally.counts) == {"looked_up": 1}
    too_small = RangeStrategy((FOLD, CALL, raise_to(700)), rows)
    assert faults(replace(sound, strategy=too_small)) == {"illegal": 1}
    twice = RangeStrategy((FOLD, CALL, CALL), rows)
    assert faults(replace(sound, strategy=twice)) == {"illegal": 1}
    for wrong in (rows * 0.5, rows * np.float32(np.nan)):
        strategy = RangeStrategy(sound.strategy.actions, wrong)
        assert faults(replace(sound, strategy=strategy)) == {"bad_strategies": 1}
    empty = full_ranges()
    empty[1] = 0
    same_card = np.zeros((2, NUM_HANDS), dtype=np.float32)
    same_card[:, 1300] = 1
    for ranges in (empty, -full_ranges(), full_ranges() * np.float32(np.nan), same_card):
        assert faults(replace(sound, ranges=ranges)) == {"bad_ranges": 1}


def test_zero_hands_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--hands", "0"])
    assert "argument --hands: write a whole number of at least 1" in capsys.readouterr().err
