"""A match on Slumbot, or a server that implements its API, robust against network failures.

1. A hand is never abandoned: after a failure we wait (with exponential backoff) and ask for the hand's state.
2. `act` is not idempotent. If its response is lost, we request `new_hand` with the same token, which on a
   server like Fathom's returns the hand in progress. If the betting is unchanged, the action was lost and is
   sent again; if it has advanced, the action was played; if it is another hand, ours ended unseen.
3. The result of an unseen hand follows from the session's total in the next result.
4. A rejected action is not sent again: the second time we check or call.
5. Every decision is in the hand store before it is sent, every result in store and journal.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from game.actions import CALL, Action
from game.cards import cards_text
from game.hands import hand_index
from game.state import HandState
from protocol.errors import RemoteProtocolError
from protocol.slumbot import ClientSession, SlumbotError, SlumbotHand
from server.decisions import Decider, DecisionRequest, parse_action
from server.matches.slumbot_journal import Journal, Tally
from server.store.hand_records import Channel, StoredHand, stored_decision
from server.store.hand_store import HandStore
from solver.agent.time_bank import MatchClock

_LOG = logging.getLogger(__name__)

CHANNEL = Channel.SLUMBOT
FIRST_DELAY_SECONDS, MOST_DELAY_SECONDS = 0.5, 60.0

_SEED_BITS = 63
_REFUSED_FOR_NOW = frozenset({408, 425, 429, 500, 502, 503, 504})
_NO_SUCH_PLACE = frozenset({404, 405})


class TransportError(OSError):
    """No readable response; it is unknown whether the request was processed."""


class GaveUpError(OSError):
    """The server has not answered for `patience_seconds`."""


class WrongServerError(ValueError):
    """The server does not implement the API: retrying does not help."""


class Post(Protocol):
    """Sends a request."""

    async def __call__(self, endpoint: str, body: Mapping[str, object]) -> tuple[int, object]:
        """Status and body of the response; raises `TransportError`."""


@dataclass(frozen=True, slots=True)
class SlumbotTerms:
    """How to play."""

    opponent: str = "slumbot"
    username: str | None = None
    password: str = ""
    budget: float = 7.0
    """Time budget per hand, in seconds."""
    patience_seconds: float = 3600.0
    """How long a server may fail before we give up."""


@dataclass(frozen=True, slots=True)
class _Thinking:
    """Our state of the hand in progress."""

    stored: StoredHand
    seed: int
    context: bytes | None = None
    expected: str = ""
    """The betting must start with this for the context to be valid."""
    decisions: int = 0
    answered: tuple[str, Action] | None = None
    """The betting of our last decision, and its action."""


class SlumbotMatch:
    """One match. `play` runs it; `leave` ends it after the current hand."""

    def __init__(
        self,
        post: Post,
        decider: Decider,
        journal: Journal,
        terms: SlumbotTerms,
        store: HandStore | None = None,
        on_hand: Callable[[Tally], None] | None = None,
        on_trouble: Callable[[str], None] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._post, self._decider, self._journal, self._terms = post, decider, journal, terms
        self._store, self._on_hand, self._on_trouble, self._sleep = store, on_hand, on_trouble, sleep
        self._session = ClientSession(token=journal.token)
        self._clock = MatchClock(terms.budget)
        self._name = f"slumbot-{secrets.token_hex(4)}"
        self._thinking: _Thinking | None = None
        self._refused: tuple[str, Action] | None = None
        self._unseen = 0
        self._started = 0
        self._leaving = False
        self._playing = False

    @property
    def tally(self) -> Tally:
        """The results so far."""
        return self._journal.tally

    @property
    def hand_under_way(self) -> bool:
        """Whether ending now would lose a hand or its result."""
        return self._playing or bool(self._unseen)

    def leave(self) -> None:
        """End after the current hand."""
        self._leaving = True

    async def play(self, hands: int) -> Tally:
        """Play until this many hands have a result, including those in the journal.

        Raises `GaveUpError`, and `WrongServerError` if the server does not implement the API.
        """
        hand: SlumbotHand | None = None
        while True:
            if hand is None or hand.result is not None:
                # The result of an unseen hand comes with that of the next hand: play one more.
                if (self.tally.hands >= hands or self._leaving) and not self._unseen:
                    return self.tally
                hand = await self._new_hand()
            else:
                hand = await self._step(hand)
            if hand.result is not None:
                await self._finish(hand)

    async def _new_hand(self) -> SlumbotHand:
        delays = _Delays(self._terms.patience_seconds)
        while True:
            try:
                if self._session.token is None:
                    await self._begin_session()
                self._playing = True  # the server may deal a hand even if its response is lost
                hand = await self._ask("new_hand", self._session.new_hand())
            except SlumbotError as error:
                self._playing = False
                if error.status in _NO_SUCH_PLACE and not self._started:
                    raise WrongServerError(
                        f"this is not Slumbot's API (HTTP status {error.status}): check --url"
                    ) from error
                if error.session_lost:
                    self._lose_session()
                await self._wait(delays, error)
            except (TransportError, RemoteProtocolError) as error:
                self._playing = False
                await self._wait(delays, error)
            else:
                self._start(hand)
                return hand

    async def _begin_session(self) -> None:
        if self._terms.username is not None:
            status, body = await self._post(
                "login", self._session.login(self._terms.username, self._terms.password)
            )
            self._session.receive_login(status, body)
            self._journal.keep_token(self._session.token)
        else:
            # For guests a session starts with its first hand.
            self._journal.session_hands, self._journal.session_total = 0, 0

    async def _step(self, hand: SlumbotHand) -> SlumbotHand:
        """Play one action; returns the hand after it, asking again if the response is lost."""
        action = await self._decide(hand)
        try:
            return await self._ask("act", self._session.act(action))
        except SlumbotError as error:
            if error.session_lost:
                self._lose_session()
                self._journal.keep_lost()
                return await self._new_hand()
            if error.status not in _REFUSED_FOR_NOW:
                self.tally.refusals += 1
                self._refused = (hand.state.betting.text, action)
                _LOG.warning("the server rejected an action: %s", error)
            return await self._look_again(hand, error)
        except (TransportError, RemoteProtocolError) as error:
            return await self._look_again(hand, error)

    async def _look_again(self, hand: SlumbotHand, error: Exception) -> SlumbotHand:
        """Ask for the state of the hand after a lost or unreadable response."""
        delays = _Delays(self._terms.patience_seconds)
        while True:
            await self._wait(delays, error)
            self._session.hand = hand
            try:
                seen = await self._ask("new_hand", self._session.new_hand())
            except SlumbotError as refusal:
                if refusal.session_lost:
                    self._lose_session()
                    self._journal.keep_lost()
                    return await self._new_hand()
                error = refusal
            except (TransportError, RemoteProtocolError) as failure:
                error = failure
            else:
                if not seen.continues(hand):
                    self._unseen += 1
                    self._start(seen)
                return seen

    async def _ask(self, endpoint: str, body: Mapping[str, object]) -> SlumbotHand:
        status, answer = await self._post(endpoint, body)
        hand = self._session.receive(status, answer)
        self._journal.keep_token(self._session.token)
        return hand

    async def _wait(self, delays: _Delays, error: Exception) -> None:
        self.tally.retries += 1
        delay = delays.next_seconds()
        if delay is None:
            raise GaveUpError(
                f"no answer for {self._terms.patience_seconds:g} s, last error: {error}"
            ) from error
        if self._on_trouble is not None:
            self._on_trouble(f"{error}: retrying in {delay:.1f} s, giving up in {delays.left:.0f} s")
        await self._sleep(delay)

    def _lose_session(self) -> None:
        _LOG.warning("the server has lost our session: starting a new one")
        self._session.token = self._session.hand = None
        self._playing = False
        self._journal.keep_token(None)
        self._unseen = 0

    def _start(self, hand: SlumbotHand) -> None:
        """Set up our state for a hand that is new to us."""
        self._clock.start_hand()
        self._refused = None
        self._started += 1
        stored = StoredHand(
            id=f"{self._name}-{self._started}",
            channel=CHANNEL,
            match=self._name,
            number=self._started - 1,
            opponent=self._terms.opponent,
            position=hand.position,
            betting=hand.state.betting.text,
            hole=hand.state.hole,
            board=hand.state.board,
            started_at=time.time(),
        )
        self._thinking = _Thinking(stored, secrets.randbits(_SEED_BITS))

    async def _decide(self, hand: SlumbotHand) -> Action:
        thinking, betting = self._thinking, hand.state.betting
        assert thinking is not None, "every hand was started"
        if thinking.answered is not None and thinking.answered[0] == betting.text:
            action = thinking.answered[1]
            return CALL if self._refused == (betting.text, action) else action
        hole = hand.state.hole[hand.position]
        request = DecisionRequest(
            match=self._name,
            betting=betting.text,
            board=hand.state.visible_board,
            hand=hand_index(hole[0], hole[1]),
            context=thinking.context if betting.text.startswith(thinking.expected) else None,
            seed=thinking.seed,
            seconds=self._clock.seconds_for(betting),
        )
        started = time.monotonic()
        answer = await self._decider.decide(request)
        self._clock.spend(time.monotonic() - started)
        action = parse_action(answer.action)
        rung = answer.rung.value
        self.tally.decisions[rung] = self.tally.decisions.get(rung, 0) + 1
        stored = _seen(thinking.stored, hand.state)
        if self._store is not None:
            await self._store.save(
                stored, stored_decision(stored.id, thinking.decisions, request, answer, time.time())
            )
        self._thinking = replace(
            thinking,
            stored=stored,
            context=answer.context,
            expected=betting.apply(action).text,
            decisions=thinking.decisions + 1,
            answered=(betting.text, action),
        )
        return action

    async def _finish(self, hand: SlumbotHand) -> None:
        result, thinking = hand.result, self._thinking
        assert result is not None, "the hand is over"
        assert thinking is not None, "every hand was started"
        wrong = hand.disagreement()
        if wrong is not None:
            _LOG.warning("a result contradicts the rules: %s", wrong)
        self._settle_unseen(result.session_hands, result.session_total, result.winnings)
        self._journal.keep_hand(
            {
                "action": hand.action,
                "position": hand.position,
                "hole": cards_text(hand.state.hole[hand.position]),
                "bot_hole": cards_text(result.bot_hole),
                "board": cards_text(hand.state.board),
                "winnings": result.winnings,
                "session_hands": result.session_hands,
                "session_total": result.session_total,
                "baseline_winnings": result.baseline_winnings,
                "disagreement": wrong,
            }
        )
        if self._store is not None:
            hole = list(hand.state.hole)
            hole[1 - hand.position] = result.bot_hole
            stored = replace(
                _seen(thinking.stored, hand.state),
                hole=(hole[0], hole[1]),
                finished_at=time.time(),
                chips=result.winnings,
            )
            await self._store.save(stored)
        self._playing = False
        if self._on_hand is not None:
            self._on_hand(self.tally)

    def _settle_unseen(self, hands: int | None, total: int | None, winnings: int) -> None:
        """Account for hands that the session counts but whose end we did not see."""
        known_hands, known_total = self._journal.session_hands, self._journal.session_total
        if hands is not None and total is not None and known_hands is not None and known_total is not None:
            missing = hands - known_hands - 1
            if missing > 0:
                self._journal.keep_recovered(missing, total - known_total - winnings)
                self._unseen = max(self._unseen - missing, 0)
        for _ in range(self._unseen):
            self._journal.keep_lost()
        self._unseen = 0


class _Delays:
    """Delays after consecutive failures: exponential backoff with jitter."""

    def __init__(self, patience_seconds: float) -> None:
        self._left = patience_seconds
        self._delay = FIRST_DELAY_SECONDS

    @property
    def left(self) -> float:
        """Seconds left after the last delay before giving up."""
        return self._left

    def next_seconds(self) -> float | None:
        """The next delay; None if the time is used up."""
        if self._left <= 0:
            return None
        delay = min(self._delay * random.uniform(0.5, 1.5), self._left)
        self._delay = min(2 * self._delay, MOST_DELAY_SECONDS)
        self._left -= delay
        return delay


def _seen(stored: StoredHand, state: HandState) -> StoredHand:
    return replace(stored, betting=state.betting.text, hole=state.hole, board=state.board)
