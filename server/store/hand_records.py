"""The records stored for every hand and decision, and their export formats."""

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
    """How a hand was played."""

    HTTP = "http"
    """A client plays against us over our own API."""
    ACPC = "acpc"
    """We play on an ACPC dealer."""
    SLUMBOT = "slumbot"
    """We play on Slumbot or a server with its API."""
    SLUMBOT_API = "slumbot-api"
    """A client plays against us over Slumbot's API."""


@dataclass(frozen=True, slots=True)
class StoredHand:
    """One hand, finished or in progress. Every change replaces the whole record."""

    id: str
    channel: Channel
    match: str
    """The match or session of the hand."""
    number: int
    """The hand's number in the match."""
    opponent: str
    position: int
    """Our position."""
    betting: str
    """In ACPC notation."""
    hole: HoleCards
    """By position; empty if unknown."""
    board: Cards
    """All dealt cards, including those not yet revealed."""
    started_at: float
    """Seconds since the epoch."""
    owner: str = ""
    """Name of the API key that played it; empty if none was needed."""
    finished_at: float | None = None
    chips: int | None = None
    """What we won; None while in progress."""
    secret: bytes | None = None
    """The state needed to continue the hand; dropped at its end."""

    @property
    def is_finished(self) -> bool:
        """Whether the result is known."""
        return self.finished_at is not None

    def betting_state(self) -> BettingState:
        """The current betting state."""
        return parse_betting(HUNL, self.betting)

    def state(self) -> HandState:
        """Betting and cards, with only the revealed part of the board."""
        betting = self.betting_state()
        return hand_state(betting, self.hole, self.board[: HUNL.board_size(betting.round_index)])

    def as_seen_by_opponent(self) -> StoredHand:
        """Without what the opponent must not know: our cards (unless shown down) and the unrevealed board."""
        betting = self.betting_state()
        hole = list(self.hole)
        if not (self.is_finished and betting.is_showdown):
            hole[self.position] = ()
        visible = self.board[: HUNL.board_size(betting.round_index)]
        return replace(self, hole=(hole[0], hole[1]), board=visible, secret=None)

    def names(self) -> tuple[str, str]:
        """The players' names by position."""
        return (OUR_NAME, self.opponent) if self.position == 0 else (self.opponent, OUR_NAME)


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """One of our decisions."""

    hand_id: str
    number: int
    """The decision's number in the hand, from 0."""
    betting: str
    """The betting before the decision."""
    action: str
    strategy: tuple[tuple[str, float], ...]
    """Actions and their probabilities for the hand we held."""
    method: str
    rung: str
    iterations: int
    seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class StoredThought:
    """The explanation of one of our decisions, stored on request, to be shown after the hand."""

    hand_id: str
    number: int
    """The decision's number."""
    body: bytes
    """JSON of `decisions.explanation`. The parts about the hand held are secret unless it was shown down."""


@dataclass(frozen=True, slots=True)
class StoredPushFold:
    """One push/fold hand played by a person; amounts are in big blinds."""

    id: str
    owner: str
    at: float
    stack: float
    position: int
    """The person's position: 0 big blind, 1 small blind."""
    hole: Cards
    bot_hole: Cards
    board: Cards
    all_in: bool | None
    """Whether the person went all-in; None if the bot folded first."""
    bot_all_in: bool | None
    """Whether the bot went all-in; None if it did not have to decide."""
    chips: float
    """What the person won."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A client's series of hands, identified by a token of which only the digest is stored."""

    id: str
    channel: Channel
    owner: str
    opponent: str
    next_position: int
    """The opponent's position in the next hand."""
    hands: int
    chips: int
    """What the opponent won."""
    hand_id: str | None
    """The hand in progress, or the last one."""
    used_at: float


def stored_decision(
    hand_id: str, number: int, request: DecisionRequest, answer: DecisionAnswer, at: float
) -> StoredDecision:
    """The record of an answer: of the strategy, only the row of the hand held."""
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
    """The hands as a `.phhs` file; a single hand as a `.phh` file."""
    records = [_record(hand) for hand in hands]
    return history_text(records[0]) if len(records) == 1 else histories_text(records)


def acpc_text(hands: Iterable[StoredHand]) -> str:
    """The hands as a dealer's `STATE` log lines; unknown cards and values are left out."""
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
