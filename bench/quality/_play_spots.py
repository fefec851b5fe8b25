"""Recorded decisions, with the information the agent had when it had to make them.

A spot is a hand so far. The context that earlier decisions of the player provide (`Context`) was computed
once by long solves (`fathom bench play --record FILE`) and is stored beside this module. So all players are
measured with the same information, and figures can be compared over time.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files

import msgpack
import numpy as np

from game.actions import Action
from game.betting import BettingState
from game.cards import Cards, parse_cards
from game.definition import HUNL
from protocol.acpc import parse_betting
from solver.agent.agent import Agent
from solver.decisions.limits import UNLIMITED
from solver.games.history import action_code, betting_states
from solver.resolving.alternatives import Alternatives
from solver.resolving.context import Context
from solver.resolving.root import SubgameRoot, find_root

_DATA = "play_spots.xz"

LINES = (
    # Flops, first to act: six single-raised pots whose figures used to be noisy, then other pots.
    ("r300c/", "Th9c2s"),
    ("r300c/", "AsKd7h"),
    ("r300c/", "7c5d4h"),
    ("r300c/", "QsQd3c"),
    ("r300c/", "Jh8h5h"),
    ("r300c/", "2c2d9s"),
    ("cc/", "Jc7d3h"),
    ("r300r900c/", "Qd8c3c"),
    ("r300r900r2700c/", "Jh6c2d"),
    # On the button, after a check, or a bet in or off the blueprint's tree.
    ("r300c/c", "Ac8d3s"),
    ("r200c/c", "Kh9h4c"),
    ("r300r900c/c", "As9s4h"),
    ("r300c/r600", "Td6d2s"),
    ("r300c/r500", "9c7h6h"),
    # In the big blind after check and bet; on the button after our bet was raised.
    ("r300c/cr600", "Kc8s4d"),
    ("r300c/cr750", "Jd9c6h"),
    ("cc/cr240", "Ad9h6c"),
    ("r300r900c/cr1800", "KdTd5s"),
    ("r300c/cr600r1650", "8h7d2c"),
    # Turns.
    ("r300c/cc/", "Kd8h3sTc"),
    ("r300c/cr600c/c", "Qs9s4d4h"),
    ("r300c/cr600c/cr1800", "Jc8d5c2h"),
    ("r300r900c/cr1800c/c", "Ah7h3d6c"),
    ("cc/cr200c/cr520", "Ts6h2dQd"),
    # Rivers.
    ("r300c/cc/cc/", "Qh7c2dKs8s"),
    ("r300c/cr600c/cr1800c/c", "Td8s3hJc4d"),
    ("r300c/cr600c/cc/r1500", "As9d5s3cKh"),
    ("r300r900c/cr1800c/cc/r4000", "Jd7s4cQc2d"),
)
"""Betting and board of each: 200 big blinds, both positions, all streets."""


@dataclass(frozen=True)
class Spot:
    """A recorded decision."""

    line: str
    board_text: str
    context: Context

    @property
    def name(self) -> str:
        """The spot's name in tables."""
        return f"{self.line} {self.board_text}"

    @cached_property
    def betting(self) -> BettingState:
        """The betting so far; the player to act makes the decision."""
        return parse_betting(HUNL, self.line)

    @property
    def board(self) -> Cards:
        """The board cards dealt so far."""
        return tuple(parse_cards(self.board_text))

    @property
    def player(self) -> int:
        """The position of the player to act."""
        return self.betting.actor

    @cached_property
    def root(self) -> SubgameRoot:
        """The root of solves of the decision."""
        return find_root(self.betting, self.board, self.context)

    @property
    def path(self) -> tuple[int, ...]:
        """The actions from the root to the decision."""
        return tuple([action_code(action) for action in self.root.path])

    def own_decisions(self) -> list[BettingState]:
        """The player's earlier decisions on this line, including pre-flop."""
        return [state for state in betting_states(self.betting)[:-1] if state.actor == self.player]


def load_spots() -> list[Spot]:
    """Load the recorded spots."""
    data = msgpack.unpackb(
        lzma.decompress((files("bench.quality") / _DATA).read_bytes()), strict_map_key=False
    )
    return [Spot(line, board, Context.from_bytes(data[f"{line} {board}"])) for line, board in LINES]


def record_spots(agent: Agent, tell: Callable[[str], None]) -> bytes:
    """Compute the contexts of all spots by an agent's own solves; returns the content of the data file."""
    contexts = {}
    for line, board in LINES:
        contexts[f"{line} {board}"] = _pack(_play_to(agent, line, tuple(parse_cards(board))))
        tell(f"{line} {board}")
    return lzma.compress(bytes(msgpack.packb(contexts)), preset=9)


def _play_to(agent: Agent, line: str, board: Cards) -> Context:
    betting = parse_betting(HUNL, line)
    states = betting_states(betting)
    flop = next(state for state in states if state.round_index == 1)
    context = agent.flop_context(flop, seed=0, limits=UNLIMITED)
    steps: list[Action] = [action for actions in betting.actions for action in actions]
    for state, action in zip(states, steps, strict=False):
        if state.round_index >= 1 and state.actor == betting.actor:
            seen = board[: HUNL.board_size(state.round_index)]
            context = agent.decide(state, seen, context, seed=0).after(action)
    return _cut(context, board)


def _cut(context: Context, board: Cards) -> Context:
    """The context without values for cards that were not dealt."""
    if context.alternatives is None:
        return context
    kept = {card: row for card, row in context.alternatives.by_card.items() if card in board}
    return replace(context, alternatives=Alternatives(context.alternatives.here, kept))


def _pack(context: Context) -> bytes:
    """Pack a context with twelve bits of precision, which is enough for ranges and compresses well."""

    def rounded(value: object) -> object:
        if isinstance(value, bytes):
            return (np.frombuffer(value, dtype=np.uint32) & np.uint32(0xFFFFF000)).tobytes()
        return {key: rounded(item) for key, item in value.items()} if isinstance(value, dict) else value

    return bytes(msgpack.packb(rounded(msgpack.unpackb(context.to_bytes(), strict_map_key=False))))
