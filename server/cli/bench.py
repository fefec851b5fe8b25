"""`fathom bench NAME`: run one of the figures in `bench/`; `all` runs every one, the long ones in small."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from types import ModuleType

_PACKAGE = "bench"  # imported by name: nothing but this command may depend on it


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments: the figure's name, and the rest is the figure's own."""
    parser.add_argument(
        "figure",
        choices=[*_figures(), "all"],
        help="which figure to measure; all: every one, long ones in small",
    )
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, help="options of that figure: try --help after it"
    )
    parser.epilog = "examples:\n  fathom bench evaluator --json\n  fathom bench all --json"


def run(args: argparse.Namespace) -> int:
    """Measure, and return the worst exit status."""
    if args.figure == "all" and set(args.options) - {"--json"}:
        raise ValueError("all figures share one option, --json: run a figure by its name to give it others")
    if args.figure != "all":
        return int(_figure(args.figure).main(args.options))
    figures = [_figure(name) for name in _figures()]
    return max(int(figure.main([*args.options, *getattr(figure, "QUICK", ())])) for figure in figures)


def _figure(name: str) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{name}")


def _figures() -> list[str]:
    modules = pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__)
    return [module.name for module in modules if not module.name.startswith("_")]
