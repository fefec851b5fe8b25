"""A report as a self-contained HTML file, with charts as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from arena.duplicate.results import Estimate
from arena.report.report import BigPot, GroupChart, Report, RunningRate
from game.cards import Cards, card_text

_SUITS = {"c": ("♣", "#2e7d32"), "d": ("♦", "#1565c0"), "h": ("♥", "#c62828"), "s": ("♠", "#222")}
_UP, _DOWN, _INK, _GRID = "#3b89c3", "#d07858", "#222", "#e3e3e3"

_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;color:#222;background:#fff;max-width:900px;margin:24px auto;
padding:0 16px}h1{font-size:25px;margin:0 0 2px}h2{font-size:17px;margin:30px 0 0}p{margin:4px 0}
.note{color:#666;font-size:13px}.big{font-size:34px;font-weight:650;margin:6px 0 0}
.big small{font-size:17px;font-weight:400;color:#555}
table{border-collapse:collapse;font-size:13.5px;margin-top:8px}
td,th{padding:4px 10px 4px 0;text-align:left;vertical-align:top}th{color:#666;font-weight:500;
border-bottom:1px solid #ddd}td.n,th.n{text-align:right;white-space:nowrap}
tr+tr td{border-top:1px solid #f0f0f0}
.cards{white-space:nowrap;font-weight:600}svg{display:block;width:100%;height:auto;margin-top:6px}
rect+line{stroke-width:1.5}
svg text{font:12.5px system-ui,sans-serif;fill:#444}.facts td:first-child{color:#666}
"""


def html_report(report: Report) -> str:
    """Render the whole page."""
    title = escape(f"{report.names[0]} – {report.names[1]}")
    facts = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in report.facts
    )
    estimates = "".join(
        f"<tr><td>{escape(name)}</td><td>{_estimate(each)}</td></tr>" for name, each in report.estimates
    )
    total = report.headline
    a, b = (escape(name) for name in report.names)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body>
<h1>{escape(report.verdict)}</h1>
<p class="big">{signed(total.mean)} <small>± {total.margin:,.0f} {escape(report.headline_unit)}</small></p>
<p class="note">mbb: thousandths of a big blind, so 1,000 mbb/hand is one big blind won per hand. ± is a 95 %
interval: the true win rate lies inside it in 19 of 20 such matches.</p>
<table class="facts"><tr><td>A</td><td>{a}</td></tr><tr><td>B</td><td>{b}</td></tr>{estimates}{facts}</table>
<h2>Win rate of {a} as the match went on</h2>
<p class="note">mbb/hand so far, as played, with its 95 % interval; above zero {a} is ahead</p>
{running_svg(report.running)}
{"".join(_chart(chart) for chart in report.charts)}
<h2>Biggest pots</h2>
{_pots(report.pots, report.big_blind)}
</body></html>
"""


def running_svg(running: RunningRate, width: int = 860, height: int = 300) -> str:
    """Draw the win rate curve with its 95 % interval as a band."""
    left, right, top, bottom = 66, 34, 12, 40
    low, high = curve_limits(running)
    last = float(running.hands[-1])

    def x(hands: float) -> float:
        return left + (width - left - right) * hands / last

    def y(value: float) -> float:
        return top + (height - top - bottom) * (high - value) / (high - low)

    grid = []
    for tick in ticks(low, high):
        line = '#999" stroke-width="2' if tick == 0 else _GRID
        grid += [
            f'<line x1="{left}" x2="{width - right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="{line}"/>',
            _text(left - 8, y(tick) + 4, signed(tick), "end"),
        ]
    grid += [_text(x(tick), height - bottom + 19, _count(tick)) for tick in ticks(0, last)]
    grid.append(_text((left + width - right) / 2, height - 3, "hands played"))
    # Clip the band, which is very wide for the first hands: browsers misdraw points far outside the picture.
    reach = 9 * (high - low)
    upper = np.clip(running.mean + running.margin, low - reach, high + reach)
    lower = np.clip(running.mean - running.margin, low - reach, high + reach)
    outline = [*zip(running.hands, upper, strict=True), *reversed([*zip(running.hands, lower, strict=True)])]
    band = " ".join([f"{x(hands):.1f},{y(value):.1f}" for hands, value in outline])
    curve = zip(running.hands, running.mean, strict=True)
    line = " ".join([f"{x(hands):.1f},{y(value):.1f}" for hands, value in curve])
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img"><clipPath id="plot"><rect x="{left}" y="{top}"'
        f' width="{width - left - right}" height="{height - top - bottom}"/></clipPath>{"".join(grid)}'
        f'<g clip-path="url(#plot)"><polygon points="{band}" fill="{_UP}" opacity=".16"/>'
        f'<polyline points="{line}" fill="none" stroke="{_UP}" stroke-width="2"/></g></svg>'
    )


def bars_svg(chart: GroupChart, width: int = 860) -> str:
    """Draw a bar with an error bar for every group, with its label and its share of the hands."""
    left, right, row, top = 200, 130, 30, 6
    estimates = [group.contribution for group in chart.groups]
    reach = [_reach(each) for each in estimates]
    low, high = min(0.0, *[r[0] for r in reach]), max(0.0, *[r[1] for r in reach])
    spread = (high - low) or 1.0

    def x(value: float) -> float:
        return left + (width - left - right) * (value - low) / spread

    parts = []
    for i, group in enumerate(chart.groups):
        each, (least, most) = group.contribution, reach[i]
        middle = top + row * i + row / 2
        start, end = sorted((x(0.0), x(each.mean)))
        colour = _UP if each.mean >= 0 else _DOWN
        parts += [
            _text(0, middle + 4, group.label, "start"),
            _text(left - 16, middle + 4, _share(group.share), "end"),
            f'<rect x="{start:.1f}" y="{middle - 8}" width="{end - start:.1f}" height="16" fill="{colour}"/>',
            f'<line x1="{x(least):.1f}" x2="{x(most):.1f}" y1="{middle}" y2="{middle}" stroke="{_INK}"/>',
            _text(width, middle + 4, _estimate(each), "end"),
        ]
    height = top + row * len(chart.groups) + 4
    axis = f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="0" y2="{height}" stroke="#999"/>'
    return f'<svg viewBox="0 0 {width} {height}" role="img">{axis}{"".join(parts)}</svg>'


def curve_limits(running: RunningRate) -> tuple[float, float]:
    """The range of win rates to show; the wide swings of the first hands are cut off."""
    settled = len(running.mean) // 8
    upper = float((running.mean + running.margin)[settled:].max())
    lower = float((running.mean - running.margin)[settled:].min())
    low, high = min(lower, 0.0), max(upper, 0.0)
    room = 0.06 * ((high - low) or 1.0)
    return low - room, high + room


def ticks(low: float, high: float) -> list[float]:
    """About six round numbers between two ends."""
    step = 10 ** np.floor(np.log10(max(high - low, 1e-9) / 5))
    for factor in (1, 2, 5, 10):
        if (high - low) / (factor * step) <= 7:
            step *= factor
            break
    return [float(tick) + 0.0 for tick in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step]


def signed(value: float) -> str:
    """A whole number with its sign; zero has none."""
    return "0" if round(value) == 0 else f"{value:+,.0f}".replace("-", "−")


def _chart(chart: GroupChart) -> str:
    note = (
        f"{chart.note}; bars are shares of the result as played, in mbb/hand, and add up to it;"
        " lines are 95 % intervals"
    )
    return f'<h2>{escape(chart.title)}</h2><p class="note">{escape(note)}</p>{bars_svg(chart)}'


def _pots(pots: Sequence[BigPot], big_blind: int) -> str:
    columns = [
        ("hand", "n"),
        ("pot", "n"),
        ("A wins", "n"),
        ("A", ""),
        ("B", ""),
        ("board", ""),
        ("how it went", ""),
    ]
    head = "".join([f'<th class="{kind}">{name}</th>' for name, kind in columns])
    rows = []
    for pot in pots:
        colour = _UP if pot.chips >= 0 else _DOWN
        rows.append(
            f'<tr><td class="n">{pot.number:,}</td><td class="n">{pot.pot_chips / big_blind:,.0f} bb</td>'
            f'<td class="n" style="color:{colour}">{signed(pot.chips / big_blind)} bb</td>'
            f'<td class="cards">{_cards(pot.hole[0])}</td><td class="cards">{_cards(pot.hole[1])}</td>'
            f'<td class="cards">{_cards(pot.board)}</td><td>{escape(pot.story)}</td></tr>'
        )
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _cards(cards: Cards) -> str:
    shown = []
    for text in map(card_text, cards):
        symbol, colour = _SUITS[text[1]]
        shown.append(f'<span style="color:{colour}">{text[0]}{symbol}</span>')
    return " ".join(shown) or "?"


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _reach(each: Estimate) -> tuple[float, float]:
    margin = each.margin if np.isfinite(each.margin) else 0.0
    return each.mean - margin, each.mean + margin


def _estimate(each: Estimate) -> str:
    return f"{signed(each.mean)} ± {each.margin:,.0f}"


def _share(share: float) -> str:
    return f"{100 * share:.0f} % of hands" if share >= 0.01 else f"{100 * share:.2g} % of hands"


def _count(hands: float) -> str:
    if hands >= 1e6:
        return f"{hands / 1e6:g} million"
    return f"{hands:,.0f}"
