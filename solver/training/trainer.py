"""Blueprint training: Monte Carlo CFR on several threads that share one table.

1. An *iteration* is one deal, from which both players learn. Deals come in batches. Batch b draws all its
   random numbers from a generator seeded by (seed, b), so training can stop and resume after any batch.
2. Threads write to the same tables without locks. A lost update now and then is noise among noise. With one
   thread, training is a pure function of game, plan and seed.
3. Operations on the whole table (discounting, the start of averaging and of pruning) happen between slices of
   batches, at shares of the whole training that the settings give.
4. Early regrets are discounted linearly (Brown and Sandholm, 2019): after period k everything is multiplied
   by k / (k + 1). Averaging starts after the burn-in.
5. A training may be given a longer plan (`Trainer.follow`). Its tables are then scaled to the total weight
   they would have under the new plan. The average starts afresh at the end of the new burn-in, unless that is
   over already.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf, isfinite, isnan
from time import perf_counter, process_time

import numpy as np

from numeric.arrays import F32, U8
from solver.blueprint.abstract_game import Dealer, TrainingGame, new_deals
from solver.training.kernels.mccfr import (
    BOTH,
    Rules,
    Walk,
    average_strategies,
    positive_regret,
    quantise_averages,
    scale_table,
    train_batch,
)

BATCH = 1024
"""Default deals per batch; a training is a whole number of batches."""


class TrainingError(ValueError):
    """The training cannot be run with these settings or this plan."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How to train, for any length: points in time are shares of all iterations."""

    discount_share: float = 0.5
    """Discounting takes place in this first share of the training."""
    discount_periods: int = 100
    """Number of equal periods of discounting."""
    burn_in: float = 0.25
    """Averaging starts after this share."""
    prune_from: float = 0.1
    """Pruning starts after this share."""
    prune_below: float = -30_000.0
    """Actions with a regret below this are skipped, in units of payoff; -inf for never."""
    floor: float = -36_000.0
    """Lower bound of regrets, a little below `prune_below`, so that a skipped action can come back.

    It must be far below what chance alone does to the regret of a good action (its spread times the square
    root of its visits). With a floor that is too high, bad actions come back by chance and are played.
    """
    explore: float = 0.05
    """Share of traversals without pruning."""

    def __post_init__(self) -> None:
        shares = {"discount_share": self.discount_share, "burn_in": self.burn_in}
        shares |= {"prune_from": self.prune_from, "explore": self.explore}
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise TrainingError(f"{name} must be between 0 and 1, got {share}")
        if not (self.floor <= 0 and self.prune_below <= 0):  # no comparison holds for nan
            raise TrainingError("floor and prune_below must not be positive or nan")
        if -inf < self.prune_below <= self.floor:
            raise TrainingError(
                f"prune_below must be above the floor {self.floor:,}, got {self.prune_below:,}: "
                "nothing would be pruned; give a lower floor"
            )


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How long to train: a number of iterations, or seconds of wall time (which is not reproducible)."""

    settings: TrainingSettings
    seed: int
    iterations: int = 0
    seconds: float = 0.0
    batch: int = BATCH
    slice_batches: int = 64


def make_plan(
    settings: TrainingSettings, seed: int, iterations: int = 0, seconds: float = 0.0, batch: int = BATCH
) -> TrainingPlan:
    """Make a plan. Iterations are rounded up to whole batches."""
    if (iterations > 0) == (seconds > 0) or not isfinite(seconds):
        raise TrainingError("give a positive number either of iterations or of seconds")
    if seed < 0:
        raise TrainingError(f"seed must not be negative, got {seed}")
    batches = -(-iterations // batch)
    # Short enough to meet every point in time of the settings, long enough to keep threads busy.
    slice_batches = 64 if seconds else max(1, min(64, batches // 400))
    return TrainingPlan(settings, seed, batches * batch, seconds, batch, slice_batches)


def verify_longer(plan: TrainingPlan, iterations: int, seconds: float) -> None:
    """Raise if a plan ends before the work that is done already, or if that is unknown.

    seconds  nan if unknown
    """
    if plan.seconds and isnan(seconds):
        raise TrainingError(
            f"the time of the first {iterations:,} iterations is unknown (--reproducible): give --iterations"
        )
    if plan.iterations and plan.iterations < iterations:
        raise TrainingError(f"{iterations:,} iterations are done: give more than that")
    if plan.seconds and plan.seconds < seconds:
        raise TrainingError(f"{seconds:,.0f} seconds are done: give more than that")


def verify_unfinished(plan: TrainingPlan, iterations: int, seconds: float) -> None:
    """Raise if a plan leaves nothing to do."""
    if (seconds >= plan.seconds) if plan.seconds else (iterations >= plan.iterations):
        raise TrainingError(
            f"{iterations:,} iterations are done, all that was planned: give more with --iterations"
        )


class Trainer:
    """A training in progress. Not for concurrent calls."""

    def __init__(
        self, game: TrainingGame, dealer: Dealer, plan: TrainingPlan, threads: int = 1, learner: int = BOTH
    ) -> None:
        """Start a training.

        learner  the only player who learns, to train a response to the other's current strategy; both by
                 default
        """
        self.learner = learner
        self.game, self.dealer, self.plan, self.threads = game, dealer, plan, threads
        self.regret: F32 = np.zeros(game.table_size, dtype=np.float32)
        self.sums: F32 = np.zeros(game.table_size, dtype=np.float32)
        self.iterations = 0
        self.seconds = 0.0
        """Wall time spent in slices."""
        self.core_seconds = 0.0
        """Processor time spent in slices, which a busy machine does not change; nan if unknown."""
        self.periods = 0
        """Number of discounts applied."""
        self.weight = 0.0
        """Weight of all iterations, discounted like the regrets."""
        self.stale_average = False
        """Whether the sums come from a shorter plan. They are used until the burn-in of this plan is over."""
        slots, width = game.most_visits(), game.width
        self._walks = [_new_walk(slots, width) for _ in range(threads)]
        self._deals = [new_deals(plan.batch, game.num_rounds) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads, "training")

    @property
    def progress(self) -> float:
        """Finished share of the plan; at least 1 at the end."""
        plan = self.plan
        return self.seconds / plan.seconds if plan.seconds else self.iterations / plan.iterations

    @property
    def is_done(self) -> bool:
        """Whether the plan is finished."""
        return self.progress >= 1

    @property
    def is_averaging(self) -> bool:
        """Whether the burn-in is over, of this plan or of a shorter one before it."""
        return self.stale_average or self.progress >= self.plan.settings.burn_in

    @property
    def nodes_visited(self) -> int:
        """Nodes visited since this trainer was made, including terminals."""
        return sum(int(walk.counts[0]) for walk in self._walks)

    @property
    def actions_skipped(self) -> int:
        """Actions skipped by pruning since this trainer was made."""
        return sum(int(walk.counts[1]) for walk in self._walks)

    def follow(self, plan: TrainingPlan) -> None:
        """Continue under another plan: longer, or with other settings.

        Iteration t has the weight min(1, t / end of discounting), so old iterations have less weight under a
        longer plan. The tables are scaled to the total weight of all iterations under the new plan; their
        relative weights stay. The old average is used until the new burn-in is over and then starts afresh,
        so there is always an average to use.
        """
        if (plan.seed, plan.batch) != (self.plan.seed, self.plan.batch):
            raise TrainingError("a training must continue with the seed and the batch size it started with")
        verify_longer(plan, self.iterations, self.seconds)
        was_averaging, self.plan = self.is_averaging, plan
        if not self.iterations:
            return
        self.stale_average = was_averaging and self.progress < plan.settings.burn_in
        self.periods = self._period_reached()
        self._scale(self._due_weight() / self.weight)

    def run_slice(self) -> int:
        """Train one slice, then discount if it is time; return the iterations done. Blocks."""
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
        start, core_start = perf_counter(), process_time()
        workers = [self._pool.submit(self._work, thread, rules, batches) for thread in range(self.threads)]
        for worker in workers:
            worker.result()
        self.seconds += perf_counter() - start
        self.core_seconds += process_time() - core_start
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
        """uint8[table size]: the average strategy as a blueprint stores it, without a table of floats."""
        quantised = np.empty(self.game.table_size, dtype=np.uint8)
        quantise_averages(self.game.betting, self.game.node_buckets, self.regret, self.sums, quantised)
        return quantised

    def mean_positive_regret(self) -> float:
        """Sum over infosets of the largest positive regret, per iteration: a loose exploitability bound."""
        return float(
            positive_regret(self.game.betting, self.game.node_buckets, self.regret) / max(self.weight, 1.0)
        )

    def close(self) -> None:
        """Shut down the threads."""
        self._pool.shutdown()

    def _compile(self, rules: Rules) -> None:
        """Compile the kernels with an empty batch, so that compiling does not count as training time."""
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
        """Train batches until none is left; `next` on the shared iterator gives each batch to one thread."""
        walk, deals = self._walks[thread], self._deals[thread]
        for batch in batches:
            walk.random[0] = batch_seed(self.plan.seed, batch)
            self.dealer.fill(walk.random, deals)
            train_batch(self.game.betting, deals, rules, self.regret, self.sums, walk)

    def _discount(self) -> None:
        """Discount the tables up to the current period: Π k / (k + 1) over the periods passed."""
        before, self.periods = self.periods, self._period_reached()
        if self.periods > before:
            self._scale((before + 1) / (self.periods + 1))

    def _period_reached(self) -> int:
        settings = self.plan.settings
        if not settings.discount_share:
            return 0
        return int(min(self.progress / settings.discount_share, 1.0) * settings.discount_periods)

    def _due_weight(self) -> float:
        """Total weight of the iterations so far under the plan."""
        discounted = min(self.plan.settings.discount_share / self.progress, 1.0)
        return self.iterations * (1 - discounted / 2)

    def _scale(self, factor: float) -> None:
        self.weight *= factor
        scale_table(self.regret, np.float32(factor))
        if self.is_averaging:  # the sums are empty before
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
