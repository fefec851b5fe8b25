"""Plots as SVG, one panel beside the other; the same input gives the same file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from lab.experiments.report import Curve, Plot

_WIDTH, _HEIGHT = 420, 300
_LEFT, _TOP, _RIGHT, _BOTTOM = 60, 30, 130, 45
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
"""Colours that colour-blind readers tell apart (Okabe and Ito, 2008)."""
_TICKS = 5


def draw(plots: Sequence[Plot]) -> str:
    """An SVG document."""
    panels = [f'<g transform="translate({i * _WIDTH} 0)">{_panel(plot)}</g>' for i, plot in enumerate(plots)]
    size = f'width="{_WIDTH * len(plots)}" height="{_HEIGHT}"'
    style = 'font-family="sans-serif" font-size="11"'
    body = "\n".join(panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def _panel(plot: Plot) -> str:
    points = [point for curve in plot.curves for point in curve.points]
    low_x, high_x = _span([x for x, _ in points])
    low_y, high_y = _span([y for _, y in points])
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            _LEFT + (x - low_x) / (high_x - low_x) * (right - _LEFT),
            bottom - (y - low_y) / (high_y - low_y) * (bottom - _TOP),
        )

    parts = [
        _text((_LEFT + right) / 2, 16, plot.title, "middle"),
        _text((_LEFT + right) / 2, _HEIGHT - 8, plot.across, "middle"),
    ]
    parts.append(
        f'<g transform="translate(14 {(_TOP + bottom) / 2}) rotate(-90)">{_text(0, 0, plot.up, "middle")}</g>'
    )
    frame = f'width="{right - _LEFT}" height="{bottom - _TOP}"'
    parts.append(f'<rect x="{_LEFT}" y="{_TOP}" {frame} fill="none" stroke="#999"/>')
    parts += [_text(place(x, low_y)[0], bottom + 15, f"{x:g}", "middle") for x in _ticks(low_x, high_x)]
    parts += [_text(_LEFT - 5, place(low_x, y)[1] + 4, f"{y:g}", "end") for y in _ticks(low_y, high_y)]
    for number, curve in enumerate(plot.curves):
        parts.append(_line(curve, number, [place(x, y) for x, y in curve.points]))
        parts.append(_text(right + 8, _TOP + 12 + 15 * number, curve.name, "start", _colour(number)))
    return "\n".join(parts)


def _line(curve: Curve, number: int, places: list[tuple[float, float]]) -> str:
    colour = _colour(number)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>' for x, y in places)
    title = f"<title>{escape(curve.name)}</title>"
    return f'<polyline points="{path}" fill="none" stroke="{colour}">{title}</polyline>{dots}'


def _text(x: float, y: float, words: str, anchor: str, colour: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers in a span, a handful of them."""
    least = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
    return [round(k * step, 12) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _span(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
