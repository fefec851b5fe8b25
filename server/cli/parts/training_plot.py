"""Plot a training's curves as a self-contained SVG, without a plotting library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite, log10

_WIDTH, _HEIGHT = 720, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 20, 34, 28
_STYLE = (
    "text{font:12px sans-serif;fill:#444}.t{font-weight:bold;fill:#111}"
    "line{stroke:#ddd}polyline{fill:none;stroke:#0a6cb5;stroke-width:1.8}"
)


def training_svg(
    title: str, iterations: Sequence[float], curves: Sequence[tuple[str, Sequence[float], bool]]
) -> str:
    """An SVG with one panel per curve, plotted over the iterations.

    curves  name, values, and whether the axis is logarithmic
    """
    height = _HEIGHT * len(curves) + 30
    panels = [
        _panel(name, iterations, values, logarithmic, 30 + _HEIGHT * i)
        for i, (name, values, logarithmic) in enumerate(curves)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}">'
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
        f'<text class="t" x="{_LEFT}" y="20">{escape(title)}</text>{"".join(panels)}</svg>\n'
    )


def _panel(
    name: str, iterations: Sequence[float], values: Sequence[float], logarithmic: bool, top: int
) -> str:
    points = [
        (x, log10(y) if logarithmic else y)
        for x, y in zip(iterations, values, strict=True)
        if isfinite(y) and (y > 0 or not logarithmic)
    ]
    heading = f'<text class="t" x="{_LEFT}" y="{top + 20}">{escape(name)}</text>'
    if not points:
        return heading
    right = max(x for x, _ in points) or 1.0
    low, high = min(y for _, y in points), max(y for _, y in points)
    low, high = (low, high) if logarithmic else (min(low, 0.0), high)
    spread = (high - low) or 1.0
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + width * x / right, top + _TOP + height * (1 - (y - low) / spread)

    marks = []
    for share in (0.0, 0.5, 1.0):
        y = low + share * spread
        _, at = place(0, y)
        label = f"{10**y if logarithmic else y:.3g}"
        marks.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        marks.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
        x, bottom = place(share * right, low)
        marks.append(
            f'<text x="{x:.1f}" y="{bottom + 18:.1f}" text-anchor="middle">{share * right:,.3g}</text>'
        )
    line = " ".join([f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points)])
    return f'{heading}{"".join(marks)}<polyline points="{line}"/>'
