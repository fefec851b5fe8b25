"""`fathom train`: train a blueprint; stop it whenever you like, go on with --resume."""

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

from server.cli import flops
from server.cli.numbers import any_number, number_or_never, positive_number, whole_number
from server.machine import available_memory_bytes, usable_cores

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from abstraction.buckets import CardAbstraction
    from abstraction.presets import CardPreset
    from solver.blueprint_presets import BlueprintPreset
    from solver.mccfr import TrainingPlan, TrainingSettings
    from solver.training import Checkpoint, Products, TrainingRun, TrainingState
    from solver.training_game import Dealer

_PRESET = "tiny"
CARD_PRESET_NAMES = "8, 32, 256, 500, 1000, 2000-1000-1000, 2000, 30000"
"""Those of `abstraction.presets`, for help that comes without loading it."""
_MOST_SHARE = 0.02
"""Of the time of a training that reports, and likewise checkpoints, may take."""
_INTERVAL = 60.0
"""Seconds between checkpoints that are quickly written."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_EPILOG = """\
Writes to the folder given by --checkpoint: checkpoint.fathom (replaced as a whole, so a kill at any moment
costs at most one interval), PRESET.blueprint, its compressed twin with --pack, and training.svg.
One training at a time in a folder; a checkpoint that cannot be written is tried again an interval later.
One thread, a seed and --iterations give the same strategy every time; with --reproducible the same bytes.

--resume alone finishes the plan the training began with, with as many threads: with one, to the same bytes as
if it had never stopped. With --iterations or --seconds (totals, what is done included) a training, finished
or not, goes on by a longer plan: what it has learned is scaled to the weight it would have under that plan,
and averaging goes on until the longer plan's burn-in is over, then starts afresh (if it is over already, it
just goes on). Options of "how to learn" replace the training's own; --carry, --pack, --values and
--reproducible are remembered, until --no-carry and so on.

--from FILE --cards NAME goes on with other buckets: regrets are divided among them, averaging and the burn-in
begin anew, so it takes a longer plan.

With --flops the finished blueprint's usual flops are solved into a flop book; `fathom blueprint flops` does
that for any blueprint, the one that comes with Fathom included, and for chosen lines and flops.

examples:
  fathom train --preset tiny                                   a playable blueprint in a minute
  fathom train --preset default --iterations 500000000         hours; stop with Ctrl-C, go on with --resume
  fathom train --preset default --resume --iterations 2000000000   finished; now four times as long
  fathom train --from default.blueprint.xz --checkpoint better --iterations 4000000000   what others began
  fathom train --from default.blueprint.xz --cards 2000 --checkpoint finer --iterations 4000000000
                                                               the same, with more buckets from here on
  fathom blueprint plan --preset paper                         what a training needs, before it starts"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("--preset", help="tiny, default or paper (default: tiny, or that of the training)")
    parser.add_argument(
        "--cards",
        help=f"buckets instead of the preset's own: {CARD_PRESET_NAMES}; with --from: what was learned goes "
        "on with them",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--iterations",
        type=whole_number(),
        default=0,
        help="deals to learn from in all (default: the preset's)",
    )
    length.add_argument(
        "--seconds", type=positive_number, default=0.0, help="train for so long in all instead"
    )
    parser.add_argument(
        "--threads",
        type=whole_number(),
        help=f"default: all ({usable_cores()}), or with --resume as many as before",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), help="of all randomness (default: 1, or the training's)"
    )
    parser.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="folder for all files (default: training-PRESET)"
    )
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument(
        "--resume",
        action="store_true",
        help="go on from the checkpoint in that folder; with a length: by a longer plan (see below)",
    )
    begin.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FILE",
        help="go on from a blueprint that carries its training, in a new folder",
    )
    parser.add_argument(
        "--interval",
        type=positive_number,
        metavar="SECONDS",
        help="between checkpoints (default: 60, or more where writing one takes seconds)",
    )
    for name, summary in (
        ("pack", "write PRESET.blueprint.xz, too"),
        ("carry", "write the blueprint with what it takes to train on elsewhere"),
        ("values", "add the table that the first round is solved with, at the end"),
        ("reproducible", "no date and core-hours in the blueprint"),
    ):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=summary)
    parser.add_argument(
        "--flops",
        type=flops.flop_count,
        metavar="N",
        help="at the end, solve the N most frequent flops of each usual line, or all, in advance",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, only the last line")
    tuning = parser.add_argument_group("how to learn (shares are of the whole training)")
    tuning.add_argument("--discount-share", type=any_number, help="how long to discount linearly")
    tuning.add_argument("--burn-in", type=any_number, help="share before averaging starts")
    tuning.add_argument("--prune-from", type=any_number, help="share before pruning starts")
    tuning.add_argument("--explore", type=any_number, help="share of walks that prune nothing")
    tuning.add_argument(
        "--prune-below", type=number_or_never, help="regret in big blinds, or: never (--prune-below=-inf)"
    )
    tuning.add_argument(
        "--floor", type=number_or_never, help="regrets never fall below; in big blinds, or: never"
    )
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Train to the end of the plan, or until interrupted."""
    from rich.console import Console

    from solver.training import CHECKPOINT

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
                f"go on with: fathom train --resume --checkpoint {folder}{then}"
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
    """Those given, changed by the options of how to learn."""
    names = ("discount_share", "burn_in", "prune_from", "explore", "prune_below", "floor")
    return replace(
        settings, **{name: getattr(args, name) for name in names if getattr(args, name) is not None}
    )


def _products(args: argparse.Namespace, before: Products) -> Products:
    """Those of the sittings before, changed by the options given."""
    given = {name: getattr(args, name) for name in ("carry", "pack", "values", "reproducible")}
    return replace(before, **{name: value for name, value in given.items() if value is not None})


def _plan(args: argparse.Namespace, checkpoint: Checkpoint, where: Path) -> TrainingPlan:
    """How a training goes on; refused before anything is written or built."""
    from solver.mccfr import make_plan, verify_longer
    from solver.regrouping import burn_in_since

    preset, before = checkpoint.preset.name, checkpoint.plan
    if args.preset not in (None, preset):
        raise ValueError(
            f"{where} holds a training of the preset '{preset}': leave out --preset {args.preset}"
        )
    if args.seed not in (None, before.seed):
        raise ValueError(
            f"{where} holds a training of seed {before.seed}, which it keeps: leave out --seed {args.seed}"
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
    """Refuse what this machine has no room for, before anything long is begun."""
    from solver.blueprint_presets import estimate_cost

    needed, available = estimate_cost(preset.game(num_buckets)).memory_bytes, available_memory_bytes()
    if available is not None and needed > available:
        raise ValueError(
            f"{preset.name} with {max(num_buckets[1:]):,} buckets needs {needed / 1e9:.1f} GB of memory and "
            f"{available / 1e9:.1f} are free here: take fewer buckets (--cards) or another machine"
        )


def _start(args: argparse.Namespace, console: Console, lock: ExitStack) -> tuple[Path, TrainingRun]:
    from abstraction.presets import make_card_abstraction, named_card_preset
    from solver.blueprint_presets import named_preset
    from solver.mccfr import make_plan
    from solver.training import Products, TrainingRun

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
    """From what a blueprint carries, in a new folder."""
    from abstraction.presets import named_card_preset
    from solver.blueprint import unpack
    from solver.carried_training import read_carried, unfold
    from solver.mccfr import verify_unfinished
    from solver.regrouping import plan_regrouped
    from solver.training import restore

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
    state = unfold(unpack(args.source))  # unpacked a moment ago: not once more to verify it
    if card_preset is not None:
        state = _regrouped(state, card_preset, plan, console)
    threads = args.threads or usable_cores()
    training = restore(args.source, state, _dealer(state.cards, console), threads, plan)
    training.products = products
    training.save(folder)  # a kill from here on does not lose what was asked for
    return folder, training


def _regrouped(
    state: TrainingState, card_preset: CardPreset, plan: TrainingPlan, console: Console
) -> TrainingState:
    from abstraction.overlap import bucket_overlaps
    from abstraction.presets import make_card_abstraction
    from solver.regrouping import regroup

    with bars(console) as progress:
        cards = make_card_abstraction(card_preset.name, plan.seed, progress)
        if cards.digest == state.cards.digest:
            raise ValueError(f"it has these buckets already: leave out --cards {card_preset.name}")
        overlaps = bucket_overlaps(state.cards, cards, progress)
    return regroup(state, cards, overlaps, plan.settings.prune_below)


def _resume(args: argparse.Namespace, console: Console, lock: ExitStack) -> tuple[Path, TrainingRun]:
    from solver.training import read_checkpoint, resume
    from solver.training_folder import occupied

    folder = args.checkpoint or Path(f"training-{args.preset or _PRESET}")
    if args.cards is not None:
        raise ValueError(
            "a training keeps its cards: leave out --cards; or take its blueprint, made with --carry, "
            f"and go on with --from FILE --cards {args.cards} in another folder"
        )
    read_checkpoint(folder)  # refused before a folder is made for the lock
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
    from solver.holdem_deals import HoldemDealer

    with bars(console) as progress:
        return HoldemDealer(open_tables(cards, progress=progress))


def _occupy_new(folder: Path, preset: BlueprintPreset, products: Products, lock: ExitStack) -> None:
    from solver.training import CHECKPOINT
    from solver.training_folder import occupied

    lock.enter_context(occupied(folder))
    if (folder / CHECKPOINT).exists():
        raise ValueError(f"{folder} holds a training already: go on with --resume, or name another folder")
    plain = folder / f"{preset.name}.blueprint"
    for path in (plain, *([_packed_twin(plain)] if products.pack else [])):
        if path.exists():
            raise ValueError(f"{path} would be replaced: move it, or name another folder")


def _packed_twin(path: Path) -> Path:
    return path.with_name(f"{path.name}.xz")


def bars(console: Console) -> Progress:
    """Progress on a terminal: how many of how many, and the time left."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _train(training: TrainingRun, folder: Path, interval: float | None, console: Console) -> bool:
    """Train to the end and save; True if a signal came first. Reports and checkpoints on the way.

    interval  seconds between checkpoints; None: such that they cost little
    """
    from server.training_view import TrainingView

    saved = reported = time.monotonic()
    saving = reporting = 0.0
    # A second signal must not cut off the save that the first one asked for.
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
            _say(_loud(console), "what was learned since is only in memory: trying again; Ctrl-C gives it up")
            _wait(_INTERVAL, lambda: len(stopping) > asked)
    return bool(stopping)


def _seconds_between_reports(training: TrainingRun, duration: float) -> float:
    """Often at first; seldom where a report, which looks at the whole table, takes long itself."""
    return max(min(5.0, max(1.0, training.trainer.seconds / 50)), duration / _MOST_SHARE)


@contextmanager
def _noted_signals() -> Iterator[list[int]]:
    """Signals that ask for an end are put into a list instead."""
    noted: list[int] = []
    before = {number: signal.signal(number, lambda n, _: noted.append(n)) for number in _SIGNALS}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _save(training: TrainingRun, folder: Path, console: Console) -> bool:
    """Write a checkpoint, or say why not: what is in memory must not be lost for a disk that is full."""
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
    """One that speaks even if the other was told not to."""
    from rich.console import Console

    return Console(stderr=True) if console.quiet else console


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _finish(training: TrainingRun, folder: Path, console: Console) -> Path:
    """Write the blueprint and what else was asked for; where it is."""
    from server.cli.blueprint import add_values
    from server.training_plot import training_svg
    from solver.blueprint import open_blueprint, pack
    from solver.carried_training import fold_in
    from solver.opponent_values import ValueSettings

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
    took = f" in {trainer.seconds:,.0f} s, {training.core_seconds / 3600:.2f} core-hours"
    print(
        f"{path}: {trainer.iterations:,} iterations{'' if isnan(training.core_seconds) else took}, "
        f"{size / 1e6:,.1f} MB{' packed' if products.pack else ''}"
    )
    return path


def _solve_flops(path: Path, count: int, processes: int, quiet: bool) -> None:
    from solver.blueprint import open_blueprint

    facts = flops.make_usual_book(open_blueprint(path), count, processes, quiet)
    print(f"{facts['book']}: {facts['entries']:,} flops solved")
