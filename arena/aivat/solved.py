"""AIVAT guesses from the agent's own solves, for matches against an opponent whose strategy is unknown.

1. The opponent counts only with the hand it held, against our whole range. The value of that hand after each
   of our actions, and after each river card, is a counterfactual value of the solve that our action was
   sampled from. The solve contains the opponent's exact bets, which the blueprint's tree may not.
2. Both players are assumed to continue as the solution says, we with the belief as our range.
3. Only solves to the end of the hand are used, those of turn and river. Elsewhere, and for hands that a
   solve leaves out, the wrapped game's guesses are used.
4. A decision is a function of public information and of a seed that the opponent does not know, so guesses
   may use it without bias; the mean over river cards is the mean of the guesses used after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from arena.aivat.aivat import Beliefs, mean_dealt
from arena.aivat.holdem import HoldemGame, HoldemState, is_round_over
from arena.players.agent_player import AgentHand
from arena.players.base import HandPlayer
from game.actions import Action
from game.betting import BettingState
from game.cards import NUM_CARDS, Cards
from game.hands import HAND_CARDS
from numeric.arrays import F64
from solver.decisions.decision import Decision
from solver.exact.cut import cut
from solver.exact.engine import EVALUATE, Engine
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.game import unblocked_weight
from solver.games.history import action_code, betting_states
from solver.games.tree import CHANCE, DECISION

_DUST = 1e-6
"""Smallest share of a range that a hand must leave unblocked; below it the rest is rounding error."""
_HANDS = HAND_CARDS.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A decision node of a solved game."""

    solution: Solution
    node: int
    board: int


@dataclass(frozen=True, slots=True, eq=False)
class SolvedGame:
    """A public game for AIVAT that takes guesses from the agent's solves of the hand it has just played."""

    game: HoldemGame
    asked: AgentHand
    position: int
    """The agent's position."""
    _engines: dict[tuple[int, int, int], tuple[Solution, Engine]] = field(default_factory=dict)

    def live(self, state: HoldemState) -> F64:
        """float64[1326]: 1 for hands that share no card with the board, 0 for the others."""
        return self.game.live(state)

    def mass(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The total weight of pairs of hands that share no card."""
        return self.game.mass(state, beliefs)

    def guess(self, state: HoldemState, beliefs: Beliefs) -> float:
        """A guess of the mean payoff, in chips."""
        if not state.betting.is_finished:
            if is_round_over(state) and self._knows_cards(state):
                return self.guess_dealt(state, beliefs)
            place = self._place(state)
            found = None if place is None else self._value(place, beliefs)
            if found is not None:
                return found
        return self.game.guess(state, beliefs)

    def guess_dealt(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The mean guess over flops, or over the next card, in chips."""
        if not self._knows_cards(state):
            return self.game.guess_dealt(state, beliefs)
        rest = set(range(NUM_CARDS)).difference(state.board)
        return mean_dealt(self, (self.after_deal(state, (*state.board, card)) for card in rest), beliefs)

    def payoff(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The mean payoff of a finished hand, in chips."""
        return self.game.payoff(state, beliefs)

    def root(self, betting: BettingState) -> HoldemState:
        """The state at the start of a hand."""
        return self.game.root(betting)

    def after_action(self, state: HoldemState, action: Action) -> HoldemState:
        """The state after an action, before public cards are dealt."""
        return self.game.after_action(state, action)

    def after_deal(self, state: HoldemState, board: Cards) -> HoldemState:
        """The state after public cards are dealt."""
        return self.game.after_deal(state, board)

    def _knows_cards(self, state: HoldemState) -> bool:
        """Whether a solve continues beyond a finished round."""
        found = self._walk(state)
        if found is None:
            return False
        tree = found[0].game.tree
        return bool(tree.kind[found[1]] == CHANCE) and len(tree.children_of(found[1])) > 0

    def _place(self, state: HoldemState) -> _Place | None:
        """The decision node of a solve at this state; None if no solve has it."""
        found = self._walk(state)
        if found is None:
            return None
        solution, node = found
        tree, board = solution.game.tree, 0
        if tree.kind[node] == CHANCE:
            if state.board not in solution.game.board_cards:
                return None
            node, board = int(tree.children_of(node)[0]), solution.board_index(state.board)
        return _Place(solution, node, board) if tree.kind[node] == DECISION else None

    def _walk(self, state: HoldemState) -> tuple[Solution, int] | None:
        """The solve of our last decision, and the node that the actions since then lead to."""
        decision, since = self._last_decision(state)
        solver = None if decision is None else getattr(decision.solved, "solver", None)
        if decision is None or not isinstance(solver, Solver):
            return None
        tree, node = solver.game.tree, decision.node
        for action in since:
            codes = tree.actions_of(node) if tree.kind[node] == DECISION else ()
            if action_code(action) not in codes:
                return None
            node = int(tree.children_of(node)[codes.index(action_code(action))])
        return solver.solution(), node

    def _last_decision(self, state: HoldemState) -> tuple[Decision | None, Sequence[Action]]:
        definition = state.betting.definition
        actions = [action for part in state.betting.actions for action in part]
        bettings = betting_states(state.betting)
        for number in reversed(range(len(actions))):
            betting = bettings[number]
            if betting.actor == self.position:
                board = state.board[: definition.board_size(betting.round_index)]
                return self.asked.decisions.get((betting.text, board)), actions[number:]
        return None, ()

    def _value(self, place: _Place, beliefs: Beliefs) -> float | None:
        """The mean value over both beliefs; None for hands that the solve leaves out."""
        key = id(place.solution.average), place.node, place.board
        if key not in self._engines:
            below = cut(place.solution, place.node, place.board)
            self._engines[key] = below, Engine(below.game)
        below, engine = self._engines[key]
        labels, other = below.game.labels, 1 - self.position
        ours = np.zeros(len(_HANDS))
        ours[labels] = beliefs[self.position][labels]
        if ours.max() <= 0:
            return None
        ours /= ours.max()
        reach = ours.astype(np.float32)
        weights = beliefs[other][labels]
        met = weights * unblocked_weight(_HANDS, reach)[labels]
        if met.sum() <= _DUST * reach.sum() * max(weights.sum(), beliefs[other].sum()):
            return None
        values = engine.root_values(below.average, other, EVALUATE, reach[labels])
        assert values is not None, "nobody stops this evaluation"
        chips = float((weights * values).sum() / met.sum())
        return chips if other == 0 else -chips


def ask_agent(
    game: HoldemGame, seats: tuple[HandPlayer, HandPlayer], known: tuple[bool, bool]
) -> HoldemGame | SolvedGame:
    """The game for one hand: uses the agent's solves if the other player's strategy is unknown.

    seats  the hand players by position
    """
    for position, seat in enumerate(seats):
        if isinstance(seat, AgentHand) and not known[1 - position]:
            return SolvedGame(game, seat, position)
    return game
