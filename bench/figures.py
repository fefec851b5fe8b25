"""The command line and the output that all figures share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping


def figure_parser(name: str, doc: str | None) -> argparse.ArgumentParser:
    """A parser for `fathom bench NAME` with `--json`; its help begins with the module's docstring."""
    parser = argparse.ArgumentParser(
        prog=f"fathom bench {name}",
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    return parser


def print_figures(figures: Mapping[str, object], as_json: bool) -> None:
    """Print all figures."""
    if as_json:
        print(json.dumps(figures))
        return
    width = max(map(len, figures))
    for name, value in figures.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        print(f"{name:{width}}  {value:,}" if is_number else f"{name:{width}}  {value}")
