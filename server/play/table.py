"""Hands between people and the bot: dealt here, decided by a `Decider`, kept in the hand store.

1. Cards, seeds and tokens come from the operating system's randomness; all nine cards are drawn before the
   first action.
2. The button alternates between the hands of a session. A session plays one hand at a time: requesting a new
   hand while one is in progress returns that one.
3. No response is sent before the hand is in the store or queued for the disk. Until then nothing has
   happened, and a client that lost a response can repeat the request. So any hand continues after a restart,
   from the store, with its context.
4. The bot's cards and seeds leave this module only for the store and in requests to the `Decider`; `view`
   returns what the opponent may see.
5. The bot's answer is verified; an illegal one is replaced by check or fold, and counted.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import msgpack

from game.actions import CALL, FOLD, Action
from game.betting import BettingState
from game.definition import HUNL
from game.hands import hand_index
from game.state import HandState, hand_state, new_hand
from server.decisions import (
    Decider,
    DecisionAnswer,
    DecisionRequest,
    Progress,
    Rung,
    Watchable,
    parse_action,
)
from server.store.hand_records import (
    Channel,
    StoredDecision,
    StoredHand,
    StoredSession,
    StoredThought,
    stored_decision,
)
from server.store.hand_store import HandStore
from solver.agent.time_bank import MatchClock
from solver.decisions.explanation import grids

_LOG = logging.getLogger(__name__)

TOKEN_BYTES = 24
MAX_LIVE = 5_000
"""Maximum sessions and hands in progress kept in memory; others are read from the store."""

_DEALT = 9
_SHOWN_OF_ID = 8  # characters in logs: knowing the whole id is enough to play the hand
_V = TypeVar("_V")


class TableError(Exception):
    """Base class of errors in requests about a hand; the message is for the client."""


class UnknownHandError(TableError):
    """No such hand, or it belongs to another owner."""


class UnknownSessionError(TableError):
    """No such session."""


class NotYourTurnError(TableError):
    """The hand is over, or its betting has changed."""


class Observer(Protocol):
    """Notified of finished hands and replaced answers."""

    def hand_finished(self, channel: str, opponent: str, chips: int) -> None:
        """A hand ended; `chips` is what the bot won."""

    def answer_replaced(self) -> None:
        """The bot's answer was illegal or missing."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A decision in progress, including its secrets."""

    hand_id: str
    request: DecisionRequest
    round_index: int
    since: float
    """In `time.monotonic()`."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """Progress of the bot's decision. Solves depend on public information only, so this reveals no cards."""

    round_index: int
    progress: Progress | None
    """None while the decision waits for a worker or is being prepared."""
    seconds: float
    """Since the request."""
    seconds_allowed: float


@dataclass(slots=True, eq=False)
class Session:
    """A person's series of hands. The lock is held while a hand changes."""

    stored: StoredSession
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    clock: MatchClock | None = None
    budget: float = 0.0
    pending: _Pending | None = None
    """The bot's decision in progress, if any."""


@dataclass(frozen=True, slots=True)
class LiveHand:
    """A hand with everything known about it, including secrets."""

    stored: StoredHand
    state: HandState
    seed: int
    context: bytes | None
    decisions: int
    budget: float
    session_id: str
    explain: bool = False
    """Whether the bot's reasoning is stored, to be shown after the hand."""

    @property
    def opponent_position(self) -> int:
        """The person's position."""
        return 1 - self.stored.position


@dataclass(frozen=True, slots=True)
class HandView:
    """A hand as the opponent may see it; every response is built from this."""

    id: str
    number: int
    state: HandState
    """The bot's cards only after a showdown; only the revealed part of the board."""
    position: int
    """The opponent's position."""
    chips: int | None
    """What the opponent won, if the hand is over."""
    started_at: float
    finished_at: float | None


def view(stored: StoredHand) -> HandView:
    """What the opponent may see of a hand."""
    seen = stored.as_seen_by_opponent()
    return HandView(
        id=seen.id,
        number=seen.number,
        state=seen.state(),
        position=1 - seen.position,
        chips=None if seen.chips is None else -seen.chips,
        started_at=seen.started_at,
        finished_at=seen.finished_at,
    )


def token_digest(token: str) -> str:
    """The session's id: a hash of its token. Tokens are long and random, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


class Table:
    """Plays any number of hands at once, one at a time per session."""

    def __init__(
        self,
        decider: Decider,
        store: HandStore,
        budget: float,
        observer: Observer | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Create a table.

        budget  default time budget per hand, in seconds
        wall    the wall clock
        """
        self._decider, self._store, self._budget = decider, store, budget
        self._observer = observer
        self._wall = wall
        self._random = secrets.SystemRandom()
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._hands: OrderedDict[str, LiveHand] = OrderedDict()
        self.answers_replaced = 0

    async def open_session(self, channel: Channel, owner: str, opponent: str) -> tuple[str, Session]:
        """Open a session; returns its token and the session."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        stored = StoredSession(
            id=token_digest(token),
            channel=channel,
            owner=owner,
            opponent=opponent,
            next_position=self._random.randrange(2),
            hands=0,
            chips=0,
            hand_id=None,
            used_at=self._wall(),
        )
        session = self._keep(self._sessions, stored.id, Session(stored))
        await self._store.save(stored)
        return token, session

    async def session(self, token: str, channel: Channel, owner: str | None) -> Session:
        """Find a session by its token; raises `UnknownSessionError`.

        owner  the session must belong to this owner; None: any owner
        """
        session = await self._session(token_digest(token))
        stored = None if session is None else session.stored
        if (
            session is None
            or stored is None
            or stored.channel != channel
            or owner not in (None, stored.owner)
        ):
            raise UnknownSessionError("no session has this token: start a new session")
        return session

    async def new_hand(
        self, session: Session, budget: float | None = None, explain: bool = False
    ) -> tuple[LiveHand, bool]:
        """The next hand or the one in progress, and whether it is new. The bot acts if it is its turn."""
        async with session.lock:
            current = session.stored.hand_id
            if current is not None:
                hand = await self._hand(current)
                if hand is not None and not hand.stored.is_finished:
                    return hand, False
            hand = self._deal(session, self._budget if budget is None else budget, explain)
            self._start_clock(session, hand.budget)
            stored = replace(
                session.stored, next_position=1 - session.stored.next_position, hand_id=hand.stored.id
            )
            return await self._go_on(session, stored, hand), True

    async def act(
        self, hand_id: str, owner: str | None, action: Action, betting: str | None = None
    ) -> LiveHand:
        """Play the opponent's action and the bot's reply; raises `TableError` or `IllegalAction`.

        betting  the betting the opponent acted on: rejected if it has changed since
        """
        hand = await self.hand(hand_id, owner)
        if hand.stored.is_finished:
            raise NotYourTurnError("the hand is over")
        session = await self._session(hand.session_id)
        if session is None:
            raise UnknownHandError("the session of this hand no longer exists: start a new session")
        async with session.lock:
            hand = await self.hand(hand_id, owner)
            state = hand.state.betting
            if betting is not None and betting != state.text:
                raise NotYourTurnError(f"the betting is {state.text!r} now, not {betting[:80]!r}")
            if state.is_finished:
                raise NotYourTurnError("the hand is over")
            if session.clock is None:
                self._start_clock(session, hand.budget)
            hand = replace(hand, state=hand.state.apply(action))
            return await self._go_on(session, session.stored, hand)

    async def hand(self, hand_id: str, owner: str | None) -> LiveHand:
        """Find a hand; raises `UnknownHandError`, also for another owner's hand.

        owner  None: any owner
        """
        hand = await self._hand(hand_id)
        if hand is None or (owner is not None and hand.stored.owner != owner):
            raise UnknownHandError("no such hand")
        return hand

    def thinking_of(self, session: Session) -> Thinking | None:
        """Progress of the decision that a session waits for; None if there is none."""
        pending = session.pending
        if pending is None:
            return None
        decider = self._decider
        return Thinking(
            pending.round_index,
            decider.progress(pending.request) if isinstance(decider, Watchable) else None,
            time.monotonic() - pending.since,
            pending.request.seconds,
        )

    def thinking_about(self, hand_id: str) -> Thinking | None:
        """Progress of the decision in a hand; None if there is none, or no such hand."""
        hand = self._hands.get(hand_id)
        session = None if hand is None else self._sessions.get(hand.session_id)
        if session is None or session.pending is None or session.pending.hand_id != hand_id:
            return None
        return self.thinking_of(session)

    def _deal(self, session: Session, budget: float, explain: bool) -> LiveHand:
        cards = tuple(self._random.sample(sorted(HUNL.deck), _DEALT))
        hole = cards[0:2], cards[2:4]
        stored = StoredHand(
            id=secrets.token_urlsafe(TOKEN_BYTES),
            channel=session.stored.channel,
            match=session.stored.id[:16],
            number=session.stored.hands,
            opponent=session.stored.opponent,
            position=1 - session.stored.next_position,
            betting="",
            hole=hole,
            board=cards[4:],
            started_at=self._wall(),
            owner=session.stored.owner,
        )
        state = new_hand(HUNL, hole, cards[4:])
        return LiveHand(stored, state, secrets.randbits(63), None, 0, budget, session.stored.id, explain)

    async def _go_on(self, session: Session, stored_session: StoredSession, hand: LiveHand) -> LiveHand:
        """Let the bot act while it is its turn, then save everything. The session's lock is held."""
        made: list[StoredDecision | StoredThought] = []
        while hand.state.betting.actor == hand.stored.position:
            hand, decided = await self._let_bot_act(session, hand)
            made.extend(decided)
        now, betting = self._wall(), hand.state.betting
        stored = replace(hand.stored, betting=betting.text)
        if betting.is_finished:
            chips = hand.state.values()[stored.position]
            stored = replace(stored, finished_at=now, chips=chips, secret=None)
            stored_session = replace(
                stored_session, hands=stored_session.hands + 1, chips=stored_session.chips - chips
            )
        else:
            stored = replace(stored, secret=_pack(hand))
        hand = replace(hand, stored=stored)
        stored_session = replace(stored_session, used_at=now)
        await self._store.save(stored, *made, stored_session)
        session.stored = stored_session
        if stored.chips is None:
            self._keep(self._hands, stored.id, hand)
        else:
            self._hands.pop(stored.id, None)
            _LOG.info(
                "hand %s… (%s, %s) is over: %+d chips",
                stored.id[:_SHOWN_OF_ID], stored.channel, stored.opponent, stored.chips,
            )  # fmt: skip
            if self._observer is not None:
                self._observer.hand_finished(stored.channel, stored.opponent, stored.chips)
        return hand

    async def _let_bot_act(
        self, session: Session, hand: LiveHand
    ) -> tuple[LiveHand, list[StoredDecision | StoredThought]]:
        betting, own = hand.state.betting, hand_index(*hand.state.hole[hand.stored.position])
        assert session.clock is not None, "every hand starts the clock"
        request = DecisionRequest(
            match=hand.stored.match,
            betting=betting.text,
            board=hand.state.visible_board,
            hand=own,
            context=hand.context,
            seed=hand.seed,
            seconds=session.clock.seconds_for(betting),
            explain=hand.explain,
        )
        started = time.monotonic()
        session.pending = _Pending(hand.stored.id, request, betting.round_index, started)
        try:
            action, answer = await self._ask(request, betting)
        finally:
            session.pending = None
        session.clock.spend(time.monotonic() - started)
        made: list[StoredDecision | StoredThought] = [_no_decision(hand, self._wall())]
        if answer is not None:
            made = [stored_decision(hand.stored.id, hand.decisions, request, answer, self._wall())]
            if hand.explain:
                made.append(_thought(hand, answer))
        after = replace(
            hand,
            state=hand.state.apply(action),
            context=None if answer is None else answer.context,
            decisions=hand.decisions + 1,
        )
        return after, made

    async def _ask(
        self, request: DecisionRequest, betting: BettingState
    ) -> tuple[Action, DecisionAnswer | None]:
        """A legal action, and the bot's answer; None for the answer if the action replaces it."""
        try:
            answer = await self._decider.decide(request)
            action = parse_action(answer.action)
            betting.verify(action)
        except Exception as error:  # deciders should never fail, but the hand must go on if one does
            # Log only the type of the error: its message may contain cards or the seed.
            _LOG.error("no legal answer from the bot (%s): check or fold", type(error).__name__)
            self.answers_replaced += 1
            if self._observer is not None:
                self._observer.answer_replaced()
            return _check_or_fold(betting), None
        return action, answer

    def _start_clock(self, session: Session, budget: float) -> None:
        if session.clock is None or session.budget != budget:
            session.clock, session.budget = MatchClock(budget), budget
        session.clock.start_hand()

    async def _session(self, session_id: str) -> Session | None:
        known = self._sessions.get(session_id)
        if known is None:
            stored = await self._store.session(session_id)
            if stored is None:
                return None
            # Another task may have loaded it meanwhile: all must share one session and its lock.
            known = self._sessions.get(session_id) or self._keep(self._sessions, session_id, Session(stored))
        self._sessions.move_to_end(session_id)
        return known

    async def _hand(self, hand_id: str) -> LiveHand | None:
        known = self._hands.get(hand_id)
        if known is not None:
            self._hands.move_to_end(hand_id)
            return known
        stored = await self._store.hand(hand_id)
        if stored is None or stored.channel not in (Channel.HTTP, Channel.SLUMBOT_API):
            return None
        if stored.is_finished:
            return _restored(stored)
        return self._hands.get(hand_id) or self._keep(self._hands, hand_id, _restored(stored))

    @staticmethod
    def _keep(kept: OrderedDict[str, _V], key: str, value: _V) -> _V:
        """Add to a cache of bounded size; sessions in use are not evicted."""
        kept[key] = value
        kept.move_to_end(key)
        while len(kept) > MAX_LIVE:
            oldest = next(iter(kept))
            if isinstance(kept[oldest], Session) and kept[oldest].lock.locked():  # type: ignore[attr-defined]
                kept.move_to_end(oldest)
                break
            del kept[oldest]
        return value


def _no_decision(hand: LiveHand, at: float) -> StoredDecision:
    """The record of a decision for which the bot had no answer."""
    betting = hand.state.betting
    return StoredDecision(
        hand_id=hand.stored.id,
        number=hand.decisions,
        betting=betting.text,
        action=str(_check_or_fold(betting)),
        strategy=(),
        method="none",
        rung=Rung.CHECK_FOLD.value,
        iterations=0,
        seconds=0.0,
        at=at,
    )


def _thought(hand: LiveHand, answer: DecisionAnswer) -> StoredThought:
    """The stored explanation; for decisions without a solve, only the ranges and the strategy."""
    body = answer.explanation
    if body is None:
        told = grids(answer.ranges, hand.stored.position, answer.actions, answer.probabilities)
        body = json.dumps(told).encode()
    return StoredThought(hand.stored.id, hand.decisions, body)


def _check_or_fold(betting: BettingState) -> Action:
    return FOLD if betting.can_fold() else CALL


def _pack(hand: LiveHand) -> bytes:
    return bytes(
        msgpack.packb(
            {
                "seed": hand.seed,
                "context": hand.context,
                "decisions": hand.decisions,
                "budget": hand.budget,
                "session": hand.session_id,
                "explain": hand.explain,
            }
        )
    )


def _restored(stored: StoredHand) -> LiveHand:
    """A hand from the store; finished hands have no secrets."""
    state = hand_state(stored.betting_state(), stored.hole, stored.board)
    if stored.secret is None:
        return LiveHand(stored, state, 0, None, 0, 1.0, "")
    fields = msgpack.unpackb(stored.secret)
    return LiveHand(
        stored=stored,
        state=state,
        seed=fields["seed"],
        context=fields["context"],
        decisions=fields["decisions"],
        budget=fields["budget"],
        session_id=fields["session"],
        explain=fields.get("explain", False),
    )
