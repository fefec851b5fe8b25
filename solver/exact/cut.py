"""Cuts out the part of a solution below one node on one board.

Hands keep their numbers. Nodes are numbered depth-first and rows follow the nodes, so a subtree is one
contiguous piece of every array and of every board's rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from numeric.arrays import I32, I64, U16
from solver.exact.solution import Solution
from solver.games.game import Game
from solver.games.layout import Boards, aligned
from solver.games.tree import DECISION, NO_ACTION, Tree


def cut(solution: Solution, node: int, board: int = 0) -> Solution:
    """The subgame from a decision node on a board, with both ranges as they arrive there.

    At the root it shares memory with `solution`, elsewhere it copies the rows it needs. Values of the subgame
    are conditional on its board: the probability of earlier cards is left out.
    """
    game = solution.game
    if node == 0:
        return solution
    if game.tree.kind[node] != DECISION:
        raise ValueError(f"node {node} is not a decision node")
    tree, first_rows = _cut_tree(game.tree, node)
    chosen = _boards_below(game, board)
    top = int(game.tree.round[node])
    rounds = np.repeat(np.arange(tree.num_rounds), [len(part) for part in chosen])
    picked = np.concatenate(chosen)
    sizes = np.array(tree.round_rows, dtype=np.int64)[rounds] * game.stride
    table = np.concatenate([[0], np.cumsum(sizes)])
    average = aligned(int(table[-1]))
    for b, r, start, size in zip(picked, rounds, table, sizes, strict=False):
        source = int(game.boards.table[b]) + first_rows[r] * game.stride
        average[start : start + size] = solution.average[source : source + size]
    counts = np.diff(game.boards.first_child)[picked]
    first_image, image = _images(game.boards, picked)
    boards = Boards(
        table=table[:-1],
        first_child=np.concatenate([[1], 1 + np.cumsum(counts)]).astype(np.int32),
        position=game.boards.position[picked],
        pair=game.boards.pair[picked],
        ends=game.boards.ends[picked],
        live=game.boards.live[picked],
        groups=game.boards.groups[picked],
        first_image=first_image,
        image=image,
    )
    subgame = replace(
        game,
        tree=tree,
        ranges=np.stack([solution.reach(p, node, board) for p in range(2)]),
        board_cards=tuple([game.board_cards[b] for b in picked]),
        boards=boards,
        chance=tuple([chance / game.chance[top] for chance in game.chance[top:]]),
        table_size=len(average),
    )
    return Solution(subgame, average, solution.iterations)


def with_tree(game: Game, tree: Tree) -> Game:
    """The same hands and boards with another tree of as many rounds."""
    counts = [len(game.boards_of_round(r)) for r in range(tree.num_rounds)]
    sizes = np.repeat(np.array(tree.round_rows, dtype=np.int64), counts) * game.stride
    table = np.concatenate([[0], np.cumsum(sizes)])
    return replace(game, tree=tree, boards=game.boards._replace(table=table[:-1]), table_size=int(table[-1]))


def cut_tree(tree: Tree, node: int) -> Tree:
    """The subtree below a decision node as a tree of its own."""
    return _cut_tree(tree, node)[0]


def thin_tree(tree: Tree, kept: npt.NDArray[np.bool_]) -> Tree:
    """A tree without some of its nodes.

    kept  bool[N]: the root, and other nodes only if their parents are kept
    """
    number = np.cumsum(kept) - 1
    kind, rounds, parent = tree.kind[kept], tree.round[kept], tree.parent[kept].copy()
    parent[1:] = number[parent[1:]]
    num_children = np.bincount(parent[1:], minlength=len(kind))
    rows, action_row = [], np.full(len(kind), -1, dtype=np.int32)
    for r in range(tree.num_rounds):
        inside = (rounds == r) & (kind == DECISION)
        ends = np.cumsum(num_children[inside])
        action_row[inside] = ends - num_children[inside]
        rows.append(int(ends[-1]) if len(ends) else 0)
    return Tree(
        kind=kind,
        player=tree.player[kept],
        round=rounds,
        parent=parent,
        action=tree.action[kept],
        amount=tree.amount[kept],
        first_child=np.concatenate([[0], np.cumsum(num_children)]).astype(np.int32),
        children=(1 + np.argsort(parent[1:], kind="stable")).astype(np.int32),
        action_row=action_row,
        round_rows=tuple(rows),
    )


def _cut_tree(tree: Tree, node: int) -> tuple[Tree, list[int]]:
    """The subtree, and the first row of each of its rounds in the old tree."""
    outside = np.flatnonzero(tree.parent[node + 1 :] < node)
    end = node + 1 + int(outside[0]) if len(outside) else tree.num_nodes
    span = slice(node, end)
    top = int(tree.round[node])
    rounds = tree.round[span] - top
    parent, action, action_row = (
        tree.parent[span] - node,
        tree.action[span].copy(),
        tree.action_row[span].copy(),
    )
    parent[0], action[0] = -1, NO_ACTION
    first, last = int(tree.first_child[node]), int(tree.first_child[end])
    first_rows, num_rows = [], []
    for r in range(tree.num_rounds - top):
        inside = (rounds == r) & (tree.kind[span] == DECISION)
        low = int(action_row[inside].min()) if inside.any() else 0
        action_row[inside] -= low
        first_rows.append(low)
        num_rows.append(int(np.diff(tree.first_child)[span][inside].sum()))
    subtree = Tree(
        kind=tree.kind[span].copy(),
        player=tree.player[span].copy(),
        round=rounds,
        parent=parent,
        action=action,
        amount=tree.amount[span].copy(),
        first_child=tree.first_child[node : end + 1] - first,
        children=tree.children[first:last] - node,
        action_row=action_row,
        round_rows=tuple(num_rows),
    )
    return subtree, first_rows


def _images(boards: Boards, picked: I64) -> tuple[I32, U16]:
    """Images of some boards; a subgame's root has no images."""
    counts = np.diff(boards.first_image)[picked]
    counts[0] = 0
    rows = [np.arange(boards.first_image[b], boards.first_image[b + 1]) for b in picked[1:]]
    image = boards.image[np.concatenate([np.zeros(0, dtype=np.int64), *rows])]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), image


def _boards_below(game: Game, board: int) -> list[I64]:
    """The board and, round by round, the boards that follow from it."""
    first_child = game.boards.first_child
    levels = [np.array([board])]
    while first_child[levels[-1][0]] < first_child[levels[-1][-1] + 1]:
        levels.append(np.arange(first_child[levels[-1][0]], first_child[levels[-1][-1] + 1]))
    return levels
