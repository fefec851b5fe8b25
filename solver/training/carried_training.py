"""A training stored in its blueprint, to resume it elsewhere, in at most two bytes per action.

1. Regrets are stored by sign and logarithm, in one byte each: 127 steps of a fifth of an octave, from 1/64 of
   a big blind up, so the error is at most 7.2 %. Smaller regrets become 0. Regret matching corrects these
   errors like those of its samples.
2. Strategy sums are the blueprint's probabilities times one weight per infoset. Weights are stored likewise,
   but without a sign: 255 of the same steps, more than any sum needs. (Older files have steps up to 127 in a
   signed byte and can be read in the same way.)
3. `unfold` gives the same state as a checkpoint.

So anybody can continue the training of a published blueprint, and its core-hours add up. (Reproducible
blueprints do not store core-hours; they stay unknown.)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from numeric.arrays import F32
from solver.blueprint.file import FULL, Blueprint, BlueprintError, add_tables, open_blueprint
from solver.training.run import Checkpoint, TrainingRun, TrainingState, parse_record

_LEAST = 2.0**-6
_STEPS_PER_OCTAVE = 5


def fold_in(run: TrainingRun, path: Path) -> int:
    """Add a training's tables to the blueprint it has written; return the file's size."""
    trainer, game = run.trainer, run.trainer.game
    regret, weight = np.empty(game.table_size, np.int8), np.empty(game.num_infosets, np.uint8)
    ends = np.cumsum(game.node_buckets, dtype=np.int64).tolist()
    for n, start in enumerate(game.betting.base.tolist()):
        rows, sums = game.rows(trainer.regret, n), game.rows(trainer.sums, n).sum(axis=1, dtype=np.float64)
        regret[start : start + rows.size] = to_steps(rows.T).ravel()
        weight[ends[n] - len(sums) : ends[n]] = to_weight_steps(sums)
    tables = {"training.regret": regret, "training.weight": weight}
    return add_tables(path, path, tables, {"training": run.carried_record()})


def read_carried(path: Path) -> Checkpoint:
    """Read the record of the training in a blueprint, without its tables."""
    blueprint = open_blueprint(path)
    return parse_record(path, _record(path, blueprint), blueprint.cards)


def unfold(path: Path) -> TrainingState:
    """Read the training in a blueprint, in the form of a checkpoint."""
    blueprint = open_blueprint(path, verify=True)
    record = _record(path, blueprint)
    game = blueprint.training_game
    regret, sums = np.zeros(game.table_size, np.float32), np.zeros(game.table_size, np.float32)
    first = 0
    for n, node in enumerate(game.tree_node.tolist()):
        num_buckets, num_actions = int(game.node_buckets[n]), int(game.betting.num_actions[n])
        start, size = int(game.betting.base[n]), num_buckets * num_actions
        steps = blueprint.arrays["training.regret"][start : start + size].reshape(num_actions, num_buckets)
        game.rows(regret, n)[:] = from_steps(steps).T
        weight = from_steps(blueprint.arrays["training.weight"][first : first + num_buckets])
        game.rows(sums, n)[:] = blueprint.rows(node).T / np.float32(FULL) * weight[:, None]
        first += num_buckets
    return TrainingState(record, blueprint.cards, regret, sums)


def to_steps(numbers: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """Encode sign and logarithm in one byte, for magnitudes up to 600,000."""
    return np.asarray(np.sign(numbers) * np.minimum(_steps(np.abs(numbers)), 127), dtype=np.int8)


def to_weight_steps(weights: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Encode the logarithm of weights >= 0 in one byte."""
    return np.asarray(np.minimum(_steps(weights), 255), dtype=np.uint8)


def from_steps(steps: npt.NDArray[np.int8] | npt.NDArray[np.uint8]) -> F32:
    """Decode `to_steps` or `to_weight_steps`, to 7.2 %."""
    wide = steps.astype(np.float32)
    magnitude = _LEAST * np.exp2((np.abs(wide) - 1) / _STEPS_PER_OCTAVE)
    return np.where(steps == 0, 0, np.sign(wide) * magnitude).astype(np.float32)


def _record(path: Path, blueprint: Blueprint) -> Mapping[str, Any]:
    """The record of the training; `path` is the file the user named, packed or not."""
    record = blueprint.training
    if record is None:
        raise BlueprintError(f"{path} does not carry its training: it was written without --carry")
    # Early records have no threads. A training that was carried is carried again, even by `extract`.
    products = {**record.get("products", {}), "carry": True}
    carried = {"threads": blueprint.provenance.threads, **record, "products": products}
    if blueprint.provenance.core_hours is None:  # early reproducible ones claim that they took no time
        carried["core_seconds"] = None
    return carried


def _steps(magnitude: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    wide = np.maximum(magnitude.astype(np.float64), _LEAST)
    steps: npt.NDArray[np.float64] = 1 + np.rint(_STEPS_PER_OCTAVE * np.log2(wide / _LEAST))
    return np.where(magnitude < _LEAST, 0, steps)
