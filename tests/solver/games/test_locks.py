from __future__ import annotations

import numpy as np
import pytest

from game.hands import hand_text
from solver.exact.exploitability import measure
from solver.exact.solver import Solver
from solver.games.locks import LockError, parse_lock
from tests.solver.small_spots import river_spot, turn_spot

SPOT = river_spot()
GAME = SPOT.game()


def shares(text: str, hand: str) -> list[float]:
    lock = parse_lock(SPOT, GAME, text)
    names = [hand_text(label) for label in GAME.labels.tolist()]
    return lock.strategy[:, names.index(hand)].tolist()


def test_lock_gives_probabilities_of_each_hand() -> None:
    assert shares("b50 = f random:0.6; c rest", "QhQc") == pytest.approx([0.6, 0.4, 0.0])
    assert shares("root = b50% QQ,AK:0.25; x rest", "AsKs") == pytest.approx([0.75, 0.25, 0.0])
    assert shares("root = b50% QQ,AK:0.25; x rest", "QhQc") == pytest.approx([0.0, 1.0, 0.0])
    assert shares("= x random", "QhQc") == pytest.approx([1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b50", "has no actions: write PATH = ACTION RANGE"),
        ("b50 =", "has no actions"),
        ("b77 = c random", "'b77' is not offered at the root"),
        ("b50 = k random", "'k' is not an action"),
        ("b50 = c", "has no range"),
        ("b50 = c XX", "is not a hand"),
        ("b50 = c AA", "gives .* only 0% in all: let one of f, c, a take the rest, e.g. '; f rest'"),
        ("b50 = c random; f random:0.5", "gives .* 150% in all"),
    ],
)
def test_wrong_locks_say_what_to_write(text: str, message: str) -> None:
    with pytest.raises(LockError, match=message):
        parse_lock(SPOT, GAME, text)


def test_a_lock_holds_on_every_card() -> None:
    spot = turn_spot()
    game = spot.game()
    with pytest.raises(LockError, match=r"names a card, but a lock holds on every card: write \*"):
        parse_lock(spot, game, "x/x/Td = x random")
    lock = parse_lock(spot, game, "x/x/* = x random:0.3; a rest")
    solver = Solver(game)
    solver.lock(lock.place.node, lock.strategy)
    solver.run(3)
    solution = solver.solution()
    for board in game.boards_of_round(1):
        np.testing.assert_allclose(solution.strategy(lock.place.node, board)[0], 0.3, rtol=1e-6)


def test_a_locked_game_is_solved_within_its_locks() -> None:
    solver = Solver(GAME)
    lock = parse_lock(SPOT, GAME, "b50 = f random:0.9; c rest")
    solver.lock(lock.place.node, lock.strategy)
    solver.run(1000)
    assert solver.exploitability() < 0.05
    # Without the lock, the player who overfolds would do much better.
    assert measure(solver.engine, solver.average).exploitability > 1
    # Against so many folds everything is bet, and the bettor gains.
    free = Solver(GAME)
    free.run(1000)
    assert solver.solution().strategy(0)[1:].sum(axis=0).mean() > 0.95
    assert solver.quality().values[0] > free.quality().values[0] + 1
