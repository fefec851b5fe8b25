from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.errors import MatchAborted, PlayerError
from arena.lbr.lbr import LbrSettings
from arena.lbr.run import LbrResult, LbrTerms, LbrWorker, measure_lbr, public_strategy
from arena.players.registry import make_player
from game.definition import HUNL, NLFH
from tests.arena.blueprints import TINY, made_up_blueprint


@pytest.fixture(autouse=True)
def no_preflop_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all hands equal before the flop; the real table takes half a minute. Workers use the real one."""
    equal = np.zeros((1326, 1326), dtype=np.float32)
    monkeypatch.setattr("arena.lbr.cards.preflop_wins", lambda: equal)
    monkeypatch.setattr("arena.lbr.run.preflop_wins", lambda: equal)


def terms(player: str, deals: int, seed: int = 1) -> LbrTerms:
    return LbrTerms(HUNL, player, LbrSettings(), seed, deals)


def test_a_killed_run_resumes_to_the_same_result(tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole.lbr", tmp_path / "torn.lbr"
    expected = measure_lbr(terms("check-down", 6), whole, workers=1)
    header, *lines = whole.read_text().splitlines(keepends=True)
    torn.write_text(header + lines[3] + lines[1] + lines[4][:9])
    again = measure_lbr(terms("check-down", 6), torn, workers=2)
    assert (again.chips == expected.chips).all()
    assert sorted(torn.read_text().splitlines()) == sorted(whole.read_text().splitlines())
    longer = measure_lbr(terms("check-down", 7), torn, workers=1)
    assert (longer.chips[:6] == expected.chips).all()
    with pytest.raises(MatchAborted, match="seed"):
        measure_lbr(terms("check-down", 6, seed=2), torn)


def test_results_have_totals_and_positions() -> None:
    result = LbrResult(terms("fold", 2), np.array([[50.0, 100.0], [50.0, 100.0]]))
    assert result.hands == 4
    assert (result.total.mean, result.total.margin) == (750, 0)
    assert result.to_json() == {
        "lbr": "fold",
        "actions": "fcpa",
        "rounds": "3-4",
        "hands": 4,
        "mbb_per_hand": 750,
        "margin_95": 0,
        "position_0": {"mbb_per_hand": 500, "margin_95": 0},
        "position_1": {"mbb_per_hand": 1000, "margin_95": 0},
        "seed": 1,
    }
    assert LbrResult(terms("fold", 1), np.array([[50.0, 100.0]])).to_json()["margin_95"] is None


def test_deals_do_not_depend_on_earlier_deals(tmp_path: Path) -> None:
    player = f"blueprint:{made_up_blueprint(tmp_path, TINY).path}"
    worker = LbrWorker(HUNL, make_player(player), LbrSettings(), 5)
    lines = worker((0, 3)).splitlines(keepends=True)
    other = LbrWorker(HUNL, make_player(player), LbrSettings(), 5)
    assert [other.play(number) for number in (2, 0)] == [lines[2], lines[0]]
    assert len(set(lines)) == 3


def test_players_without_a_known_strategy_are_refused() -> None:
    with pytest.raises(PlayerError, match="does not reveal"):
        public_strategy(make_player("random"), 1)
    with pytest.raises(ValueError, match="four rounds"):
        measure_lbr(LbrTerms(NLFH, "fold", LbrSettings(), 1, 2))
