"""A training from the first deal to the blueprint: what is reported on the way, and what survives a kill.

The checkpoint is one file in the training's folder, replaced as a whole: after a kill at any moment the
folder holds the last complete one, and a training resumed from it loses what came after, no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from abstraction.buckets import CardAbstraction
from solver.blueprint import write_blueprint
from solver.blueprint_presets import BlueprintPreset, named_preset
from solver.layout import F32, I64
from solver.mccfr import Trainer, TrainingPlan, TrainingSettings
from solver.provenance import Provenance, Regrouping, parse_regroupings
from solver.table_file import FileKind, Header, Table, map_file, partial_path, write_tables
from solver.training_game import Dealer, ListDealer, TrainingGame, new_deals
from solver.version import fathom_version

CHECKPOINT = "checkpoint.fathom"
DRIFT_SAMPLE = 20_000
HISTORY_POINTS = 500

Point = tuple[int, float, float, float, float]
"""Iterations, seconds, regret, drift and nodes per second of a report."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be read or does not fit."""


_KIND = FileKind(b"FATHOMC\n", 1, "training checkpoint", CheckpointError)


@dataclass(frozen=True, slots=True)
class Report:
    """How a training stands."""

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
    """What a training makes at its end; remembered from sitting to sitting."""

    carry: bool = False
    """The training itself, in the blueprint (`solver.carried_training`)."""
    pack: bool = False
    """A compressed twin of the file."""
    values: bool = False
    """The table that the first round is solved with, in the blueprint."""
    reproducible: bool = False
    """A blueprint without date and times: the same training gives the same bytes."""


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
        self.core_seconds = 0.0
        """Processor time: what a training costs, however busy the machine was; nan if it is not known."""
        self.products = Products()
        self.most_threads = threads
        """The largest number of threads in any sitting: with one, a training can be repeated."""
        self.regrouped: tuple[Regrouping, ...] = ()
        self.history: list[Point] = []
        """Of the reports, thinned: what a plot of the training needs."""
        self._sample = _sample_infosets(self.trainer.game)
        self._last_strategies: F32 | None = None
        self._averages_before = False
        self._last = (self.trainer.iterations, self.trainer.seconds, 0)

    @property
    def is_done(self) -> bool:
        """Whether the plan is fulfilled."""
        return self.trainer.is_done

    def step(self) -> None:
        """Train one slice. Blocks for about a second."""
        before = process_time()
        self.trainer.run_slice()
        self.core_seconds += process_time() - before

    def report(self) -> Report:
        """Measure; also remembered in `history`."""
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
        """Replace the checkpoint and return its size."""
        tables = {f"cards.{name}": array for name, array in self.cards.to_arrays().items()}
        tables |= {"regret": self.trainer.regret, "sums": self.trainer.sums}
        return write_tables(folder / CHECKPOINT, _KIND, self.record(), tables)

    def record(self) -> dict[str, Any]:
        """Everything about the training but its tables."""
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
            "core_seconds": None if isnan(self.core_seconds) else self.core_seconds,
            "threads": self.most_threads,
            "last_threads": trainer.threads,
            "products": asdict(self.products),
            "regrouped": list(self.regrouped),
            "history": self.history,
        }

    def carried_record(self) -> dict[str, Any]:
        """The same for a blueprint: if that is to be reproducible, without times and what was measured."""
        if not self.products.reproducible:
            return self.record()
        seconds = 0.0 if self.trainer.plan.iterations else self.trainer.seconds
        return {**self.record(), "seconds": seconds, "core_seconds": None, "history": []}

    def write(self, path: Path) -> int:
        """Write the blueprint trained so far and return its size."""
        trainer, preset, reproducible = self.trainer, self.preset, self.products.reproducible
        known = not (reproducible or isnan(self.core_seconds))
        settings = {name: float(value) for name, value in asdict(trainer.plan.settings).items()}
        provenance = Provenance(
            preset=preset.name,
            seed=trainer.plan.seed,
            iterations=trainer.iterations,
            settings=settings,
            threads=self.most_threads,
            fathom=fathom_version(),
            core_hours=round(self.core_seconds / 3600, 4) if known else None,
            date=None if reproducible else datetime.now(UTC).isoformat(timespec="seconds"),
            regrouped=self.regrouped,
        )
        strategy = trainer.quantised_average()
        return write_blueprint(
            path, preset.definition, preset.menus, trainer.game, strategy, self.cards.to_arrays(), provenance
        )

    def close(self) -> None:
        """End the threads."""
        self.trainer.close()

    def _drift(self) -> float:
        where, counts = self._sample
        trainer = self.trainer
        if trainer.is_averaging != self._averages_before:  # an average is no later strategy of the moment
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
    """All that a training is."""

    record: Mapping[str, Any]
    """As `TrainingRun.record` makes it."""
    cards: CardAbstraction
    regret: F32
    sums: F32


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a folder holds, without its tables."""

    preset: BlueprintPreset
    plan: TrainingPlan
    iterations: int
    seconds: float
    """nan if unknown: what a reproducible blueprint carries tells none of a plan of iterations."""
    products: Products
    cards: CardAbstraction
    threads: int | None
    """Of the last sitting, if it is known."""
    regrouped_at: int
    """Iterations that were done when it got its present buckets."""


def read_checkpoint(folder: Path) -> Checkpoint:
    """Look at a checkpoint, to prepare what resuming needs: the dealer."""
    return _open(folder, verify=False)[0]


def parse_record(where: Path, record: Mapping[str, Any], cards: CardAbstraction) -> Checkpoint:
    """What `TrainingRun.record` wrote.

    where  for refusals
    """
    preset = named_preset(record["preset"])
    if record["menus"] != preset.menus:
        raise CheckpointError(f"{where} holds a training of another '{preset.name}': its bets have changed")
    if tuple(record["buckets"]) != cards.num_buckets:
        raise CheckpointError(f"{where} is damaged: its buckets do not fit its cards")
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
    """A training as its checkpoint left it; verifies all checksums.

    plan  instead of the checkpoint's: a longer one, say (`Trainer.follow`)
    """
    checkpoint, record, tables = _open(folder, verify=True)
    state = TrainingState(record, checkpoint.cards, np.array(tables["regret"]), np.array(tables["sums"]))
    return restore(folder, state, dealer, threads, plan)


def restore(
    where: Path, state: TrainingState, dealer: Dealer, threads: int, plan: TrainingPlan | None = None
) -> TrainingRun:
    """A training that goes on from a state, whose tables it takes over.

    where  for refusals
    plan   instead of the state's: a longer one, say (`Trainer.follow`)
    """
    before, record = parse_record(where, state.record, state.cards), state.record
    run = TrainingRun(before.preset, before.plan, state.cards, dealer, threads)
    trainer = run.trainer
    if len(state.regret) != len(trainer.regret):
        raise CheckpointError(f"{where}: the checkpoint's tables do not fit the game's")
    trainer.regret, trainer.sums = state.regret, state.sums
    trainer.iterations, trainer.periods = int(record["iterations"]), int(record["periods"])
    trainer.weight, trainer.seconds = float(record["weight"]), float(record["seconds"])
    trainer.stale_average = bool(record.get("stale_average", False))
    if plan is not None and plan != before.plan:
        trainer.follow(plan)
    run.core_seconds = nan if record["core_seconds"] is None else float(record["core_seconds"])
    run.products = before.products
    run.most_threads = max(threads, int(record.get("threads", 1)))
    run.regrouped = parse_regroupings(record.get("regrouped", []))
    run.history = _thinned([tuple(row) for row in record["history"]])
    run._last = (trainer.iterations, trainer.seconds, 0)
    return run


@dataclass(frozen=True, slots=True)
class Extracted:
    """A blueprint taken from a checkpoint."""

    iterations: int
    size: int
    """Of the file, in bytes."""
    is_average: bool
    """Whether averaging had begun; before, a blueprint is the strategy of the moment."""


def extract(folder: Path, path: Path, also: Callable[[TrainingRun, Path], int] | None = None) -> Extracted:
    """Write the blueprint a checkpoint holds.

    also  something more to do with the file: `carried_training.fold_in`

    The training may be running: a checkpoint is replaced as a whole, never changed.
    """
    partial_path(path)  # refused before everything is read
    run = resume(folder, ListDealer(new_deals(0, 4)), threads=1)
    size = run.write(path)
    if also is not None:
        size = also(run, path)
    run.close()
    return Extracted(run.trainer.iterations, size, bool(run.trainer.sums.any()))


def _open(folder: Path, verify: bool) -> tuple[Checkpoint, Header, dict[str, Table]]:
    """All of one checkpoint, even if a running training replaces it meanwhile."""
    if not (folder / CHECKPOINT).exists():
        raise CheckpointError(f"no training to resume in {folder}: there is no {CHECKPOINT}")
    header, tables = map_file(folder / CHECKPOINT, _KIND, verify)
    return parse_record(folder, header, _cards(tables)), header, tables


def _cards(tables: Mapping[str, Any]) -> CardAbstraction:
    names = [name for name in tables if name.startswith("cards.")]
    return CardAbstraction.from_arrays({name.removeprefix("cards."): tables[name] for name in names})


def _thinned(history: list[Point]) -> list[Point]:
    """As many points as a plot can show: those go whose neighbours are nearest to each other."""
    iterations, kept = np.array([point[0] for point in history]), np.arange(len(history))
    while len(kept) > HISTORY_POINTS:
        gaps = iterations[kept[2:]] - iterations[kept[:-2]]
        kept = np.delete(kept, 1 + int(gaps.argmin()))
    return [history[i] for i in kept]


def _sample_infosets(game: TrainingGame) -> tuple[I64, I64]:
    """Where a fixed random sample of infosets starts in the tables, and how many actions each has."""
    rng = np.random.default_rng(0)
    ends = np.cumsum(game.node_buckets, dtype=np.int64)
    chosen = rng.integers(0, ends[-1], size=DRIFT_SAMPLE)
    nodes = np.searchsorted(ends, chosen, side="right")
    buckets: I64 = chosen - (ends[nodes] - game.node_buckets[nodes])
    counts = game.betting.num_actions[nodes].astype(np.int64)
    where: I64 = game.betting.base[nodes] + buckets * counts
    return where, counts
