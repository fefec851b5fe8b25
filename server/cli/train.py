"""`fathom train`: train a blueprint; stop it whenever you like, go on with --resume."""

from __future__ import annotations

import argparse
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from solver.mccfr import TrainingSettings
    from solver.training import TrainingRun

_EPILOG = """\
Writes to the folder given by --checkpoint: checkpoint.fathom (replaced as a whole, so a kill at any moment
costs at most one interval), PRESET.blueprint, its compressed twin with --pack, and training.svg.
One thread, a seed and --iterations give the same strategy every time; with --reproducible the same bytes.

--resume alone finishes the plan the training began with, to the same bytes as if it had never stopped. With
--iterations or --seconds (totals, what is done included) a training, finished or not, goes on by a longer
plan: what it has learned is scaled to the weight it would have under that plan, and averaging goes on until
the longer plan's burn-in is over, then starts afresh. Options of "how to learn" replace the training's own.

examples:
  fathom train --preset tiny                                   a playable blueprint in a minute
  fathom train --preset default --iterations 500000000         hours; stop with Ctrl-C, go on with --resume
  fathom train --preset default --resume --iterations 2000000000   finished; now four times as long
  fathom train --from default.blueprint.xz --checkpoint better --iterations 4000000000   what others began
  fathom blueprint plan --preset paper                         what a training needs, before it starts"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("--preset", default="tiny", help="tiny, default or paper (default: tiny)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--iterations", type=int, default=0, help="deals to learn from in all (default: the preset's)"
    )
    length.add_argument("--seconds", type=float, default=0.0, help="train for so long in all instead")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="default: all (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of all randomness (default: 1)")
    parser.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="folder for all files (default: training-PRESET)"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on from the checkpoint in that folder; with a length: by a longer plan (see below)",
    )
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FILE",
        help="go on from a blueprint that carries its training, in a new folder",
    )
    parser.add_argument(
        "--interval", type=float, default=60.0, metavar="SECONDS", help="between checkpoints (default: 60)"
    )
    parser.add_argument("--reproducible", action="store_true", help="no date and core-hours in the blueprint")
    parser.add_argument("--pack", action="store_true", help="write PRESET.blueprint.xz, too")
    parser.add_argument(
        "--carry", action="store_true", help="write the blueprint with what it takes to train on elsewhere"
    )
    parser.add_argument(
        "--values", action="store_true", help="add the table that the first round is solved with, at the end"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, only the last line")
    tuning = parser.add_argument_group("how to learn (shares are of the whole training)")
    tuning.add_argument("--discount-share", type=float, help="how long to discount linearly")
    tuning.add_argument("--burn-in", type=float, help="share before averaging starts")
    tuning.add_argument("--prune-from", type=float, help="share before pruning starts")
    tuning.add_argument("--prune-below", type=float, help="regret in big blinds; -inf for never")
    tuning.add_argument("--floor", type=float, help="regrets never fall below; in big blinds")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Train to the end of the plan, or until interrupted."""
    from rich.console import Console

    folder = args.checkpoint or Path(f"training-{args.preset}")
    if args.threads < 1:
        raise ValueError(f"{args.threads} threads: give at least 1")
    console = Console(stderr=True, quiet=args.quiet)
    if args.source is not None:
        _unfold(args, folder)
    going_on = args.resume or args.source is not None
    training = (_resume if going_on else _start)(args, folder, console)
    interrupted = _train(training, folder, args.interval, console)
    training.save(folder)
    if interrupted:
        console.print(f"stopped; go on with: fathom train --resume --checkpoint {folder}")
        return 130
    return _finish(training, folder, args, console)


def _settings(args: argparse.Namespace, settings: TrainingSettings) -> TrainingSettings:
    """Those given, changed by the options of how to learn."""
    from dataclasses import replace

    names = ("discount_share", "burn_in", "prune_from", "prune_below", "floor")
    return replace(
        settings, **{name: getattr(args, name) for name in names if getattr(args, name) is not None}
    )


def _start(args: argparse.Namespace, folder: Path, console: Console) -> TrainingRun:
    from abstraction.presets import make_card_abstraction
    from abstraction.tables import open_tables
    from solver.blueprint_presets import named_preset
    from solver.holdem_deals import HoldemDealer
    from solver.mccfr import make_plan
    from solver.training import CHECKPOINT, TrainingRun

    if (folder / CHECKPOINT).exists():
        raise ValueError(f"{folder} holds a training already: add --resume, or name another folder")
    preset = named_preset(args.preset)
    iterations = args.iterations or (0 if args.seconds else preset.iterations)
    plan = make_plan(_settings(args, preset.settings), args.seed, iterations, args.seconds)
    folder.mkdir(parents=True, exist_ok=True)
    with _bars(console) as progress:
        cards = make_card_abstraction(preset.cards, args.seed, progress)
        dealer = HoldemDealer(open_tables(cards, progress=progress))
    return TrainingRun(preset, plan, cards, dealer, args.threads)


def _unfold(args: argparse.Namespace, folder: Path) -> None:
    from solver.blueprint import unpack
    from solver.carried_training import unfold
    from solver.training import CHECKPOINT

    if (folder / CHECKPOINT).exists():
        raise ValueError(f"{folder} holds a training already: add --resume, or name another folder")
    unfold(unpack(args.source), folder)


def _resume(args: argparse.Namespace, folder: Path, console: Console) -> TrainingRun:
    from dataclasses import replace

    from abstraction.tables import open_tables
    from solver.holdem_deals import HoldemDealer
    from solver.mccfr import make_plan
    from solver.training import read_checkpoint, resume

    checkpoint = read_checkpoint(folder)
    plan = replace(checkpoint.plan, settings=_settings(args, checkpoint.plan.settings))
    if args.iterations or args.seconds:
        plan = make_plan(plan.settings, plan.seed, args.iterations, args.seconds)
    with _bars(console) as progress:
        dealer = HoldemDealer(open_tables(checkpoint.cards, progress=progress))
    return resume(folder, dealer, args.threads, plan)


def _bars(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True)


def _train(training: TrainingRun, folder: Path, interval: float, console: Console) -> bool:
    """Train to the end; True if a signal came first. Reports and checkpoints on the way."""
    from server.training_view import TrainingView

    stopping: list[int] = []
    before = {number: signal.signal(number, lambda n, _: stopping.append(n)) for number in _SIGNALS}
    saved = reported = time.monotonic()
    try:
        with TrainingView(training, console) as view:
            while not training.is_done and not stopping:
                training.step()
                now = time.monotonic()
                if now - reported >= min(5.0, max(1.0, training.trainer.seconds / 50)) or training.is_done:
                    view.show(training.report())
                    reported = now
                if now - saved >= interval:
                    training.save(folder)
                    saved = time.monotonic()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return bool(stopping)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _finish(training: TrainingRun, folder: Path, args: argparse.Namespace, console: Console) -> int:
    from server.cli.blueprint import add_values
    from server.training_plot import training_svg
    from solver.blueprint import open_blueprint, pack
    from solver.carried_training import fold_in
    from solver.opponent_values import ValueSettings

    preset, trainer = training.preset, training.trainer
    path = folder / f"{preset.name}.blueprint"
    size = training.write(path, args.reproducible)
    if args.values:
        settings = ValueSettings(seed=trainer.plan.seed, threads=1 if args.reproducible else args.threads)
        size = add_values(open_blueprint(path), path, trainer.dealer, settings, console)
    if args.carry:
        size = fold_in(training, path)
    if args.pack:
        size = pack(path, folder / f"{path.name}.xz")
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
    print(
        f"{path}: {trainer.iterations:,} iterations in {trainer.seconds:,.0f} s, "
        f"{training.core_seconds / 3600:.2f} core-hours, {size / 1e6:,.1f} MB{' packed' if args.pack else ''}"
    )
    return 0
