"""Decisions: the agent and the blueprint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from random import Random

from arena.players.agent_player import AgentHand, AgentPlayer
from arena.players.blueprint_player import BlueprintPlayer
from game.cards import parse_cards
from game.hands import hand_text, parse_hand
from game.state import hand_state
from numeric.arrays import F32
from protocol.acpc import parse_betting
from server.config.machine import usable_cores
from solver.agent.agent import Agent
from solver.blueprint.default import default_blueprint_path
from solver.blueprint.file import Blueprint
from solver.blueprint.file import open_blueprint as open_blueprint_file
from solver.decisions import decision as solver_decision
from solver.decisions.convergence import judge_decision
from solver.decisions.range_strategy import RangeStrategy
from solver.decisions.settings import make_settings

_STREETS = ("pre-flop", "flop", "turn", "river")


@dataclass(frozen=True, eq=False)
class Decision:
    """What the agent does with a hand, and with every other hand it could hold. Returned by `decide`."""

    hand: str
    action: str
    """Drawn from the hand's strategy: `f` folds, `c` checks or calls, `r900` raises to 900 in total."""
    _found: solver_decision.Decision

    @property
    def street(self) -> str:
        """`pre-flop`, `flop`, `turn` or `river`."""
        return _STREETS[self._found.betting.round_index]

    @property
    def method(self) -> str:
        """How the decision was found: `blueprint`, `flop book`, `depth-limited`, `exact` or `exact, safe`."""
        return self._found.method.value

    @property
    def iterations(self) -> int:
        """Iterations of the solve; 0 if nothing was solved."""
        return self._found.iterations

    @property
    def seconds(self) -> float:
        """Time that the decision took."""
        return self._found.seconds

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that were considered."""
        return tuple([str(action) for action in self._found.strategy.actions])

    @property
    def all_hands(self) -> RangeStrategy:
        """The strategies of all hands: `actions`, and `probabilities` as float32[A, 1326]."""
        return self._found.strategy

    @property
    def ranges(self) -> F32:
        """float32[2, 1326]: both players' ranges by position, 0 for the big blind, 1 for the button."""
        return self._found.ranges

    @property
    def strategy(self) -> dict[str, float]:
        """The strategy of the hand: probability of each action."""
        return self.of(self.hand)

    @cached_property
    def range_strategy(self) -> dict[str, float]:
        """Frequency of each action over the whole range."""
        return dict(zip(self.actions, self._found.frequencies().tolist(), strict=True))

    @cached_property
    def values(self) -> dict[str, float] | None:
        """Value of each action for the hand, in chips.

        None if nothing was solved, or if no hand of the opponent comes here in the solution.
        """
        found = self._found.values()
        if found is None:
            return None
        return dict(zip(self.actions, found[:, parse_hand(self.hand)].tolist(), strict=True))

    @cached_property
    def exploitability(self) -> float | None:
        """Exploitability of the solution as a fraction of the pot; None if nothing was solved."""
        chips = self._found.exploitability()
        return None if chips is None else self._found.percent_of_pot(chips) / 100

    @property
    def quality(self) -> str:
        """A sentence on how far the solve converged."""
        return judge_decision(self._found, self._found.exploitability()).quality

    def of(self, hand: str) -> dict[str, float]:
        """The strategy of another hand, such as `AsKd`."""
        row = self._found.strategy.probabilities[:, parse_hand(hand)]
        return dict(zip(self.actions, row.tolist(), strict=True))


def open_blueprint(path: str | PathLike[str] | None = None) -> Blueprint:
    """Open a blueprint, by default the included one, which is unpacked on first use."""
    return open_blueprint_file(default_blueprint_path() if path is None else Path(path))


def make_agent(
    blueprint: Blueprint | None = None,
    *,
    budget: float | None = None,
    iterations: int | None = None,
    threads: int | None = None,
) -> AgentPlayer:
    """Make an agent for `decide` and `play_match`. Give a budget or iterations, not both.

    Args:
        blueprint: the blueprint it plays by where it does not solve; by default the included one
        budget: seconds per hand; 2.5 by default
        iterations: iterations of flop solves. Turn solves get half as many, river solves four times as many.
            Decisions are then repeatable
        threads: threads of a solve; by default all cores with a budget, one with iterations
    """
    if budget is not None and iterations is not None:
        raise ValueError("give a budget or iterations, not both")
    if threads is None:
        threads = usable_cores() if iterations is None else 1
    settings = make_settings(budget or 0.0, iterations or 0, threads=threads)
    return AgentPlayer("agent", Agent(open_blueprint() if blueprint is None else blueprint, settings))


def decide(
    agent: AgentPlayer,
    hole: str,
    betting: str = "",
    board: str = "",
    *,
    seed: int = 1,
    hand: AgentHand | None = None,
) -> Decision:
    """Ask the agent for its decision when it is to act. Blocks while it solves.

    Args:
        agent: an agent, made by `make_agent`
        hole: its hole cards: `QhJh`
        betting: all actions of the hand in ACPC notation: `r300c/cr450`. `r450` raises to a total of 450
            chips over the whole hand, `/` ends a round
        board: the public cards: `Th9c2s`
        seed: seed of the solves and of the action that is drawn
        hand: a hand from `agent.start_hand(seed)`, which remembers the agent's decisions. Without it, earlier
            decisions of the agent in this hand are made again
    """
    definition = agent.blueprint.definition
    history, own = parse_betting(definition, betting), parse_hand(hole)
    if history.is_finished:
        raise ValueError(f"{betting!r}: the hand is over")
    cards = parse_cards(hole)
    both = (cards, ()) if history.actor == 0 else ((), cards)
    state = hand_state(history, both, parse_cards(board))
    found = (hand or agent.start_enquiry(seed)).decision(history, state.visible_board)
    return Decision(hand_text(own), str(found.strategy.draw(own, Random(seed))), found)


def look_up(blueprint: Blueprint, betting: str = "", board: str = "") -> RangeStrategy:
    """Look up the strategy of every hand in a blueprint. Nothing is solved.

    A bet that is not in the blueprint's tree is translated to the nearest sizes, each with a probability.

    Args:
        blueprint: a blueprint, opened by `open_blueprint`
        betting: all actions of the hand in ACPC notation, as for `decide`
        board: the public cards
    """
    history = parse_betting(blueprint.definition, betting)
    if history.is_finished:
        raise ValueError(f"{betting!r}: the hand is over")
    state = hand_state(history, ((), ()), parse_cards(board))
    return BlueprintPlayer("blueprint", blueprint).in_public().strategy(history, state.visible_board)
