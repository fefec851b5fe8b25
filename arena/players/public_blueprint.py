"""A blueprint's strategy as an opponent may know it: averaged over the random translation of bets.

A bet between two sizes of the menu is mapped to one of them at random, once for the whole hand. An opponent
does not know this choice, so it faces the mixture: every way the history may have been translated, weighted
by its probability and by the reach of the player's own actions with each hand. The mixture is again a
behavioural strategy with the same outcome probabilities (Kuhn, 1953). Most histories need no random choice:
they have a single way and no extra cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arena.players.play_style import StyleNumbers, fill_probabilities
from game.actions import CALL, Action
from game.betting import BettingState, start
from game.cards import Cards
from game.hands import NUM_HANDS, unblocked
from numeric.arrays import F32, F64, I32, U16
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import OFF_TREE, BlueprintWalk
from solver.decisions.range_strategy import RangeStrategy, merge_actions

_KEPT_PREFLOP = 10_000


@dataclass(frozen=True, slots=True)
class _Way:
    """One way a history may have been translated."""

    node: int
    chance: float
    steps: tuple[tuple[int, BettingState, Action], ...] = ()
    """Node, betting and action of each decision on it, for both players."""


class PublicBlueprint:
    """One blueprint with one style. Caches strategies of the last board and before the flop."""

    def __init__(
        self,
        blueprint: Blueprint,
        style: StyleNumbers,
        walk: BlueprintWalk,
        buckets: Callable[[Cards], U16],
    ) -> None:
        self._blueprint, self._style, self._walk, self._find_buckets = blueprint, style, walk, buckets
        self._opening = start(blueprint.definition)
        self._ways: dict[str, tuple[_Way, ...]] = {"": (_Way(0, 1.0),)}
        self._boards: dict[Cards, U16] = {}
        self._rows: dict[tuple[int, Cards], F32] = {}

    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        """The strategy of the player to act, for every hand."""
        if betting.definition != self._blueprint.definition:
            raise ValueError("the blueprint was trained for another game: use one of the game that is played")
        ways = self._find_ways(betting)
        if len(ways) == 1:
            return self._at_node(ways[0].node, betting, board)
        parts = [
            (self._at_node(way.node, betting, board), self._weights(way, betting, board)) for way in ways
        ]
        total = np.sum([weights for _, weights in parts], axis=0)
        # Hands with zero reach in every way: weight the ways by their chances alone.
        reached = total > 0
        actions = tuple(dict.fromkeys(action for part, _ in parts for action in part.actions))
        mixed = np.zeros((len(actions), NUM_HANDS))
        for way, (part, weights) in zip(ways, parts, strict=True):
            share = np.where(reached, weights / np.where(reached, total, 1.0), way.chance)
            for action, row in zip(part.actions, part.probabilities, strict=True):
                mixed[actions.index(action)] += share * row
        return RangeStrategy(actions, mixed.astype(np.float32))

    def _find_ways(self, betting: BettingState) -> tuple[_Way, ...]:
        ways = self._ways.get(betting.text)
        if ways is not None:
            return ways
        state, ways = self._opening, self._ways[""]
        for action in (action for actions in betting.actions for action in actions):
            following = state.apply(action)
            known = self._ways.get(following.text)
            if known is None:
                known = tuple(
                    _Way(node, way.chance * chance, (*way.steps, (way.node, state, action)))
                    for way in ways
                    for node, chance in self._walk.outcomes(way.node, state, action)
                )
                self._remember(following, known)
            state, ways = following, known
        return ways

    def _remember(self, betting: BettingState, ways: tuple[_Way, ...]) -> None:
        if len(self._ways) > _KEPT_PREFLOP:
            self._ways = {"": self._ways[""]}
        self._ways[betting.text] = ways

    def _weights(self, way: _Way, betting: BettingState, board: Cards) -> F64:
        """float64[1326]: the chance of a way times the reach of the acting player's own actions on it."""
        weights = np.full(NUM_HANDS, way.chance)
        for node, state, action in way.steps:
            if state.actor == betting.actor:
                seen = board[: state.definition.board_size(state.round_index)]
                weights *= self._at_node(node, state, seen).probability(action)
        return weights

    def _at_node(self, node: int, betting: BettingState, board: Cards) -> RangeStrategy:
        """The strategy at a node; sizes that map to the same real bet are merged."""
        if node == OFF_TREE:
            return RangeStrategy((CALL,), unblocked(board).astype(np.float32)[None, :])
        children = self._blueprint.tree.children_of(node)
        actions = [self._walk.real_action(node, int(child), betting) for child in children]
        return merge_actions(actions, self._node_rows(node, children, board))

    def _node_rows(self, node: int, children: I32, board: Cards) -> F32:
        key = node, board
        rows = self._rows.get(key)
        if rows is None:
            if board and board not in self._boards:
                # Keep earlier rounds of this board, which may be queried again, and drop other boards.
                self._boards = {
                    seen: found for seen, found in self._boards.items() if seen == board[: len(seen)]
                }
                self._rows = {
                    (n, seen): found for (n, seen), found in self._rows.items() if seen == board[: len(seen)]
                }
            rows = np.zeros((len(children), NUM_HANDS), dtype=np.float32)
            codes = np.ascontiguousarray(self._blueprint.tree.action[children])
            fill_probabilities(self._style, codes, self._blueprint.rows(node), self._buckets(board), rows)
            self._rows[key] = rows
        return rows

    def _buckets(self, board: Cards) -> U16:
        found = self._boards.get(board)
        if found is None:
            found = self._boards[board] = self._find_buckets(board)
        return found
