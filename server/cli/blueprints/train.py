"""`fathom train`: train a blueprint; can be interrupted at any time and continued with --resume."""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from server.cli.parts import flops
from server.cli.parts.numbers import any_number, number_or_never, positive_number, whole_number
from server.config.machine import available_memory_bytes, usable_cores

if TYPE_CHECKING:
    from rich.console import Console

    from abstraction.buckets import CardAbstraction
    from abstraction.presets import CardPreset
    from solver.blueprint.abstract_game import Dealer
    from solver.training.presets import BlueprintPreset
    from solver.training.run import Checkpoint, Products, TrainingRun, TrainingState
    from solver.training.trainer import TrainingPlan, TrainingSettings
from server.cli.parts.progress import bars

_PRESET = "tiny"
CARD_PRESET_NAMES = "8, 32, 256, 500, 1000, 2000-1000-1000, 2000, 30000"
"""The names in `abstraction.presets`, repeated so that --help need not import it."""
_MOST_SHARE = 0.02
"""Maximum share of the training time spent on reports, and likewise on checkpoints."""
_INTERVAL = 60.0
"""Minimum seconds between checkpoints; more if writing one is slow."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_EPILOG = """\
Output files, in the folder given by --checkpoint: checkpoint.fathom (replaced atomically, so a kill loses at
most one interval), PRESET.blueprint, PRESET.blueprint.xz with --pack, and training.svg. A folder holds one
training at a time; if a checkpoint cannot be written, it is retried an interval later. One thread, a seed and
--iterations give the same strategy every time; with --reproducible also the same bytes.

--resume alone finishes the original plan with the same number of threads; with one thread the result is the
same, to the byte, as without the interruption. With --iterations or --seconds (totals, including what is
done) a training, finished or not, continues under a longer plan: what it has learned is scaled to the weight
it would have under that plan. If the longer plan's burn-in is not over, averaging restarts when it is. The
options of "how to learn" replace those of the training. --carry, --pack, --values and --reproducible are
remembered until --no-carry and so on.

--from FILE --cards NAME continues with other buckets: regrets are divided among them, and averaging and
burn-in start again, so a longer plan is required.

With --flops the most frequent flops of the finished blueprint are solved and stored in a flop book; `fathom
blueprint flops` does the same for any blueprint, including the shipped one, and for chosen lines and flops.

examples:
  fathom train --preset tiny                                   a playable blueprint in a minute
  fathom train --preset default --iterations 500000000         hours; stop with Ctrl-C, continue with --resume
  fathom train --preset default --resume --iterations 2000000000   make a finished training 4 times as long
  fathom train --from default.blueprint.xz --checkpoint better --iterations 4000000000
                                                               continue the training a blueprint carries
  fathom train --from default.blueprint.xz --cards 2000 --checkpoint finer --iterations 4000000000
                                                               the same, but with more buckets
  fathom blueprint plan --preset paper                         estimate what a training needs"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("--preset", help="tiny, default or paper (default: tiny, or the resumed training's)")
    parser.add_argument(
        "--cards",
        help=f"card abstraction (default: the preset's own): {CARD_PRESET_NAMES}; with --from: continue with "
        "these buckets",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--iterations",
        type=whole_number(),
        default=0,
        help="total training iterations, one deal each (default: the preset's)",
    )
    length.add_argument(
        "--seconds",
        type=positive_number,
        default=0.0,
        help="total training time in seconds (alternative to --iterations)",
    )
    parser.add_argument(
        "--threads",
        type=whole_number(),
        help=f"threads (default: all, {usable_cores()}; with --resume as many as before)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), help="random seed (default: 1, or the resumed training's)"
    )
    parser.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="folder for all files (default: training-PRESET)"
    )
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument(
        "--resume",
        action="store_true",
        help="continue from the checkpoint in that folder; with a length: under a longer plan (see below)",
    )
    begin.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FILE",
        help="continue, in a new folder, from a blueprint that carries its training state",
    )
    parser.add_argument(
        "--interval",
        type=positive_number,
        metavar="SECONDS",
        help="seconds between checkpoints (default: 60, or more if writing one is slow)",
    )
    for name, summary in (
        ("pack", "also write PRESET.blueprint.xz"),
        ("carry", "include the training state in the blueprint, so that training can continue from it"),
        ("values", "finally add the opponent values used to solve the first round"),
        ("reproducible", "leave date and core-hours out of the blueprint"),
    ):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=summary)
    parser.add_argument(
        "--flops",
        type=flops.flop_count,
        metavar="N",
        help="finally solve the N most frequent flops (or all) of each default line into a flop book",
    )
    parser.add_argument("--quiet", action="store_true", help="print only the last line, no progress")
    tuning = parser.add_argument_group("how to learn (shares are of the whole training)")
    tuning.add_argument("--discount-share", type=any_number, help="share with linear discounting")
    tuning.add_argument("--burn-in", type=any_number, help="share before averaging starts")
    tuning.add_argument("--prune-from", type=any_number, help="share before pruning starts")
    tuning.add_argument("--explore", type=any_number, help="share of traversals without pruning")
    tuning.add_argument(
        "--prune-below",
        type=number_or_never,
        help="prune actions with less regret than this, in big blinds, or: never (--prune-below=-inf)",
    )
    tuning.add_argument(
        "--floor", type=number_or_never, help="lower bound of regrets, in big blinds, or: never"
    )
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Train to the end of the plan, or until a signal."""
    from rich.console import Console

    from solver.training.run import CHECKPOINT

    console = Console(stderr=True, quiet=args.quiet)
    begin = _start
    if args.resume:
        begin = _resume
    elif args.source is not None:
        begin = _continue
    with ExitStack() as lock:
        folder, training = begin(args, console, lock)
        if _train(training, folder, args.interval, console):
            saved = (folder / CHECKPOINT).exists()
            then = "" if args.flops is None else f" --flops {args.flops}"
            on = (
                f"to continue: fathom train --resume --checkpoint {folder}{then}"
                if saved
                else "nothing is saved"
            )
            _say(console, f"stopped; {on}")
            return 130
        path = _finish(training, folder, console)
    if args.flops is not None:
        _solve_flops(path, args.flops, args.threads or usable_cores(), args.quiet)
    return 0


def _settings(args: argparse.Namespace, settings: TrainingSettings) -> TrainingSettings:
    """The given settings, changed by the options of "how to learn"."""
    names = ("discount_share", "burn_in", "prune_from", "explore", "prune_below", "floor")
    return replace(
        settings, **{name: getattr(args, name) for name in names if getattr(args, name) is not None}
    )


def _products(args: argparse.Namespace, before: Products) -> Products:
    """The products of earlier sessions, changed by the given options."""
    given = {name: getattr(args, name) for name in ("carry", "pack", "values", "reproducible")}
    return replace(before, **{name: value for name, value in given.items() if value is not None})


def _plan(args: argparse.Namespace, checkpoint: Checkpoint, where: Path) -> TrainingPlan:
    """The plan of a continued training; raises ValueError before anything is written or built."""
    from solver.training.regrouping import burn_in_since
    from solver.training.trainer import make_plan, verify_longer

    preset, before = checkpoint.preset.name, checkpoint.plan
    if args.preset not in (None, preset):
        raise ValueError(
            f"{where} holds a training with the preset '{preset}': leave out --preset {args.preset}"
        )
    if args.seed not in (None, before.seed):
        raise ValueError(
            f"{where} holds a training with seed {before.seed}, which cannot change: leave out"
            f" --seed {args.seed}"
        )
    plan = replace(before, settings=_settings(args, before.settings))
    longer = bool(args.iterations or args.seconds)
    if longer:
        plan = make_plan(plan.settings, plan.seed, args.iterations, args.seconds)
    if plan != before:
        verify_longer(plan, checkpoint.iterations, checkpoint.seconds)
    if longer and args.burn_in is None:
        plan = burn_in_since(plan, checkpoint, checkpoint.regrouped_at)
    return plan


def _verify_memory(preset: BlueprintPreset, num_buckets: tuple[int, ...]) -> None:
    """Raise ValueError, before any long work, if this machine has too little memory."""
    from solver.training.presets import estimate_cost

    needed, available = estimate_cost(preset.game(num_buckets)).memory_bytes, available_memory_bytes()
    if available is not None and needed > available:
        raise ValueError(
            f"{preset.name} with {max(num_buckets[1:]):,} buckets needs {needed / 1e9:.1f} GB of memory and "
            f"{available / 1e9:.1f} GB are free: use fewer buckets (--cards) or another machine"
        )


def _start(args: argparse.Namespace, console: Console, lock: ExitStack) -> tuple[Path, TrainingRun]:
    from abstraction.presets import make_card_abstraction, named_card_preset
    from solver.training.presets import named_preset
    from solver.training.run import Products, TrainingRun
    from solver.training.trainer import make_plan

    preset, seed = named_preset(args.preset or _PRESET), 1 if args.seed is None else args.seed
    card_preset = named_card_preset(args.cards or preset.cards)
    iterations = args.iterations or (0 if args.seconds else preset.iterations)
    plan = make_plan(_settings(args, preset.settings), seed, iterations, args.seconds)
    _verify_memory(preset, card_preset.num_buckets)
    folder = args.checkpoint or Path(f"training-{preset.name}")
    products = _products(args, Products())
    _occupy_new(folder, preset, products, lock)
    with bars(console) as progress:
        cards = make_card_abstraction(card_preset.name, seed, progress)
    training = TrainingRun(preset, plan, cards, _dealer(cards, console), args.threads or usable_cores())
    training.products = products
    return folder, training


def _continue(args: argparse.Namespace, console: Console, lock: ExitStack) -> tuple[Path, TrainingRun]:
    """Continue, in a new folder, from the training state that a blueprint carries."""
    from abstraction.presets import named_card_preset
    from solver.blueprint.file import unpack
    from solver.training.carried_training import read_carried, unfold
    from solver.training.regrouping import plan_regrouped
    from solver.training.run import restore
    from solver.training.trainer import verify_unfinished

    carried = read_carried(args.source)
    plan = _plan(args, carried, args.source)
    verify_unfinished(plan, carried.iterations, carried.seconds)
    card_preset = None if args.cards is None else named_card_preset(args.cards)
    if card_preset is not None:
        plan = plan_regrouped(plan, carried, burn_in=args.burn_in)
    _verify_memory(carried.preset, (card_preset or carried.cards).num_buckets)
    folder = args.checkpoint or Path(f"training-{carried.preset.name}")
    products = _products(args, carried.products)
    _occupy_new(folder, carried.preset, products, lock)
    state = unfold(unpack(args.source))  # unpacked a moment ago: no need to verify it again
    if card_preset is not None:
        state = _regrouped(state, card_preset, plan, console)
    threads = args.threads or usable_cores()
    training = restore(args.source, state, _dealer(state.cards, console), threads, plan)
    training.products = products
    training.save(folder)  # from here on a kill does not lose the requested options
    return folder, training


def _regrouped(
    state: TrainingState, card_preset: CardPreset, plan: TrainingPlan, console: Console
) -> TrainingState:
    from abstraction.overlap import bucket_overlaps
    from abstraction.presets import make_card_abstraction
    from solver.training.regrouping import regroup

    with bars(console) as progress:
        cards = make_card_abstraction(card_preset.name, plan.seed, progress)
        if cards.digest == state.cards.digest:
            raise ValueError(f"the training already has these buckets: leave out --cards {card_preset.name}")
        overlaps = bucket_overlaps(state.cards, cards, progress)
    return regroup(state, cards, overlaps, plan.settings.prune_below)


def _resume(args: argparse.Namespace, console: Console, lock: ExitStack) -> tuple[Path, TrainingRun]:
    from solver.training.folder import occupied
    from solver.training.run import read_checkpoint, resume

    folder = args.checkpoint or Path(f"training-{args.preset or _PRESET}")
    if args.cards is not None:
        raise ValueError(
            "a resumed training keeps its card abstraction: leave out --cards; or continue its blueprint, "
            f"made with --carry, in another folder: --from FILE --cards {args.cards}"
        )
    read_checkpoint(folder)  # fails before a folder is created for the lock
    lock.enter_context(occupied(folder))
    checkpoint = read_checkpoint(folder)
    plan = _plan(args, checkpoint, folder)
    _verify_memory(checkpoint.preset, checkpoint.cards.num_buckets)
    threads = args.threads or checkpoint.threads or usable_cores()
    training = resume(folder, _dealer(checkpoint.cards, console), threads, plan)
    training.products = _products(args, checkpoint.products)
    return folder, training


def _dealer(cards: CardAbstraction, console: Console) -> Dealer:
    from abstraction.tables import open_tables
    from solver.training.deals import HoldemDealer

    with bars(console) as progress:
        return HoldemDealer(open_tables(cards, progress=progress))


def _occupy_new(folder: Path, preset: BlueprintPreset, products: Products, lock: ExitStack) -> None:
    from solver.training.folder import occupied
    from solver.training.run import CHECKPOINT

    lock.enter_context(occupied(folder))
    if (folder / CHECKPOINT).exists():
        raise ValueError(
            f"{folder} already holds a training: continue it with --resume, or name another folder"
        )
    plain = folder / f"{preset.name}.blueprint"
    for path in (plain, *([_packed_twin(plain)] if products.pack else [])):
        if path.exists():
            raise ValueError(f"{path} would be overwritten: move it, or name another folder")


def _packed_twin(path: Path) -> Path:
    return path.with_name(f"{path.name}.xz")


def _train(training: TrainingRun, folder: Path, interval: float | None, console: Console) -> bool:
    """Train to the end, with reports and checkpoints, and save; True if a signal stopped it early.

    interval  seconds between checkpoints; None: chosen so that they take little of the time
    """
    from server.cli.parts.training_view import TrainingView

    saved = reported = time.monotonic()
    saving = reporting = 0.0
    # A second signal must not interrupt the save that the first one requested.
    with _noted_signals() as stopping:
        with TrainingView(training, console) as view:
            while not training.is_done and not stopping:
                training.step()
                now = time.monotonic()
                if now - reported >= _seconds_between_reports(training, reporting) or training.is_done:
                    view.show(training.report())
                    reported, reporting = now, time.monotonic() - now
                if now - saved >= (interval or max(_INTERVAL, saving / _MOST_SHARE)):
                    before = time.monotonic()
                    _save(training, folder, console)
                    view.tell_checkpoint()
                    saved = time.monotonic()
                    saving = saved - before
        asked = len(stopping)
        while not _save(training, folder, console) and len(stopping) == asked:
            _say(
                _loud(console),
                "progress since the last checkpoint is not saved: retrying; Ctrl-C discards it",
            )
            _wait(_INTERVAL, lambda: len(stopping) > asked)
    return bool(stopping)


def _seconds_between_reports(training: TrainingRun, duration: float) -> float:
    """Seconds to the next report: few at first, more if a report, which reads the whole table, is slow."""
    return max(min(5.0, max(1.0, training.trainer.seconds / 50)), duration / _MOST_SHARE)


@contextmanager
def _noted_signals() -> Iterator[list[int]]:
    """Collect termination signals in a list instead of raising."""
    noted: list[int] = []
    before = {number: signal.signal(number, lambda n, _: noted.append(n)) for number in _SIGNALS}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _save(training: TrainingRun, folder: Path, console: Console) -> bool:
    """Write a checkpoint, or report the error: a full disk must not lose the training in memory."""
    try:
        training.save(folder)
    except OSError as error:
        _say(_loud(console), f"checkpoint not written: {error}")
        return False
    return True


def _wait(seconds: float, until: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        time.sleep(0.1)


def _loud(console: Console) -> Console:
    """A console that prints even with --quiet."""
    from rich.console import Console

    return Console(stderr=True) if console.quiet else console


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _finish(training: TrainingRun, folder: Path, console: Console) -> Path:
    """Write the blueprint and the other requested products; returns the blueprint's path."""
    from server.cli.blueprints.blueprint import add_values
    from server.cli.parts.training_plot import training_svg
    from solver.blueprint.file import open_blueprint, pack
    from solver.depth_limited.opponent_values import ValueSettings
    from solver.training.carried_training import fold_in

    preset, trainer, products = training.preset, training.trainer, training.products
    path = folder / f"{preset.name}.blueprint"
    size = training.write(path)
    if products.values:
        threads = 1 if products.reproducible else trainer.threads
        settings = ValueSettings(seed=trainer.plan.seed, threads=threads)
        size = add_values(open_blueprint(path), path, trainer.dealer, settings, console)
    if products.carry:
        size = fold_in(training, path)
    if products.pack:
        size = pack(path, _packed_twin(path))
    if training.history:
        iterations, _, regret, drift, nodes = zip(*training.history, strict=True)
        curves = [
            ("positive regret, big blinds per iteration", regret, True),
            ("strategy drift between reports", drift, True),
            ("nodes visited per second", nodes, False),
        ]
        title = f"{preset.name}: {trainer.iterations:,} iterations, seed {trainer.plan.seed}"
        (folder / "training.svg").write_text(training_svg(title, iterations, curves), encoding="utf-8")
    training.close()
    took = f" in {trainer.seconds:,.0f} s, {trainer.core_seconds / 3600:.2f} core-hours"
    print(
        f"{path}: {trainer.iterations:,} iterations{'' if isnan(trainer.core_seconds) else took}, "
        f"{size / 1e6:,.1f} MB{' packed' if products.pack else ''}"
    )
    return path


def _solve_flops(path: Path, count: int, processes: int, quiet: bool) -> None:
    from solver.blueprint.file import open_blueprint

    facts = flops.make_usual_book(open_blueprint(path), count, processes, quiet)
    print(f"{facts['book']}: {facts['entries']:,} flops solved")
