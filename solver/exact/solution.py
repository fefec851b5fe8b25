"""The result of a solve: average strategies of every node and board, and their reaches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numeric.arrays import F32
from solver.exact.kernels.regret import TINY
from solver.games.game import Game
from solver.games.tree import CHANCE, DECISION


@dataclass(frozen=True, slots=True)
class Solution:
    """Average strategies of a game. `average` may still be written by the solver it came from."""

    game: Game
    average: F32
    """float32[table size]: strategy sums."""
    iterations: int

    def strategy(self, node: int, board: int = 0) -> F32:
        """float32[A, H]: action probabilities at a decision node; uniform for infosets never visited."""
        sums = self._rows(node, board)
        total = sums.sum(axis=0)
        uniform = np.float32(1.0 / len(sums))
        shares = np.where(total > TINY, sums / np.where(total > TINY, total, 1), uniform)
        return np.asarray(shares, dtype=np.float32)

    def reach(self, player: int, node: int, board: int = 0) -> F32:
        """float32[H]: a player's reach of each hand at a node: range × own action probabilities.

        board  the board at `node`, which determines the earlier boards. Blocked hands get 0.
        """
        game, tree = self.game, self.game.tree
        reach: F32 = game.ranges[player].copy()
        reach[game.boards.position[board, : game.num_hands] == game.stride] = 0
        child = node
        while child > 0:
            parent = int(tree.parent[child])
            if tree.kind[parent] == CHANCE:
                if tree.round[parent] != tree.round[child]:
                    board = self._parent_board(board)
            elif tree.kind[parent] == DECISION and tree.player[parent] == player:
                action = int(np.flatnonzero(tree.children_of(parent) == child)[0])
                reach *= self.strategy(parent, board)[action]
            child = parent
        return reach

    def board_index(self, cards: tuple[int, ...]) -> int:
        """The board with these public cards (in the order dealt)."""
        return self.game.board_cards.index(cards)

    def _rows(self, node: int, board: int) -> F32:
        game = self.game
        if game.tree.kind[node] != DECISION:
            raise ValueError(f"node {node} is not a decision node")
        num_actions = len(game.tree.children_of(node))
        start = int(game.boards.table[board]) + int(game.tree.action_row[node]) * game.stride
        rows = self.average[start : start + num_actions * game.stride]
        return rows.reshape(num_actions, game.stride)[:, : game.num_hands]

    def _parent_board(self, board: int) -> int:
        return int(np.searchsorted(self.game.boards.first_child, board, side="right")) - 1
