"""`fathom bench NAME`: run one benchmark of `bench/`; `all` runs all of them, the long ones shortened."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

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
    lines = [f"  {name:<13}{_summary(module)}" for name, module in figures.items()]
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


def _summary(module: str) -> str:
    """The first line of a figure's docstring, read without importing it, which would load all of Fathom."""
    spec = importlib.util.find_spec(module)
    assert spec is not None, "it was listed"
    assert spec.origin is not None, "it is a file"
    words = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return words.partition("\n")[0]


def _figures() -> dict[str, str]:
    """The module of each figure, by name, in alphabetical order."""
    rooms = [module.name for module in _modules(_PACKAGE) if module.ispkg]
    figures = [
        (module.name, f"{room}.{module.name}")
        for room in (f"{_PACKAGE}.{name}" for name in rooms)
        for module in _modules(room)
        if not module.name.startswith("_")
    ]
    assert len(dict(figures)) == len(figures), "two figures have one name"
    return dict(sorted(figures))


def _modules(package: str) -> Iterator[pkgutil.ModuleInfo]:
    return pkgutil.iter_modules(importlib.import_module(package).__path__)
