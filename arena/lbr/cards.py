"""`CardRules` of local best response for hold'em and for games with one hole card."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from arena.lbr.range_showdown import Runouts, disjoint_sums, showdown_sums, sort_runouts, table_sums
from game.cards import Cards
from game.definition import GameDefinition
from game.hands import NUM_HANDS, unblocked
from game.showdown import showdown_rank
from numeric.arrays import F32, F64
from solver.equity.all_in import preflop_wins

_KEPT_BOARDS = 8
_KEPT_SUMS = 64
_FLOP, _TURN = 3, 4


class HoldemCards:
    """Hold'em with its 1326 hands. Caches sums by the weights array: never modify an array in place."""

    def __init__(self, definition: GameDefinition) -> None:
        shape = definition.num_hole_cards, definition.board_cards, len(definition.deck)
        if shape != (2, (0, 3, 1, 1), 52):
            raise ValueError(
                "local best response plays hold'em with two hole cards and all four rounds only:"
                " choose such a game"
            )
        self.definition = definition
        self.num_hands = NUM_HANDS
        self._runouts: dict[Cards, Runouts] = {}
        self._sums: dict[tuple[int, Cards | None], tuple[F64, F64]] = {}

    def unblocked(self, cards: Cards) -> F64:
        """1 for hands that hold none of the cards, 0 for the others."""
        return unblocked(cards).astype(np.float64)

    def disjoint_sums(self, weights: F64) -> F64:
        """For each hand, the total weight of the hands that share no card with it."""
        found = self._find(weights, None)
        if found is None:
            found = self._remember(weights, None)
            disjoint_sums(weights, found)
        return found

    def showdown_sums(self, weights: F64, board: Cards) -> F64:
        """As `disjoint_sums`, each weight multiplied by the equity against it: exact, over all run-outs."""
        found = self._find(weights, board)
        if found is None:
            found = self._remember(weights, board)
            if board:
                showdown_sums(self._sorted(board), weights, found)
            else:
                table_sums(preflop_wins(), weights, found)  # wins less losses
                found += self.disjoint_sums(weights)
                found *= 0.5
        return found

    def _find(self, weights: F64, board: Cards | None) -> F64 | None:
        kept = self._sums.get((id(weights), board))
        # The cache also holds the array itself, so that no other array can get the same id.
        return None if kept is None else kept[1]

    def _remember(self, weights: F64, board: Cards | None) -> F64:
        """Allocate cached sums for these weights, dropping the oldest entry if the cache is full."""
        if len(self._sums) >= _KEPT_SUMS:
            self._sums.pop(next(iter(self._sums)))
        room = np.empty(NUM_HANDS)
        self._sums[id(weights), board] = weights, room
        return room

    def _sorted(self, board: Cards) -> Runouts:
        runouts = self._runouts.get(board)
        if runouts is None:
            if len(self._runouts) >= _KEPT_BOARDS:
                self._runouts.pop(next(iter(self._runouts)))
            runouts = self._runouts[board] = sort_runouts(board)
        return runouts

    def showdown_size(self, size: int) -> int:
        """After all-in on the flop, the turn card is sampled too, which takes a twentieth of the time."""
        return _TURN if size == _FLOP else size


class OneCardHands:
    """Games such as Kuhn and Leduc: hand h is the h-th lowest card of the deck."""

    def __init__(self, definition: GameDefinition) -> None:
        if definition.num_hole_cards != 1:
            raise ValueError(f"the game has {definition.num_hole_cards} hole cards, expected one")
        self.definition = definition
        self._deck: Cards = tuple(sorted(definition.deck))
        self.num_hands = len(self._deck)
        self._equities: dict[Cards, F32] = {}

    def unblocked(self, cards: Cards) -> F64:
        """1 for hands that hold none of the cards, 0 for the others."""
        return np.array([float(card not in cards) for card in self._deck])

    def disjoint_sums(self, weights: F64) -> F64:
        """For each card, the total weight of the other cards."""
        return np.asarray(weights.sum() - weights)

    def showdown_sums(self, weights: F64, board: Cards) -> F64:
        """As `disjoint_sums`, each weight multiplied by the equity against it."""
        equities = self._equities.get(board)
        if equities is None:
            missing = sum(self.definition.board_cards) - len(board)
            rows = [[self._equity(own, other, board, missing) for other in self._deck] for own in self._deck]
            equities = self._equities[board] = np.array(rows, dtype=np.float32)
        sums = np.empty(self.num_hands)
        table_sums(equities, weights, sums)
        return sums

    def showdown_size(self, size: int) -> int:
        """No sampling: run-outs of small games are enumerated."""
        return size

    def _equity(self, own: int, other: int, board: Cards, missing: int) -> float:
        if own == other or own in board or other in board:
            return 0.0
        left = [card for card in self._deck if card not in (own, other, *board)]
        shares = []
        for cards in combinations(left, missing):
            ours, theirs = showdown_rank((own, *board, *cards)), showdown_rank((other, *board, *cards))
            shares.append(0.5 if ours == theirs else float(ours > theirs))
        return sum(shares) / len(shares)
