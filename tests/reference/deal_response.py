"""Best response on a list of deals by plain recursion: a dictionary of what the responder remembers."""

from __future__ import annotations

from collections import defaultdict

from solver.games.tree import CHANCE, DECISION, FOLD, Tree

# Buckets of both players by round, then what player 0 wins of the stake if no more is bet after each round.
Deal = tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]]
Strategy = dict[tuple[int, int], list[float]]  # (node, bucket) -> probabilities


def best_response_values(
    tree: Tree, unit: float, strategy: Strategy, deals: list[Deal], player: int, chosen_on: int
) -> list[float]:
    """Value of the response on each deal; its choices look at the first `chosen_on` deals only."""

    def walk(node: int, reach: list[float], last_bet: int = 0) -> list[float]:
        while tree.kind[node] == CHANCE:
            node = int(tree.children_of(node)[0])
        amount = float(tree.amount[node]) / unit
        if tree.kind[node] == FOLD:
            sign = -1 if tree.player[node] == player else 1
            return [weight * sign * amount for weight in reach]
        if tree.kind[node] != DECISION:
            sign = 1 if player == 0 else -1
            return [w * sign * deal[2][last_bet] * amount for w, deal in zip(reach, deals, strict=True)]
        children, r = [int(child) for child in tree.children_of(node)], int(tree.round[node])
        if tree.player[node] != player:
            total = [0.0] * len(deals)
            for a, child in enumerate(children):
                below = [
                    w * strategy[node, deal[1 - player][r]][a] for w, deal in zip(reach, deals, strict=True)
                ]
                total = [t + v for t, v in zip(total, walk(child, below, r), strict=True)]
            return total
        values = [walk(child, reach, r) for child in children]
        totals: dict[tuple[int, ...], list[float]] = defaultdict(lambda: [0.0] * len(children))
        for d, deal in enumerate(deals[:chosen_on]):
            for a, value in enumerate(values):
                totals[deal[player][: r + 1]][a] += value[d]
        result = []
        for d, deal in enumerate(deals):
            known = totals[deal[player][: r + 1]]
            result.append(values[known.index(max(known))][d])
        return result

    return walk(0, [1.0] * len(deals))
