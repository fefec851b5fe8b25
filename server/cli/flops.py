"""`fathom blueprint flops`: solve frequent flops in advance, into a flop book that the agent plays by."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from server.cli.numbers import number_between, whole_number
from server.machine import usable_cores

if TYPE_CHECKING:
    from rich.console import Console

    from solver.blueprint import Blueprint
    from solver.flop_book_file import BookFile
    from solver.flop_book_making import Task
    from solver.flop_lines import FlopLine
    from solver.layout import I64, U8

SUMMARY = "solve frequent flops in advance: a flop book, by which the agent plays them"

_ALL = "all"
_NUM_FLOPS = 1_755
_SHARE = 90.0
_ITERATIONS = 1_500

_EPILOG = """\
A line is the betting before the flop, such as r300c; lines and flops that are met most often come first, so a
book is of use long before it is whole. Entries are kept as they are made: stop whenever you like, with Ctrl-C
or kill -9, and give the same command to go on. What is there is not made again; more lines and flops can be
added. An agent that is running sees new entries of lines it has, new lines when it starts again.

examples:
  fathom blueprint flops --plan                    what the usual book takes, without making it
  fathom blueprint flops --line r300c --flops 200  the 200 most frequent flops of one line
  fathom blueprint flops                           lines of 90 % of all flops played; hours to days"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        help="the blueprint (default: the one that comes with Fathom, or FATHOM_BLUEPRINT)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--lines", type=whole_number(), metavar="N", help="the N most frequent lines")
    which.add_argument(
        "--line", action="append", metavar="BETTING", help="this line, e.g. r300c; may be given again"
    )
    which.add_argument(
        "--share",
        type=number_between(0, 100),
        default=_SHARE,
        metavar="PERCENT",
        help="lines of so many of all flops that the blueprint plays (default: %(default)g)",
    )
    boards = parser.add_mutually_exclusive_group()
    boards.add_argument(
        "--flop", action="append", metavar="CARDS", help="this flop, e.g. AsKd7h; may be given again"
    )
    boards.add_argument(
        "--flops",
        type=flop_count,
        default=_NUM_FLOPS,
        metavar="N",
        help="the N most frequent of the 1,755 flops that differ by more than suits, or all (default)",
    )
    parser.add_argument(
        "--iterations", type=whole_number(), default=_ITERATIONS, help="of each solve (default: %(default)s)"
    )
    parser.add_argument(
        "--processes",
        type=whole_number(),
        default=usable_cores(),
        help="each solves a flop at a time (default: all cores, %(default)s)",
    )
    parser.add_argument(
        "--book",
        type=Path,
        metavar="DIR",
        help="folder (default: in Fathom's data folder, where agents look)",
    )
    parser.add_argument("--plan", action="store_true", help="say what it takes, and make nothing")
    parser.add_argument("--quiet", action="store_true", help="no progress, only the result")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def make_book(args: argparse.Namespace, blueprint: Blueprint) -> dict[str, object]:
    """Make what is missing, or tell what that takes; facts for people or programs."""
    from rich.console import Console

    from solver.agent_settings import AgentSettings
    from solver.flop_book import book_folder, book_menu
    from solver.flop_book_making import flops_in_order, flops_share, tasks_in_order
    from solver.flop_lines import flop_lines

    if not blueprint.definition.no_limit:
        raise ValueError("flop books are for no-limit games: this blueprint's is not one")
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
    """So many flops of each usual line, where agents look; facts as `make_book` tells them."""
    parser = argparse.ArgumentParser()
    configure(parser)
    words = ["--flops", str(flops), "--processes", str(processes), *(["--quiet"] if quiet else [])]
    return make_book(parser.parse_args(words), blueprint)


def _chosen(known: list[FlopLine], args: argparse.Namespace) -> list[FlopLine]:
    """The lines asked for, the most frequent first."""
    if args.lines is not None:
        return known[: args.lines]
    if args.line is not None:
        names = {text.rstrip("/") for text in args.line}
        for name in names - {line.text for line in known}:
            frequent = ", ".join(line.text for line in known[:6])
            raise ValueError(
                f"--line {name}: is no betting of this blueprint that leads to a flop with bets to come; the"
                f" most frequent are {frequent}"
            )
        return [line for line in known if line.text in names]
    chosen: list[FlopLine] = []
    for line in known:
        if chosen and sum(found.share for found in chosen) >= args.share / 100:
            break
        chosen.append(line)
    return chosen


class _Estimate(NamedTuple):
    """Of entries that are to be made."""

    hours: float
    seconds_each: float
    size: int
    """Bytes on disk."""


class _Maker:
    """Makes a book's entries."""

    def __init__(
        self, folder: Path, blueprint: Blueprint, lines: Sequence[FlopLine], menu: str, iterations: int
    ) -> None:
        self._folder, self._blueprint, self._menu, self._iterations = folder, blueprint, menu, iterations
        self._lines = {line.text: line for line in lines}

    def missing(self, tasks: list[Task]) -> list[Task]:
        """Those that are not there yet."""
        from solver.flop_book_file import book_path

        there = [text for text in self._lines if book_path(self._folder, text).exists()]
        return _missing({text: self._open(text) for text in there}, tasks)

    def estimate(self, tasks: list[Task], processes: int) -> _Estimate:
        """What entries take, after a few iterations of each line."""
        from solver.flop_book_file import flop_tree, slot_bytes
        from solver.flop_book_making import seconds_of_entry

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
        """Make what is missing; how many that was, and the seconds it took."""
        from server.cli.train import bars
        from solver.flop_book_file import write_entry
        from solver.flop_book_making import only_maker

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
                _say(console, f"stopped; {made:,} entries were made and are kept: the same command goes on")
                raise
        return made, time.monotonic() - started

    def disk_bytes(self) -> int:
        """What the lines' files take; those half made have holes."""
        from solver.flop_book_file import book_path

        return sum(book_path(self._folder, text).stat().st_blocks * 512 for text in self._lines)

    def _open(self, text: str) -> BookFile:
        from solver.flop_book_making import open_for_making

        return open_for_making(self._folder, self._lines[text], self._blueprint, self._menu, self._iterations)

    def _tell(self, missing: list[Task], total: int, processes: int, console: Console) -> None:
        """What is about to be done; refused if the disk has no room for it."""
        _say(console, f"{total:,} entries, {total - len(missing):,} of them there; timing a few iterations")
        hours, _, size = self.estimate(missing, processes)
        free = shutil.disk_usage(self._folder).free
        if size > free:
            raise ValueError(
                f"{len(missing):,} entries take {size / 1e6:,.0f} MB, and {self._folder} has"
                f" {free / 1e6:,.0f} left: ask for fewer lines or flops, or name another folder by --book"
            )
        _say(
            console,
            f"{len(missing):,} to make: about {_duration(hours)} with {processes} at a time if nothing else"
            f" runs, {size / 1e6:,.1f} MB in {self._folder}",
        )

    def _solved(self, tasks: list[Task], processes: int) -> Iterator[tuple[Task, U8]]:
        from arena.workers import WorkerPool
        from solver.flop_book_making import Task, entry_solver
        from solver.layout import U8

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
    """Numbers of the canonical flops of some flops, each once."""
    import numpy as np

    from game.cards import parse_cards
    from solver.flop_book_file import locate

    boards = [tuple(parse_cards(text)) for text in texts]
    for text, board in zip(texts, boards, strict=True):
        if len(set(board)) != 3:
            raise ValueError(f"--flop {text}: a flop is three different cards, such as AsKd7h")
    return np.array(list(dict.fromkeys(locate(board)[0] for board in boards)), dtype=np.int64)


def flop_count(text: str) -> int:
    """For `argparse`: how many of the flops, or all."""
    return _NUM_FLOPS if text == _ALL else whole_number(1, _NUM_FLOPS)(text)


def _duration(hours: float) -> str:
    return f"{hours:,.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
