"""Blueprint training: Monte Carlo CFR on several threads that share one table.

1. An *iteration* is one deal, learned from by both players. Deals come in batches; batch b of a training
   draws all its random numbers from a generator seeded by (seed, b), so training can stop after any batch
   and go on.
2. Threads write to the same tables without locks: an update that is lost once in a while is noise among
   noise. With one thread a training is a pure function of game, plan and seed.
3. What happens to the whole table (discounting, the start of averaging and of pruning) happens between
   slices of batches, at iterations the plan names.
4. Early regrets are discounted linearly (Brown and Sandholm, 2019): after period k of the first periods
   everything is multiplied by k / (k + 1). Nothing is averaged before the burn-in is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf

import numpy as np

from solver.kernels.mccfr import (
    Rules,
    Walk,
    average_strategies,
    positive_regret,
    scale_table,
    train_batch,
)
from solver.layout import F32
from solver.training_game import Dealer, TrainingGame, new_deals

BATCH = 1024
"""Deals of a batch, unless a plan says otherwise; trainings are whole batches long."""


class TrainingError(ValueError):
    """A training that cannot be run as asked for."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How to train, whatever the length: points in time are shares of all iterations."""

    discount_share: float = 0.5
    """Discounting goes on for this part of the training,"""
    discount_periods: int = 100
    """in so many equal periods."""
    burn_in: float = 0.25
    """Averaging starts after this part."""
    prune_from: float = 0.1
    """Pruning starts after this part."""
    prune_below: float = -1_000.0
    """Regret, in units of payoff, below which an action is skipped; -inf for never."""
    floor: float = -1_200.0
    """Regrets never fall below; a little below `prune_below`, so that a skipped action can come back."""
    explore: float = 0.05
    """Share of traversals that skip nothing."""

    def __post_init__(self) -> None:
        shares = {"discount_share": self.discount_share, "burn_in": self.burn_in}
        shares |= {"prune_from": self.prune_from, "explore": self.explore}
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise TrainingError(f"{name} is {share}: give a share between 0 and 1")
        if self.floor > 0 or self.prune_below > 0:
            raise TrainingError("floor and prune_below must not be positive")
        if -inf < self.prune_below < self.floor:
            raise TrainingError(f"no regret gets below the floor {self.floor}: nothing would be pruned")


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Settings for a training of known length: all points in time are iterations, whole batches."""

    seed: int
    iterations: int
    batch: int
    slice_length: int
    discount_every: int
    discount_periods: int
    average_from: int
    prune_from: int
    prune_below: float
    floor: float
    explore: float


def make_plan(
    settings: TrainingSettings, iterations: int, seed: int, batch: int = BATCH, slice_batches: int = 64
) -> TrainingPlan:
    """Lay a training out. Iterations are rounded up to whole batches.

    slice_batches  batches between two looks at the training; no influence on what is learned
    """
    if iterations < 1:
        raise TrainingError(f"{iterations} iterations: give at least 1")

    def batches(share: float) -> int:
        return -(-int(share * iterations) // batch) * batch

    periods = settings.discount_periods if settings.discount_share > 0 else 0
    return TrainingPlan(
        seed=seed,
        iterations=batches(1.0),
        batch=batch,
        slice_length=slice_batches * batch,
        discount_every=max(batches(settings.discount_share / max(periods, 1)), batch),
        discount_periods=periods,
        average_from=batches(settings.burn_in),
        prune_from=batches(settings.prune_from),
        prune_below=settings.prune_below,
        floor=settings.floor,
        explore=settings.explore,
    )


class Trainer:
    """A training under way. Not for concurrent calls."""

    def __init__(self, game: TrainingGame, dealer: Dealer, plan: TrainingPlan, threads: int = 1) -> None:
        self.game, self.dealer, self.plan, self.threads = game, dealer, plan, threads
        self.regret: F32 = np.zeros(game.table_size, dtype=np.float32)
        self.sums: F32 = np.zeros(game.table_size, dtype=np.float32)
        self.iterations = 0
        self.weight = 0.0
        """Iterations as the regrets remember them: discounted alike."""
        self.nodes_visited = 0
        self.actions_skipped = 0
        slots, width = game.most_visits(), game.width
        self._walks = [_new_walk(slots, width) for _ in range(threads)]
        self._deals = [new_deals(plan.batch, game.num_rounds) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads, "training")

    @property
    def is_done(self) -> bool:
        """Whether the plan is fulfilled."""
        return self.iterations >= self.plan.iterations

    @property
    def is_averaging(self) -> bool:
        """Whether the burn-in is over."""
        return self.iterations >= self.plan.average_from

    def run_slice(self) -> int:
        """Train up to the next point where the whole table changes; returns the iterations done. Blocks."""
        plan, begin = self.plan, self.iterations
        end = min(begin + plan.slice_length, self._next_event())
        batches = iter(range(begin // plan.batch, end // plan.batch))
        workers = [self._pool.submit(self._work, thread, batches) for thread in range(self.threads)]
        for worker in workers:
            worker.result()
        self.iterations = end
        self.weight += end - begin
        period, rest = divmod(end, plan.discount_every)
        if rest == 0 and 0 < period <= plan.discount_periods:
            factor = np.float32(period / (period + 1))
            self.weight *= float(factor)
            for table in (self.regret, self.sums):
                scale_table(table, factor)
        return end - begin

    def average_strategy(self) -> F32:
        """float32[table size]: probability of every action."""
        strategy = np.empty_like(self.regret)
        average_strategies(self.game.betting, self.game.node_buckets, self.regret, self.sums, strategy)
        return strategy

    def mean_positive_regret(self) -> float:
        """Sum over infosets of the largest positive regret, per iteration: bounds exploitability loosely."""
        return float(
            positive_regret(self.game.betting, self.game.node_buckets, self.regret) / max(self.weight, 1.0)
        )

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _next_event(self) -> int:
        """The next iteration at which a slice must end."""
        plan, now = self.plan, self.iterations
        events = [plan.iterations, plan.average_from, plan.prune_from]
        period = now // plan.discount_every + 1
        if period <= plan.discount_periods:
            events.append(period * plan.discount_every)
        return min(event for event in events if event > now)

    def _work(self, thread: int, batches: Iterator[int]) -> None:
        """Train batches until none is left; `next` of a shared iterator hands each one out once."""
        walk, deals, game, plan = self._walks[thread], self._deals[thread], self.game, self.plan
        pruning = self.iterations >= plan.prune_from
        rules = Rules(
            game.width,
            self.is_averaging,
            plan.prune_below if pruning else -inf,
            plan.explore,
            plan.floor,
        )
        for batch in batches:
            walk.random[0] = batch_seed(plan.seed, batch)
            self.dealer.fill(walk.random, deals)
            train_batch(game.betting, deals, rules, self.regret, self.sums, walk)


def batch_seed(seed: int, batch: int) -> np.uint64:
    """State of the generator at the start of a batch; never 0."""
    state = np.random.SeedSequence([seed, batch]).generate_state(1, np.uint64)[0]
    return np.uint64(state | np.uint64(1))


def _new_walk(slots: int, width: int) -> Walk:
    return Walk(
        node=np.zeros(slots, dtype=np.int32),
        where=np.zeros(slots, dtype=np.int64),
        parent=np.zeros(slots, dtype=np.int32),
        strategy=np.zeros(slots * width, dtype=np.float32),
        value=np.zeros(slots * width + 1, dtype=np.float32),
        random=np.ones(1, dtype=np.uint64),
        counts=np.zeros(2, dtype=np.int64),
    )
