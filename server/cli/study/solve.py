"""`fathom solve`: solve a flop, turn or river spot exactly; show the strategy as text or JSON."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from server.cli.parts.outputs import check_output

if TYPE_CHECKING:
    from server.solves.result import Outcome
    from solver.exact.archive import Archive
    from solver.exact.solver import Solver
    from solver.games.game import Game
    from solver.games.paths import Place
    from solver.games.spot import Spot

_EPILOG = """\
ranges   QQ+, TT-77, AKs, KTo+, A5s-A2s, AhKd, random; AA:0.5 for a weight; @FILE reads a file
menus    50% of the pot, 2.5x the bet, 300c chips, min, a all-in, a<250% all-in up to 2.5 pots;
         bets | raises | re-raises; by street and seat: "50%, a; river: 100%, a | a; river.ip: a"
paths    x check, c call, f fold, b500 or r1500 bet or raise to that many chips in this round, b50%, a all-in,
         Td a card: x/b50%/c/Td/x
locks    PATH = ACTION RANGE; ACTION rest

examples:
  fathom solve --board AsKd7h4c2s --pot 1000 --stack 9500
  fathom solve --board "Qs Jh 2h 8d" --pot 60 --stack 270 --oop 22+,A2s+,KTs+ --ip random \\
      --menu "33%, 75%, a | 60%, a" --target 0.2% --save turn.solve
  fathom solve --load turn.solve --node x/b75%
  fathom solve --resume turn.solve --target 0.1% --save turn.solve
  fathom solve --board AsKd7h4c2s --pot 100 --stack 200 --lock "b50% = f random:0.7; c rest" --json

docs/solve.md explains every option and the JSON."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    from solver.exact.schedules import VARIANTS

    spot = parser.add_argument_group("the spot")
    spot.add_argument("--board", metavar="CARDS", help="3, 4 or 5 public cards, e.g. AsKd7h4c")
    spot.add_argument("--pot", metavar="CHIPS", help="chips in the pot, e.g. 1000")
    spot.add_argument(
        "--stack", metavar="CHIPS", help="chips behind, e.g. 9500; of two stacks (OOP,IP) the smaller counts"
    )
    spot.add_argument("--oop", metavar="RANGE", help="range of the player first to act (default: random)")
    spot.add_argument("--ip", metavar="RANGE", help="range of the player in position (default: random)")
    spot.add_argument(
        "--menu", metavar="MENU", help='bet sizes to offer (default: "50%%, 100%%, a | 100%%, a")'
    )
    spot.add_argument("--big-blind", metavar="CHIPS", help="minimum bet and raise (default: 1)")
    spot.add_argument(
        "--lock",
        metavar="LOCK",
        action="append",
        default=[],
        help="fix the strategy of a node; repeatable",
    )
    stop = parser.add_argument_group("when to stop (whichever comes first; Ctrl-C keeps the result so far)")
    stop.add_argument(
        "--target",
        metavar="PERCENT",
        help="exploitability in %% of the pot (default: 0.5%%, if no other limit is given)",
    )
    stop.add_argument(
        "--iterations", metavar="N", help="total iterations, including those of a resumed solve"
    )
    stop.add_argument("--seconds", metavar="S", help="solving time in seconds")
    how = parser.add_argument_group("how to solve")
    how.add_argument("--threads", metavar="N", help="threads (default: all cores)")
    how.add_argument(
        "--variant", choices=VARIANTS, metavar="NAME", help=f"CFR variant: {', '.join(VARIANTS)}"
    )
    files = parser.add_argument_group("files")
    files.add_argument("--save", metavar="FILE", type=Path, help="save the solve to FILE")
    files.add_argument(
        "--strategy-only",
        action="store_true",
        help="save only the strategy: half the size, but cannot be resumed",
    )
    source = files.add_mutually_exclusive_group()
    source.add_argument("--load", metavar="FILE", type=Path, help="show a saved solve")
    source.add_argument("--resume", metavar="FILE", type=Path, help="continue a saved solve")
    show = parser.add_argument_group("what to show")
    show.add_argument("--node", metavar="PATH", default="root", help="decision to show (default: root)")
    show.add_argument("--hands", metavar="RANGE", help="also list these hands one by one")
    show.add_argument("--json", action="store_true", help="print one JSON line instead of text")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Solve or load a spot, save it if requested, and show the node."""
    from rich.console import Console

    from game.ranges import parse_range
    from server.cli.parts import solve_screen as screen
    from server.solves.input import bytes_text, option, read_limits, read_threads
    from server.solves.result import look_at, result_record
    from solver.exact.symmetry import unmerged

    out, progress = Console(highlight=False), Console(stderr=True, highlight=False)
    threads, limits = read_threads(args.threads), read_limits(args)
    with option("--hands"):
        wanted = None if args.hands is None else parse_range(args.hands)
    _check_files(args)
    job = _open(args, threads) if args.load or args.resume else _begin(args, threads)
    place = _find_node(args.node, job)
    solver = job.solver
    if solver is not None:
        _lock(args.lock, job, solver)
        if not args.json:
            screen.show_spot(out, job.spot, job.game.tree, solver.memory_bytes, threads)
        found = screen.solve_with_progress(progress, solver, limits, job.spot.pot)
        solver = unmerged(solver, job.game)
        job = replace(job, solver=solver, seconds=job.seconds + found.seconds)
        if args.save:
            size = _save(args, job, solver)
            progress.print(f"saved {args.save}, {bytes_text(size)}", style="dim")
    outcome = _outcome(job, threads)
    view = look_at(outcome, place)
    if args.json:
        print(json.dumps(result_record(outcome, view)))
        return 0
    screen.show_outcome(out, outcome)
    screen.show_view(out, outcome, view)
    if wanted is not None:
        screen.show_hands(out, outcome, view, wanted)
    return 0


@dataclass(frozen=True, slots=True)
class _Job:
    """A solve to run, to resume, or (without a solver) only to show."""

    spot: Spot
    game: Game
    variant: str
    horizon: int
    solver: Solver | None = None
    archive: Archive | None = None
    seconds: float = 0.0


def _begin(args: argparse.Namespace, threads: int) -> _Job:
    from server.solves.input import check_memory, option, read_limits, read_spot, read_tree
    from solver.exact.schedules import named_schedule
    from solver.exact.solver import Solver

    spot = read_spot(args)
    tree = read_tree(spot)
    needed = check_memory(spot, tree, threads)
    with option("--oop and --ip"):
        game = spot.game(tree)
    variant, horizon = args.variant or "default", read_limits(args).iterations or 0
    if variant == "improved-cfr+" and not horizon:
        raise ValueError("--variant: improved-cfr+ needs the number of iterations: add --iterations")
    # Locks may break suit symmetry.
    solved = game if args.lock else _merged(game, needed)
    return _Job(spot, game, variant, horizon, Solver(solved, named_schedule(variant, horizon), threads))


def _merged(game: Game, needed: int) -> Game:
    """The game with symmetric river cards merged, if memory allows: both games' tables exist at the end."""
    from server.solves.input import fits_memory
    from solver.exact.symmetry import merged

    small = merged(game)
    tables = 2 * 4 * small.table_size  # regrets and strategy sums, float32
    return small if fits_memory(needed + tables) else game


def _open(args: argparse.Namespace, threads: int) -> _Job:
    from server.solves.input import SPOT_OPTIONS, check_memory, option
    from solver.exact.archive import load
    from solver.exact.symmetry import remerged

    name = "--load" if args.load else "--resume"
    given = [f"--{key.replace('_', '-')}" for key in SPOT_OPTIONS if getattr(args, key) is not None]
    if given:
        raise ValueError(f"{given[0]}: the spot comes from the {name} file: leave out this option")
    with option(name):
        archive = load(args.load or args.resume)
        job = _Job(
            archive.spot,
            archive.game,
            archive.variant,
            archive.horizon,
            archive=archive,
            seconds=archive.seconds,
        )
        if args.load:
            return job
        needed = check_memory(archive.spot, archive.game.tree, threads)
        solver = archive.solver(threads)
        if not args.lock and not solver.frozen.any():
            solver = remerged(solver, _merged(archive.game, needed))
        return replace(job, solver=solver)


def _check_files(args: argparse.Namespace) -> None:
    """Reject file options that would otherwise fail only after a long solve."""
    if args.load:
        for name in ("lock", "target", "iterations", "seconds", "save"):
            if getattr(args, name):
                raise ValueError(f"--{name}: --load only shows a solve: use --resume to continue it")
    if args.strategy_only and not args.save:
        raise ValueError("--strategy-only: needs a file to save to: add --save FILE")
    check_output("--save", args.save)


def _find_node(path: str, job: _Job) -> Place:
    from server.solves.input import option
    from solver.games.paths import find_place

    with option("--node"):
        place = find_place(job.spot, job.game, path)
        if place.any_card:
            raise ValueError(f"{path!r} leaves a card open: to show a node, name the card, e.g. Td for *")
    return place


def _lock(texts: list[str], job: _Job, solver: Solver) -> None:
    from server.solves.input import option
    from solver.games.locks import parse_lock

    with option("--lock"):
        for lock in [parse_lock(job.spot, job.game, text) for text in texts]:
            solver.lock(lock.place.node, lock.strategy)


def _save(args: argparse.Namespace, job: _Job, solver: Solver) -> int:
    from solver.exact.archive import save

    return save(args.save, job.spot, solver, job.variant, job.horizon, job.seconds, args.strategy_only)


def _outcome(job: _Job, threads: int) -> Outcome:
    from server.solves.result import Outcome
    from solver.exact.engine import Engine
    from solver.exact.exploitability import measure
    from solver.games.paths import place_of

    if job.solver is not None:
        solution, quality = job.solver.solution(), job.solver.quality()
        frozen, memory = job.solver.frozen, job.solver.memory_bytes
    else:
        assert job.archive is not None, "a job has a solver or a file"
        solution, frozen, engine = job.archive.solution(), job.archive.frozen, Engine(job.game, threads)
        quality = measure(engine, solution.average, frozen)
        memory = solution.average.nbytes + engine.memory_bytes
    locked = tuple([place_of(job.spot, job.game, int(node)).path for node in frozen.nonzero()[0]])
    return Outcome(job.spot, solution, quality, job.seconds, memory, threads, job.variant, locked)
