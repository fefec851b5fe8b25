"""Values of strategies by hand: counterfactual values, expected chips, equities.

Conventions:
1. A counterfactual value (`cfv`) is in chips, net of half the root's pot, times the weight of the opponent's
   hands that reach the node and share no card with the hand.
2. An expected value (`ev`) is the cfv divided by that weight. With `paid` it counts from the node on: folding
   is worth 0 and both players' values add up to the pot at the node.
3. Equity is the share of the pot at a showdown without further betting, over all run-outs.

All are exact, for the average strategies. A hand that can meet no opponent's hand has an ev and equity of
NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from numeric.arrays import F32, F64
from solver.exact.cut import cut, with_tree
from solver.exact.engine import EVALUATE, Engine
from solver.exact.solution import Solution
from solver.games.game import Game
from solver.games.tree import CALL_ACTION, CHANCE, DECISION, NO_ACTION, SHOWDOWN, Tree, TreeBuilder

_DUST = 1e-6


@dataclass(frozen=True, slots=True)
class RoundValues:
    """One player's counterfactual values at all decision nodes of the root's round, by node."""

    player: int
    nodes: Mapping[int, F32]
    """float32[H] for every decision node."""
    actions: Mapping[int, F32]
    """float32[A, H] for every decision node of the player: the value of each action."""


@dataclass(frozen=True, slots=True)
class NodeValues:
    """Values of a decision node on one board, for both players. Arrays are indexed by the game's hands."""

    node: int
    board: int
    actor: int
    strategy: F32
    """float32[A, H] of the player to act."""
    reach: F32
    """float32[2, H]."""
    matched: F64
    """float64[2, H]: weight of the opponent's hands at the node that share no card with the hand."""
    cfv: F32
    """float32[2, H]."""
    ev: F64
    """float64[2, H]."""
    equity: F64
    """float64[2, H]: 0..1."""
    action_ev: F64
    """float64[A, H] of the player to act."""

    def mean(self, player: int, values: F64) -> float:
        """Mean of float64[H] over a player's reach. NaN if the node is never reached."""
        weight = self.reach[player] * self.matched[player]
        total = float(weight.sum())
        return float(np.where(weight > 0, values, 0) @ weight) / total if total > 0 else float("nan")

    def frequencies(self) -> F64:
        """float64[A]: how often the player to act takes each action, averaged over the range."""
        return np.array([self.mean(self.actor, row.astype(np.float64)) for row in self.strategy])


def round_values(solution: Solution, player: int, engine: Engine | None = None) -> RoundValues:
    """A player's values at every decision node of the root's round, by one pass over the game.

    engine  engine of the same game, to save its set-up
    """
    game, tree = solution.game, solution.game.tree
    engine = Engine(game) if engine is None else engine
    root = engine.root_values(solution.average, player, EVALUATE)
    if root is None:
        raise RuntimeError("the evaluation was stopped")
    actions = engine.action_values(player)
    nodes = {}
    for node in np.flatnonzero((tree.kind == DECISION) & (tree.round == 0)):
        parent = int(tree.parent[node])
        if node == 0:
            nodes[0] = root
        elif int(node) in actions:
            nodes[int(node)] = (solution.strategy(int(node)) * actions[int(node)]).sum(axis=0)
        else:
            place = int(np.flatnonzero(tree.children_of(parent) == node)[0])
            nodes[int(node)] = actions[parent][place]
    return RoundValues(player, nodes, actions)


def node_values(
    solution: Solution,
    node: int,
    board: int = 0,
    paid: tuple[float, float] = (0.0, 0.0),
    threads: int = 1,
) -> NodeValues:
    """All values of one decision node on one board. Costs two passes over the game below it.

    paid  what each player has in the pot at the node, including half of the dead money: values then count
          from the node on. Without it they are net of half the root's pot.
    """
    below = cut(solution, node, board)
    game, actor = below.game, int(below.game.tree.player[0])
    engine = Engine(game, threads)
    values = [round_values(below, player, engine) for player in range(2)]
    matched = np.stack([game.unblocked_weight(1 - player) for player in range(2)])
    matched[:, game.boards.position[0, : game.num_hands] == game.stride] = 0
    # Where nearly all of the opponent's hands are blocked, float32 values are rounding errors.
    matched[matched < _DUST * game.ranges.sum(axis=1)[::-1, None]] = 0
    cfv = np.stack([values[player].nodes[0] for player in range(2)])
    return NodeValues(
        node,
        board,
        actor,
        below.strategy(0),
        game.ranges,
        matched,
        cfv,
        np.stack([_per_match(cfv[p], matched[p]) + paid[p] for p in range(2)]),
        equities(game, matched),
        _per_match(values[actor].actions[0], matched[actor]) + paid[actor],
    )


def equities(game: Game, matched: F64) -> F64:
    """float64[2, H]: each hand's share of the pot against the opponent's range without further betting."""
    showdown = with_tree(game, _check_down(game.tree.num_rounds))
    engine, table = Engine(showdown), np.zeros(showdown.table_size, dtype=np.float32)
    found = []
    for player in range(2):
        values = engine.root_values(table, player, EVALUATE)
        assert values is not None, "this engine is never stopped"
        found.append(0.5 + 0.5 * _per_match(values, matched[player]))
    return np.clip(np.stack(found), 0.0, 1.0)


def _per_match(values: F32, matched: F64) -> F64:
    possible = matched > 0
    shares = values.astype(np.float64) / np.where(possible, matched, 1.0)
    return np.where(possible, shares, np.nan)


def _check_down(num_rounds: int) -> Tree:
    """A tree of one check, all cards, and a showdown for one chip."""
    builder = TreeBuilder()
    node, action = builder.add(DECISION, 0, -1, NO_ACTION, player=0), CALL_ACTION
    for r in range(num_rounds - 1):
        node, action = builder.add(CHANCE, r, node, action), NO_ACTION
    builder.add(SHOWDOWN, num_rounds - 1, node, action, amount=1.0)
    return builder.finish()
