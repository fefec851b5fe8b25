from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstraction.menu import parse_menu_book
from game.errors import RangeError
from solver.exact.engine import Engine
from solver.exact.exploitability import measure
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.toys import leduc
from solver.games.tree import (
    CALL_ACTION,
    CHANCE,
    DECISION,
    FOLD_ACTION,
    TreeError,
    build_tree,
    even_root,
    root_after,
)
from solver.resolving.subgame import (
    Payoff,
    Subgame,
    margins,
    path_gifts,
    put_back,
    reach_subgame,
    safe_subgame,
    unsafe_subgame,
)
from tests.reference.cfr import ReferenceGame
from tests.reference.safety import ReferenceSafety
from tests.solver.small_games import coin_toss, holdem, holdem_strength, leduc_strength

RIVER_HANDS = ["AsKs", "AdKh", "QhQc", "QdJd", "JhTh", "7s7c", "4d4h", "2c2d", "KcQs", "9s8s"]
TAILS, HEADS = 0, 2
GUESS = 2  # node of player 1's guess; its actions are tails, heads


def random_solution(game: Game, seed: int) -> Solution:
    """Strategies far from any equilibrium, some of them pure."""
    rng = np.random.default_rng(seed)
    table = rng.random(game.table_size, dtype=np.float32)
    table[rng.random(game.table_size) < 0.2] = 0
    return Solution(game, table, 0)


def round_roots(game: Game) -> list[int]:
    """First nodes of the second round."""
    tree = game.tree
    return [int(n) for n in np.flatnonzero(tree.kind == DECISION) if tree.kind[tree.parent[n]] == CHANCE]


def played_coin_toss(heads_plays: float, tails_plays: float, guesses_heads: float) -> Solution:
    game = coin_toss()
    solution = Solution(game, np.ones(game.table_size, dtype=np.float32), 0)
    rows = solution.average.reshape(-1, game.stride)
    root, guess = int(game.tree.action_row[0]), int(game.tree.action_row[GUESS])
    rows[root, [HEADS, TAILS]] = 1 - heads_plays, 1 - tails_plays
    rows[root + 1, [HEADS, TAILS]] = heads_plays, tails_plays
    rows[guess], rows[guess + 1] = 1 - guesses_heads, guesses_heads
    return solution


def solved_again(solution: Solution, subgame: Subgame, iterations: int = 2000) -> tuple[Solution, float]:
    """The combined strategies, and the probability that player 1 guesses heads."""
    solver = subgame.solver(subgame.same_game(solution, GUESS))
    solver.run(iterations)
    combined = replace(solution, average=solution.average.copy())
    put_back(combined, GUESS, solver.solution(), player=1)
    return combined, float(combined.strategy(GUESS)[1, 1])


def coin_value(solution: Solution) -> float:
    """Player 0's value of a best response."""
    return measure(Engine(solution.game), solution.average).best_responses[0]


def test_coin_toss_unsafe_solving_is_exploited() -> None:
    """Player 1 already guesses correctly (heads ¼), but the subgame only knows that heads is likelier."""
    solution = played_coin_toss(heads_plays=0.9, tails_plays=0.5, guesses_heads=0.25)
    assert coin_value(solution) == pytest.approx(0.0, abs=1e-6)
    combined, heads = solved_again(solution, unsafe_subgame(solution, GUESS))
    assert heads == pytest.approx(1.0, abs=1e-3)
    assert coin_value(combined) == pytest.approx(0.75, abs=1e-3)  # sells heads, plays tails


@pytest.mark.parametrize("gifts", [False, True])
def test_coin_toss_safe_solving_is_not_exploited(gifts: bool) -> None:
    solution = played_coin_toss(heads_plays=0.9, tails_plays=0.5, guesses_heads=0.25)
    subgame = (reach_subgame if gifts else safe_subgame)(solution, GUESS, 0, player=1)
    assert subgame.alternative is not None
    assert subgame.alternative[[HEADS, TAILS]] == pytest.approx([0.5, -0.5], abs=1e-6)
    combined, heads = solved_again(solution, subgame)
    assert heads == pytest.approx(0.25, abs=5e-3)
    assert coin_value(combined) == pytest.approx(0.0, abs=5e-3)


def test_coin_toss_reach_uses_the_gift() -> None:
    """Guessing evenly gives heads 0 by playing, but selling is worth ½: playing heads gives up ½.

    The plain gadget must keep both coins at 0, which only ½ does; Reach allows ¼ to ½ for heads.
    """
    solution = played_coin_toss(heads_plays=0.5, tails_plays=0.5, guesses_heads=0.5)
    assert coin_value(solution) == pytest.approx(0.25, abs=1e-6)
    plain = safe_subgame(solution, GUESS, 0, player=1)
    reach = reach_subgame(solution, GUESS, 0, player=1)
    assert plain.alternative is not None
    assert reach.alternative is not None
    assert plain.alternative[[HEADS, TAILS]] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert reach.alternative[[HEADS, TAILS]] == pytest.approx([0.5, 0.0], abs=1e-6)
    assert path_gifts(solution, GUESS, 0, player=0)[[HEADS, TAILS]] == pytest.approx([0.5, 0.0], abs=1e-6)
    _, heads = solved_again(solution, plain)
    assert heads == pytest.approx(0.5, abs=5e-3)
    combined, heads = solved_again(solution, reach)
    assert 0.25 - 5e-3 <= heads <= 0.5 + 5e-3
    assert coin_value(combined) == pytest.approx(max(heads - 0.25, 0.0), abs=5e-3)


@pytest.mark.kernel
def test_fully_forced_gadget_is_an_unsafe_subgame() -> None:
    solution = random_solution(holdem("AsKd7h2c", 100, 200, "100% | a", RIVER_HANDS), 1)
    node = round_roots(solution.game)[0]
    safe, unsafe = safe_subgame(solution, node, 1, player=1), unsafe_subgame(solution, node, 1)
    found = []
    for subgame, forced in ((replace(safe, ranges=unsafe.ranges), 1.0), (unsafe, 0.0)):
        solver = subgame.solver(subgame.same_game(solution, node, 1), forced=forced)
        solver.run(20)
        found.append(solver.average.copy())
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_coin_toss_forced_share_lies_between_safe_and_unsafe() -> None:
    """The result is between the safe one (heads ¼) and the best against the range (heads always)."""
    solution = played_coin_toss(heads_plays=0.9, tails_plays=0.5, guesses_heads=0.25)
    safe, unsafe = safe_subgame(solution, GUESS, 0, player=1), unsafe_subgame(solution, GUESS)
    believed = replace(safe, ranges=unsafe.ranges)
    guesses = []
    for forced in (0.0, 0.9):
        solver = believed.solver(believed.same_game(solution, GUESS), forced=forced)
        solver.run(2000)
        guesses.append(float(solver.solution().strategy(0)[1, 1]))
    assert guesses[0] == pytest.approx(0.25, abs=0.02)
    assert guesses[1] > 0.9


@pytest.mark.kernel
@pytest.mark.parametrize("payoff", list(Payoff))
@pytest.mark.parametrize("player", [0, 1])
def test_alternatives_match_their_definition_in_leduc(player: int, payoff: Payoff) -> None:
    game = replace(leduc(), ranges=0.5 + np.random.default_rng(3).random((2, 6), dtype=np.float32))
    solution = random_solution(game, 1)
    reference = ReferenceGame(game, leduc_strength)
    slow = ReferenceSafety(
        reference,
        lambda n, b, h: solution.strategy(n, b)[:, h].tolist(),
        1 - player,
        best=payoff is Payoff.BEST_RESPONSE,
    )
    deep = [n for n in np.flatnonzero(game.tree.kind == DECISION) if len(game.tree.history_of(int(n))) == 6]
    for node, board in [(round_roots(game)[-1], 2), (game.tree.find((CALL_ACTION, 3)), 0), (int(deep[0]), 5)]:
        for gifts in (False, True):
            make = reach_subgame if gifts else safe_subgame
            subgame = make(solution, node, board, player, payoff)
            expected = [slow.alternative(node, board, h, gifts) for h in range(6)]
            np.testing.assert_allclose(subgame.alternative, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.kernel
def test_alternatives_match_their_definition_on_the_river() -> None:
    game = holdem("AhKd7h4c2s", 100, 400, "50%, a | a", RIVER_HANDS)
    solution = random_solution(game, 2)
    slow = ReferenceSafety(
        ReferenceGame(game, lambda cards, hand: holdem_strength(game, cards, hand)),
        lambda n, b, h: solution.strategy(n, b)[:, h].tolist(),
        0,
        best=True,
    )
    node = game.tree.find((CALL_ACTION, 100))
    subgame = reach_subgame(solution, node, 0, player=1)
    expected = [slow.alternative(node, 0, h, gifts=True) for h in range(game.num_hands)]
    np.testing.assert_allclose(subgame.alternative, expected, rtol=1e-4, atol=1e-3)


def resolve_leduc(solution: Solution, method: str, iterations: int = 400) -> float:
    """NashConv after re-solving every second round for both players."""
    game = solution.game
    combined = replace(solution, average=solution.average.copy())
    for node in round_roots(game):
        for board in game.boards_of_round(1):
            for player in range(2):
                if method == "unsafe":
                    subgame = unsafe_subgame(solution, node, board)
                else:
                    make = reach_subgame if method == "reach" else safe_subgame
                    subgame = make(solution, node, board, player)
                solver = subgame.solver(subgame.same_game(solution, node, board))
                solver.run(iterations)
                if subgame.alternative is not None:
                    assert margins(subgame, solver)[subgame.ranges[1 - player] > 0].min() > -0.02
                put_back(combined, node, solver.solution(), player)
    return measure(Engine(game), combined.average).nash_conv


@pytest.mark.parametrize("method", ["resolve", "reach"])
@pytest.mark.parametrize("iterations", [3, 10])
def test_safe_solving_is_safe_in_leduc(iterations: int, method: str) -> None:
    solver = Solver(leduc())
    solver.run(iterations)
    before = measure(solver.engine, solver.average).nash_conv
    assert resolve_leduc(solver.solution(), method) <= before + 2e-3


def test_put_back_of_the_same_strategies_changes_nothing() -> None:
    game = holdem("AhKd7h4c", 100, 300, "a", RIVER_HANDS)
    solution = random_solution(game, 4)
    copy = replace(solution, average=solution.average.copy())
    node, board = round_roots(game)[0], 7
    subgame = unsafe_subgame(solution, node, board)
    solver = subgame.solver(subgame.same_game(solution, node, board))
    solver.run(5)
    for player in range(2):
        put_back(copy, node, solver.solution(), player)
    changed = np.flatnonzero(copy.average != solution.average)
    start = int(game.boards.table[board])
    assert len(changed)
    assert changed.min() >= start
    assert changed.max() < int(game.boards.table[board + 1])
    for n in range(len(solver.game.tree.kind)):
        if solver.game.tree.kind[n] == DECISION:
            np.testing.assert_array_equal(copy.strategy(node + n, board), solver.solution().strategy(n))


def test_off_tree_action_can_be_added_safely() -> None:
    """Nested solving: the subgame starts before the opponent's action and offers that action."""
    menus = parse_menu_book("100%, a")
    root = even_root(3, 100, 400)
    parent = holdem("AhKd7h4c2s", 100, 400, "100%, a", RIVER_HANDS)
    solver = Solver(parent)
    solver.run(500)
    node = parent.tree.find((CALL_ACTION,))  # player 1 acts and will bet 33
    subgame = reach_subgame(solver.solution(), node, 0, player=0)
    tree = build_tree(root_after(root, (CALL_ACTION,)), menus, extra={(): (83,)})
    assert tree.actions_of(0) == (CALL_ACTION, 83, 150, 450)
    nested = subgame.solver(subgame.holdem_game(tree))
    nested.run(2000)
    pairs = nested.game.pairings()
    shortfall = np.minimum(margins(subgame, nested), 0.0) @ nested.game.ranges[1] / pairs
    # Other sizes are worth no more than before; the new one may be, as no strategy answered it yet.
    assert -10.0 < shortfall <= 0.0
    same = subgame.solver(subgame.same_game(solver.solution(), node))
    same.run(2000)
    shortfall = np.minimum(margins(subgame, same), 0.0) @ same.game.ranges[1] / pairs
    assert shortfall > -0.2  # chips, of a pot of 100


@pytest.mark.parametrize("history", [(), (CALL_ACTION,), (150,), (150, 300), (0, 150, 0), (150, 0), (0, 0)])
def test_root_after_gives_the_subtree_of_the_node(history: tuple[int, ...]) -> None:
    menus, root = parse_menu_book("100%, a | 50%, a | a"), even_root(2, 100, 800, big_blind=10)
    whole = build_tree(root, menus)
    node = whole.find(history)
    below = build_tree(root_after(root, history), menus)
    end = node + below.num_nodes
    np.testing.assert_array_equal(below.kind, whole.kind[node:end])
    np.testing.assert_array_equal(below.amount, whole.amount[node:end])
    np.testing.assert_array_equal(below.action[1:], whole.action[node + 1 : end])
    np.testing.assert_array_equal(below.player, whole.player[node:end])
    assert end == whole.num_nodes or whole.parent[end] < node


@pytest.mark.parametrize("history", [(0, 0, 0, 0), (450, 0), (55,), (FOLD_ACTION,)])
def test_no_subgame_starts_after_the_end(history: tuple[int, ...]) -> None:
    with pytest.raises(TreeError):
        root_after(even_root(2, 100, 400, big_blind=10), history)


def test_unreached_node_is_refused() -> None:
    solution = played_coin_toss(heads_plays=0.0, tails_plays=0.0, guesses_heads=0.5)
    with pytest.raises(RangeError):
        unsafe_subgame(solution, GUESS)
    assert safe_subgame(solution, GUESS, 0, player=1).alternative is not None
