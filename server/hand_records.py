"""What is kept of every hand and decision, whoever it was played with, and how it is written for others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from game.betting import BettingState
from game.cards import Cards, cards_text
from game.definition import HUNL
from game.state import HandState, HoleCards, hand_state
from protocol.acpc import parse_betting
from protocol.phh import histories_text, history_text
from protocol.records import HandRecord
from server.decisions import DecisionAnswer, DecisionRequest

OUR_NAME = "Fathom"


class Channel(StrEnum):
    """Which way a hand was played."""

    HTTP = "http"
    """Somebody plays us over our own API."""
    ACPC = "acpc"
    """We play on a dealer."""
    SLUMBOT = "slumbot"
    """We play on Slumbot or a server like it."""
    SLUMBOT_API = "slumbot-api"
    """Somebody plays us over Slumbot's API."""


@dataclass(frozen=True, slots=True)
class StoredHand:
    """One hand, finished or under way. Every change of it is saved whole."""

    id: str
    channel: Channel
    match: str
    """Hands of one match or session belong together."""
    number: int
    """In the match."""
    opponent: str
    position: int
    """Ours."""
    betting: str
    """As the ACPC writes it."""
    hole: HoleCards
    """By position; empty if we do not know them."""
    board: Cards
    """All that is dealt, turned over or not."""
    started_at: float
    """Seconds since the epoch."""
    owner: str = ""
    """The API key it was played with; empty where none was needed."""
    finished_at: float | None = None
    chips: int | None = None
    """What we won."""
    secret: bytes | None = None
    """What it takes to go on with the hand; dropped when it is over."""

    @property
    def is_finished(self) -> bool:
        """Whether the result is known."""
        return self.finished_at is not None

    def betting_state(self) -> BettingState:
        """Where the betting stands."""
        return parse_betting(HUNL, self.betting)

    def state(self) -> HandState:
        """Betting and cards; of the board only what is turned over."""
        betting = self.betting_state()
        return hand_state(betting, self.hole, self.board[: HUNL.board_size(betting.round_index)])

    def as_seen_by_opponent(self) -> StoredHand:
        """Without what the opponent must not know: our cards, unless shown down, and the board to come."""
        betting = self.betting_state()
        hole = list(self.hole)
        if not (self.is_finished and betting.is_showdown):
            hole[self.position] = ()
        visible = self.board[: HUNL.board_size(betting.round_index)]
        return replace(self, hole=(hole[0], hole[1]), board=visible, secret=None)

    def names(self) -> tuple[str, str]:
        """By position."""
        return (OUR_NAME, self.opponent) if self.position == 0 else (self.opponent, OUR_NAME)


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """One decision of ours."""

    hand_id: str
    number: int
    """In the hand, from 0."""
    betting: str
    """Before it."""
    action: str
    strategy: tuple[tuple[str, float], ...]
    """What the hand we held would do, and how often."""
    method: str
    rung: str
    iterations: int
    seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class StoredThought:
    """All about one decision of ours, where somebody wants to look at it after the hand."""

    hand_id: str
    number: int
    """That of the decision."""
    body: bytes
    """JSON of `solver.explanation`. What is told of the hand held is secret unless it was shown down."""


@dataclass(frozen=True, slots=True)
class StoredPushFold:
    """One hand of push/fold that somebody played; values in big blinds."""

    id: str
    owner: str
    at: float
    stack: float
    position: int
    """The person's: 0 big blind, 1 small blind."""
    hole: Cards
    bot_hole: Cards
    board: Cards
    all_in: bool | None
    """What the person did; None where the bot folded first."""
    bot_all_in: bool | None
    """None where nobody asked it."""
    chips: float
    """What the person won."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """Somebody who plays us hand after hand, known by a token of which only the digest is kept."""

    id: str
    channel: Channel
    owner: str
    opponent: str
    next_position: int
    """The opponent's in the next hand."""
    hands: int
    chips: int
    """What the opponent won."""
    hand_id: str | None
    """Under way, or the last one."""
    used_at: float


def stored_decision(
    hand_id: str, number: int, request: DecisionRequest, answer: DecisionAnswer, at: float
) -> StoredDecision:
    """What is kept of an answer: of the strategy, only what the hand held does."""
    shares = zip(answer.actions, answer.probabilities[:, request.hand], strict=True)
    return StoredDecision(
        hand_id=hand_id,
        number=number,
        betting=request.betting,
        action=answer.action,
        strategy=tuple([(name, round(float(share), 4)) for name, share in shares]),
        method=answer.method,
        rung=answer.rung.value,
        iterations=answer.iterations,
        seconds=answer.seconds,
        at=at,
    )


def phh_text(hands: Iterable[StoredHand]) -> str:
    """A `.phhs` file; a `.phh` file if it is one hand."""
    records = [_record(hand) for hand in hands]
    return history_text(records[0]) if len(records) == 1 else histories_text(records)


def acpc_text(hands: Iterable[StoredHand]) -> str:
    """`STATE` lines as dealers log them; cards and values that nobody knows are left out."""
    return "".join([_state_line(hand) for hand in hands])


def _record(hand: StoredHand) -> HandRecord:
    return HandRecord(hand.number, hand.state(), hand.names())


def _state_line(hand: StoredHand) -> str:
    state, names = hand.state(), hand.names()
    board = [
        "/" + cards_text(state.board[HUNL.board_size(r - 1) : HUNL.board_size(r)])
        for r in range(1, state.betting.round_index + 1)
    ]
    hole = "|".join([cards_text(cards) for cards in state.hole])
    values = ["", ""]
    if hand.chips is not None:
        values[hand.position], values[1 - hand.position] = str(hand.chips), str(-hand.chips)
    return f"STATE:{hand.number}:{hand.betting}:{hole}{''.join(board)}:{'|'.join(values)}:{'|'.join(names)}\n"
