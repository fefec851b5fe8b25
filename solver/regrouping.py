"""A training's regrets for other buckets: what was learned with few goes on with many.

1. A bucket's regrets add up over the hands in it. Of those of an old bucket a new one gets the share that its
   hands are of the old bucket's; so it has what its own hands would have learned, had they been told apart
   from the rest only now.
2. What was hopeless for all old buckets of a new one stays below the threshold of pruning: walks that skip
   nothing will tell.
3. The rest is scaled down. It was learned for hands that are no longer together, and it takes as long to
   unlearn as it took to learn.
4. The average starts afresh.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from abstraction.buckets import CardAbstraction
from solver.blueprint_presets import named_preset
from solver.layout import F32, F64
from solver.training import TrainingState
from solver.training_game import TrainingGame

_TRUST = 0.2
"""What old regrets count."""


def regroup(state: TrainingState, cards: CardAbstraction, overlaps: Sequence[F64]) -> TrainingState:
    """A training that goes on with other cards.

    overlaps  float64[old buckets, new buckets] of each round: hands they have in common
    """
    preset, record = named_preset(state.record["preset"]), state.record
    old, new = preset.game(state.cards.num_buckets), preset.game(cards.num_buckets)
    prune_below = float(record["plan"]["settings"]["prune_below"])
    regret = regroup_regrets(old, state.regret, new, overlaps, prune_below)
    before = [*record.get("regrouped", []), (record["iterations"], old.num_buckets)]
    changed = {**record, "buckets": list(new.num_buckets), "regrouped": before}
    return TrainingState(changed, cards, regret, np.zeros_like(regret))


def regroup_regrets(
    old: TrainingGame, regret: F32, new: TrainingGame, overlaps: Sequence[F64], prune_below: float
) -> F32:
    """float32[table size of new]: the regrets of a game with the same betting and other buckets."""
    shares = [(overlap / _at_least_one(overlap.sum(axis=1, keepdims=True))).T for overlap in overlaps]
    means = [(overlap / _at_least_one(overlap.sum(axis=0))).T for overlap in overlaps]
    regrouped = np.zeros(new.table_size, dtype=np.float32)
    for node, round_ in enumerate((new.betting.column % new.num_rounds).tolist()):
        rows = old.rows(regret, node)
        mean = means[round_] @ rows
        new.rows(regrouped, node)[:] = np.where(mean <= prune_below, mean, _TRUST * (shares[round_] @ rows))
    return regrouped


def _at_least_one(counts: F64) -> F64:
    """A bucket may have no hands at all."""
    return np.maximum(counts, 1)
