"""The re-solving agent as a player of the arena."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from game.actions import Action
from game.betting import BettingState
from game.cards import Cards
from game.hands import hand_index
from game.state import HandState
from numeric.jit import source_digest
from solver.agent.agent import Agent
from solver.agent.time_bank import MatchClock
from solver.blueprint.file import Blueprint
from solver.decisions.decision import Decision
from solver.decisions.limits import Limits
from solver.decisions.range_strategy import RangeStrategy
from solver.games.history import betting_states
from solver.resolving.context import Context

_CODE = Path(inspect.getfile(Agent))
"""With all that it imports, the code that decides."""


@dataclass(frozen=True, eq=False)
class AgentPlayer:
    """A player that re-solves its decisions. Not for concurrent calls."""

    name: str
    agent: Agent

    @property
    def blueprint(self) -> Blueprint:
        """The blueprint it follows where it does not re-solve."""
        return self.agent.blueprint

    @property
    def identity(self) -> str:
        """Identifies blueprint, settings, flop book, and code: another version plays otherwise."""
        settings = self.agent.settings
        book = "" if self.agent.book is None else f"-book{self.agent.book.identity}"
        played = f"{settings.leaf}-{settings.preflop}-{settings.flop_method}{book}"
        return f"{self.blueprint.identity}-{played}-code{source_digest(_CODE)}"

    @cached_property
    def clock(self) -> MatchClock | None:
        """The clock of the match, shared by all hands; None without a time budget."""
        budget = self.agent.settings.budget
        return None if budget is None else MatchClock(budget)

    def start_hand(self, seed: int) -> AgentHand:
        """Start a hand: return an object that plays it, from either position."""
        if self.clock is not None:
            self.clock.start_hand()
        return AgentHand(self.agent, seed, self.clock)

    def start_enquiry(self, seed: int) -> AgentHand:
        """Start a hand in which many lines are queried, each with the time of a match's first hand.

        A single clock for all lines would run out after a few.
        """
        return AgentHand(self.agent, seed, line_budget=self.agent.settings.budget)


class AgentHand:
    """Plays one hand from one position; remembers its decisions by betting and board."""

    def __init__(
        self, agent: Agent, seed: int, clock: MatchClock | None = None, line_budget: float | None = None
    ) -> None:
        """Use the clock of a match, or a budget of seconds for each line queried, or no time limit."""
        self._agent, self._clock, self._line_budget = agent, clock, line_budget
        self._seed = seed
        self._rng = Random(seed)
        self.decisions: dict[tuple[str, Cards], Decision] = {}

    def act(self, state: HandState, position: int) -> Action:
        """Sample an action from the strategy of the hand held."""
        hole = state.hole[position]
        strategy = self.strategy(state.betting, state.visible_board)
        return strategy.draw(hand_index(hole[0], hole[1]), self._rng)

    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        """The strategy of the player to act, for every hand; solved once, then remembered."""
        return self.decision(betting, board).strategy

    def decision(self, betting: BettingState, board: Cards) -> Decision:
        """The decision at this point; missing earlier decisions of the same hand are made first."""
        key = (betting.text, board)
        if key not in self.decisions:
            context = self._context(betting, board)
            clock = self._clock if self._line_budget is None else self._line_clock(betting, board)
            seconds = None if clock is None else clock.seconds_for(betting)
            decision = self._agent.decide(betting, board, context, self._seed, Limits(seconds))
            if clock is not None:
                clock.spend(decision.seconds)
            self.decisions[key] = decision
        return self.decisions[key]

    def _line_clock(self, betting: BettingState, board: Cards) -> MatchClock:
        """A clock with the time that our earlier decisions on this line have left of the hand's budget."""
        assert self._line_budget is not None
        clock = MatchClock(self._line_budget)
        clock.start_hand()
        for decision, _ in self._earlier(betting, board):
            clock.spend(decision.seconds)
        return clock

    def _context(self, betting: BettingState, board: Cards) -> Context | None:
        """The context that our previous decision on this line provides for this one."""
        for decision, action in self._earlier(betting, board):
            return decision.after(action)
        return None

    def _earlier(self, betting: BettingState, board: Cards) -> Iterator[tuple[Decision, Action]]:
        """Our earlier decisions on this line and the actions taken, most recent first."""
        states = betting_states(betting)
        actions = [action for part in betting.actions for action in part]
        for state, action in zip(reversed(states[:-1]), reversed(actions), strict=True):
            if state.actor == betting.actor:
                yield self.decision(state, board[: betting.definition.board_size(state.round_index)]), action
