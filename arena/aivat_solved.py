"""AIVAT's guesses from the agent's own solves, for matches against somebody who does not tell his strategy.

1. Of him only the hand that he held counts, against all of ours: what that is worth after each action of ours
   is a counterfactual value of the solve that our action was drawn from, and so it is for every river card
   that may follow. The solve has his very bets, which the blueprint's tree may not have.
2. Both players are taken to go on as the solution says, we with the belief's range.
3. Only solves to the end of the hand are asked, those of turn and river. Elsewhere, and for hands that a
   solve leaves out, guesses are those of the game inside.
4. A decision is a function of what is public and of a seed that nobody else knows, so guesses may know it
   without a bias; the mean over river cards is taken over the very guesses that follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from arena.agent_player import AgentHand
from arena.aivat import Beliefs, mean_dealt
from arena.holdem_aivat import HoldemGame, HoldemState, is_round_over
from arena.players import HandPlayer
from game.actions import Action
from game.betting import BettingState
from game.cards import NUM_CARDS, Cards
from game.hands import HAND_CARDS
from solver.cfr import Solver
from solver.cut import cut
from solver.decision import Decision
from solver.engine import EVALUATE, Engine
from solver.game import unblocked_weight
from solver.layout import F64
from solver.nested import action_code, betting_states
from solver.solution import Solution
from solver.tree import CHANCE, DECISION

_DUST = 1e-6
"""Share of a range below which what a hand meets of it is a rounding error."""
_HANDS = HAND_CARDS.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A decision of a solved game."""

    solution: Solution
    node: int
    board: int


@dataclass(frozen=True, slots=True, eq=False)
class SolvedGame:
    """Hold'em as AIVAT sees it, with the agent's player of one hand, who has played it, to ask."""

    game: HoldemGame
    asked: AgentHand
    position: int
    """His."""
    _engines: dict[tuple[int, int, int], tuple[Solution, Engine]] = field(default_factory=dict)

    def live(self, state: HoldemState) -> F64:
        """float64[1326]."""
        return self.game.live(state)

    def mass(self, state: HoldemState, beliefs: Beliefs) -> float:
        """Of pairs of hands that share no card."""
        return self.game.mass(state, beliefs)

    def guess(self, state: HoldemState, beliefs: Beliefs) -> float:
        """Chips."""
        if not state.betting.is_finished:
            if is_round_over(state) and self._knows_cards(state):
                return self.guess_dealt(state, beliefs)
            place = self._place(state)
            found = None if place is None else self._value(place, beliefs)
            if found is not None:
                return found
        return self.game.guess(state, beliefs)

    def guess_dealt(self, state: HoldemState, beliefs: Beliefs) -> float:
        """Chips: the mean over flops, or over the next card."""
        if not self._knows_cards(state):
            return self.game.guess_dealt(state, beliefs)
        rest = set(range(NUM_CARDS)).difference(state.board)
        return mean_dealt(self, (self.after_deal(state, (*state.board, card)) for card in rest), beliefs)

    def payoff(self, state: HoldemState, beliefs: Beliefs) -> float:
        """Chips."""
        return self.game.payoff(state, beliefs)

    def root(self, betting: BettingState) -> HoldemState:
        """The start of a hand."""
        return self.game.root(betting)

    def after_action(self, state: HoldemState, action: Action) -> HoldemState:
        """Where an action leads; public cards are not dealt yet."""
        return self.game.after_action(state, action)

    def after_deal(self, state: HoldemState, board: Cards) -> HoldemState:
        """The next round."""
        return self.game.after_deal(state, board)

    def _knows_cards(self, state: HoldemState) -> bool:
        """Whether a solve goes on after a round that is over."""
        found = self._walk(state)
        if found is None:
            return False
        tree = found[0].game.tree
        return bool(tree.kind[found[1]] == CHANCE) and len(tree.children_of(found[1])) > 0

    def _place(self, state: HoldemState) -> _Place | None:
        """Where a solve has a state in which a player is to act."""
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
        """The mean over both beliefs; None for hands that the solve does not have."""
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
    """The game for one hand: with the agent's solves to be asked, if the other one tells nothing.

    seats  by position
    """
    for position, seat in enumerate(seats):
        if isinstance(seat, AgentHand) and not known[1 - position]:
            return SolvedGame(game, seat, position)
    return game
