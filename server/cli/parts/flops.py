"""`fathom blueprint flops`: solve frequent flops in advance and store them in a flop book for the agent."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from server.cli.parts.numbers import number_between, whole_number
from server.config.machine import usable_cores

if TYPE_CHECKING:
    from rich.console import Console

    from numeric.arrays import I64, U8
    from solver.blueprint.file import Blueprint
    from solver.flop_book.file import BookFile
    from solver.flop_book.lines import FlopLine
    from solver.flop_book.making import Task

SUMMARY = "solve frequent flops in advance and store them in a flop book for the agent"

_ALL = "all"
_NUM_FLOPS = 1_755
_SHARE = 90.0
_ITERATIONS = 1_500

_EPILOG = """\
A line is the betting before the flop, such as r300c. The most frequent lines and flops are solved first, so a
book is useful long before it is complete. Each entry is saved as soon as it is solved: the command can be
stopped at any time, by Ctrl-C or kill -9, and run again to continue. Existing entries are not solved again;
more lines and flops can be added later. A running agent sees new entries of lines it has loaded at once, and
new lines after a restart.

examples:
  fathom blueprint flops --plan                    time and disk space of the default book; solves nothing
  fathom blueprint flops --line r300c --flops 200  the 200 most frequent flops of one line
  fathom blueprint flops                           lines that make up 90 % of all flops; hours to days"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        help="the blueprint (default: FATHOM_BLUEPRINT, or the shipped one)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--lines", type=whole_number(), metavar="N", help="the N most frequent lines")
    which.add_argument("--line", action="append", metavar="BETTING", help="this line, e.g. r300c; repeatable")
    which.add_argument(
        "--share",
        type=number_between(0, 100),
        default=_SHARE,
        metavar="PERCENT",
        help="the lines that make up this share of all flops the blueprint sees (default: %(default)g)",
    )
    boards = parser.add_mutually_exclusive_group()
    boards.add_argument("--flop", action="append", metavar="CARDS", help="this flop, e.g. AsKd7h; repeatable")
    boards.add_argument(
        "--flops",
        type=flop_count,
        default=_NUM_FLOPS,
        metavar="N",
        help="the N most frequent of the 1,755 flops distinct up to suits, or all (default)",
    )
    parser.add_argument(
        "--iterations",
        type=whole_number(),
        default=_ITERATIONS,
        help="iterations per solve (default: %(default)s)",
    )
    parser.add_argument(
        "--processes",
        type=whole_number(),
        default=usable_cores(),
        help="processes, each solving one flop at a time (default: all cores, %(default)s)",
    )
    parser.add_argument(
        "--book",
        type=Path,
        metavar="DIR",
        help="the book's folder (default: in Fathom's data folder, where agents look for it)",
    )
    parser.add_argument("--plan", action="store_true", help="only estimate time and disk space")
    parser.add_argument("--quiet", action="store_true", help="print only the result, no progress")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def make_book(args: argparse.Namespace, blueprint: Blueprint) -> dict[str, object]:
    """Solve the missing entries, or with --plan estimate their cost; returns facts to print."""
    from rich.console import Console

    from solver.decisions.settings import AgentSettings
    from solver.flop_book.book import book_folder, book_menu
    from solver.flop_book.lines import flop_lines
    from solver.flop_book.making import flops_in_order, flops_share, tasks_in_order

    if not blueprint.definition.no_limit:
        raise ValueError("flop books need a no-limit game, and this blueprint is for a limit game")
    menu = book_menu(AgentSettings())
    folder = args.book or book_folder(blueprint, menu)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--book {folder}: is a file: name a folder")
    lines = _chosen(flop_lines(blueprint), args)
    flops = flops_in_order(args.flops) if args.flop is None else _named(args.flop)
    tasks = tasks_in_order(lines, flops)
    console = Console(stderr=True, quiet=args.quiet)
    facts: dict[str, object] = {
        "book": str(folder),
        "blueprint": blueprint.identity,
        "menu": menu,
        "iterations": args.iterations,
        "lines": [line.text for line in lines],
        "lines_share": round(sum(line.share for line in lines), 4),
        "flops": len(flops),
        "flops_share": round(flops_share(flops), 4),
        "entries": len(tasks),
    }
    maker = _Maker(folder, blueprint, lines, menu, args.iterations)
    if args.plan:
        missing = maker.missing(tasks)
        hours, each, size = maker.estimate(missing, args.processes)
        return facts | {
            "missing": len(missing),
            "processes": args.processes,
            "seconds_each": round(each, 2),
            "expected_hours": round(hours, 3),
            "expected_bytes": size,
        }
    made, seconds = maker.make(tasks, args.processes, console)
    return facts | {"made_now": made, "seconds": round(seconds, 1), "disk_bytes": maker.disk_bytes()}


def make_usual_book(blueprint: Blueprint, flops: int, processes: int, quiet: bool) -> dict[str, object]:
    """Solve this many flops of each default line into the default folder; returns what `make_book` does."""
    parser = argparse.ArgumentParser()
    configure(parser)
    words = ["--flops", str(flops), "--processes", str(processes), *(["--quiet"] if quiet else [])]
    return make_book(parser.parse_args(words), blueprint)


def _chosen(known: list[FlopLine], args: argparse.Namespace) -> list[FlopLine]:
    """The requested lines, most frequent first."""
    if args.lines is not None:
        return known[: args.lines]
    if args.line is not None:
        names = {text.rstrip("/") for text in args.line}
        for name in names - {line.text for line in known}:
            frequent = ", ".join(line.text for line in known[:6])
            raise ValueError(
                f"--line {name}: no such line: it must lead to a flop with betting left in this blueprint;"
                f" the most frequent are {frequent}"
            )
        return [line for line in known if line.text in names]
    chosen: list[FlopLine] = []
    for line in known:
        if chosen and sum(found.share for found in chosen) >= args.share / 100:
            break
        chosen.append(line)
    return chosen


class _Estimate(NamedTuple):
    """Cost of the entries still to be solved."""

    hours: float
    seconds_each: float
    size: int
    """Bytes on disk."""


class _Maker:
    """Solves a book's entries and writes them."""

    def __init__(
        self, folder: Path, blueprint: Blueprint, lines: Sequence[FlopLine], menu: str, iterations: int
    ) -> None:
        self._folder, self._blueprint, self._menu, self._iterations = folder, blueprint, menu, iterations
        self._lines = {line.text: line for line in lines}

    def missing(self, tasks: list[Task]) -> list[Task]:
        """The tasks whose entries are not in the book yet."""
        from solver.flop_book.file import book_path

        there = [text for text in self._lines if book_path(self._folder, text).exists()]
        return _missing({text: self._open(text) for text in there}, tasks)

    def estimate(self, tasks: list[Task], processes: int) -> _Estimate:
        """Estimate the entries' cost by timing a few iterations of each line."""
        from solver.flop_book.file import flop_tree, slot_bytes
        from solver.flop_book.making import seconds_of_entry

        by_line: dict[str, list[Task]] = {}
        for task in tasks:
            by_line.setdefault(task.line, []).append(task)
        seconds, size = 0.0, 0
        for text, of_line in by_line.items():
            line, middle = self._lines[text], of_line[len(of_line) // 2]
            size += len(of_line) * slot_bytes(flop_tree(line, self._menu))
            seconds += len(of_line) * seconds_of_entry(
                self._blueprint, line, middle.row, self._menu, self._iterations
            )
        return _Estimate(seconds / processes / 3600, seconds / max(len(tasks), 1), size)

    def make(self, tasks: list[Task], processes: int, console: Console) -> tuple[int, float]:
        """Solve the missing entries; returns their number and the seconds spent."""
        from server.cli.parts.progress import bars
        from solver.flop_book.file import write_entry
        from solver.flop_book.making import only_maker

        made, started = 0, time.monotonic()
        with only_maker(self._folder):
            files = {text: self._open(text) for text in self._lines}
            missing = _missing(files, tasks)
            if not missing:
                return 0, 0.0
            self._tell(missing, len(tasks), processes, console)
            try:
                with bars(console) as progress:
                    bar = progress.add_task("flops", total=len(tasks), completed=len(tasks) - len(missing))
                    for task, strategies in self._solved(missing, processes):
                        write_entry(files[task.line], task.row, strategies)
                        made += 1
                        progress.advance(bar)
            except (KeyboardInterrupt, SystemExit):
                _say(console, f"stopped; {made:,} new entries are saved: run the same command to continue")
                raise
        return made, time.monotonic() - started

    def disk_bytes(self) -> int:
        """Disk space of the lines' files; unfinished ones are sparse."""
        from solver.flop_book.file import book_path

        return sum(book_path(self._folder, text).stat().st_blocks * 512 for text in self._lines)

    def _open(self, text: str) -> BookFile:
        from solver.flop_book.making import open_for_making

        return open_for_making(self._folder, self._lines[text], self._blueprint, self._menu, self._iterations)

    def _tell(self, missing: list[Task], total: int, processes: int, console: Console) -> None:
        """Announce the work and its estimated cost; raises ValueError if the disk has too little space."""
        _say(
            console,
            f"{total:,} entries, {total - len(missing):,} of them solved already; timing a few iterations",
        )
        hours, _, size = self.estimate(missing, processes)
        free = shutil.disk_usage(self._folder).free
        if size > free:
            raise ValueError(
                f"{len(missing):,} entries need {size / 1e6:,.0f} MB, and {self._folder} has"
                f" {free / 1e6:,.0f} MB free: choose fewer lines or flops, or another folder with --book"
            )
        _say(
            console,
            f"{len(missing):,} to solve: about {_duration(hours)} with {processes} processes on an idle"
            f" machine, {size / 1e6:,.1f} MB in {self._folder}",
        )

    def _solved(self, tasks: list[Task], processes: int) -> Iterator[tuple[Task, U8]]:
        from arena.runs.workers import WorkerPool
        from numeric.arrays import U8
        from solver.flop_book.making import Task, entry_solver

        make = partial(entry_solver, self._blueprint.path, self._menu, self._iterations)
        count = min(processes, len(tasks))
        if count == 1:
            solve = make()
            for task in tasks:
                yield task, solve(task)
            return
        with WorkerPool[Task, U8](make, count) as pool:
            for task, strategies, _ in pool.run(iter(tasks)):
                yield task, strategies


def _missing(files: dict[str, BookFile], tasks: list[Task]) -> list[Task]:
    there = {text: set(file.rows_made()) for text, file in files.items()}
    return [task for task in tasks if task.row not in there.get(task.line, ())]


def _named(texts: list[str]) -> I64:
    """The canonical flop numbers of the given flops, without duplicates."""
    import numpy as np

    from game.cards import parse_cards
    from solver.flop_book.file import locate

    boards = [tuple(parse_cards(text)) for text in texts]
    for text, board in zip(texts, boards, strict=True):
        if len(set(board)) != 3:
            raise ValueError(f"--flop {text}: a flop is three different cards, such as AsKd7h")
    return np.array(list(dict.fromkeys(locate(board)[0] for board in boards)), dtype=np.int64)


def flop_count(text: str) -> int:
    """An `argparse` type: a number of flops, or `all`."""
    return _NUM_FLOPS if text == _ALL else whole_number(1, _NUM_FLOPS)(text)


def _duration(hours: float) -> str:
    return f"{hours:,.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
