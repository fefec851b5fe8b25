from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from arena.duplicate.duplicate import DuplicateTerms, play_duplicate
from arena.duplicate.results import Estimate, MatchResult, recorded_result
from arena.report.hand_words import describe_betting
from arena.report.html import html_report, signed, ticks
from arena.report.report import Report, make_report
from game.definition import HUNL, LIMIT_HOLDEM
from protocol.acpc import parse_betting


@pytest.fixture(scope="module")
def result() -> MatchResult:
    names = ("pot-odds <1>", "random & co")
    return play_duplicate(DuplicateTerms(HUNL, ("check-down", "random"), names, 7, 60), workers=1)


@pytest.fixture(scope="module")
def report(result: MatchResult) -> Report:
    return make_report(result, [("seed", "7")], [("luck-adjusted", Estimate(12.0, 3.0, 60))])


def test_groups_add_up_to_the_result(result: MatchResult, report: Report) -> None:
    for chart in report.charts:
        assert sum(group.contribution.mean for group in chart.groups) == pytest.approx(result.total.mean)
        assert sum(group.share for group in chart.groups) == pytest.approx(1.0)


def test_the_curve_ends_at_the_result(result: MatchResult, report: Report) -> None:
    running = report.running
    assert running.hands[-1] == result.num_hands
    assert running.mean[-1] == pytest.approx(result.total.mean)
    assert running.margin[-1] == pytest.approx(result.total.margin)
    assert (np.diff(running.hands) > 0).all()


def test_the_biggest_pots_come_first(result: MatchResult, report: Report) -> None:
    pots = [pot.pot_chips for pot in report.pots]
    assert pots == sorted(pots, reverse=True)
    assert pots[0] == 2 * result.stake.max()
    for pot in report.pots:
        assert result.chips[pot.number - 1] == pot.chips
        own = result.position[pot.number - 1]
        assert result.record(pot.number - 1).state.hole[own] == pot.hole[0]


def test_the_headline_is_the_last_estimate(result: MatchResult, report: Report) -> None:
    assert report.headline == Estimate(12.0, 3.0, 60)
    assert report.verdict == "pot-odds <1> beats random & co"
    assert "+12 <small>± 3 mbb/hand for pot-odds &lt;1&gt;, luck-adjusted</small>" in html_report(report)
    assert report.estimates[0] == ("as played", result.total)
    plain = make_report(result)
    assert (plain.headline, plain.estimates) == (result.total, ())


def test_verdicts() -> None:
    def verdict(*chips: int) -> str:
        values = np.array(chips)
        hands = MatchResult(
            HUNL, ("A", "B"), 1, values % 2, values, abs(values), ["f"] * len(chips), _no_cards
        )
        return make_report(hands).verdict

    assert verdict(100, -100, 50, -50) == "A against B: too close to call"
    assert verdict(100, 100, 90, 100) == "A beats B"
    assert verdict(-100, -100, -90, -100) == "B beats A"


def _no_cards(index: int) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, ...]]:
    return ((), ()), ()


def test_the_page_is_self_contained(report: Report) -> None:
    page = html_report(report)
    assert "http" not in page
    assert "pot-odds &lt;1&gt;" in page
    assert "pot-odds <1>" not in page
    assert "luck-adjusted" in page
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 4
    for drawing in drawings:
        ElementTree.fromstring(drawing)
        assert "nan" not in drawing
        assert "inf" not in drawing


def test_the_picture_is_written(report: Report, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: .venv/bin/pip install '.[lab]'")
    from arena.report.png import write_png

    write_png(tmp_path / "report.png", report)
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


def test_recorded_hands_have_one_hand_per_sample(result: MatchResult) -> None:
    records = [result.record(index) for index in range(result.num_hands)]
    again = recorded_result(HUNL, result.names, records)
    assert (again.chips == result.chips).all()
    assert (again.stake == result.stake).all()
    assert again.total.mean == pytest.approx(result.total.mean)
    assert again.total.samples == result.num_hands
    assert make_report(again).pots[0].story == make_report(result).pots[0].story


def test_betting_in_words() -> None:
    betting = parse_betting(HUNL, "r300c/cr700c/r20000f")
    assert describe_betting(betting, ("A", "B")) == (
        "B raises to 300, A calls · A checks, B bets 400, A calls · A bets 19,300 (all-in), B folds"
    )
    limit = parse_betting(LIMIT_HOLDEM, "rc/rf")
    assert describe_betting(limit, ("A", "B")) == "B raises to 20, A calls · A bets 10, B folds"


def test_signed_numbers_and_ticks() -> None:
    assert [signed(value) for value in (0.2, -0.4, 1234.5, -3)] == ["0", "0", "+1,234", "−3"]
    assert ticks(0, 100_000) == [0, 20_000, 40_000, 60_000, 80_000, 100_000]
    assert 0.0 in ticks(-130, 870)
