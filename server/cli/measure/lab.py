"""`fathom lab NAME`: reproduce a table or a figure of a paper; `list` names them, `all` runs all of them."""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from server.cli.measure.named import modules_of, summary

_PACKAGE = "lab.experiments"  # imported by name: nothing but this command may depend on it
_SHARED = ("measures", "report", "svg")

_EPILOG = """\
Each experiment prints the paper's figures beside ours and says whether the paper's claim holds here. The exit
status is 1 if one does not. The extra `lab` is needed: .venv/bin/pip install -e '.[lab]'

examples:
  fathom lab list
  fathom lab table1
  fathom lab figure9 --plot figure9.svg
  fathom lab all --quick --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.epilog = _EPILOG
    parser.add_argument("experiment", metavar="NAME", help="an experiment, list, or all")
    parser.add_argument("--quick", action="store_true", help="leave out what takes longest")
    parser.add_argument("--json", action="store_true", help="print one JSON line per experiment")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the curves, if there are any")


def run(args: argparse.Namespace) -> int:
    """Run the experiments; returns 1 if a claim fails."""
    names = _names()
    if args.experiment == "list":
        if args.quick or args.plot is not None:
            raise ValueError("list runs nothing: leave out --quick and --plot")
        about = {name: summary(f"{_PACKAGE}.{_module(name)}") for name in names}
        if args.json:
            print("\n".join(json.dumps({"experiment": name, "about": about[name]}) for name in names))
            return 0
        width = max(map(len, names))
        print("\n".join(f"{name:{width}}  {about[name]}" for name in names))
        return 0
    if args.experiment != "all" and args.experiment not in names:
        near = difflib.get_close_matches(args.experiment, names, 1)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(names)}"
        raise ValueError(f"unknown experiment {args.experiment!r}: {hint}")
    if args.experiment == "all" and args.plot is not None:
        raise ValueError("--plot draws one experiment: run it by name")
    if args.plot is not None and (args.plot.is_dir() or not args.plot.parent.is_dir()):
        raise ValueError(f"--plot {args.plot}: not a file in a folder that exists")
    if find_spec("scipy") is None:
        raise ValueError("the lab needs scipy: run .venv/bin/pip install -e '.[lab]'")
    chosen = names if args.experiment == "all" else [args.experiment]
    return max([_run(name, args) for name in chosen])


def _run(name: str, args: argparse.Namespace) -> int:
    from rich.console import Console

    from server.cli.parts.progress import bars

    experiment = importlib.import_module(f"{_PACKAGE}.{_module(name)}")
    if args.plot is not None and not getattr(experiment, "CURVES", True):
        raise ValueError(f"{name} has no curves to draw: leave out --plot")
    console = Console(stderr=True)
    with bars(console) as progress:

        def track(parts: Sequence[Any]) -> Iterable[Any]:
            return progress.track(parts, description=name)

        report = experiment.run(quick=args.quick, track=track)
    print(json.dumps({"experiment": name, **report.record()}) if args.json else f"{report.text()}\n")
    if args.plot is not None:
        svg = importlib.import_module(f"{_PACKAGE}.svg")
        args.plot.write_text(svg.draw(report.plots), encoding="utf-8")
        print(args.plot, file=sys.stderr)
    return 0 if report.holds else 1


def _names() -> list[str]:
    return [found.name.replace("_", "-") for found in modules_of(_PACKAGE) if found.name not in _SHARED]


def _module(name: str) -> str:
    return name.replace("-", "_")
