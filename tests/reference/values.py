"""Values of every node by recursion, equities by counting pairs of hands and run-outs."""

from __future__ import annotations

import numpy as np

from solver.games.tree import CHANCE, DECISION
from tests.reference.cfr import ReferenceSolver, Vector


def reference_node_values(reference: ReferenceSolver, player: int) -> dict[tuple[int, int], np.ndarray]:
    """(node, board) → counterfactual values of the averages, given that the board came."""
    found: dict[tuple[int, int], np.ndarray] = {}
    tree = reference.tree

    def walk(node: int, board: int, reach: Vector) -> Vector:
        kind, children = tree.kind[node], tree.children_of(node)
        if kind == CHANCE:
            values = reference.chance(node, board, lambda child, b: walk(child, b, reach))
        elif kind != DECISION:
            values = reference.terminal(node, board, player, reach)
        else:
            values = dict.fromkeys(reference.hands, 0.0)
            for a, child in enumerate(children):
                share = {h: reference.averaged(node, board, h)[a] for h in reference.hands}
                mine = tree.player[node] == player
                reached = reach if mine else {h: reach[h] * share[h] for h in reference.hands}
                below = walk(int(child), board, reached)
                for h in reference.hands:
                    values[h] += below[h] * (share[h] if mine else 1.0)
        found[node, board] = np.array([values[h] for h in reference.hands])
        return values

    walk(0, 0, {h: float(w) for h, w in enumerate(reference.game.ranges[1 - player])})
    return found


def reference_equities(
    reference: ReferenceSolver, player: int, board: int, opponent_reach: np.ndarray
) -> np.ndarray:
    """Each hand's share of the pot over all pairs of hands and run-outs; NaN for impossible hands."""
    del player  # the hands of both players are the same list
    first_child = reference.game.boards.first_child

    def finals(b: int) -> list[int]:
        below = range(first_child[b], first_child[b + 1])
        return [last for child in below for last in finals(child)] if len(below) else [b]

    shares = []
    for mine in reference.hands:
        won = total = 0.0
        for theirs in reference.hands:
            if reference.blocked(mine, board) or not reference.disjoint(mine, theirs):
                continue
            for last in finals(board):
                if reference.blocked(mine, last) or reference.blocked(theirs, last):
                    continue
                cards = reference.game.board_cards[last]
                ours, other = reference.strength(cards, mine), reference.strength(cards, theirs)
                won += opponent_reach[theirs] * (0.5 + 0.5 * ((ours > other) - (ours < other)))
                total += opponent_reach[theirs]
        shares.append(won / total if total > 0 else np.nan)
    return np.array(shares)
