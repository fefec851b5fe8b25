"""What an experiment returns: figures beside the paper's, claims that hold or not, and curves to draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Track = Callable[[Sequence[Any]], Iterable[Any]]
"""Shows progress over a sequence, if the caller wants to."""


def untracked(parts: Sequence[Any]) -> Iterable[Any]:
    """Shows nothing."""
    return parts


@dataclass(frozen=True, slots=True)
class Figure:
    """One number."""

    name: str
    ours: float
    paper: float | None = None
    """As published; None if it is not printed in the paper."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, and whether it holds here."""

    words: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """A line in a plot."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """Curves over one axis."""

    title: str
    across: str
    up: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of an experiment."""

    paper: str
    """What is reproduced: authors, year, table or figure."""
    unit: str
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    plots: tuple[Plot, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all claims hold."""
        return all(claim.holds for claim in self.claims)

    def record(self) -> dict[str, object]:
        """For JSON, which knows no infinite numbers: they are null."""
        return {
            "paper": self.paper,
            "unit": self.unit,
            "figures": {
                figure.name: {"ours": _rounded(figure.ours), "paper": figure.paper} for figure in self.figures
            },
            "claims": {claim.words: claim.holds for claim in self.claims},
            "curves": {
                f"{plot.title}: {curve.name}": [[_rounded(x), _rounded(y)] for x, y in curve.points]
                for plot in self.plots
                for curve in plot.curves
            },
        }

    def text(self) -> str:
        """For people."""
        width = max(len(figure.name) for figure in self.figures)
        lines = [self.paper, "", f"{'':{width}}  {'paper':>9}  {'here':>9}  {self.unit}".rstrip()]
        for figure in self.figures:
            paper = "" if figure.paper is None else _number(figure.paper)
            lines.append(f"{figure.name:{width}}  {paper:>9}  {_number(figure.ours):>9}")
        lines += ["", *[f"{'holds' if claim.holds else 'FAILS'}: {claim.words}" for claim in self.claims]]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def _rounded(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _number(value: float) -> str:
    if math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value + 0.0:.4g}" if abs(value) >= 1e-6 else "0"
