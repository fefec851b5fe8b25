"""Hands of local best response: one at random, or the exact value over all of them.

A random hand has the expected value of a hand played out between LBR and the player, with less luck in it.
What LBR cannot see is averaged instead of drawn:

1. The player holds no cards but his range. When he might fold, the chips of that are counted by its
   probability, and the hand goes on with the part of the range that does not fold.
2. His other actions are drawn with the probability the range gives them.
3. The next public cards are drawn as if his hand were drawn from his range first: so cards that his range
   holds come less often, as they should.
4. At showdown LBR gets its share against the whole range, over all boards that may come.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from random import Random

import numpy as np

from arena.lbr import CardRules, LbrSettings, LocalResponse
from arena.players import StrategySource
from arena.range_sums import action_sums, call_sums, draw, follow
from game.actions import FOLD
from game.betting import NOBODY, BettingState, start
from game.cards import Card, Cards
from game.definition import NUM_PLAYERS, GameDefinition
from solver.layout import F64

Orders = Sequence[Sequence[Card]]
"""For each round but the first, cards in the order in which they come; those that cannot are passed over."""


def deal_orders(definition: GameDefinition, rng: Random) -> Orders:
    """Random orders, as far as they can be needed. A new one for each round: a card passed over may come."""
    deck = sorted(definition.deck)
    longest = sum(definition.board_cards) + NUM_PLAYERS * definition.num_hole_cards
    return [rng.sample(deck, min(longest, len(deck))) for _ in definition.board_cards[1:]]


def play_hand(response: LocalResponse, position: int, hand: int, orders: Orders, rng: Random) -> float:
    """Expected chips that LBR wins with a hand in a position."""
    rules = response.rules
    definition = rules.definition
    betting = start(definition)
    board: Cards = ()
    weights = _uniform(rules, hand)
    part, value = 1.0, 0.0  # how much of the hand is still being played, and what the rest was worth
    while not betting.is_finished:
        if betting.actor == position:
            betting = betting.apply(response.action(hand, betting, board, weights))
        else:
            strategy = response.strategy(betting, board)
            sums = np.empty(len(strategy.actions))
            action_sums(weights, strategy.probabilities, sums)
            if FOLD in strategy.actions:
                fold = strategy.actions.index(FOLD)
                folded = float(sums[fold] / sums.sum())
                value += part * folded * betting.spent[1 - position]
                part *= 1.0 - folded
                sums[fold] = 0.0
                if not sums.any():
                    return value
            chosen = draw(sums, rng.random())
            follow(weights, strategy.probabilities[chosen], weights)
            betting = betting.apply(strategy.actions[chosen])
        if betting.folder != NOBODY:
            return value - part * betting.spent[position]
        size = rules.least_board if betting.is_finished else definition.board_size(betting.round_index)
        while len(board) < size:
            board = _deal(rules, hand, board, weights, orders, rng)
    total, won = call_sums(weights, response.equities(hand, board))
    return value + part * min(betting.spent) * (2 * won / total - 1)


def exact_value(rules: CardRules, settings: LbrSettings, player: StrategySource, position: int) -> float:
    """Expected chips per hand that LBR wins in a position, over all cards. For small games."""
    response = LocalResponse(rules, settings, player)
    value = pairs = 0.0
    for hand in range(rules.num_hands):
        weights = _uniform(rules, hand)
        possible = float((weights > 0).sum())
        value += possible * _Exact(response, position, hand).value(start(rules.definition), (), weights)
        pairs += possible
    return value / pairs


class _Exact:
    """The recursion for one hand of LBR. Values are per unit of the range's weight."""

    def __init__(self, response: LocalResponse, position: int, hand: int) -> None:
        self._response, self._position, self._hand = response, position, hand
        self._own = response.rules.cards(hand)

    def value(self, betting: BettingState, board: Cards, weights: F64) -> float:
        """Chips times the weight that comes here."""
        position, total = self._position, float(weights.sum())
        if total <= 0:
            return 0.0
        if betting.folder != NOBODY:
            lost = betting.spent[betting.folder]
            return total * (-lost if betting.folder == position else lost)
        if betting.is_finished:
            equities = self._response.equities(self._hand, board)
            _, won = call_sums(weights, equities)
            return min(betting.spent) * (2 * won - total)
        missing = self._response.rules.definition.board_size(betting.round_index) - len(board)
        if missing:
            return self._chance(betting, board, weights, missing)
        if betting.actor == position:
            # LBR sees a range that adds up to 1, as in play: rounding must not change what it does.
            action = self._response.action(self._hand, betting, board, weights / total)
            return self.value(betting.apply(action), board, weights)
        strategy = self._response.strategy(betting, board)
        return sum(
            self.value(betting.apply(action), board, weights * row)
            for action, row in zip(strategy.actions, strategy.probabilities, strict=True)
        )

    def _chance(self, betting: BettingState, board: Cards, weights: F64, missing: int) -> float:
        rules = self._response.rules
        left = sorted(rules.definition.deck.difference(board, self._own))
        chances = comb(len(left) - len(self._own), missing)
        return sum(
            self.value(betting, (*board, *cards), weights * rules.unblocked(cards)) / chances
            for cards in combinations(left, missing)
        )


def _uniform(rules: CardRules, hand: int) -> F64:
    weights = rules.unblocked(rules.cards(hand)).astype(np.float64)
    weights /= weights.sum()
    return weights


def _deal(rules: CardRules, hand: int, board: Cards, weights: F64, orders: Orders, rng: Random) -> Cards:
    """The board of the next round; takes hands that hold its cards out of the range."""
    sizes = [rules.definition.board_size(r) for r in range(rules.definition.num_rounds)]
    following = next(r for r, size in enumerate(sizes) if size > len(board))
    gone = {*board, *rules.cards(hand), *rules.cards(draw(weights, rng.random()))}
    cards = tuple(
        [card for card in orders[following - 1] if card not in gone][: sizes[following] - len(board)]
    )
    follow(weights, rules.unblocked(cards), weights)
    return (*board, *cards)
