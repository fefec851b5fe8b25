"""A training inside its blueprint: what it takes to go on with it elsewhere, in two bytes per action at most.

1. Regrets are kept by sign and logarithm, one byte each: 127 steps of a fifth of an octave, from 1/64 of a
   big blind up, so none is off by more than 7.2 %. What is below is 0. Regret matching corrects such errors
   as it corrects those of its samples.
2. Sums of strategies are the blueprint's probabilities times one weight per infoset, kept likewise, but
   without a sign: 255 of the same steps, more than a sum ever is. (Files of before have steps up to 127 in a
   signed byte: they read the same.)
3. What is made from it (`unfold`) makes a checkpoint like any other.

So a blueprint that is published can be trained on by anybody, and its core-hours add up (of a reproducible
one, which tells none, they stay unknown).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from solver.blueprint import FULL, Blueprint, BlueprintError, add_tables, open_blueprint
from solver.layout import F32
from solver.training import Checkpoint, TrainingRun, TrainingState, parse_record

_LEAST = 2.0**-6
_STEPS_PER_OCTAVE = 5


def fold_in(run: TrainingRun, path: Path) -> int:
    """Put a training's tables into the blueprint it has written; returns the file's size."""
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
    """Look at the training that a blueprint carries, without its tables."""
    blueprint = open_blueprint(path)
    return parse_record(path, _record(path, blueprint), blueprint.cards)


def unfold(path: Path) -> TrainingState:
    """What a blueprint carries, as a checkpoint has it."""
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
    """Sign and logarithm in one byte: up to 600,000."""
    return np.asarray(np.sign(numbers) * np.minimum(_steps(np.abs(numbers)), 127), dtype=np.int8)


def to_weight_steps(weights: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Logarithm of what is never negative, in one byte."""
    return np.asarray(np.minimum(_steps(weights), 255), dtype=np.uint8)


def from_steps(steps: npt.NDArray[np.int8] | npt.NDArray[np.uint8]) -> F32:
    """What `to_steps` or `to_weight_steps` made, to 7.2 %."""
    wide = steps.astype(np.float32)
    magnitude = _LEAST * np.exp2((np.abs(wide) - 1) / _STEPS_PER_OCTAVE)
    return np.where(steps == 0, 0, np.sign(wide) * magnitude).astype(np.float32)


def _record(path: Path, blueprint: Blueprint) -> Mapping[str, Any]:
    """The training's; `path` is what the blueprint was opened by, packed or not."""
    record = blueprint.training
    if record is None:
        raise BlueprintError(f"{path} does not carry its training: it was written without --carry")
    # Early records name no threads. What is carried is carried on, also if it was `extract` that put it in.
    products = {**record.get("products", {}), "carry": True}
    carried = {"threads": blueprint.provenance.threads, **record, "products": products}
    if blueprint.provenance.core_hours is None:  # early reproducible ones say that they took no time
        carried["core_seconds"] = None
    return carried


def _steps(magnitude: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    wide = np.maximum(magnitude.astype(np.float64), _LEAST)
    steps: npt.NDArray[np.float64] = 1 + np.rint(_STEPS_PER_OCTAVE * np.log2(wide / _LEAST))
    return np.where(magnitude < _LEAST, 0, steps)
