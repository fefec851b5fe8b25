"""The benchmark `flop` on a spot with few hands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.quality import flop
from bench.quality.flop import main, solve_exactly
from game.cards import parse_cards
from solver.games.tree import BettingRoot
from solver.leaves.value_net import net_path
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.solver.value_nets import random_net

BOARD = tuple(parse_cards("AsKd7h"))


@pytest.fixture(autouse=True)
def few_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flop, "RANGES", ("AA,77,QJs", "KK,AQs,T9s"))
    monkeypatch.setattr(flop, "LINE", (300, 900, 0))
    monkeypatch.setattr(flop, "ROOT", BettingRoot(1, (900, 900), 20_000, 100))
    monkeypatch.setattr(flop, "POT", 1800)
    monkeypatch.setattr(flop, "MENU", "flop: 50%, 100%, a | 100%, a | a; a")


@pytest.mark.slow
def test_prints_one_line_and_caches_solutions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    blueprint, cache = made_up_blueprint(tmp_path, WIDE), tmp_path / "exact"
    random_net().save(net_path(blueprint))
    options = ["--spots", "1", "--iterations", "3", "--exact-iterations", "20", "--threads", "1"]
    options += ["--settling-iterations", "3", "--net"]
    answers = []
    for _ in range(2):
        assert main(["--json", *options, "--blueprint", str(blueprint.path), "--cache", str(cache)]) == 0
        (line,) = capsys.readouterr().out.splitlines()
        answers.append(json.loads(line))
        del answers[-1]["seconds"]
    assert answers[0] == answers[1]
    assert [file.name for file in cache.iterdir()] == ["flop-AsKd7h-20.solve"]
    losses = answers[0]["loss_pct"]
    assert set(losses) == {
        *"124",
        "rollouts 1",
        "rollouts 2",
        "rollouts 4",
        "paper",
        "learned",
        "net",
        "blueprint",
    }
    assert losses["blueprint"] > 5  # it plays at random
    assert answers[0]["itself_pct"] < losses["blueprint"]


@pytest.mark.slow
def test_always_folding_loses_and_a_best_response_gains_more() -> None:
    spot = solve_exactly(BOARD, 200, 1)
    # The gains of both best responses bound the distance from the strategies' value to the game value. So a
    # loss is off by at most twice the exploitability of the exact solution and of the re-solved game.
    inexact = 2 * spot.solver.exploitability()
    for player in range(2):
        rows = spot.rows(player)
        same = spot.loss(player, rows)
        assert same.doubt < 0.01 * flop.POT
        assert abs(same.settled) < inexact + 2 * same.doubt
        assert same.against_exact == pytest.approx(0, abs=1e-3 * flop.POT)
        for strategy in rows.values():
            strategy[:] = 0
            strategy[0] = 1  # folds to bets, checks otherwise
        given_up = spot.loss(player, rows)
        assert given_up.against_exact > 0.02 * flop.POT
        assert given_up.settled > inexact + 2 * given_up.doubt
        assert given_up.settled > given_up.against_exact + 2 * given_up.doubt


def test_a_cached_solution_of_another_spot_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flop, "RANGES", ("AA", "QJs"))
    first = solve_exactly(BOARD, 2, 1, tmp_path)
    again = solve_exactly(BOARD, 2, 1, tmp_path)
    np.testing.assert_array_equal(first.solver.average, again.solver.average)
    monkeypatch.setattr(flop, "RANGES", ("AA", "KK"))
    assert solve_exactly(BOARD, 2, 1, tmp_path).solver.game.num_hands != first.solver.game.num_hands
