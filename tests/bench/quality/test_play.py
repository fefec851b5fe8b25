"""The benchmark `play`: recorded spots, and known losses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.quality._play_loss import Reference
from bench.quality._play_spots import Spot, load_spots
from bench.quality.play import main
from game.actions import CALL, FOLD
from game.hands import NUM_HANDS, unblocked
from solver.blueprint.default import default_blueprint_path
from solver.blueprint.file import open_blueprint
from solver.decisions.range_strategy import RangeStrategy


def spot_called(name: str) -> Spot:
    return next(spot for spot in load_spots() if name in spot.name)


def always(spot: Spot, action: int) -> RangeStrategy:
    """Fold (0) or call (1) with every hand."""
    rows = np.zeros((2, NUM_HANDS), dtype=np.float32)
    rows[action] = unblocked(spot.board)
    return RangeStrategy((FOLD, CALL), rows)


def test_spots_are_of_all_kinds() -> None:
    spots = load_spots()
    assert len(spots) >= 24
    assert {spot.betting.round_index for spot in spots} == {1, 2, 3}
    for street in (1, 2, 3):
        here = [spot for spot in spots if spot.betting.round_index == street]
        assert {spot.player for spot in here} == {0, 1}
        assert {spot.betting.to_call > 0 for spot in here} == {False, True}
    pots = {spot.line.split("/")[0] for spot in spots}
    assert pots >= {"cc", "r300c", "r300r900c", "r300r900r2700c"}


def test_contexts_contain_the_hand_so_far() -> None:
    for spot in load_spots():
        assert spot.context.knows_flop(spot.betting)
        ranges = spot.root.ranges
        assert np.isfinite(ranges).all()
        assert (ranges[:, unblocked(spot.board)] > 0).all()
        assert not ranges[:, ~unblocked(spot.board)].any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["As9d5s3cKh", "Kc8s4d"])
def test_always_folding_loses_and_the_reference_does_not(name: str) -> None:
    spot = spot_called(name)
    reference = Reference(spot, open_blueprint(default_blueprint_path()), 120)
    assert 0 < reference.met < 1
    same = reference.loss(reference.strategy)
    folded = reference.loss(always(spot, 0))
    called = reference.loss(always(spot, 1))
    assert abs(same.percent) < 1.5
    assert same.distance == pytest.approx(0, abs=1e-3)
    # Folding loses the mean winnings, and the opponent then bets with any hand.
    assert folded.percent > 10
    assert called.percent > 3
    assert called.distance > 10
    assert reference.passive_percent(always(spot, 1)) == pytest.approx(100, abs=1e-3)


@pytest.mark.slow
def test_prints_one_line_and_a_line_per_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    details = tmp_path / "details.jsonl"
    options = ["--spots", "r300c/cc/cc/", "--budgets", "0.2,0.5", "--iterations", "60", "--threads", "1"]
    assert main([*options, "--workers", "1", "--fresh", "--json", "--details", str(details)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert set(figures["loss_pct"]) == {"blueprint", "offtree 2.5", "solve 0.2", "solve 0.5"}
    assert figures["iterations"]["solve 0.5"] > 0
    rows = [json.loads(text) for text in details.read_text().splitlines()]
    assert [row["who"] for row in rows] == [*figures["loss_pct"], "itself"]


@pytest.mark.slow
def test_losses_on_a_flop_are_means_over_references(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    details = tmp_path / "details.jsonl"
    options = ["--spots", "r300c/ Th9c2s", "--budgets", "0.2", "--threads", "1", "--workers", "1", "--json"]
    losses = []
    for seed, references in ((1, 1), (2, 1), (1, 2)):
        several = ["--iterations", "20", "--seed", str(seed), "--references", str(references)]
        assert main([*options, *several, "--details", str(details)]) == 0
        assert json.loads(capsys.readouterr().out)["references"] == references
        row = json.loads(details.read_text().splitlines()[0])
        assert row["who"] == "blueprint"
        losses.append((row["loss_pct"], row["spread_pct"]))
    (first, _), (second, _), (mean, spread) = losses
    assert mean == pytest.approx((first + second) / 2, abs=1e-3)
    assert spread == pytest.approx(abs(first - second) / 2, abs=1e-3)
    assert spread > 0


def test_an_unknown_spot_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--spots", "nowhere"])
    assert "r300c/ Th9c2s" in capsys.readouterr().err
