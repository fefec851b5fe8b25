"""Local best response on games with one hole card, deal by deal: dictionaries, float64, no vectors.

For every deal (own card, the player's card, board) the hand is played out against all the player's actions,
weighted by how likely they are with the card he really has. What LBR does is worked out from the public
history each time, by going through it again for every card the player might hold.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from game.actions import CALL, FOLD, LIMIT_RAISE, Action
from game.betting import NOBODY, BettingState, start
from game.definition import GameDefinition

Chances = Callable[[BettingState, tuple[int, ...], int], dict[Action, float]]
"""Betting, board, the player's card: how likely each action is."""


class ReferenceLbr:
    """Against one player; cards are those of the deck."""

    def __init__(self, definition: GameDefinition, chances: Chances, raises: bool, first_round: int) -> None:
        self._definition, self._chances, self._raises = definition, chances, raises
        self._first_round = first_round
        self._deck = sorted(definition.deck)
        self._num_board = sum(definition.board_cards)
        self._chosen: dict[tuple[str, tuple[int, ...], int], Action] = {}

    def value(self, position: int) -> float:
        """Chips per deal that LBR wins."""
        deals = list(permutations(self._deck, 2 + self._num_board))
        return sum(self._play(start(self._definition), position, d[0], d[1], d[2:]) for d in deals) / len(
            deals
        )

    def _play(
        self, state: BettingState, position: int, own: int, other: int, board: tuple[int, ...]
    ) -> float:
        if state.folder != NOBODY:
            return float(-state.spent[position] if state.folder == position else state.spent[1 - position])
        if state.is_finished:
            return state.spent[position] * (2 * self._share(own, other, board) - 1)
        seen = board[: self._definition.board_size(state.round_index)]
        if state.actor == position:
            return self._play(state.apply(self._choose(state, own, seen)), position, own, other, board)
        return sum(
            chance * self._play(state.apply(action), position, own, other, board)
            for action, chance in self._chances(state, seen, other).items()
            if chance > 0
        )

    def _choose(self, state: BettingState, own: int, seen: tuple[int, ...]) -> Action:
        if state.round_index < self._first_round:
            return CALL
        key = state.text, seen, own
        if key not in self._chosen:
            self._chosen[key] = self._best(state, own, seen)
        return self._chosen[key]

    def _best(self, state: BettingState, own: int, seen: tuple[int, ...]) -> Action:
        likely = {
            card: self._likelihood(state, seen, card) for card in self._deck if card not in (own, *seen)
        }
        total = sum(likely.values())
        pot, asked = sum(state.spent), state.to_call
        share = {card: self._mean_share(own, card, seen) for card in likely}
        wins = sum(likely[card] * share[card] for card in likely) / total
        worth = {CALL: wins * pot - (1 - wins) * asked}
        if state.can_fold():
            worth[FOLD] = 0.0
        if self._raises and state.raise_bounds() is not None:
            after = state.apply(LIMIT_RAISE)
            extra = after.max_spent - state.max_spent
            utility = 0.0
            for card, weight in likely.items():
                fold = self._chances(after, seen, card).get(FOLD, 0.0)
                shown = share[card] * (pot + extra) - (1 - share[card]) * (asked + extra)
                utility += weight / total * (fold * pot + (1 - fold) * shown)
            worth[LIMIT_RAISE] = utility
        return max(worth, key=lambda action: worth[action])

    def _likelihood(self, state: BettingState, seen: tuple[int, ...], card: int) -> float:
        """How likely the player's actions so far are with a card."""
        likelihood, replayed = 1.0, start(self._definition)
        for action in (action for actions in state.actions for action in actions):
            if replayed.actor != state.actor:
                board = seen[: self._definition.board_size(replayed.round_index)]
                likelihood *= self._chances(replayed, board, card)[action]
            replayed = replayed.apply(action)
        return likelihood

    def _mean_share(self, own: int, other: int, seen: tuple[int, ...]) -> float:
        left = [card for card in self._deck if card not in (own, other, *seen)]
        boards = [(*seen, *cards) for cards in permutations(left, self._num_board - len(seen))]
        return sum(self._share(own, other, board) for board in boards) / len(boards)

    def _share(self, own: int, other: int, board: tuple[int, ...]) -> float:
        strengths = [card // 4 + 100 * (card // 4 in [c // 4 for c in board]) for card in (own, other)]
        return 0.5 if strengths[0] == strengths[1] else float(strengths[0] > strengths[1])
