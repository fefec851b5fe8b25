"""A report as a PNG picture. Needs matplotlib, which the extra `lab` installs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from arena.report.html import curve_limits, signed
from arena.report.report import BigPot, GroupChart, Report
from game.cards import Cards, cards_text

_POTS = 5
_SUITS = str.maketrans("cdhs", "♣♦♥♠")
_UP, _DOWN, _GREY = "#0a6cb5", "#c4572e", "#777777"


def verify_drawing() -> None:
    """Raise `ValueError` if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ValueError(
            "a picture needs matplotlib: run .venv/bin/pip install -e '.[lab]', or ask for --html"
        )


def write_png(path: Path, report: Report) -> None:
    """Draw the verdict, the running win rate and the groups of hands."""
    verify_drawing()
    from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency

    rows = [len(chart.groups) for chart in report.charts]
    pots = report.pots[:_POTS]
    figure = Figure(figsize=(10, 7.6 + 0.36 * sum(rows)), layout="constrained")
    total = report.headline
    figure.suptitle(
        f"{report.verdict}\n{signed(total.mean)} ± {total.margin:,.0f} {report.headline_unit}",
        fontsize=15,
        fontweight="bold",
    )
    facts = ["mbb: thousandths of a big blind; ±, band and black lines: 95 % intervals"]
    facts += [f"{name}: {value}" for name, value in (*_estimates(report), *report.facts)]
    figure.supxlabel("   ".join(facts[:2]) + "\n" + "   ".join(facts[2:]), fontsize=9, color=_GREY)
    heights = [9, *[1.6 + count for count in rows], 0.6 + 0.7 * len(pots)]
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    _draw_running(figure.add_subplot(grid[0]), report)
    for i, chart in enumerate(report.charts, start=1):
        _draw_groups(figure.add_subplot(grid[i]), chart)
    _draw_pots(figure.add_subplot(grid[len(heights) - 1]), report.names, pots, report.big_blind)
    figure.savefig(path, dpi=120, format="png")


def _draw_running(axes: Any, report: Report) -> None:
    running = report.running
    lower, upper = running.mean - running.margin, running.mean + running.margin
    axes.fill_between(running.hands, lower, upper, color=_UP, alpha=0.16, linewidth=0)
    axes.plot(running.hands, running.mean, color=_UP, linewidth=1.8)
    axes.axhline(0, color="#999999", linewidth=1.2)
    axes.set_ylim(curve_limits(running))
    axes.set_xlim(0, running.hands[-1])
    axes.set_title(f"Win rate of {report.names[0]} as the match went on", loc="left", fontsize=10)
    axes.set_xlabel("hands played")
    axes.set_ylabel("mbb/hand so far, as played")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: signed(value))
    axes.spines[["top", "right"]].set_visible(False)


def _draw_groups(axes: Any, chart: GroupChart) -> None:
    groups = chart.groups
    means = np.array([group.contribution.mean for group in groups])
    margins = np.nan_to_num([group.contribution.margin for group in groups], posinf=0.0)
    rows = np.arange(len(groups))
    colours = [_UP if mean >= 0 else _DOWN for mean in means]
    axes.barh(rows, means, xerr=margins, color=colours, alpha=0.8, height=0.6, error_kw={"linewidth": 1.3})
    axes.axvline(0, color="#999999", linewidth=1)
    axes.set_yticks(rows, [f"{group.label}  ({100 * group.share:.3g} % of hands)" for group in groups])
    axes.invert_yaxis()
    axes.set_title(f"{chart.title}: {chart.note}; mbb/hand as played, adding up", loc="left", fontsize=10)
    axes.xaxis.set_major_formatter(lambda value, _: signed(value))
    for row, mean, margin in zip(rows, means, margins, strict=True):
        axes.annotate(
            f"{signed(mean)} ± {margin:,.0f}",
            (1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            color=_GREY,
        )
    axes.spines[["top", "right"]].set_visible(False)


def _draw_pots(axes: Any, names: tuple[str, str], pots: Sequence[BigPot], big_blind: int) -> None:
    axes.set_title(f"Biggest pots (A: {names[0]}, B: {names[1]})", loc="left", fontsize=10)
    axes.set_axis_off()
    for row, pot in enumerate(pots):
        words = (
            f"hand {pot.number:,}: {pot.pot_chips / big_blind:,.0f} bb in the pot, A wins "
            f"{signed(pot.chips / big_blind)} bb   A {_cards(pot.hole[0])}   B {_cards(pot.hole[1])}"
            f"   board {_cards(pot.board) or 'none'}"
        )
        axes.text(0, 1 - (row + 0.5) / len(pots), words, fontsize=9, va="center", transform=axes.transAxes)


def _cards(cards: Cards) -> str:
    return cards_text(cards).translate(_SUITS)


def _estimates(report: Report) -> list[tuple[str, str]]:
    return [(name, f"{signed(each.mean)} ± {each.margin:,.0f}") for name, each in report.estimates]
