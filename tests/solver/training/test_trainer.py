from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from abstraction.menu import parse_menu_book
from game.definition import GameDefinition
from solver.blueprint.abstract_game import ListDealer, TrainingGame, make_training_game
from solver.blueprint.layout import Deals
from solver.exact.solver import Solver
from solver.games.betting_tree import build_hand_tree
from solver.games.toys import leduc as exact_leduc
from solver.training.deal_response import respond, uniform_strategy
from solver.training.kernels.mccfr import DITHER_FROM, SUM_LIMIT
from solver.training.toys import kuhn, leduc
from solver.training.trainer import BATCH, Trainer, TrainingError, TrainingSettings, batch_seed, make_plan
from tests.reference.deal_response import best_response_values
from tests.reference.mccfr import ReferenceTrainer, xorshift

NO_PRUNING = TrainingSettings(burn_in=0.0, prune_below=-inf, floor=-inf)

SHORT = GameDefinition(
    no_limit=True, stacks=(900, 900), blinds=(100, 50), first_player=(1, 0), board_cards=(0, 3)
)


def two_round_game(num_deals: int = 200) -> tuple[TrainingGame, Deals]:
    """No-limit betting over two rounds, with random deals."""
    game = make_training_game(build_hand_tree(SHORT, parse_menu_book("100%, a | a")), (3, 4), 100.0)
    rng = np.random.default_rng(3)
    buckets = rng.integers(0, (3, 4, 3, 4), size=(num_deals, 4)).astype(np.int32)
    outcome = np.stack([rng.uniform(-1, 1, num_deals), np.sign(buckets[:, 1] - buckets[:, 3])], axis=1)
    return game, Deals(buckets, outcome.astype(np.float32))


def train(
    game: TrainingGame, deals: Deals, iterations: int, settings: TrainingSettings, threads: int = 1
) -> Trainer:
    trainer = Trainer(game, ListDealer(deals), make_plan(settings, 1, iterations), threads)
    while not trainer.is_done:
        trainer.run_slice()
    trainer.close()
    return trainer


@pytest.mark.kernel
@pytest.mark.parametrize(
    "settings",
    [
        NO_PRUNING,
        TrainingSettings(
            burn_in=0.5, discount_share=0.0, prune_from=0.0, prune_below=-8.0, floor=-10.0, explore=0.25
        ),
    ],
    ids=["plain", "pruning"],
)
@pytest.mark.parametrize("make", [leduc, two_round_game])
def test_batches_match_the_reference(
    make: Callable[[], tuple[TrainingGame, Deals]], settings: TrainingSettings
) -> None:
    game, deals = make()
    plan = make_plan(settings, 5, iterations=120, batch=60)
    trainer = Trainer(game, ListDealer(deals), plan)
    rng = np.random.default_rng(1)
    trainer.regret[:] = 20 * rng.random(game.table_size) - 10  # from zero, rounding would decide ties
    reference = ReferenceTrainer(game.tree, game.unit, settings.floor, settings.prune_below, settings.explore)
    for n, node in enumerate(game.tree_node):
        count, where = int(game.betting.num_actions[n]), int(game.betting.base[n])
        for bucket in range(game.node_buckets[n]):
            regrets = trainer.regret[where + bucket * count : where + (bucket + 1) * count]
            reference.regret[int(node), bucket] = regrets.astype(float).tolist()
    while not trainer.is_done:
        batch, periods = trainer.iterations // 60, trainer.periods
        reference.averaging = trainer.is_averaging
        trainer.run_slice()
        random = xorshift(int(batch_seed(5, batch)))
        rows = [int(next(random) * len(deals.outcome)) for _ in range(60)]
        for row in rows:
            cards = deals.buckets[row].reshape(2, -1).tolist()
            reference.iterate((cards[0], cards[1]), deals.outcome[row].tolist(), random)
        factor = (periods + 1) / (trainer.periods + 1)
        for table in (reference.regret, reference.sums):
            for infoset, values in table.items():
                table[infoset] = [value * factor for value in values]
    assert (trainer.actions_skipped > 0) == (settings.prune_below > -inf)
    for n, node in enumerate(game.tree_node):
        count, where = int(game.betting.num_actions[n]), int(game.betting.base[n])
        for bucket in range(game.node_buckets[n]):
            at = slice(where + bucket * count, where + (bucket + 1) * count)
            expected = reference.regret[int(node), bucket]
            np.testing.assert_allclose(trainer.regret[at], expected, rtol=1e-3, atol=1e-3)
            sums = reference.sums.get((int(node), bucket), [0.0] * count)
            np.testing.assert_allclose(trainer.sums[at], sums, rtol=1e-3, atol=1e-3)


@pytest.mark.kernel
@pytest.mark.parametrize("make", [leduc, two_round_game])
def test_responses_match_the_reference(make: Callable[[], tuple[TrainingGame, Deals]]) -> None:
    game, deals = make()
    rng, strategy = np.random.default_rng(4), np.empty(game.table_size, dtype=np.float32)
    chances = {}
    for n, node in enumerate(game.tree_node):
        count, where = int(game.betting.num_actions[n]), int(game.betting.base[n])
        for bucket in range(game.node_buckets[n]):
            row = rng.dirichlet(np.full(count, 0.5)).round(3)
            strategy[where + bucket * count : where + (bucket + 1) * count] = row
            chances[int(node), bucket] = row.tolist()
    order = rng.permutation(len(deals.outcome))
    shuffled = Deals(deals.buckets[order], deals.outcome[order])
    response = respond(game, strategy, shuffled, held_out=0.25, threads=2)
    rows = shuffled.buckets.reshape(len(order), 2, -1).tolist()
    outcomes = shuffled.outcome.tolist()
    plain = [(tuple(a), tuple(b), tuple(o)) for (a, b), o in zip(rows, outcomes, strict=True)]
    cut = round(0.75 * len(order))
    assert response.held_out is not None
    for player in range(2):
        values = best_response_values(game.tree, game.unit, chances, plain, player, cut)
        assert response.fitted[player] == pytest.approx(np.mean(values[:cut]), abs=1e-4)
        assert response.held_out[player] == pytest.approx(np.mean(values[cut:]), abs=1e-4)


def test_uniform_play_matches_published_nash_conv() -> None:
    """NashConv of uniform strategies: 11/12 in Kuhn, 4.747222 in Leduc (OpenSpiel's tests)."""
    for (game, deals), nash_conv in ((kuhn(), 11 / 12), (leduc(), 4.747222)):
        response = respond(game, uniform_strategy(game), deals)
        assert 2 * response.exploitability == pytest.approx(nash_conv, abs=1e-5)


def test_kuhn_reaches_its_value() -> None:
    game, deals = kuhn()
    trainer = train(game, deals, 1_000_000, NO_PRUNING)
    response = respond(game, trainer.average_strategy(), deals)
    assert response.exploitability < 5e-3
    assert response.fitted[0] == pytest.approx(-1 / 18, abs=5e-3)
    assert response.fitted[1] == pytest.approx(1 / 18, abs=5e-3)


@pytest.mark.slow
def test_leduc_reaches_its_value_and_the_exact_engine_agrees() -> None:
    game, deals = leduc()
    trainer = train(game, deals, 10_000_000, NO_PRUNING)  # one thread, so the result is reproducible
    strategy = trainer.average_strategy()
    response = respond(game, strategy, deals)
    assert response.exploitability < 5e-3
    # Both responses bracket the value of the game, −0.0856 for the first player.
    assert -response.fitted[1] < -0.085606 < response.fitted[0]
    # The exact engine measures the same strategies by hand and board.
    solver = Solver(exact_leduc())
    exact = solver.game
    for n, node in enumerate(game.tree_node):
        count, where = int(game.betting.num_actions[n]), int(game.betting.base[n])
        for board in exact.boards_of_round(int(game.tree.round[node])):
            start = exact.boards.table[board] + exact.tree.action_row[node] * exact.stride
            rows = solver.average[start : start + count * exact.stride].reshape(count, -1)
            for hand in range(6):
                public = exact.board_cards[board]
                bucket = hand // 2 * 3 + public[0] // 2 if public else hand // 2
                rows[:, hand] = strategy[where + bucket * count : where + (bucket + 1) * count]
    assert solver.exploitability() == pytest.approx(response.exploitability, abs=1e-5)


def test_exploitability_falls() -> None:
    game, deals = two_round_game()
    settings = TrainingSettings(prune_below=-inf, floor=-inf)
    found = [respond(game, train(game, deals, n, settings).average_strategy(), deals) for n in (1, 64_000)]
    assert found[1].exploitability < 0.2 * found[0].exploitability
    # A response fitted to half of the deals gains less on the other half.
    split = respond(game, uniform_strategy(game), deals, held_out=0.5)
    assert split.held_out_exploitability < split.exploitability


def test_longer_plan_rescales_the_tables() -> None:
    game, deals = leduc()
    settings = TrainingSettings(burn_in=0.25, discount_share=0.5, prune_below=-inf, floor=-inf)
    trainer = Trainer(game, ListDealer(deals), make_plan(settings, 1, iterations=100 * BATCH))
    while not trainer.is_done:
        trainer.run_slice()
    # Iteration t has the weight min(1, t / 50 batches): in total that of 75 batches.
    assert trainer.weight == pytest.approx(75 * BATCH, rel=0.02)
    regret, sums = trainer.regret.copy(), trainer.sums.copy()
    trainer.follow(make_plan(settings, 1, iterations=800 * BATCH))
    # Now it has the weight t / 400 batches, and the newest 1: in total that of 50 batches.
    assert trainer.weight == 50 * BATCH
    np.testing.assert_allclose(trainer.regret, regret * (50 / 75), rtol=0.02)
    np.testing.assert_allclose(trainer.sums, sums * (50 / 75), rtol=0.02)
    assert trainer.periods == 25
    # The average continues, and starts afresh at batch 200.
    assert trainer.is_averaging
    before = trainer.sums.sum(dtype=np.float64)
    while trainer.iterations < 200 * BATCH:
        trainer.run_slice()
    assert trainer.stale_average
    assert trainer.sums.sum(dtype=np.float64) > before
    trainer.run_slice()
    assert not trainer.stale_average
    assert trainer.is_averaging
    assert trainer.sums.sum(dtype=np.float64) < before / 10
    while not trainer.is_done:
        trainer.run_slice()
    assert trainer.weight == pytest.approx(600 * BATCH, rel=0.02)
    trainer.close()


def test_a_plan_changed_while_discounting_changes_no_weight() -> None:
    game, deals = leduc()
    trainer = Trainer(game, ListDealer(deals), make_plan(NO_PRUNING, 1, iterations=400 * BATCH))
    while trainer.iterations < 100 * BATCH:
        trainer.run_slice()
    regret = trainer.regret.copy()
    trainer.follow(make_plan(NO_PRUNING, 1, iterations=4_000 * BATCH))
    np.testing.assert_allclose(trainer.regret, regret, rtol=0.02)
    with pytest.raises(TrainingError, match="102,400 iterations are done"):
        trainer.follow(make_plan(NO_PRUNING, 1, iterations=50 * BATCH))
    with pytest.raises(TrainingError, match="seed"):
        trainer.follow(make_plan(NO_PRUNING, 2, iterations=4_000 * BATCH))
    trainer.close()


def test_one_thread_is_deterministic_given_the_seed() -> None:
    game, deals = leduc()
    first, second = (train(game, deals, 20_000, TrainingSettings()) for _ in range(2))
    np.testing.assert_array_equal(first.regret, second.regret)
    np.testing.assert_array_equal(first.sums, second.sums)


def test_two_threads_train() -> None:
    game, deals = leduc()
    trainer = train(game, deals, 400_000, NO_PRUNING, threads=2)
    assert respond(game, trainer.average_strategy(), deals).exploitability < 0.05


def test_compiling_is_not_training_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def passing(seconds: float) -> Callable[..., None]:
        def work(*_: object) -> None:
            clock[0] += seconds

        return work

    for timer in ("perf_counter", "process_time"):
        monkeypatch.setattr(f"solver.training.trainer.{timer}", lambda: clock[0])
    monkeypatch.setattr(Trainer, "_compile", passing(100.0))
    monkeypatch.setattr(Trainer, "_work", passing(1.0))
    game, deals = kuhn()
    trainer = Trainer(game, ListDealer(deals), make_plan(NO_PRUNING, 1, iterations=2 * BATCH))
    trainer.run_slice()
    trainer.close()
    assert trainer.seconds == trainer.core_seconds == 1.0


def test_burn_in_and_floor() -> None:
    game, deals = leduc()
    settings = TrainingSettings(burn_in=1.0, prune_below=-5.0, floor=-6.0)
    plan = make_plan(settings, 1, iterations=20 * BATCH)
    trainer = Trainer(game, ListDealer(deals), plan)
    while not trainer.is_done:
        assert not trainer.is_averaging
        trainer.run_slice()
    assert not trainer.sums.any()
    assert trainer.regret.min() >= -6.0
    assert trainer.regret.min() < -4.0  # discounted once after the last update


@pytest.mark.kernel
def test_large_strategy_sums_are_halved() -> None:
    game, deals = kuhn()
    settings = TrainingSettings(burn_in=0.0, discount_share=0.0)
    trainer = Trainer(game, ListDealer(deals), make_plan(settings, 1, iterations=512, batch=512))
    trainer.sums[:] = np.nextafter(SUM_LIMIT, np.float32(np.inf))
    trainer.run_slice()
    assert 0.5 * SUM_LIMIT <= trainer.sums.min() <= 0.5 * SUM_LIMIT + 512


@pytest.mark.parametrize("start", [0.0, 2.0 * DITHER_FROM, 0.6 * SUM_LIMIT])
def test_large_sums_grow_without_rounding_bias(start: float) -> None:
    """With rounding to nearest, 0.6 of the growth would become 0.5 at the largest start."""
    game, deals = kuhn()
    settings = replace(NO_PRUNING, discount_share=0.0)
    trainer = Trainer(game, ListDealer(deals), make_plan(settings, 1, iterations=256 * BATCH))
    regret = np.where(np.arange(game.table_size) % 2, 6e8, 4e8)  # so large that updates do not matter
    trainer.regret[:] = regret
    trainer.sums[:] = start
    while not trainer.is_done:
        trainer.run_slice()
    trainer.close()
    growth = trainer.sums.reshape(-1, 2) - np.float32(start)
    # Two visits when player 0 learns, one when player 1 does, and one more after a check (0.4).
    assert growth.sum() == pytest.approx(3.4 * trainer.iterations, rel=0.02)
    np.testing.assert_allclose(growth[:, 1] / growth.sum(axis=1), 0.6, atol=2e-3)


@pytest.mark.kernel
def test_summaries_match_plain_loops() -> None:
    game, deals = leduc()
    trainer = Trainer(game, ListDealer(deals), make_plan(NO_PRUNING, 1, iterations=8 * BATCH))
    rng = np.random.default_rng(6)
    trainer.regret[:] = rng.normal(size=game.table_size)
    trainer.sums[:] = rng.random(game.table_size)
    trainer.weight = 7.0
    expected, largest = [], 0.0
    for n in range(len(game.betting.base)):
        count, where = int(game.betting.num_actions[n]), int(game.betting.base[n])
        for bucket in range(game.node_buckets[n]):
            at = slice(where + bucket * count, where + (bucket + 1) * count)
            if bucket % 3 == 0:
                trainer.sums[at] = 0
            sums, positive = trainer.sums[at].tolist(), [max(r, 0.0) for r in trainer.regret[at].tolist()]
            largest += max(positive)
            basis = sums if any(sums) else positive if any(positive) else [1.0] * count
            expected += [weight / sum(basis) for weight in basis]
    np.testing.assert_allclose(trainer.average_strategy(), expected, rtol=1e-5)
    assert trainer.mean_positive_regret() == pytest.approx(largest / 7, rel=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"burn_in": 1.5},
        {"explore": -0.1},
        {"floor": 1.0},
        {"floor": -10.0, "prune_below": -20.0},
        {"floor": -20.0, "prune_below": -20.0},
    ],
)
def test_bad_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(TrainingError):
        TrainingSettings(**settings)


def test_bad_plans_are_refused() -> None:
    for arguments in ({}, {"iterations": 5, "seconds": 1.0}, {"iterations": -5}):
        with pytest.raises(TrainingError, match="iterations or of seconds"):
            make_plan(TrainingSettings(), 1, **arguments)
    with pytest.raises(TrainingError, match="seed"):
        make_plan(TrainingSettings(), -1, iterations=5)


def test_plans_can_be_in_seconds() -> None:
    game, deals = kuhn()
    trainer = Trainer(game, ListDealer(deals), make_plan(NO_PRUNING, 1, seconds=0.2))
    while not trainer.is_done:
        trainer.run_slice()
    assert trainer.iterations > 0
    assert trainer.periods == NO_PRUNING.discount_periods
    assert trainer.sums.any()
