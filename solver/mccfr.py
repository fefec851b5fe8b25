"""Blueprint training: Monte Carlo CFR on several threads that share one table.

1. An *iteration* is one deal, learned from by both players. Deals come in batches; batch b of a training
   draws all its random numbers from a generator seeded by (seed, b), so training can stop after any batch
   and go on.
2. Threads write to the same tables without locks: an update that is lost once in a while is noise among
   noise. With one thread a training is a pure function of game, plan and seed.
3. What happens to the whole table (discounting, the start of averaging and of pruning) happens between
   slices of batches, at shares of the whole training that the settings name.
4. Early regrets are discounted linearly (Brown and Sandholm, 2019): after period k of the first periods
   everything is multiplied by k / (k + 1). Nothing is averaged before the burn-in is over.
5. A training may be given a new plan (`Trainer.follow`), a longer one. What it has learned is then scaled to
   the total weight it would have under the new plan, and the average starts afresh when the new burn-in ends,
   unless that is over already.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf, isfinite, isnan
from time import perf_counter

import numpy as np

from solver.kernels.mccfr import (
    BOTH,
    Rules,
    Walk,
    average_strategies,
    positive_regret,
    quantise_averages,
    scale_table,
    train_batch,
)
from solver.layout import F32, U8
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
    prune_below: float = -30_000.0
    """Regret, in units of payoff, below which an action is skipped; -inf for never."""
    floor: float = -36_000.0
    """Regrets never fall below; a little below `prune_below`, so that a skipped action can come back.

    Far below what chance alone does to the regret of a good action (its spread times the root of its visits):
    from a floor that is too near, bad actions come back by chance and are played.
    """
    explore: float = 0.05
    """Share of traversals that skip nothing."""

    def __post_init__(self) -> None:
        shares = {"discount_share": self.discount_share, "burn_in": self.burn_in}
        shares |= {"prune_from": self.prune_from, "explore": self.explore}
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise TrainingError(f"{name} is {share}: give a share between 0 and 1")
        if not (self.floor <= 0 and self.prune_below <= 0):  # no comparison holds for nan
            raise TrainingError("floor and prune_below must be numbers that are not positive")
        if -inf < self.prune_below <= self.floor:
            raise TrainingError(
                f"no regret gets below the floor {self.floor:,}, so nothing below {self.prune_below:,} would "
                "ever be pruned: give a lower floor"
            )


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How long to train: a number of iterations, or seconds of wall time (then two runs are never alike)."""

    settings: TrainingSettings
    seed: int
    iterations: int = 0
    seconds: float = 0.0
    batch: int = BATCH
    slice_batches: int = 64


def make_plan(
    settings: TrainingSettings, seed: int, iterations: int = 0, seconds: float = 0.0, batch: int = BATCH
) -> TrainingPlan:
    """Lay a training out. Iterations are rounded up to whole batches."""
    if (iterations > 0) == (seconds > 0) or not isfinite(seconds):
        raise TrainingError("give a number of iterations or of seconds, and one that is positive")
    if seed < 0:
        raise TrainingError(f"the seed is {seed}: give a number that is not negative")
    batches = -(-iterations // batch)
    # Often enough for every point in time the settings name, seldom enough for threads to keep busy.
    slice_batches = 64 if seconds else max(1, min(64, batches // 400))
    return TrainingPlan(settings, seed, batches * batch, seconds, batch, slice_batches)


def verify_longer(plan: TrainingPlan, iterations: int, seconds: float) -> None:
    """Refuse a plan that ends before what is done already, or that cannot tell how much that is.

    seconds  nan if unknown
    """
    if plan.seconds and isnan(seconds):
        raise TrainingError(
            f"how long its {iterations:,} iterations took is not known (--reproducible): give --iterations"
        )
    if plan.iterations and plan.iterations < iterations:
        raise TrainingError(f"{iterations:,} iterations are done: give more than that")
    if plan.seconds and plan.seconds < seconds:
        raise TrainingError(f"{seconds:,.0f} seconds are done: give more than that")


def verify_unfinished(plan: TrainingPlan, iterations: int, seconds: float) -> None:
    """Refuse a plan that leaves nothing to do."""
    if (seconds >= plan.seconds) if plan.seconds else (iterations >= plan.iterations):
        raise TrainingError(
            f"{iterations:,} iterations are done, all that was planned: give more with --iterations"
        )


class Trainer:
    """A training under way. Not for concurrent calls."""

    def __init__(
        self, game: TrainingGame, dealer: Dealer, plan: TrainingPlan, threads: int = 1, learner: int = BOTH
    ) -> None:
        """A training from nothing.

        learner  the one player who learns: a response to what the other's regrets say
        """
        self.learner = learner
        self.game, self.dealer, self.plan, self.threads = game, dealer, plan, threads
        self.regret: F32 = np.zeros(game.table_size, dtype=np.float32)
        self.sums: F32 = np.zeros(game.table_size, dtype=np.float32)
        self.iterations = 0
        self.seconds = 0.0
        """Wall time spent in slices."""
        self.periods = 0
        """Discounts applied."""
        self.weight = 0.0
        """Iterations as the regrets remember them: discounted alike."""
        self.stale_average = False
        """Whether the sums come from a shorter plan: they serve until the burn-in of this one is over."""
        slots, width = game.most_visits(), game.width
        self._walks = [_new_walk(slots, width) for _ in range(threads)]
        self._deals = [new_deals(plan.batch, game.num_rounds) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads, "training")

    @property
    def progress(self) -> float:
        """Share of the plan that is done; 1 or more at the end."""
        plan = self.plan
        return self.seconds / plan.seconds if plan.seconds else self.iterations / plan.iterations

    @property
    def is_done(self) -> bool:
        """Whether the plan is fulfilled."""
        return self.progress >= 1

    @property
    def is_averaging(self) -> bool:
        """Whether the burn-in is over, or that of a shorter plan was."""
        return self.stale_average or self.progress >= self.plan.settings.burn_in

    @property
    def nodes_visited(self) -> int:
        """Since this trainer was made, terminal nodes included."""
        return sum(int(walk.counts[0]) for walk in self._walks)

    @property
    def actions_skipped(self) -> int:
        """Since this trainer was made."""
        return sum(int(walk.counts[1]) for walk in self._walks)

    def follow(self, plan: TrainingPlan) -> None:
        """Go on by another plan: longer, or with other settings.

        Iteration t of a training counts min(1, t / end of discounting), so under a longer plan old iterations
        count less. Whatever their shape, they are scaled to the weight they would have together. The average
        goes on until the new burn-in is over, then starts afresh: at any time it is the best there is.
        """
        if (plan.seed, plan.batch) != (self.plan.seed, self.plan.batch):
            raise TrainingError("a training goes on with the seed and the batches it began with")
        verify_longer(plan, self.iterations, self.seconds)
        was_averaging, self.plan = self.is_averaging, plan
        if not self.iterations:
            return
        self.stale_average = was_averaging and self.progress < plan.settings.burn_in
        self.periods = self._period_reached()
        self._scale(self._due_weight() / self.weight)

    def run_slice(self) -> int:
        """Train for a moment, then discount if it is time; returns the iterations done. Blocks."""
        if self.stale_average and self.progress >= self.plan.settings.burn_in:
            self.sums[:] = 0
            self.stale_average = False
        plan, first = self.plan, self.iterations // self.plan.batch
        num_batches = plan.slice_batches
        if plan.iterations:
            num_batches = min(num_batches, plan.iterations // plan.batch - first)
        rules, batches = self._rules(), iter(range(first, first + num_batches))
        if not self.nodes_visited:
            self._compile(rules)
        start = perf_counter()
        workers = [self._pool.submit(self._work, thread, rules, batches) for thread in range(self.threads)]
        for worker in workers:
            worker.result()
        self.seconds += perf_counter() - start
        self.iterations += num_batches * plan.batch
        self.weight += num_batches * plan.batch
        self._discount()
        return num_batches * plan.batch

    def average_strategy(self) -> F32:
        """float32[table size]: probability of every action."""
        strategy = np.empty_like(self.regret)
        average_strategies(self.game.betting, self.game.node_buckets, self.regret, self.sums, strategy)
        return strategy

    def quantised_average(self) -> U8:
        """uint8[table size]: the same as a blueprint keeps it, made without a table of floats."""
        quantised = np.empty(self.game.table_size, dtype=np.uint8)
        quantise_averages(self.game.betting, self.game.node_buckets, self.regret, self.sums, quantised)
        return quantised

    def mean_positive_regret(self) -> float:
        """Sum over infosets of the largest positive regret, per iteration: bounds exploitability loosely."""
        return float(
            positive_regret(self.game.betting, self.game.node_buckets, self.regret) / max(self.weight, 1.0)
        )

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _compile(self, rules: Rules) -> None:
        """Let the kernels compile on no deals at all, so that it is not counted as training."""
        nothing, walk = new_deals(0, self.game.num_rounds), self._walks[0]
        self.dealer.fill(walk.random, nothing)
        train_batch(self.game.betting, nothing, rules, self.regret, self.sums, walk)
        self.mean_positive_regret()

    def _rules(self) -> Rules:
        settings = self.plan.settings
        pruning = self.progress >= settings.prune_from
        return Rules(
            self.game.width,
            self.is_averaging,
            settings.prune_below if pruning else -inf,
            settings.explore,
            settings.floor,
            self.learner,
        )

    def _work(self, thread: int, rules: Rules, batches: Iterator[int]) -> None:
        """Train batches until none is left; `next` of a shared iterator hands each one out once."""
        walk, deals = self._walks[thread], self._deals[thread]
        for batch in batches:
            walk.random[0] = batch_seed(self.plan.seed, batch)
            self.dealer.fill(walk.random, deals)
            train_batch(self.game.betting, deals, rules, self.regret, self.sums, walk)

    def _discount(self) -> None:
        """Bring the tables to the period that has been reached: Π k / (k + 1) over the periods passed."""
        before, self.periods = self.periods, self._period_reached()
        if self.periods > before:
            self._scale((before + 1) / (self.periods + 1))

    def _period_reached(self) -> int:
        settings = self.plan.settings
        if not settings.discount_share:
            return 0
        return int(min(self.progress / settings.discount_share, 1.0) * settings.discount_periods)

    def _due_weight(self) -> float:
        """What the iterations so far weigh together by the plan."""
        discounted = min(self.plan.settings.discount_share / self.progress, 1.0)
        return self.iterations * (1 - discounted / 2)

    def _scale(self, factor: float) -> None:
        self.weight *= factor
        scale_table(self.regret, np.float32(factor))
        if self.is_averaging:  # nothing is summed before
            scale_table(self.sums, np.float32(factor))


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
