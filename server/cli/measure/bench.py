"""`fathom bench NAME`: run one benchmark of `bench/`; `all` runs all of them, the long ones shortened."""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType

from server.cli.measure.named import modules_of, summary

_PACKAGE = "bench"  # imported by name: nothing but this command may depend on it


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments: the figure's name, then the options of that figure."""
    figures = _figures()
    parser.add_argument(
        "figure",
        choices=[*figures, "all"],
        metavar="FIGURE",
        help="figure to measure (listed below), or all: every figure, long ones shortened",
    )
    rest = parser.add_argument(
        "options", nargs=argparse.REMAINDER, help="options of that figure: try `fathom bench FIGURE --help`"
    )
    rest.required = False  # some Python versions report it as missing when only the figure is
    lines = [f"  {name:<13}{summary(module)}" for name, module in figures.items()]
    examples = "examples:\n  fathom bench evaluator --json\n  fathom bench all --json"
    parser.epilog = "\n".join(["figures:", *lines, "", examples])


def run(args: argparse.Namespace) -> int:
    """Measure; returns the worst exit status."""
    if args.figure == "all" and set(args.options) - {"--json"}:
        raise ValueError("`all` takes only --json: run a single figure by name to give it other options")
    if args.figure != "all":
        return int(_figure(args.figure).main(args.options))
    figures = [_figure(name) for name in _figures()]
    return max(int(figure.main([*args.options, *getattr(figure, "QUICK", ())])) for figure in figures)


def _figure(name: str) -> ModuleType:
    return importlib.import_module(_figures()[name])


def _figures() -> dict[str, str]:
    """The module of each figure, by name, in alphabetical order."""
    rooms = [module.name for module in modules_of(_PACKAGE) if module.ispkg]
    figures = [
        (module.name, f"{room}.{module.name}")
        for room in (f"{_PACKAGE}.{name}" for name in rooms)
        for module in modules_of(room)
        if not module.name.startswith("_")
    ]
    assert len(dict(figures)) == len(figures), "two figures have one name"
    return dict(sorted(figures))
