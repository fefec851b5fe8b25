"""Hold'em as a public game for AIVAT, with guesses from a blueprint's self-play values.

1. On the river the guess is exact for players who follow the strategy profile it is made from: both beliefs
   are walked through the rest of the tree. It is nearly exact where one player is all-in: the answer by the
   profile, then a sample of run-outs. Elsewhere it comes from the table of `arena.aivat.node_values`, by the
   buckets of both players. A careful game also walks the beliefs to the end of the round after every action
   on flop and turn, and then takes the mean over the next card: from tables, or, on the turn of a big pot,
   from river walks.
2. Bets that are not in the tree are mapped to the nearest size, unless the blueprint's own translation can be
   queried (`arena.aivat.translation`), and values are scaled by the real pot. Where the tree has no such node
   at all, hands are assumed to be checked down: this adds variance, but no bias.
3. A hand that is all-in before the river ends there, with the exact mean over all run-outs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from math import log
from typing import Protocol

import numpy as np

from abstraction.isomorphism import HAND_UNDER, RELABELLINGS, board_multiplicities, canonical_boards
from abstraction.tables import BucketTables, board_buckets
from arena.aivat.aivat import Beliefs, Choice, Deal, PlayedHand
from arena.aivat.node_values import NodeValues
from game.actions import Action, ActionKind
from game.betting import NOBODY, BettingState, start
from game.cards import NUM_CARDS, NUM_SUITS, Cards
from game.definition import GameDefinition
from game.evaluator import NUM_LIVE_HANDS
from game.hands import HAND_CLASS, hand_index, unblocked
from game.state import HandState
from numeric.arrays import F64, I64, U8
from solver.blueprint.abstract_game import TrainingGame
from solver.decisions.range_strategy import RangeStrategy
from solver.equity.all_in import mean_wins
from solver.equity.beliefs import PlaceValues, guess_on_board, mean_over_cards, mean_over_flops, pair_mass
from solver.equity.river import (
    Profile,
    RiverWalk,
    board_wins,
    fill_river_buckets,
    fill_river_order,
    mean_over_rivers,
    new_river,
    sampled_wins,
    walk_river,
)
from solver.games.tree import CALL_ACTION, FOLD_ACTION

NOWHERE = -1
"""The tree has no such node, place or action."""

_FLOP, _RIVER = 3, 5
_TURN = 2
_FULL = 255.0
_REMEMBERED = 8192
_BIG_POT = 16  # big blinds: one pot in eight, with most of the variance

_Known = dict[tuple[str, int, bytes], float]
"""Guesses by betting, tree node and beliefs."""

_FIRST_OF_CLASS: I64 = np.unique(HAND_CLASS, return_index=True)[1].astype(np.int64)
_REPRESENTATIVE: I64 = _FIRST_OF_CLASS[HAND_CLASS]


@dataclass(frozen=True, slots=True, eq=False)
class HoldemState:
    """A public state and the corresponding place in the blueprint's tree."""

    betting: BettingState
    board: Cards
    node: int
    """The next decision node in the tree, -1 if there is none."""
    place: int
    """The index in the table of values, -1 if there is none."""
    scale: float
    """Chips per unit of the table."""


@dataclass(frozen=True, slots=True, eq=False)
class _Street:
    """A betting round through which beliefs are walked."""

    round_index: int
    board: U8
    buckets: I64
    """int64[1326]"""
    is_exact: bool
    """Whether all rivers are walked instead of looked up."""


class HoldemGame:
    """A public game with guesses from one strategy profile. Not for concurrent calls."""

    def __init__(
        self,
        definition: GameDefinition,
        game: TrainingGame,
        strategy: U8,
        values: NodeValues,
        tables: BucketTables,
        careful: bool = False,
    ) -> None:
        """Prepare the game; arrays are not copied.

        strategy  uint8[node][action][bucket] in 255ths; may differ between the two positions
        careful   walk through rounds from the first action on the flop, about 0.04 s per hand
        """
        self.careful = careful
        self.game, self.strategy, self.values, self.tables = game, strategy, values, tables
        self._profile = Profile(game.betting, strategy, game.num_buckets[-1])
        self._codes = [game.tree.actions_of(int(node)) for node in game.tree_node]
        self._pots = _pots(game, definition.blinds)
        levels = 1 + _longest_line(game)
        self._walk = RiverWalk(np.zeros((levels, 2, NUM_LIVE_HANDS)), np.zeros((levels, 2), dtype=np.int64))
        self._river = new_river()
        self._river_board: Cards = ()
        self._live: dict[Cards, F64] = {}
        self._before_flop: _Known = {}
        self._flop_means: _Known = {}

    def live(self, state: HoldemState) -> F64:
        """float64[1326]: 1 for hands that share no card with the board, 0 for the others."""
        found = self._live.get(state.board)
        if found is None:
            if len(self._live) > _REMEMBERED:
                self._live.clear()
            found = self._live[state.board] = unblocked(state.board).astype(np.float64)
        return found

    def mass(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The total weight of pairs of hands that share no card. Beliefs are 0 for hands the board blocks."""
        del state
        return float(pair_mass(*beliefs))

    def guess(self, state: HoldemState, beliefs: Beliefs) -> float:
        """A guess of the mean payoff, in chips."""
        if state.board:
            return self._guess(state, beliefs)
        return _remember(self._before_flop, state, beliefs, lambda: self._guess(state, beliefs))

    def guess_dealt(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The mean guess over flops, or over the next card, in chips."""
        if state.node < 0:
            return self._check_down(state, beliefs)
        table = self._table(int(self.values.places.of_node[state.node]))
        if state.board:
            board = np.array(state.board, dtype=np.uint8)
            if len(board) == _RIVER - 1 and self._is_big(state.betting):
                return self._mean_over_rivers(state, board, beliefs)
            return float(mean_over_cards(self.tables, board, *beliefs, table)) * state.scale
        flops, times, beliefs = _flops(beliefs)
        return _remember(
            self._flop_means,
            state,
            beliefs,
            lambda: float(mean_over_flops(self.tables, flops, times, *beliefs, table)) * state.scale,
        )

    def payoff(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The mean payoff of a finished hand, in chips."""
        betting = state.betting
        if betting.folder != NOBODY:
            return _lost_by(betting.folder, betting)
        return min(betting.spent) * mean_wins(*beliefs, state.board)

    def root(self, betting: BettingState) -> HoldemState:
        """The state at the start of a hand."""
        return HoldemState(betting, (), 0, int(self.values.places.of_node[0]), self.game.unit)

    def after_line(self, betting: BettingState) -> HoldemState:
        """The state after the betting of the first round, before the flop is dealt."""
        state = self.root(start(betting.definition))
        for action in betting.actions[0]:
            state = self.after_action(state, action)
        return state

    def after_action(self, state: HoldemState, action: Action) -> HoldemState:
        """The state after an action, before public cards are dealt."""
        return self.after_entry(state, state.betting.apply(action), self._entry(state, action))

    def after_entry(self, state: HoldemState, betting: BettingState, entry: int) -> HoldemState:
        """The state after an action, given the tree's action for it, -1 if there is none."""
        if entry < 0:
            return HoldemState(betting, state.board, NOWHERE, NOWHERE, 0.0)
        tree, places = self.game.betting, self.values.places
        node = int(tree.child[entry])
        # Real hand and tree must agree on what comes next: the same round or the end.
        in_step = betting.is_finished == (node < 0)
        if node >= 0:
            in_step &= betting.round_index == tree.column[node] % self.game.num_rounds
        if not in_step:
            return HoldemState(betting, state.board, NOWHERE, NOWHERE, 0.0)
        ends_round = betting.is_finished or betting.round_index > state.betting.round_index
        place = places.of_entry[entry] if ends_round else places.of_node[node]
        return HoldemState(
            betting, state.board, node, int(place), self.game.unit * betting.pot / self._pots[entry]
        )

    def entry_to(self, node: int, tree_node: int) -> int:
        """The action of a decision node that leads to a node of the blueprint's tree, -1 if none does."""
        first, num_actions = (
            int(self.game.betting.first_entry[node]),
            int(self.game.betting.num_actions[node]),
        )
        child = np.searchsorted(self.game.tree_node, tree_node)
        found = np.flatnonzero(self.game.betting.child[first : first + num_actions] == child)
        return first + int(found[0]) if len(found) else NOWHERE

    def after_deal(self, state: HoldemState, board: Cards) -> HoldemState:
        """The state after public cards are dealt."""
        place = int(self.values.places.of_node[state.node]) if state.node >= 0 else NOWHERE
        return HoldemState(state.betting, board, state.node, place, state.scale)

    def _guess(self, state: HoldemState, beliefs: Beliefs) -> float:
        betting, board = state.betting, state.board
        if betting.is_finished:
            return self.payoff(state, beliefs)
        if state.node >= 0 and self._codes[state.node] == (FOLD_ACTION, CALL_ACTION):
            stack = betting.definition.stacks[1 - betting.actor]
            if betting.spent[1 - betting.actor] >= stack and len(board) < _RIVER:
                return self._guess_answer(state, beliefs)
        if state.node >= 0 and len(board) == _RIVER and (state.place < 0 or self._is_big(betting)):
            return self._walk_river(state, beliefs)
        if self.careful and state.node >= 0 and 0 < len(board) < _RIVER and _has_acted(state):
            return self._walk_round(state, beliefs)
        if state.place >= 0:
            cards = np.array(board, dtype=np.uint8)
            return float(guess_on_board(self.tables, cards, *beliefs, self._table(state.place))) * state.scale
        return self._check_down(state, beliefs)

    def _check_down(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The guess if both players check to the end, used when nothing better is known.

        The mean over run-outs is the same before and after the next card is dealt.
        """
        return min(state.betting.spent) * mean_wins(*beliefs, state.board)

    def _guess_answer(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The guess when the opponent is all-in: fold or call by the profile, then run-outs."""
        betting, board, p = state.betting, state.board, state.betting.actor
        buckets, tree = board_buckets(self.tables, board), self.game.betting
        at, num_buckets = int(tree.base[state.node]), self.game.num_buckets[betting.round_index]
        row = self.strategy[at : at + num_buckets].astype(np.float64) / _FULL
        folds = beliefs[p] * row[np.minimum(buckets, num_buckets - 1)]
        calls = beliefs[p] - folds
        folded = (folds, beliefs[1]) if p == 0 else (beliefs[0], folds)
        called = (calls, beliefs[1]) if p == 0 else (beliefs[0], calls)
        mass_folded, mass_called = pair_mass(*folded), pair_mass(*called)
        total = mass_folded * _lost_by(p, betting)
        if mass_called > 0:
            cards = np.array(board, dtype=np.uint8)
            wins = float(sampled_wins(cards, *called)) if board else mean_wins(*called, board)
            total += mass_called * wins * min(betting.definition.stacks)
        return float(total / (mass_folded + mass_called))

    def _walk_river(self, state: HoldemState, beliefs: Beliefs) -> float:
        if state.board != self._river_board:
            cards = np.array(state.board, dtype=np.uint8)
            fill_river_order(cards, self._river)
            fill_river_buckets(self.tables, cards, self._river)
            self._river_board = state.board
        mass, total = walk_river(self._profile, state.node, self._river, *beliefs, self._walk)
        return float(total / mass) * state.scale

    def _walk_round(self, state: HoldemState, beliefs: Beliefs) -> float:
        """Walk both beliefs through the rest of the round by the profile, then over the next card."""
        if is_round_over(state):
            return self.guess_dealt(state, beliefs)
        round_index = state.betting.round_index
        last = self.game.num_buckets[round_index] - 1
        buckets = np.minimum(board_buckets(self.tables, state.board), last).astype(np.int64)
        is_exact = round_index == _TURN and self._is_big(state.betting)
        street = _Street(round_index, np.array(state.board, dtype=np.uint8), buckets, is_exact)
        return self._walk_on(state.node, beliefs, street) / float(pair_mass(*beliefs)) * state.scale

    def _walk_on(self, node: int, beliefs: Beliefs, street: _Street) -> float:
        """The sum, over pairs of hands, of both weights times the payoff, in units of the tree."""
        tree, board = self.game.betting, street.board
        if tree.column[node] % self.game.num_rounds > street.round_index:
            if street.is_exact:
                mean = mean_over_rivers(self._profile, node, self.tables, board, *beliefs, self._walk)
            else:
                table = self._table(int(self.values.places.of_node[node]))
                mean = mean_over_cards(self.tables, board, *beliefs, table)
            return float(mean) * float(pair_mass(*beliefs))
        player, num_buckets = int(tree.player[node]), self.game.num_buckets[street.round_index]
        total = 0.0
        for a in range(int(tree.num_actions[node])):
            entry, row = int(tree.first_entry[node]) + a, int(tree.base[node]) + a * num_buckets
            acted = beliefs[player] * (self.strategy[row : row + num_buckets] / _FULL)[street.buckets]
            after = (acted, beliefs[1]) if player == 0 else (beliefs[0], acted)
            mass = float(pair_mass(*after))
            if mass <= 0:
                continue
            if tree.child[entry] >= 0:
                total += self._walk_on(int(tree.child[entry]), after, street)
            elif tree.stake[entry] > 0:
                on_turn = street.round_index == _TURN
                wins = board_wins(board, *after) if on_turn else mass * sampled_wins(board, *after)
                total += float(tree.stake[entry]) * float(wins)
            else:
                total += float(tree.fixed[entry]) * mass
        return total

    def _mean_over_rivers(self, state: HoldemState, board: U8, beliefs: Beliefs) -> float:
        mean = mean_over_rivers(self._profile, state.node, self.tables, board, *beliefs, self._walk)
        return float(mean) * state.scale

    def _is_big(self, betting: BettingState) -> bool:
        """Whether the pot is big enough to spend milliseconds on walking all rivers."""
        return betting.pot >= _BIG_POT * betting.definition.big_blind

    def _table(self, place: int) -> PlaceValues:
        values = self.values
        return PlaceValues(values.values, int(values.places.base[place]), float(values.means[place]))

    def _entry(self, state: HoldemState, action: Action) -> int:
        """The tree's action for a real one, -1 if it has none."""
        if state.node < 0:
            return NOWHERE
        codes, first = self._codes[state.node], int(self.game.betting.first_entry[state.node])
        if action.kind is ActionKind.FOLD:
            return first if codes[0] == FOLD_ACTION else NOWHERE
        if action.kind is ActionKind.CALL:
            return first + codes.index(CALL_ACTION)
        raises = [a for a, code in enumerate(codes) if code > CALL_ACTION]
        if not raises:
            return NOWHERE
        return first + min(raises, key=lambda a: abs(log(codes[a] / action.raise_to)))


class _Follows(Protocol):
    """The methods of a game that `played_hand` uses."""

    def root(self, betting: BettingState) -> HoldemState: ...

    def after_action(self, state: HoldemState, action: Action) -> HoldemState: ...

    def after_deal(self, state: HoldemState, board: Cards) -> HoldemState: ...


def played_hand(
    game: _Follows,
    hand: HandState,
    known: tuple[bool, bool],
    strategies: Sequence[RangeStrategy | None],
    root: HoldemState | None = None,
) -> PlayedHand[HoldemState]:
    """Convert a finished hand to AIVAT's form.

    known       whether the strategy is known, by position
    strategies  for each action, the player's strategy for every hand; None for an unknown player
    root        where to begin, if not at the start of the hand; strategies are for the actions after it
    """
    definition = hand.definition
    root = state = game.root(start(definition)) if root is None else root
    steps: list[Choice[HoldemState] | Deal[HoldemState]] = []
    held = [None if known[p] else hand_index(cards[0], cards[1]) for p, cards in enumerate(hand.hole)]
    actions = [action for actions in hand.betting.actions for action in actions]
    earlier = sum(map(len, root.betting.actions))
    for action, strategy in zip(actions[earlier:], strategies, strict=True):
        size = definition.board_size(state.betting.round_index)
        if size > len(state.board):
            before, state = state, game.after_deal(state, hand.board[:size])
            steps.append(Deal(before, state))
        if strategy is None:
            state = game.after_action(state, action)
            continue
        player = state.betting.actor
        following = [game.after_action(state, other) for other in strategy.actions]
        taken = strategy.actions.index(action)
        steps.append(Choice(player, following, taken, strategy.probabilities.astype(np.float64)))
        state = following[taken]
    return PlayedHand(root, steps, state, (held[0], held[1]))


def is_round_over(state: HoldemState) -> bool:
    """Whether public cards come next."""
    betting = state.betting
    return len(state.board) < betting.definition.board_size(betting.round_index)


def _has_acted(state: HoldemState) -> bool:
    """Whether there was an action since the last card; then guesses need not agree with `guess_dealt`."""
    return is_round_over(state) or bool(state.betting.actions[-1])


def _lost_by(position: int, betting: BettingState) -> float:
    """Player 0's net chips if the player in `position` folds."""
    lost = betting.spent[position]
    return float(-lost if position == 0 else lost)


def _remember(known: _Known, state: HoldemState, beliefs: Beliefs, compute: Callable[[], float]) -> float:
    """Cache guesses before the flop, where states are few and known players have one belief in each."""
    digest = blake2b(beliefs[0].data, digest_size=16)
    digest.update(beliefs[1].data)
    key = state.betting.text, state.node, digest.digest()
    found = known.get(key)
    if found is None:
        if len(known) > _REMEMBERED:
            known.clear()
        found = known[key] = compute()
    return found


def _flops(beliefs: Beliefs) -> tuple[U8, I64, Beliefs]:
    """Flops to average over, their multiplicities, and beliefs with the same mean.

    If both beliefs are symmetric in suits, canonical flops suffice. If one player's belief is a single hand,
    it is replaced by the first hand of its class, and flops are merged that differ only by a relabelling of
    suits that keeps this hand.
    """
    blind = [bool(np.array_equal(belief, belief[_REPRESENTATIVE])) for belief in beliefs]
    if all(blind):
        return canonical_boards(_FLOP), board_multiplicities(_FLOP), beliefs
    held = [np.flatnonzero(belief) for belief in beliefs]
    for p in range(2):
        if blind[1 - p] and len(held[p]) == 1:
            first = int(_REPRESENTATIVE[held[p][0]])
            moved = np.zeros_like(beliefs[p])
            moved[first] = beliefs[p][held[p][0]]
            return *_flops_seen_from(first), (moved, beliefs[1]) if p == 0 else (beliefs[0], moved)
    return *_flops_seen_from(-1), beliefs


@cache
def _flops_seen_from(hand: int) -> tuple[U8, I64]:
    """Flops up to relabellings of suits that keep `hand`, and their multiplicities; all flops for -1.

    Computed when first needed, for 169 hands (the first of each class), about 100 KB each.
    """
    low, middle, high = (array.ravel() for array in np.meshgrid(*[np.arange(NUM_CARDS)] * 3, indexing="ij"))
    flops = np.stack([low, middle, high], axis=1)[(low < middle) & (middle < high)]
    smallest = np.full(len(flops), NUM_CARDS**3)
    for relabelling, suits in enumerate(RELABELLINGS.astype(np.int64)):
        if relabelling == 0 or (hand >= 0 and HAND_UNDER[relabelling, hand] == hand):
            moved = np.sort(flops // NUM_SUITS * NUM_SUITS + suits[flops % NUM_SUITS], axis=1)
            smallest = np.minimum(smallest, moved @ np.array([NUM_CARDS**2, NUM_CARDS, 1]))
    _, chosen, times = np.unique(smallest, return_index=True, return_counts=True)
    return flops[chosen].astype(np.uint8), times.astype(np.int64)


def _longest_line(game: TrainingGame) -> int:
    """The largest number of consecutive decisions in one round."""
    betting, rounds = game.betting, game.betting.column % game.num_rounds
    length = np.ones(len(rounds), dtype=np.int64)
    for n in range(len(rounds)):
        first = betting.first_entry[n]
        for child in betting.child[first : first + betting.num_actions[n]]:
            if child >= 0 and rounds[child] == rounds[n]:
                length[child] = length[n] + 1
    return int(length.max())


def _pots(game: TrainingGame, blinds: tuple[int, int]) -> F64:
    """float64[C]: the tree's pot in chips after each action."""
    tree = game.tree
    spent = np.zeros((tree.num_nodes, 2))
    spent[0] = blinds
    for n in range(1, tree.num_nodes):
        parent, code = int(tree.parent[n]), int(tree.action[n])
        spent[n] = spent[parent]
        if code >= CALL_ACTION:
            spent[n, tree.player[parent]] = max(code, spent[parent].max())
    children = np.concatenate([tree.children_of(int(n)) for n in game.tree_node])
    pots: F64 = spent[children].sum(axis=1)
    return pots
