"""Opponent strategies for a depth limit by self-play (Brown, Sandholm and Amos, 2018, section 4).

The set starts with the opponent's blueprint. We solve the depth-limited game in which the opponent chooses
from the set, compute the opponent's best response to that solution followed by our blueprint, add it to the
set, and repeat. "Weakened" values keep the opponent from gaining by our blueprint's mistakes: where a
strategy does better than the opponent's blueprint against ours, all its values at that infoset are lowered by
the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from numeric.arrays import F32, F64
from solver.depth_limited.solver import DepthLimitedSolver, TableLeaves
from solver.exact.cut import cut
from solver.exact.engine import EVALUATE, Engine
from solver.exact.schedules import cfr_plus
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.tree import CHANCE, DECISION, Tree, TreeBuilder

_RESPONSE_ITERATIONS = 400


def generate_strategies(
    game: Game, blueprint: F32, player: int, count: int, iterations: int = 1_000
) -> list[F32]:
    """Tables of the opponent's strategies, their blueprint first.

    game       of two rounds or more; the depth limit is the end of the first
    blueprint  float32[table size]: strategies of both players, as sums
    player     the player we solve for
    """
    strategies = [blueprint]
    while len(strategies) < count:
        matrices = continuation_values(game, blueprint, strategies, player)
        solver = solve_first_round(game, matrices, player, iterations)
        ours = with_first_round(blueprint, solver.solution(), player)
        strategies.append(_best_response(game, ours, 1 - player))
    return strategies


def continuation_values(game: Game, blueprint: F32, strategies: Sequence[F32], player: int) -> F32:
    """float32[L, K, H, H]: what `player`'s blueprint wins at each leaf against each strategy, weakened."""
    return mean_over_boards(game, board_values(game, blueprint, strategies, player))


def board_values(game: Game, blueprint: F32, strategies: Sequence[F32], player: int) -> F32:
    """float32[L, K, B, H, H]: the same for each board of the second round, conditional on the board."""
    leaves, boards = _leaves(game.tree), game.boards_of_round(1)
    values = np.zeros((len(leaves), len(strategies), len(boards), game.num_hands, game.num_hands))
    for k, strategy in enumerate(strategies):
        both = Solution(game, merge_tables(game, blueprint, strategy, player), 0)
        for n, leaf in enumerate(leaves):
            for b, board in enumerate(boards):
                values[n, k, b] = _leaf_matrix(both, leaf, board, player)
    plain = Solution(game, blueprint, 0)
    for n, leaf in enumerate(leaves):
        _weaken(values[n], plain.reach(player, leaf).astype(np.float64), game)
    return values.astype(np.float32)


def mean_over_boards(game: Game, values: F32) -> F32:
    """float32[L, K, H, H] from float32[L, K, B, H, H]."""
    mean: F32 = (values.sum(axis=2) * np.float32(game.chance[1])).astype(np.float32)
    return mean


def solve_first_round(
    game: Game, matrices: F32, player: int, iterations: int, ranges: F32 | None = None
) -> DepthLimitedSolver:
    """Solve the depth-limited game for `player`."""
    tree = first_round(game.tree)
    boards = game.boards._replace(table=np.zeros(1, dtype=np.int64), first_child=np.array([1, 1], np.int32))
    cut_off = replace(
        game,
        tree=tree,
        boards=boards,
        board_cards=game.board_cards[:1],
        chance=game.chance[:1],
        ranges=game.ranges if ranges is None else ranges,
        table_size=tree.round_rows[0] * game.stride,
    )
    solver = DepthLimitedSolver(cut_off, TableLeaves(matrices), 1 - player, cfr_plus(2.0))
    solver.solve(iterations)
    return solver


def first_round(tree: Tree) -> Tree:
    """The tree up to the end of its first round; nodes keep their order and their actions."""
    builder = TreeBuilder()
    number: dict[int, int] = {}
    for node in np.flatnonzero(tree.round == 0).tolist():
        parent = number.get(int(tree.parent[node]), -1)
        number[node] = builder.add(
            int(tree.kind[node]), 0, parent, int(tree.action[node]), int(tree.player[node]), tree.amount[node]
        )
    return builder.finish()


def merge_tables(game: Game, ours: F32, theirs: F32, player: int) -> F32:
    """`player`'s strategies from one table, the opponent's from the other."""
    merged = ours.copy()
    for start, size in _rows_of(game, 1 - player):
        merged[start : start + size] = theirs[start : start + size]
    return merged


def with_first_round(table: F32, solution: Solution, player: int) -> F32:
    """A table of the whole game with `player`'s strategies of the first round replaced."""
    result = table.copy()
    size = solution.game.table_size
    part = merge_tables(solution.game, table[:size], solution.average, 1 - player)
    result[:size] = part
    return result


def _rows_of(game: Game, player: int) -> list[tuple[int, int]]:
    """Start and size of the rows of a player's nodes in a table, on every board."""
    tree = game.tree
    return [
        (
            int(game.boards.table[board]) + int(tree.action_row[node]) * game.stride,
            len(tree.children_of(node)) * game.stride,
        )
        for node in np.flatnonzero((tree.kind == DECISION) & (tree.player == player)).tolist()
        for board in game.boards_of_round(int(tree.round[node]))
    ]


def _leaves(tree: Tree) -> list[int]:
    return np.flatnonzero((tree.kind == CHANCE) & (tree.round == 0)).tolist()


def _leaf_matrix(solution: Solution, leaf: int, board: int, player: int) -> F64:
    """float64[H, H]: what `player` wins with hand i against j after a leaf on a board; 0 if they collide."""
    game = solution.game
    below = cut(solution, int(game.tree.children_of(leaf)[0]), board)
    engine = Engine(below.game)
    live = _live(game, board)
    matrix = np.zeros((game.num_hands, game.num_hands))
    for j in np.flatnonzero(live):
        reach = np.zeros(game.num_hands, dtype=np.float32)
        reach[j] = 1
        column = engine.root_values(below.average, player, EVALUATE, reach)
        assert column is not None, "this evaluation is never stopped"
        matrix[:, j] = np.where(live, column, 0)
    return matrix


def _live(game: Game, board: int) -> npt.NDArray[np.bool_]:
    return np.asarray(game.boards.position[board, : game.num_hands] != game.stride)


def _weaken(values: F64, reach: F64, game: Game) -> None:
    """Lower the opponent's values with each strategy to those of the first, the blueprint; in place.

    values  float64[K, B, H, H]
    """
    cards = game.hands.tolist()
    disjoint = np.array([[len({*a, *b}) == len(a) + len(b) for b in cards] for a in cards])
    live = np.stack([_live(game, board) for board in game.boards_of_round(1)])
    possible = disjoint & live[:, :, None] & live[:, None, :]
    weight = reach @ disjoint
    gets = -np.einsum("kbij,i->kj", values, reach) * game.chance[1]
    excess = np.maximum(gets - gets[0], 0)
    for k in range(1, len(values)):
        shift = np.divide(excess[k], weight, out=np.zeros_like(weight), where=weight > 0)
        values[k] += np.where(possible, shift, 0)


def _best_response(game: Game, table: F32, responder: int) -> F32:
    """A best response as a table: regret minimisation against a fixed opponent."""
    solver = Solver(game, cfr_plus(2.0))
    tree = game.tree
    for node in np.flatnonzero((tree.kind == DECISION) & (tree.player == 1 - responder)).tolist():
        solver.frozen[node] = 1
    for start, size in _rows_of(game, 1 - responder):
        for fixed in (solver.regret, solver.average):
            fixed[start : start + size] = table[start : start + size]
    solver.run(_RESPONSE_ITERATIONS)
    return solver.average
