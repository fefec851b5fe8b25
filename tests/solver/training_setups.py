"""A training small enough for tests: a tiny blueprint's game and random cards."""

from __future__ import annotations

import numpy as np

from abstraction.buckets import CardAbstraction
from abstraction.opponents import OPPONENT_CLASSES
from solver.blueprint.abstract_game import ListDealer
from solver.blueprint.layout import Deals
from solver.training.presets import named_preset
from solver.training.run import Products, TrainingRun
from solver.training.trainer import TrainingPlan, make_plan


def small_cards(buckets: int = 8) -> CardAbstraction:
    """Evenly spaced centroids, the same number in each round; cards do not matter here."""
    level = np.arange(buckets)[:, None]
    tails = np.repeat(level * 240 // buckets, 32, axis=1).astype(np.uint8)
    river = np.repeat(level * 960 // buckets, 8, axis=1).astype(np.int16)
    return CardAbstraction.from_arrays(
        {"opponent_classes": OPPONENT_CLASSES, "flop": tails, "turn": tails, "river": river}
    )


def small_dealer(count: int = 5_000, sizes: tuple[int, ...] = named_preset("tiny").num_buckets) -> ListDealer:
    """Random deals for buckets, by default the tiny preset's: the better river bucket wins."""
    rng = np.random.default_rng(7)
    buckets = rng.integers(0, (*sizes, *sizes), size=(count, 8)).astype(np.int32)
    outcome = np.sign(buckets[:, 3] - buckets[:, 7]).astype(np.float32)
    return ListDealer(Deals(buckets, np.repeat(outcome[:, None], 4, axis=1)))


def small_plan(iterations: int = 20_000) -> TrainingPlan:
    return make_plan(named_preset("tiny").settings, seed=3, iterations=iterations)


def small_run(iterations: int = 20_000, threads: int = 1, reproducible: bool = False) -> TrainingRun:
    plan = small_plan(iterations)
    run = TrainingRun(named_preset("tiny"), plan, small_cards(), small_dealer(), threads)
    run.products = Products(reproducible=reproducible)
    return run
