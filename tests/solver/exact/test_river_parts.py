"""Threads that share a single river by its hands."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import solver.exact.engine
from game.hands import NUM_HANDS, hand_text
from solver.exact.cut import cut
from solver.exact.engine import Engine, make_gadget
from solver.exact.kernels.river_parts import finish_part, sum_part
from solver.exact.river_parts import cut_hands
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.tree import DECISION
from tests.reference.cfr import ReferenceGame
from tests.solver.small_games import holdem, holdem_strength

ONE_GROUP, FEW_GROUPS = "AhKhQhJhTh", "QsQh8d8c5s"


@pytest.fixture(autouse=True)
def _always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver.exact.engine, "_WORTH_WAKING", 0)


def some_hands(count: int) -> list[str]:
    chosen = np.random.default_rng(5).choice(NUM_HANDS, count, replace=False)
    return [hand_text(int(hand)) for hand in chosen]


def one_after_another(engine: Engine, g: int) -> None:
    """Process one group as the threads of a team do, but in one thread and so without barriers."""
    program, workers = engine._compiled.program, engine._all
    told = workers[0].team.told[: 2 * len(workers)]
    for p, one in enumerate(workers):
        sum_part(p, g, 0, one.shape, one.boards, program, one.team, told)
    for p, one in enumerate(workers):
        finish_part(p, g, 0, one.shape, one.boards, program, one.team, one.scratch, told)


@pytest.mark.kernel
@pytest.mark.parametrize("board", ["AhKd7h4c2s", FEW_GROUPS])
@pytest.mark.parametrize("threads", [2, 3])
def test_parts_match_pairwise_comparison(board: str, threads: int) -> None:
    game = holdem(board, 100, 300, "50%, a | a", some_hands(260))
    reference = ReferenceGame(game, lambda cards, hand: holdem_strength(game, cards, hand))
    engine, rng = Engine(game, threads), np.random.default_rng(3)
    assert 2 <= len(engine._all) <= threads
    reach = np.zeros((engine._compiled.reach_rows, game.stride), dtype=np.float32)
    reach[:, : game.num_hands] = rng.random((len(reach), game.num_hands))
    for one in engine._all:
        assert one.part is not None
        one.part.take(reach, one.team.root.reach)
    program = engine._compiled.program
    showdown, fold = (int(np.flatnonzero(game.tree.kind == kind)[0]) for kind in (2, 1))
    g = int(program.segments[0, 2])  # player 0 is the traverser; the first group has both kinds
    one_after_another(engine, g)
    value = np.zeros((engine._compiled.value_rows, game.stride), dtype=np.float32)
    for one in engine._all:
        assert one.part is not None
        one.part.give_back(one.team.root.value, value)
    for lane in (0, 7):
        expected = np.zeros(game.num_hands)
        for amount, row, node, player in (
            (program.lane_win[g, lane], program.lane_showdown[g, lane], showdown, 0),
            (program.lane_gain[g, lane], program.lane_fold[g, lane], fold, 1 - int(game.tree.player[fold])),
        ):
            if amount:
                values = reference.terminal(node, 0, player, dict(enumerate(reach[row].astype(float))))
                expected += amount * np.array(list(values.values())) / game.tree.amount[node]
        np.testing.assert_allclose(
            value[program.lane_out[g, lane], : game.num_hands], expected, rtol=1e-4, atol=0.02
        )


@pytest.mark.parametrize("board", ["AsKd7h4c2s", FEW_GROUPS])
def test_values_do_not_depend_on_threads(board: str) -> None:
    game = holdem(board, 1000, 3000, "100%, a | a")
    averages, values = [], []
    for threads in (1, 2, 3, 2):
        solver = Solver(game, threads=threads)
        solver.run(3)
        averages.append(solver.average.copy())
        values.append(solver.engine._root_value.copy())
    for average, value in zip(averages[1:], values[1:], strict=True):
        # Rounding may decide between actions of equal value, so single hands may differ.
        assert np.mean(np.abs(average - averages[0]) > 1e-3) < 1e-3
        np.testing.assert_allclose(value, values[0], rtol=1e-3, atol=20.0)  # of half a million
    np.testing.assert_array_equal(averages[3], averages[1])


def test_tie_groups_are_not_split() -> None:
    game = holdem("AsKd7h4c2s", 1000, 3000, "a")
    parts = cut_hands(game.boards, game.stride, 3)
    assert [part.begin for part in parts] == [0, *[part.end for part in parts[:-1]]]
    assert parts[-1].end == game.num_hands
    for part in parts:
        assert abs(part.end - part.begin - game.num_hands / 3) < 60
        assert part.end in game.boards.ends[0]
    assert len(cut_hands(holdem(ONE_GROUP, 1000, 3000, "a").boards, game.stride, 3)) == 1


@pytest.mark.parametrize("player", [0, 1])
def test_gadget_does_not_depend_on_threads(player: int) -> None:
    game = holdem("AsKd7h4c2s", 1000, 3000, "100%, a | a")
    alternative = np.linspace(-3e5, 3e5, game.num_hands, dtype=np.float32)
    alone, shared = (
        Solver(game, threads=n, gadget=lambda e: make_gadget(e, player, alternative)) for n in (1, 2)
    )
    assert len(shared.engine._all) == 2
    first, second = alone._gadget, shared._gadget
    assert first is not None
    assert second is not None
    # The error of a sum of n float32 is at most n · eps / 2 times the sum of their magnitudes, in any order.
    # A value adds up the opponent's hands, 3500 chips each at most, three times (half of them all and then
    # the sweep, read twice), and two values are compared.
    rounding = 3 * game.num_hands * float(np.finfo(np.float32).eps) * (game.num_hands * 3500)
    for _ in range(3):
        for one in (alone, shared):
            assert one.run(1) == 1
        # Only results of player 0's pass, before which all numbers are equal: in player 1's pass, rounding
        # may already decide between actions of equal value.
        np.testing.assert_allclose(
            shared.engine._root_value[0], alone.engine._root_value[0], rtol=0, atol=rounding
        )
        if player == 0:
            np.testing.assert_allclose(second.value, first.value, rtol=0, atol=rounding)
            np.testing.assert_allclose(second.regret, first.regret, rtol=0, atol=rounding)
        else:  # no sums are involved
            np.testing.assert_allclose(second.reach, first.reach, rtol=1e-6)
        shared.regret[:], shared.average[:] = alone.regret, alone.average
        for mine, other in zip(second[1:4], first[1:4], strict=True):
            mine[:] = other
    enters = first.reach[game.stride : game.stride + game.num_hands]
    assert 0.1 < enters.mean() < 0.9  # both choices are used


def test_team_can_be_stopped_and_resumed() -> None:
    one = Solver(holdem("AsKd7h4c2s", 1000, 9500, "50%, 100%, a | 100%, a"), threads=2)
    assert one.solve(deadline=time.monotonic() - 1).iterations == 0
    timer = threading.Timer(0.1, one.stop)
    timer.start()
    assert one.solve().iterations < 1_000_000
    timer.join()
    assert one.run(3) == 3
    for node in np.flatnonzero(one.game.tree.kind == DECISION):
        np.testing.assert_allclose(one.solution().strategy(int(node)).sum(axis=0), 1.0, atol=1e-5)


def test_river_cut_from_a_turn_keeps_the_order_of_hands() -> None:
    turn = Solver(holdem("AsKd7h4c", 1000, 1000, "a"))
    turn.run(1)
    tree = turn.game.tree
    node = int(np.flatnonzero((tree.round == 1) & (tree.kind == DECISION))[0])
    river: Game = cut(turn.solution(), node, 1).game
    assert len(Engine(river, threads=2)._all) == 1
