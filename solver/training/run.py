"""Blueprint training runs: progress reports, checkpoints, and the blueprint at the end.

The checkpoint is one file in the training's folder and is replaced atomically. After a kill at any moment the
folder holds the last complete checkpoint, and only the work after it is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from abstraction.buckets import CardAbstraction
from numeric.arrays import F32, I64
from numeric.table_file import FileKind, Header, Table, map_file, partial_path, write_tables
from solver.blueprint.abstract_game import Dealer, ListDealer, TrainingGame, new_deals
from solver.blueprint.file import write_blueprint
from solver.blueprint.provenance import Provenance, Regrouping, parse_regroupings
from solver.training.presets import BlueprintPreset, named_preset
from solver.training.trainer import Trainer, TrainingPlan, TrainingSettings
from solver.version import fathom_version

CHECKPOINT = "checkpoint.fathom"
DRIFT_SAMPLE = 20_000
HISTORY_POINTS = 500

Point = tuple[int, float, float, float, float]
"""Iterations, seconds, regret, drift and nodes per second of a report."""


class CheckpointError(ValueError):
    """A checkpoint cannot be read or does not fit the training."""


_KIND = FileKind(b"FATHOMC\n", 1, "training checkpoint", CheckpointError)


@dataclass(frozen=True, slots=True)
class Report:
    """Progress and statistics of a training."""

    progress: float
    iterations: int
    seconds: float
    iterations_per_s: float
    nodes_per_s: float
    regret: float
    """Sum over infosets of the largest positive regret per iteration, in big blinds; it should fall."""
    drift: float
    """Mean change of a strategy since the last report (half the L1 distance) over a sample of infosets."""
    averaging: bool
    seconds_left: float


@dataclass(frozen=True, slots=True)
class Products:
    """What to make at the end of a training; kept in checkpoints."""

    carry: bool = False
    """Include the training's state in the blueprint (`solver.training.carried_training`)."""
    pack: bool = False
    """Also write a compressed copy of the file."""
    values: bool = False
    """Include the leaf table for solves of the first round."""
    reproducible: bool = False
    """Leave out date and times, so that the same training gives the same bytes."""


class TrainingRun:
    """A preset's training, its statistics and its files. Not for concurrent calls."""

    def __init__(
        self,
        preset: BlueprintPreset,
        plan: TrainingPlan,
        cards: CardAbstraction,
        dealer: Dealer,
        threads: int,
    ) -> None:
        self.preset, self.cards = preset, cards
        self.trainer = Trainer(preset.game(cards.num_buckets), dealer, plan, threads)
        self.products = Products()
        self.most_threads = threads
        """Largest number of threads of any session; with 1 the training is reproducible."""
        self.regrouped: tuple[Regrouping, ...] = ()
        self.history: list[Point] = []
        """Thinned points of the reports, for a plot of the training."""
        self._sample = _sample_infosets(self.trainer.game)
        self._last_strategies: F32 | None = None
        self._averages_before = False
        self._last = (self.trainer.iterations, self.trainer.seconds, 0)

    @property
    def is_done(self) -> bool:
        """Whether the plan is finished."""
        return self.trainer.is_done

    def step(self) -> None:
        """Train one slice. Blocks for about a second."""
        self.trainer.run_slice()

    def report(self) -> Report:
        """Measure and return statistics; also added to `history`."""
        trainer, (iterations, seconds, nodes) = self.trainer, self._last
        elapsed = max(trainer.seconds - seconds, 1e-9)
        rate = (trainer.iterations - iterations) / elapsed
        plan = trainer.plan
        left = plan.seconds - trainer.seconds
        if plan.iterations:
            left = (plan.iterations - trainer.iterations) / max(rate, 1e-9)
        report = Report(
            progress=min(trainer.progress, 1.0),
            iterations=trainer.iterations,
            seconds=trainer.seconds,
            iterations_per_s=rate,
            nodes_per_s=(trainer.nodes_visited - nodes) / elapsed,
            regret=trainer.mean_positive_regret(),
            drift=self._drift(),
            averaging=trainer.is_averaging,
            seconds_left=max(left, 0.0),
        )
        self._last = (trainer.iterations, trainer.seconds, trainer.nodes_visited)
        self.history.append(
            (report.iterations, report.seconds, report.regret, report.drift, report.nodes_per_s)
        )
        self.history = _thinned(self.history)
        return report

    def save(self, folder: Path) -> int:
        """Replace the checkpoint; return its size."""
        tables = {f"cards.{name}": array for name, array in self.cards.to_arrays().items()}
        tables |= {"regret": self.trainer.regret, "sums": self.trainer.sums}
        return write_tables(folder / CHECKPOINT, _KIND, self.record(), tables)

    def record(self) -> dict[str, Any]:
        """Everything about the training except its tables."""
        trainer = self.trainer
        return {
            "preset": self.preset.name,
            "menus": self.preset.menus,
            "buckets": list(trainer.game.num_buckets),
            "plan": asdict(trainer.plan),
            "iterations": trainer.iterations,
            "periods": trainer.periods,
            "weight": trainer.weight,
            "stale_average": trainer.stale_average,
            "seconds": trainer.seconds,
            "core_seconds": None if isnan(trainer.core_seconds) else trainer.core_seconds,
            "threads": self.most_threads,
            "last_threads": trainer.threads,
            "products": asdict(self.products),
            "regrouped": list(self.regrouped),
            "history": self.history,
        }

    def carried_record(self) -> dict[str, Any]:
        """The record to store in a blueprint; a reproducible one leaves out times and measurements."""
        if not self.products.reproducible:
            return self.record()
        seconds = 0.0 if self.trainer.plan.iterations else self.trainer.seconds
        return {**self.record(), "seconds": seconds, "core_seconds": None, "history": []}

    def write(self, path: Path) -> int:
        """Write the blueprint of the training so far; return its size."""
        trainer, preset, reproducible = self.trainer, self.preset, self.products.reproducible
        known = not (reproducible or isnan(trainer.core_seconds))
        settings = {name: float(value) for name, value in asdict(trainer.plan.settings).items()}
        provenance = Provenance(
            preset=preset.name,
            seed=trainer.plan.seed,
            iterations=trainer.iterations,
            settings=settings,
            threads=self.most_threads,
            fathom=fathom_version(),
            core_hours=round(trainer.core_seconds / 3600, 4) if known else None,
            date=None if reproducible else datetime.now(UTC).isoformat(timespec="seconds"),
            regrouped=self.regrouped,
        )
        strategy = trainer.quantised_average()
        return write_blueprint(
            path, preset.definition, preset.menus, trainer.game, strategy, self.cards.to_arrays(), provenance
        )

    def close(self) -> None:
        """Shut down the threads."""
        self.trainer.close()

    def _drift(self) -> float:
        where, counts = self._sample
        trainer = self.trainer
        if trainer.is_averaging != self._averages_before:  # averages are not comparable to current strategies
            self._averages_before, self._last_strategies = trainer.is_averaging, None
        table = trainer.sums if trainer.is_averaging else trainer.regret
        rows = where[:, None] + np.arange(trainer.game.width)
        inside = np.arange(trainer.game.width) < counts[:, None]
        sample = np.maximum(table[np.minimum(rows, len(table) - 1)], 0)
        values = np.where(inside, sample, 0)
        totals = values.sum(axis=1, keepdims=True)
        strategies = np.where(totals > 0, values / np.where(totals > 0, totals, 1), inside / counts[:, None])
        before, self._last_strategies = self._last_strategies, strategies.astype(np.float32)
        return float("nan") if before is None else float(np.abs(strategies - before).sum(axis=1).mean() / 2)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingState:
    """The complete state of a training."""

    record: Mapping[str, Any]
    """From `TrainingRun.record`."""
    cards: CardAbstraction
    regret: F32
    sums: F32


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint without its tables."""

    preset: BlueprintPreset
    plan: TrainingPlan
    iterations: int
    seconds: float
    """nan if unknown: reproducible blueprints do not store it for plans by iterations."""
    products: Products
    cards: CardAbstraction
    threads: int | None
    """Threads of the last session, if known."""
    regrouped_at: int
    """Iterations done when the present buckets were introduced."""


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint without its tables, to prepare the dealer that resuming needs."""
    return _open(folder, verify=False)[0]


def parse_record(where: Path, record: Mapping[str, Any], cards: CardAbstraction) -> Checkpoint:
    """Parse a record written by `TrainingRun.record`.

    where  file or folder, for error messages
    """
    preset = named_preset(record["preset"])
    if record["menus"] != preset.menus:
        raise CheckpointError(
            f"{where} holds a training of an older preset '{preset.name}' with other bets:"
            " start a new training"
        )
    if tuple(record["buckets"]) != cards.num_buckets:
        raise CheckpointError(f"{where} is damaged: its numbers of buckets do not match its cards")
    regrouped = parse_regroupings(record.get("regrouped", []))
    plan = dict(record["plan"])
    plan["settings"] = TrainingSettings(**plan["settings"])
    seconds_known = plan["seconds"] or record["core_seconds"] is not None
    return Checkpoint(
        preset,
        TrainingPlan(**plan),
        int(record["iterations"]),
        float(record["seconds"]) if seconds_known else nan,
        Products(**record.get("products", {})),
        cards,
        record.get("last_threads"),
        regrouped[-1].iterations if regrouped else 0,
    )


def resume(folder: Path, dealer: Dealer, threads: int, plan: TrainingPlan | None = None) -> TrainingRun:
    """Resume a training from its checkpoint. Verifies all checksums.

    plan  replaces the checkpoint's plan, for example with a longer one (`Trainer.follow`)
    """
    checkpoint, record, tables = _open(folder, verify=True)
    state = TrainingState(record, checkpoint.cards, np.array(tables["regret"]), np.array(tables["sums"]))
    return restore(folder, state, dealer, threads, plan)


def restore(
    where: Path, state: TrainingState, dealer: Dealer, threads: int, plan: TrainingPlan | None = None
) -> TrainingRun:
    """Continue a training from a state, whose tables are taken over.

    where  file or folder, for error messages
    plan   replaces the state's plan, for example with a longer one (`Trainer.follow`)
    """
    before, record = parse_record(where, state.record, state.cards), state.record
    run = TrainingRun(before.preset, before.plan, state.cards, dealer, threads)
    trainer = run.trainer
    if len(state.regret) != len(trainer.regret):
        raise CheckpointError(f"{where} is damaged: its tables do not match the game's")
    trainer.regret, trainer.sums = state.regret, state.sums
    trainer.iterations, trainer.periods = int(record["iterations"]), int(record["periods"])
    trainer.weight, trainer.seconds = float(record["weight"]), float(record["seconds"])
    trainer.stale_average = bool(record.get("stale_average", False))
    if plan is not None and plan != before.plan:
        trainer.follow(plan)
    trainer.core_seconds = nan if record["core_seconds"] is None else float(record["core_seconds"])
    run.products = before.products
    run.most_threads = max(threads, int(record.get("threads", 1)))
    run.regrouped = parse_regroupings(record.get("regrouped", []))
    run.history = _thinned([tuple(row) for row in record["history"]])
    run._last = (trainer.iterations, trainer.seconds, 0)
    return run


@dataclass(frozen=True, slots=True)
class Extracted:
    """A blueprint written from a checkpoint."""

    iterations: int
    size: int
    """Size of the file in bytes."""
    is_average: bool
    """Whether averaging had begun; before that, the blueprint is the current strategy."""


def extract(folder: Path, path: Path, also: Callable[[TrainingRun, Path], int] | None = None) -> Extracted:
    """Write the blueprint of a checkpoint.

    also  another step for the written file: `carried_training.fold_in`

    The training may be running, because checkpoints are replaced atomically.
    """
    partial_path(path)  # raises before everything is read
    run = resume(folder, ListDealer(new_deals(0, 4)), threads=1)
    size = run.write(path)
    if also is not None:
        size = also(run, path)
    run.close()
    return Extracted(run.trainer.iterations, size, bool(run.trainer.sums.any()))


def _open(folder: Path, verify: bool) -> tuple[Checkpoint, Header, dict[str, Table]]:
    """Open one consistent checkpoint, even if a running training replaces it meanwhile."""
    if not (folder / CHECKPOINT).exists():
        raise CheckpointError(f"no training to resume in {folder}: there is no {CHECKPOINT}")
    header, tables = map_file(folder / CHECKPOINT, _KIND, verify)
    return parse_record(folder, header, _cards(tables)), header, tables


def _cards(tables: Mapping[str, Any]) -> CardAbstraction:
    names = [name for name in tables if name.startswith("cards.")]
    return CardAbstraction.from_arrays({name.removeprefix("cards."): tables[name] for name in names})


def _thinned(history: list[Point]) -> list[Point]:
    """Limit the points to as many as a plot shows, dropping those closest to their neighbours."""
    iterations, kept = np.array([point[0] for point in history]), np.arange(len(history))
    while len(kept) > HISTORY_POINTS:
        gaps = iterations[kept[2:]] - iterations[kept[:-2]]
        kept = np.delete(kept, 1 + int(gaps.argmin()))
    return [history[i] for i in kept]


def _sample_infosets(game: TrainingGame) -> tuple[I64, I64]:
    """A fixed random sample of infosets: their first elements in the tables and their numbers of actions."""
    rng = np.random.default_rng(0)
    ends = np.cumsum(game.node_buckets, dtype=np.int64)
    chosen = rng.integers(0, ends[-1], size=DRIFT_SAMPLE)
    nodes = np.searchsorted(ends, chosen, side="right")
    buckets: I64 = chosen - (ends[nodes] - game.node_buckets[nodes])
    counts = game.betting.num_actions[nodes].astype(np.int64)
    where: I64 = game.betting.base[nodes] + buckets * counts
    return where, counts
