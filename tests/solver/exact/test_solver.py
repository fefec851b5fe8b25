from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import exploitability as spiel_exploitability

from game.hands import parse_hand
from solver.exact import schedules
from solver.exact.engine import EVALUATE, RESPOND, make_gadget
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.layout import Tables
from solver.games.toys import kuhn, leduc
from solver.games.tree import DECISION
from tests.reference.cfr import ReferenceSolver
from tests.solver.small_games import holdem, holdem_strength, kuhn_strength, leduc_strength

RIVER_HANDS = ["AsKs", "AdKh", "QhQc", "QdJd", "JhTh", "7s7c", "4d4h", "2c2d", "KcQs", "9s8s"]
SCHEDULES = [
    schedules.cfr_plus(),
    schedules.dcfr(),
    schedules.dcfr_plus(),
    schedules.hs_dcfr(),
    schedules.improved_cfr_plus(8),
    schedules.pcfr_plus(),
    schedules.pdcfr_plus(),
]


def small_river() -> Game:
    return holdem("AhKd7h4c2s", 100, 400, "50%, a | a", RIVER_HANDS)


def weighted(game: Game) -> Game:
    """The game with random ranges: in symmetric games rounding decides about regrets of exactly 0."""
    ranges = 0.5 + np.random.default_rng(5).random((2, game.num_hands), dtype=np.float32)
    return replace(game, ranges=ranges)


def games() -> list[tuple[str, Callable[[], Game], Callable[[Game], Callable[[tuple[int, ...], int], int]]]]:
    return [
        ("kuhn", lambda: weighted(kuhn()), lambda _: kuhn_strength),
        ("leduc", lambda: weighted(leduc()), lambda _: leduc_strength),
        ("river", small_river, lambda game: lambda cards, hand: holdem_strength(game, cards, hand)),
    ]


@pytest.mark.kernel
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.name)
@pytest.mark.parametrize(("make", "strength"), [case[1:] for case in games()], ids=[c[0] for c in games()])
def test_iterations_match_the_reference(
    make: Callable[[], Game],
    strength: Callable[[Game], Callable[[tuple[int, ...], int], int]],
    schedule: schedules.Schedule,
) -> None:
    game = make()
    solver, reference = Solver(game, schedule), ReferenceSolver(game, strength(game))
    fill_at_random(solver, reference)
    start, count = 4, 2
    solver.iterations = start
    assert solver.run(count) == count
    for factors in schedule.table(start, count):
        reference.iterate(*factors.tolist(), schedule.floor, schedule.predictive)
    for (node, board, hand), expected in reference.regret.items():
        if not reference.blocked(hand, board):
            rows = node_rows(solver, solver.regret, node, board) / chance_of(game, node)
            np.testing.assert_allclose(rows[:, hand], expected, rtol=1e-4, atol=1e-3)
            rows = node_rows(solver, solver.average, node, board)
            np.testing.assert_allclose(
                rows[:, hand], reference.average[node, board, hand], rtol=1e-4, atol=1e-4
            )
    for player in range(2):
        for mode, best in ((EVALUATE, False), (RESPOND, True)):
            values = solver.engine.root_values(solver.average, player, mode)
            expected_values = reference.response(player, reference.averaged, best)
            np.testing.assert_allclose(values, list(expected_values.values()), rtol=1e-4, atol=1e-4)


def fill_at_random(solver: Solver, reference: ReferenceSolver) -> None:
    """Fill both with the same regrets and strategy sums: from zero, rounding would decide ties."""
    game, rng = solver.game, np.random.default_rng(11)
    for node in np.flatnonzero(game.tree.kind == DECISION):
        for board in game.boards_of_round(int(game.tree.round[node])):
            rows = node_rows(solver, solver.regret, node, board)
            rows[:] = rng.random(rows.shape) - (0.4 if solver.schedule.floor < 0 else 0.0)
            sums = node_rows(solver, solver.average, node, board)
            sums[:] = rng.random(sums.shape)
            regrets = rows.astype(float) / chance_of(game, node)
            for hand in range(game.num_hands):
                reference.regret[int(node), board, hand] = regrets[:, hand].tolist()
                reference.average[int(node), board, hand] = sums[:, hand].astype(float).tolist()


def chance_of(game: Game, node: int) -> float:
    """Our regrets include the probability of the public cards, the reference's do not."""
    return game.chance[game.tree.round[node]]


def node_rows(solver: Solver, table: np.ndarray, node: int, board: int) -> np.ndarray:
    game = solver.game
    start = game.boards.table[board] + game.tree.action_row[node] * game.stride
    count = len(game.tree.children_of(node))
    return table[start : start + count * game.stride].reshape(count, -1)[:, : game.num_hands]


@pytest.mark.parametrize("schedule", [schedules.DEFAULT_SCHEDULE, schedules.cfr_plus()], ids=lambda s: s.name)
def test_kuhn_value(schedule: schedules.Schedule) -> None:
    solver = Solver(kuhn(), schedule)
    solver.run(2000)
    assert solver.quality().values[0] == pytest.approx(-1 / 18, abs=1e-4)
    assert solver.exploitability() < 1e-3


def test_leduc_value_and_openspiel_exploitability() -> None:
    solver = Solver(leduc())
    solver.run(2000)
    assert solver.quality().values[0] == pytest.approx(-0.085606, abs=1e-4)
    game = pyspiel.load_game("leduc_poker")
    policy = leduc_policy(solver, game)
    assert spiel_exploitability.exploitability(game, policy) < 1e-3
    # OpenSpiel's exploitability and ours must agree.
    theirs = spiel_exploitability.nash_conv(game, policy)
    assert theirs == pytest.approx(solver.quality().nash_conv, abs=1e-5)


def leduc_policy(solver: Solver, game: pyspiel.Game) -> spiel_policy.TabularPolicy:
    """Our average strategy in OpenSpiel's terms: fold 0, call 1, raise 2."""
    ours, tree, solution = solver.game, solver.game.tree, solver.solution()
    policy = spiel_policy.TabularPolicy(game)

    def fill(state: pyspiel.State, node: int, board: int, cards: list[int]) -> None:
        if state.is_terminal():
            return
        if state.is_chance_node():
            for card, _ in state.chance_outcomes():
                dealt = [*cards, card]
                below = board if len(dealt) < 3 else ours.board_cards.index((card,))
                fill(state.child(card), node, below, dealt)
            return
        strategy = solution.strategy(node, board)[:, cards[state.current_player()]]
        row = policy.action_probability_array[policy.state_lookup[state.information_state_string()]]
        row[:] = 0
        for child, probability in zip(tree.children_of(node), strategy, strict=True):
            code = int(tree.action[child])
            action = {-1: 0, 0: 1}.get(code, 2)
            row[action] = probability
            while tree.kind[child] not in (DECISION, 1, 2):
                child = tree.children_of(int(child))[0]
            fill(state.child(action), int(child), board, cards)

    fill(game.new_initial_state(), 0, 0, [])
    return policy


def test_values_sum_to_zero() -> None:
    solver = Solver(holdem("AsKd7h4c2s", 1000, 9500, "50%, a | a"))
    solver.run(20)
    both = 0.0
    for player in range(2):
        values = solver.engine.root_values(solver.average, player, EVALUATE)
        assert values is not None
        both += float(values.astype(float) @ solver.game.ranges[player]) / solver.game.pairings()
    assert both == pytest.approx(0.0, abs=2e-3)  # chips, in a pot of 1000


def test_permuting_suits_permutes_the_solution() -> None:
    hands = ["AsKs", "AdKh", "QhQc", "QdJd", "JhTh", "7s7c", "4d4h", "2c2d"]
    turned = [hand.translate(str.maketrans("cdhs", "dhsc")) for hand in hands]
    answers = []
    for board, own in (("AhKd7h4c", hands), ("AsKh7s4d", turned)):
        game = holdem(board, 100, 400, "50%, a | a", own)
        solver = Solver(game)
        solver.regret[:] = 1.0  # from zero, rounding would decide ties
        solver.iterations = 10
        solver.run(4)
        labels = {int(label): h for h, label in enumerate(game.labels)}
        order = [labels[parse_hand(hand)] for hand in own if parse_hand(hand) in labels]
        answers.append((solver.exploitability(), solver.solution().strategy(0)[:, order]))
    # Ranges are random weights in the order of the list, so they are permuted in the same way.
    assert answers[0][0] == pytest.approx(answers[1][0], rel=1e-3)
    np.testing.assert_allclose(answers[0][1], answers[1][1], atol=1e-3)


def test_solution_does_not_depend_on_threads() -> None:
    game = holdem("AsKd7h4c", 1000, 3000, "100%, a | a")
    results = []
    for threads in (1, 2, 3):
        solver = Solver(game, threads=threads)
        solver.run(3)
        results.append((solver.average.copy(), solver.quality()))
    for average, quality in results[1:]:
        np.testing.assert_array_equal(average, results[0][0])
        assert quality == results[0][1]


def test_game_value_of_the_river_spot() -> None:
    """Against b-inary/postflop-solver on the same tree: −32.25 ± 0.05 at the limit."""
    solver = Solver(holdem("AsKd7h4c2s", 1000, 9500, "50%, 100%, a | 100%, a"))
    progress = solver.solve(target=0.5)
    assert progress.exploitability is not None
    assert progress.exploitability <= 0.5
    assert solver.quality().values[0] == pytest.approx(-32.25, abs=0.3)


@pytest.mark.parametrize("seconds", [-1.0, 0.05])
def test_a_deadline_ends_a_solve_and_the_average_is_valid(seconds: float) -> None:
    game = holdem("AsKd7h4c", 1000, 9500, "50%, 100%, a | 100%, a")
    Solver(game).run(1)  # compiled
    solver = Solver(game)
    deadline = time.monotonic() + seconds
    progress = solver.solve(deadline=deadline)
    assert time.monotonic() >= deadline
    assert progress.iterations == solver.iterations < 1_000_000  # which would take hours
    if seconds < 0:
        assert progress.iterations == 0
    assert solver.run(1) == 1, "only that solve is over"
    for node in np.flatnonzero(game.tree.kind == DECISION)[:40]:
        board = 0 if game.tree.round[node] == 0 else 7
        strategy = solver.solution().strategy(int(node), board)
        np.testing.assert_allclose(strategy.sum(axis=0), 1.0, atol=1e-5)
        assert (strategy >= 0).all()


def test_stop_from_another_thread() -> None:
    solver = Solver(holdem("AsKd7h4c", 1000, 9500, "50%, 100%, a | 100%, a"), threads=2)
    timer = threading.Timer(0.3, solver.stop)
    timer.start()
    progress = solver.solve()
    timer.join()
    assert progress.iterations < 1_000_000
    assert solver.run(1) == 1  # and it can be resumed


def test_locked_nodes_keep_their_strategy() -> None:
    game = small_river()
    solver = Solver(game)
    fold_always = np.zeros((len(game.tree.children_of(0)), game.num_hands), dtype=np.float32)
    fold_always[0] = 1.0
    solver.lock(0, fold_always)
    solver.run(300)
    np.testing.assert_array_equal(solver.solution().strategy(0), fold_always)
    with pytest.raises(ValueError, match="not a decision"):
        solver.lock(int(np.flatnonzero(game.tree.kind != DECISION)[0]), fold_always)
    with pytest.raises(ValueError, match="rows of"):
        solver.lock(0, fold_always[:1])


def test_gadget_with_generous_alternatives_keeps_the_player_out() -> None:
    game = small_river()
    generous = np.full(game.num_hands, 1e6, dtype=np.float32)
    solver = Solver(game, gadget=lambda engine: make_gadget(engine, 1, generous))
    solver.run(50)
    assert solver._gadget is not None
    enters = solver._gadget.reach[game.stride : game.stride + game.num_hands]
    assert enters.max() < 1e-6


def test_averaging_can_be_skipped() -> None:
    solver = Solver(small_river())
    table = solver.schedule.table(0, 2)
    table[:, 2] = -1.0
    solver.engine.iterate(Tables(solver.regret, solver.average, solver.basis, solver.frozen), table, 0.0)
    assert not solver.average.any()
    assert solver.regret.any()


@pytest.mark.slow
def test_three_rounds_match_the_reference() -> None:
    game = holdem("AhKd7h", 100, 100, "- | -; turn: a", ["AsKs", "QhJh", "7s7c"])
    assert game.tree.num_rounds == 3
    solver = Solver(game, threads=2)
    reference = ReferenceSolver(game, lambda cards, hand: holdem_strength(game, cards, hand))
    fill_at_random(solver, reference)
    solver.iterations = 4
    assert solver.run(1) == 1
    reference.iterate(*solver.schedule.table(4, 1)[0].tolist(), solver.schedule.floor, False)
    for (node, board, hand), expected in reference.regret.items():
        if not reference.blocked(hand, board):
            rows = node_rows(solver, solver.regret, node, board) / chance_of(game, node)
            np.testing.assert_allclose(rows[:, hand], expected, rtol=1e-3, atol=0.05)
    for player in range(2):
        values = solver.engine.root_values(solver.average, player, RESPOND)
        expected_values = reference.response(player, reference.averaged, best=True)
        np.testing.assert_allclose(values, list(expected_values.values()), rtol=1e-4, atol=1e-3)


def test_first_share_follows_from_the_weights() -> None:
    assert schedules.cfr_plus().first_share(4) == pytest.approx(1 / (1 + 2 + 3 + 4))
    assert schedules.dcfr(gamma=2.0).first_share(3) == pytest.approx(1 / (1 + 4 + 9))
    assert schedules.improved_cfr_plus(8).first_share(8) == 0
    assert schedules.dcfr().first_share(1) == 1
