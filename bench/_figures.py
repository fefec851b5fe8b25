"""Printing of benchmark figures: one JSON line or a table."""

from __future__ import annotations

import json
from collections.abc import Mapping


def print_figures(figures: Mapping[str, object], as_json: bool) -> None:
    """Print all figures."""
    if as_json:
        print(json.dumps(figures))
        return
    width = max(map(len, figures))
    for name, value in figures.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        print(f"{name:{width}}  {value:,}" if is_number else f"{name:{width}}  {value}")
