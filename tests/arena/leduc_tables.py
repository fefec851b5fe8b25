"""Open players for Leduc that play strategies from the solver's tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from game.actions import CALL, FOLD, LIMIT_RAISE, Action, ActionKind
from game.betting import BettingState
from game.cards import Cards
from game.definition import LEDUC
from numeric.arrays import F32
from solver.decisions.range_strategy import RangeStrategy
from solver.games.game import Game
from solver.games.tree import CALL_ACTION, CHANCE, FOLD_ACTION, Tree

_DECK = sorted(LEDUC.deck)


@dataclass(frozen=True)
class TablePlayer:
    """Plays the strategies in a table float32[board][action row][hand] of a game, not normalised."""

    game: Game
    table: F32

    def act(self, state: object, position: int) -> Action:
        raise NotImplementedError

    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        game, tree = self.game, self.game.tree
        node = node_of(tree, betting)
        actions = [_action(number) for number in tree.actions_of(node)]
        row = tree.action_row[node]
        where = game.board_cards.index(tuple(_DECK.index(card) for card in board))
        start = game.boards.table[where] + row * game.stride
        rows = self.table[start : start + len(actions) * game.stride].reshape(-1, game.stride)
        rows = np.maximum(rows[:, : game.num_hands], 0)
        total = rows.sum(axis=0)
        shares = np.where(total > 0, rows / np.maximum(total, 1e-30), 1 / len(actions))
        for card in board:
            shares[:, _DECK.index(card)] = 0
        return RangeStrategy(tuple(actions), shares.astype(np.float32))


def node_of(tree: Tree, betting: BettingState) -> int:
    """The decision node after a betting."""
    node = 0
    for actions in betting.actions:
        if tree.kind[node] == CHANCE:
            node = int(tree.children_of(node)[0])
        for action in actions:
            found = [_action(number).kind for number in tree.actions_of(node)].index(action.kind)
            node = int(tree.children_of(node)[found])
    return int(tree.children_of(node)[0]) if tree.kind[node] == CHANCE else node


def _action(number: int) -> Action:
    return FOLD if number == FOLD_ACTION else CALL if number == CALL_ACTION else LIMIT_RAISE


assert LIMIT_RAISE.kind is ActionKind.RAISE
