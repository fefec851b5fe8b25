"""`fathom bench NAME`: run one of the figures in `bench/`; `all` runs every one with its defaults."""

from __future__ import annotations

import argparse
import importlib
import pkgutil

_PACKAGE = "bench"  # imported by name: nothing but this command may depend on it


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments: the figure's name, and the rest is the figure's own."""
    parser.add_argument("figure", choices=[*_figures(), "all"], help="which figure to measure")
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, help="options of that figure: try --help after it"
    )
    parser.epilog = "examples:\n  fathom bench evaluator --json\n  fathom bench all --json"


def run(args: argparse.Namespace) -> int:
    """Measure, and return the worst exit status."""
    if args.figure == "all" and set(args.options) - {"--json"}:
        raise ValueError("all figures run with their defaults: the only option is --json")
    wanted = _figures() if args.figure == "all" else [args.figure]
    statuses = [int(importlib.import_module(f"{_PACKAGE}.{name}").main(args.options)) for name in wanted]
    return max(statuses)


def _figures() -> list[str]:
    modules = pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__)
    return [module.name for module in modules if not module.name.startswith("_")]
