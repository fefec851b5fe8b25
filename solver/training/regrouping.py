"""Converts a training's regrets to other buckets, to continue a training with more buckets.

1. A bucket's regrets are sums over its hands. A new bucket gets the share of an old bucket's regrets that it
   has of the old bucket's hands. So it has what its own hands would have learned, up to now together with the
   rest of the old bucket.
2. Regrets are scaled down: they were learned for hands that are no longer together, and would take as long to
   unlearn as they took to learn.
3. Regrets that pruning skips, in the mean over a new bucket's hands, are not scaled: they are still skipped,
   unless a longer plan scales everything (`Trainer.follow`; not while discounting goes on). Traversals
   without pruning correct this where it is wrong.
4. The average starts afresh, and after another burn-in once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from abstraction.buckets import CardAbstraction
from numeric.arrays import F32, F64
from solver.blueprint.abstract_game import TrainingGame
from solver.blueprint.provenance import Regrouping
from solver.training.presets import named_preset
from solver.training.run import Checkpoint, TrainingState
from solver.training.trainer import TrainingPlan

_TRUST = 0.2
"""Factor on old regrets."""
_NODES_AT_ONCE = 256


def plan_regrouped(plan: TrainingPlan, before: Checkpoint, burn_in: float | None) -> TrainingPlan:
    """The plan of a training that continues with other buckets.

    burn_in  as requested; None: the default burn-in starts with the new buckets
    """
    if burn_in is not None:
        return replace(plan, settings=replace(plan.settings, burn_in=burn_in))
    return burn_in_since(plan, before, before.iterations)


def burn_in_since(plan: TrainingPlan, before: Checkpoint, iterations: int) -> TrainingPlan:
    """A longer plan whose burn-in is the same share of the training of the present buckets as before.

    iterations  iterations done when the present buckets were introduced
    """
    began = _share_done(before.plan, before, before.regrouped_at)
    own = max(before.plan.settings.burn_in - began, 0.0) / (1 - began)
    begin = _share_done(plan, before, iterations)
    return replace(plan, settings=replace(plan.settings, burn_in=begin + own * (1 - begin)))


def _share_done(plan: TrainingPlan, before: Checkpoint, iterations: int) -> float:
    """Share of a plan after some iterations; for plans by seconds, assuming constant speed."""
    if plan.iterations:
        return iterations / plan.iterations
    return before.seconds * iterations / max(before.iterations, 1) / plan.seconds


def regroup(
    state: TrainingState, cards: CardAbstraction, overlaps: Sequence[F64], prune_below: float
) -> TrainingState:
    """Convert a training to other cards.

    overlaps     float64[old buckets, new buckets] of each round: number of common hands
    prune_below  from the settings of the continued training
    """
    preset, record = named_preset(state.record["preset"]), state.record
    old, new = preset.game(state.cards.num_buckets), preset.game(cards.num_buckets)
    regret = regroup_regrets(old, state.regret, new, overlaps, prune_below)
    regrouped = [*record.get("regrouped", []), Regrouping(record["iterations"], old.num_buckets)]
    # The weight is not scaled by `_TRUST`, or a longer plan would undo the scaling.
    changed = {**record, "buckets": list(new.num_buckets), "regrouped": regrouped}
    return TrainingState(changed, cards, regret, np.zeros(new.table_size, dtype=np.float32))


def regroup_regrets(
    old: TrainingGame, regret: F32, new: TrainingGame, overlaps: Sequence[F64], prune_below: float
) -> F32:
    """float32[table size of new]: the regrets of a game with the same betting and other buckets."""
    regrouped = np.zeros(new.table_size, dtype=np.float32)
    for round_, overlap in enumerate(overlaps):
        # A bucket may have no hands.
        shares = (overlap / np.maximum(overlap.sum(axis=1, keepdims=True), 1)).T.astype(np.float32)
        means = (overlap / np.maximum(overlap.sum(axis=0), 1)).T.astype(np.float32)
        nodes = np.flatnonzero(new.node_round == round_).tolist()
        for first in range(0, len(nodes), _NODES_AT_ONCE):
            chosen = nodes[first : first + _NODES_AT_ONCE]
            rows = np.concatenate([old.rows(regret, node) for node in chosen], axis=1)
            prunable = np.concatenate([new.prunable(node) for node in chosen])
            mean = means @ rows
            moved = np.where(prunable & (mean <= prune_below), mean, _TRUST * (shares @ rows))
            ends = np.cumsum([new.betting.num_actions[node] for node in chosen])
            for node, part in zip(chosen, np.split(moved, ends[:-1], axis=1), strict=True):
                new.rows(regrouped, node)[:] = part
    return regrouped
