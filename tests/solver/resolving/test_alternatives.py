"""Values promised to the opponent by one solution, and kept by the next."""

from __future__ import annotations

import numpy as np
import pytest

from abstraction.menu import parse_menu_book
from game.cards import parse_cards
from game.hands import unblocked
from game.ranges import parse_range
from numeric.arrays import F32
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.holdem import holdem_game
from solver.games.tree import BettingRoot, Tree, build_tree
from solver.resolving.alternatives import promise, safe_root
from solver.resolving.ranges import full_ranges
from solver.resolving.subgame import Payoff, margins

TURN = tuple(parse_cards("Th9c2s3d"))
ROOT = BettingRoot(2, (500, 500), 3_000, 100)
RANGES = ("22+,A2s+,K9s+,QTs+,JTs,ATo+,KTo+", "TT-22,A2s+,K7s+,Q9s+,J9s+,T9s,98s,A9o+,KTo+,QJo")


@pytest.fixture(scope="module")
def solution() -> Solution:
    """A rough turn solution; player 0 acts first."""
    tree = build_tree(ROOT, parse_menu_book("100%, a | a"))
    solver = Solver(holdem_game(TURN, tree, ranges()))
    solver.run(60)
    return solver.solution()


def ranges() -> F32:
    return np.stack([parse_range(text) for text in RANGES]).astype(np.float32)


def child(tree: Tree, path: tuple[int, ...], action: int) -> int:
    """The child of an action; `Tree.find` would pass chance nodes."""
    node = tree.find(path)
    return int(tree.children_of(node)[tree.actions_of(node).index(action)])


def test_values_are_promised_for_the_next_decision_and_every_card(solution: Solution) -> None:
    tree = solution.game.tree
    after_bet = promise(solution, child(tree, (), 1_500), 0)
    assert after_bet.here is not None
    assert len(after_bet.by_card) == 48
    assert np.isfinite(after_bet.here).all()
    # The opponent can fold for what they have put in, and cannot win more than all of our stack.
    held = ranges()[1] > 0
    assert after_bet.here[held].min() > -600
    assert after_bet.here.max() < 3_000
    # Apart from draws to a flush, the best hands are promised more than the worst ones.
    assert after_bet.here[parse_range("TT") > 0].mean() > after_bet.here[parse_range("QJo") > 0].mean()


def test_nothing_is_promised_after_an_all_in_and_call(solution: Solution) -> None:
    tree = solution.game.tree
    assert promise(solution, child(tree, (3_000,), 0), 1).by_card == {}


def test_safe_solve_keeps_promised_values(solution: Solution) -> None:
    tree = solution.game.tree
    # Both checked: we closed the turn, the opponent acts first on the river.
    closed = promise(solution, child(tree, (0,), 0), 1, Payoff.BEST_RESPONSE)
    card = parse_cards("8d")[0]
    river = (*TURN, card)
    live = full_ranges() * unblocked(river)
    # The opponent has the whole range of the turn, we have the range that checks back.
    dealt = (ranges() > 0).astype(np.float32) * live
    dealt[1, solution.game.labels] *= solution.reach(1, child(tree, (0,), 0))
    root = BettingRoot(3, (500, 500), 3_000, 100)
    subgame = safe_root(river, dealt, 0, closed.by_card[card])
    game = subgame.holdem_game(build_tree(root, parse_menu_book("100%, a | a")))
    solver = subgame.solver(game)
    solver.run(1_000)
    # Margins are counterfactual: chips times our weight.
    weight = float(game.ranges[1].sum())
    held = game.ranges[0] > 0
    assert margins(subgame, solver)[held].min() / weight > -0.01 * 1_000
    # Without the promise some hands get far more, so the assertion above can fail.
    free = Solver(game)
    free.run(1_000)
    assert margins(subgame, free)[held].min() / weight < -0.03 * 1_000
