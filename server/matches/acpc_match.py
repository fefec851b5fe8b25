"""One match on an ACPC dealer, run as an asyncio task: read lines, request decisions, send replies.

1. Every state is rebuilt from its line. A malformed line is counted and skipped; the match continues.
2. The clock runs from the arrival of a line to our reply. Time that quick decisions leave over is saved for
   later ones (`solver.agent.time_bank`).
3. Observers are notified of a decision before its reply is sent, and of a hand when it ends.
4. The dealer may disconnect at any time: the match then ends with the hands played so far. When asked to
   leave, we answer the decision in progress first.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from game.definition import HUNL, GameDefinition
from game.hands import hand_index
from protocol.acpc import ClientConnection, Event, MalformedLine, MatchState, StateReceived
from server.config.config import MatchConfig
from server.decisions import Decider, DecisionAnswer, DecisionRequest, parse_action
from server.telemetry.metrics import Metrics
from solver.agent.time_bank import MatchClock

log = logging.getLogger(__name__)

_T = TypeVar("_T")

CHANNEL = "acpc"

_RECEIVE_BYTES = 65536
_CONNECT_SECONDS = 5.0
_RETRY_SECONDS = 0.2
_SEED_BITS = 63
_BUDGET_SHARE = 0.95
"""Safety margin: we use this share of the budget, because the dealer's clock includes network latency."""

CONNECTING, WARMING, PLAYING = "connecting", "warming_up", "playing"
FINISHED, DEALER_GONE, STOPPED, FAILED = "finished", "dealer_gone", "stopped", "failed"
ENDED = (FINISHED, DEALER_GONE, STOPPED, FAILED)


@dataclass(frozen=True, slots=True)
class MatchStatus:
    """The state of a match, from our point of view."""

    match: str
    opponent: str
    address: str
    state: str
    hands: int
    chips: int
    mbb_per_hand: float
    mbb_interval: float | None
    """Half-width of the 95 % interval of `mbb_per_hand`; None with fewer than two hands."""
    decisions: int
    malformed_lines: int
    thinking_seconds: float
    """Total time from line to reply, over all decisions."""
    slowest_seconds: float
    unfinished_hand: int | None
    """The hand during which the dealer disconnected, if any."""
    error: str


Ready = Callable[[], Coroutine[Any, Any, None]]
"""Waits until decisions can be made."""


class MatchObserver(Protocol):
    """Notified of decisions and finished hands; the hand store's recorder is one."""

    async def on_decision(
        self, match: str, opponent: str, state: MatchState, request: DecisionRequest, answer: DecisionAnswer
    ) -> None:
        """A decision was made; the reply is sent after this returns."""

    async def on_hand(self, match: str, opponent: str, state: MatchState) -> None:
        """A hand ended; the state contains only what we may know of it."""


@dataclass(frozen=True, slots=True)
class OurSide:
    """Who plays our side of matches: the same for all matches of a process."""

    decider: Decider
    metrics: Metrics
    budget: float
    """Seconds per hand of a match that names no budget."""
    observers: tuple[MatchObserver, ...] = ()
    definition: GameDefinition = HUNL
    ready: Ready | None = None
    """None: decisions can be made at once."""


class AcpcMatch:
    """One match. `play` runs it; an instance is used once."""

    def __init__(
        self, name: str, spec: MatchConfig, us: OurSide, connection: socket.socket | None = None
    ) -> None:
        """Prepare a match; `play` runs it.

        connection  an existing connection to the dealer; None: connect as `spec` says
        """
        self._name = name
        self._spec = spec
        self._us = us
        self._connection = connection
        self._clock = MatchClock(_BUDGET_SHARE * (spec.budget or us.budget))
        self._client = ClientConnection(us.definition)
        self._leaving = asyncio.Event()
        self._state = CONNECTING
        self._error = ""
        self._hands = self._chips = self._decisions = self._malformed = 0
        self._squared_chips = 0
        self._thinking = self._slowest = 0.0
        self._latest: MatchState | None = None
        self._seed = 0
        self._context: bytes | None = None
        self._expected = ""
        """The betting must start with this for the context to be valid."""

    @property
    def opponent(self) -> str:
        """The opponent's name in metrics and lists."""
        return self._spec.name or f"{self._spec.host}:{self._spec.port}"

    def status(self) -> MatchStatus:
        """The current status."""
        latest = self._latest
        unfinished = latest is not None and not latest.state.betting.is_finished and self._state in ENDED
        return MatchStatus(
            match=self._name,
            opponent=self.opponent,
            address=f"{self._spec.host}:{self._spec.port}",
            state=self._state,
            hands=self._hands,
            chips=self._chips,
            mbb_per_hand=self._mbb(self._chips / max(self._hands, 1)),
            mbb_interval=self._interval(),
            decisions=self._decisions,
            malformed_lines=self._malformed,
            thinking_seconds=self._thinking,
            slowest_seconds=self._slowest,
            unfinished_hand=latest.hand_id if latest is not None and unfinished else None,
            error=self._error,
        )

    def _mbb(self, chips: float) -> float:
        return 1000 * chips / max(self._us.definition.big_blind, 1)

    def _interval(self) -> float | None:
        hands = self._hands
        if hands < 2:
            return None
        variance = max(self._squared_chips - self._chips**2 / hands, 0.0) / (hands - 1)
        return self._mbb(1.96 * math.sqrt(variance / hands))

    def leave(self) -> None:
        """Answer the decision in progress, then disconnect."""
        self._leaving.set()

    async def play(self) -> MatchStatus:
        """Play until the match ends for any reason; raises only `CancelledError`."""
        try:
            self._end(await self._play())
        except OSError as error:
            self._end(DEALER_GONE if self._state == PLAYING else FAILED, error.strerror or str(error))
        except asyncio.CancelledError:
            self._end(STOPPED, "cancelled")
            raise
        except Exception as error:
            log.exception("match %s failed", self._name)
            self._end(FAILED, f"internal error ({type(error).__name__}): see the log for details")
        return self.status()

    async def _play(self) -> str:
        """Play and return the final state."""
        connected = await self._until_leaving(self._connect())
        if connected is None:
            return STOPPED
        reader, writer = connected
        try:
            # The dealer waits for our version without a time limit, then starts the clock: warm up first.
            self._state = WARMING
            if self._us.ready is not None:
                await self._until_leaving(self._us.ready())
            self._state = PLAYING
            log.info("match %s started", self._name, extra={"facts": {"opponent": self.opponent}})
            if not self._leaving.is_set():
                writer.write(self._client.version())
            while data := await self._until_leaving(reader.read(_RECEIVE_BYTES)):
                arrived = time.monotonic()
                await self._take(self._client.receive(data))
                if self._has_enough():
                    self._leaving.set()
                    break
                # Only the newest state needs a reply: the dealer waits for one reply at most.
                if self._client.awaiting is not None:
                    writer.write(await self._reply(self._client.awaiting, arrived))
                    await writer.drain()
        finally:
            writer.close()
        await self._take(self._client.close())
        if self._leaving.is_set():
            return STOPPED
        return FINISHED if self._is_between_hands() else DEALER_GONE

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect, retrying until `wait_seconds` have passed."""
        if self._connection is not None:
            self._connection.setblocking(False)
            return await asyncio.open_connection(sock=self._connection)
        host, port = self._spec.host, self._spec.port
        deadline = time.monotonic() + self._spec.wait_seconds
        while True:
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    reader, writer = await asyncio.open_connection(host, port)
            except socket.gaierror as error:
                raise OSError(f"cannot find the host {host!r}: {error.strerror}") from error
            except OSError as error:  # TimeoutError is an OSError
                if time.monotonic() + _RETRY_SECONDS > deadline:
                    raise OSError(
                        f"no dealer at {host}:{port} ({error.strerror or 'timed out'}):"
                        " start the dealer first and give the port it prints for your seat"
                    ) from error
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                connection = writer.get_extra_info("socket")
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return reader, writer

    async def _take(self, events: Sequence[Event]) -> None:
        """Update the counters and the match's state."""
        for event in events:
            if self._has_enough():
                return
            if isinstance(event, StateReceived):
                await self._take_state(event.match_state)
            elif isinstance(event, MalformedLine):
                self._malformed += 1
                self._us.metrics.malformed_lines.inc()
                log.warning("match %s: malformed line from the dealer", self._name)

    async def _take_state(self, match: MatchState) -> None:
        before, self._latest = self._latest, match
        if before is None or (before.hand_id, before.position) != (match.hand_id, match.position):
            self._clock.start_hand()
            self._seed, self._context, self._expected = secrets.randbits(_SEED_BITS), None, ""
        if not match.state.betting.is_finished:
            return
        won = match.state.values()[match.position]
        self._hands += 1
        self._chips += won
        self._squared_chips += won * won
        self._us.metrics.hands.labels(CHANNEL).inc()
        self._us.metrics.winnings.labels(self._us.metrics.opponent(self.opponent)).inc(won)
        log.info("match %s: hand over", self._name, extra={"facts": {"hand": match.hand_id, "chips": won}})
        for observer in self._us.observers:
            await observer.on_hand(self._name, self.opponent, match)

    async def _reply(self, match: MatchState, arrived: float) -> bytes:
        """Decide and format the reply line."""
        state, betting = match.state, match.state.betting
        if not betting.text.startswith(self._expected):
            self._context = None  # history diverged: discard the context and trust the dealer
        hole = state.hole[match.position]
        request = DecisionRequest(
            match=self._name,
            betting=betting.text,
            board=state.visible_board,
            hand=hand_index(hole[0], hole[1]),
            context=self._context,
            seed=self._seed,
            seconds=max(self._clock.seconds_for(betting) - (time.monotonic() - arrived), 0.0),
        )
        answer = await self._us.decider.decide(request)
        action = parse_action(answer.action)
        self._context, self._expected = answer.context, betting.apply(action).text
        for observer in self._us.observers:
            await observer.on_decision(self._name, self.opponent, match, request, answer)
        reply = self._client.reply(match, action)
        spent = time.monotonic() - arrived
        self._clock.spend(spent)
        self._decisions += 1
        self._thinking += spent
        self._slowest = max(self._slowest, spent)
        return reply

    async def _until_leaving(self, work: Coroutine[Any, Any, _T]) -> _T | None:
        """The result of `work`, or None as soon as we are asked to leave."""
        doing = asyncio.ensure_future(work)
        leaving = asyncio.ensure_future(self._leaving.wait())
        try:
            await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
            return None if self._leaving.is_set() else doing.result()
        finally:
            doing.cancel()
            leaving.cancel()

    def _has_enough(self) -> bool:
        return 0 < self._spec.hands <= self._hands

    def _is_between_hands(self) -> bool:
        return self._latest is not None and self._latest.state.betting.is_finished

    def _end(self, state: str, error: str = "") -> None:
        self._state, self._error = state, error
        self._us.metrics.match_ends.labels(state).inc()
        facts = {"state": state, "hands": self._hands, "chips": self._chips, "error": error}
        log.info("match %s ended", self._name, extra={"facts": facts})
