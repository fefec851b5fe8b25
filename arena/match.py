"""A match between two seats: deal, send states, collect actions, keep score; one thread, nothing but waiting.

Rules:

1. The player who must act is served first; his opponent's copy of the state, the transcript and the log are
   written while he thinks.
2. The last state of a hand travels with the first of the next one: nobody is woken up for nothing.
3. What the players and the files get to see is what the reference dealer shows, in the same order.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from arena.clock import MatchClock, TimeLimits, now_us
from arena.deck import Deck
from arena.errors import MatchAborted
from arena.seats import Seat
from arena.transactions import TransactionFile
from arena.transcript import Transcript
from game.actions import Action
from game.betting import BettingState, start
from game.definition import NUM_PLAYERS, GameDefinition
from game.errors import IllegalAction
from game.state import HandState
from protocol.acpc_dealer import (
    WRONG_VERSION,
    ActionLine,
    CommentLine,
    ReplyRequest,
    hand_lines,
    is_supported,
    read_reply,
    read_version,
)
from protocol.acpc_log import Transaction, stamp
from protocol.errors import RemoteProtocolError

_TIMES_EVERY_HANDS = 100
_LINE_END = b"\r\n"


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """What is played, by whom, and with which cards."""

    definition: GameDefinition
    hands: int
    seed: int
    names: tuple[str, str]
    """By seat."""
    fixed_seats: bool = False
    """Whether seat 1 keeps position 0, instead of changing after every hand."""
    limits: TimeLimits = TimeLimits()  # noqa: RUF009 - it is frozen


@dataclass(frozen=True, slots=True)
class HandResult:
    """A finished hand."""

    hand_id: int
    state: HandState
    values: tuple[int, int]
    """Net chips by position."""
    names: tuple[str, str]
    """By position."""
    first_seat: int
    """The seat that had position 0."""


HandObserver = Callable[[HandResult], None]


class Match:
    """One match. `play` runs it; an instance is used once."""

    def __init__(
        self,
        terms: MatchTerms,
        seats: list[Seat],
        transcript: Transcript,
        log: BinaryIO | None = None,
        transactions: TransactionFile | None = None,
        observer: HandObserver | None = None,
    ) -> None:
        self._terms = terms
        self._seats = seats
        self._transcript = transcript
        self._log = log
        self._transactions = transactions
        self._observer = observer
        self._deck = Deck(terms.definition, terms.seed)
        self._clock = MatchClock(terms.limits, terms.hands)
        self._opening = start(terms.definition)
        self._unreported: list[tuple[int, bytes]] = []
        self.totals = [0] * NUM_PLAYERS
        """Chips won so far, by seat."""
        self._last_asked_us = 0
        self._first_seat = -1
        self._hand_id = -1
        self._start_hand()

    def play(self, version_timeout_ms: int | None) -> tuple[int, int]:
        """Blocks until all hands are played; returns the chips won by each seat, or raises `MatchAborted`."""
        for seat in self._seats:
            self._check_version(seat, version_timeout_ms)
        self._last_asked_us = now_us()
        self._transcript.remark(f"STARTED at {stamp(self._last_asked_us)}\n")
        if self._transactions is not None:
            self._resume(self._transactions)
        while self._hand_id < self._terms.hands:
            self._play_hand()
        self._flush(self._seats)
        self._transcript.remark(f"FINISHED at {stamp(self._last_asked_us)}\n")
        return self.totals[0], self.totals[1]

    def _start_hand(self) -> None:
        self._hand_id += 1
        if self._first_seat < 0 or not self._terms.fixed_seats:
            self._first_seat = (self._first_seat + 1) % NUM_PLAYERS
        self._clock.start_hand()
        self._betting = self._opening
        self._hole, self._board = self._deck.deal()
        self._lines = hand_lines(self._terms.definition, self._hand_id, self._hole, self._board)

    def _play_hand(self) -> None:
        betting, first_seat = self._betting, self._first_seat
        while not betting.is_finished:
            actor = betting.actor
            seat, opponent = self._seats[actor ^ first_seat], self._seats[1 - actor ^ first_seat]
            asked = self._queue_states(betting)[actor]
            asked_us = self._flush((seat, opponent))
            request = ReplyRequest(
                asked, self._hand_id, betting, self._hole[actor], self._visible_board(betting)
            )
            action = self._await_action(seat, request, asked_us)
            betting = betting.apply(action)
        self._finish_hand(betting)
        self._start_hand()

    def _queue_states(self, betting: BettingState) -> tuple[bytes, bytes]:
        """Put the state into both players' queues; returns it as seen from each position."""
        states = self._lines.match_state(0, betting), self._lines.match_state(1, betting)
        for seat in self._seats:
            line = states[seat.number ^ self._first_seat] + _LINE_END
            seat.queue(line)
            if not self._transcript.quiet:
                self._unreported.append((seat.number, line))
        return states

    def _flush(self, seats: list[Seat] | tuple[Seat, ...]) -> int:
        """Send all that is queued, in the given order of seats; returns when the first one had it."""
        sent_us = {}
        for seat in seats:
            seat.flush()
            sent_us[seat.number] = now_us()
        for number, line in self._unreported:
            self._transcript.sent(number, sent_us[number], line)
        self._unreported.clear()
        self._transcript.flush()
        return sent_us[seats[0].number]

    def _await_action(self, seat: Seat, request: ReplyRequest, asked_us: int) -> Action:
        transcript = self._transcript
        self._last_asked_us = asked_us
        while True:
            started = time.monotonic()
            line = seat.read_reply()
            answered_us = now_us()
            if not line:
                waited, limit = time.monotonic() - started, self._terms.limits.response_us() / 1e6
                raise MatchAborted(
                    f"could not get action from seat {seat.number + 1}\n"
                    f"{waited:.1f} seconds spent waiting; timeout {limit:.1f}"
                )
            if not transcript.quiet:
                transcript.received(seat.number, answered_us, line)
            reply = read_reply(line, request)
            if isinstance(reply, CommentLine):
                continue
            if not self._clock.charge(seat.number, asked_us, answered_us):
                raise MatchAborted(f"seat {seat.number + 1} ran out of time")
            for warning in reply.warnings:
                transcript.say(warning + "\n")
            if isinstance(reply, ActionLine):
                if self._transactions is not None:
                    self._transactions.write(Transaction(reply.action, self._hand_id, asked_us, answered_us))
                return reply.action

    def _finish_hand(self, betting: BettingState) -> None:
        terms, first_seat = self._terms, self._first_seat
        state = HandState(betting, self._hole, self._board)
        values = state.values()
        names = terms.names if first_seat == 0 else (terms.names[1], terms.names[0])
        self._count(values)
        if self._log is not None:
            record = self._lines.record(betting, values, names)
            self._log.write(record.encode("utf-8", "surrogateescape"))
        self._queue_states(betting)
        if not self._transcript.quiet and self._hand_id % _TIMES_EVERY_HANDS == 0:
            self._flush(self._seats)
            for seat in range(NUM_PLAYERS):
                seconds = self._clock.used_match_us[seat] // 1_000_000
                self._transcript.remark(f"Seconds cumulatively spent in match for seat {seat}: {seconds}\n")
        if self._observer is not None:
            self._observer(HandResult(self._hand_id, state, values, names, first_seat))

    def _count(self, values: tuple[int, int]) -> None:
        for position, value in enumerate(values):
            self.totals[position ^ self._first_seat] += value

    def _visible_board(self, betting: BettingState) -> tuple[int, ...]:
        return self._board[: self._terms.definition.board_size(betting.round_index)]

    def _check_version(self, seat: Seat, timeout_ms: int | None) -> None:
        line = seat.read_line(timeout_ms)
        if not line:
            raise MatchAborted(f"could not read version string from seat {seat.number + 1}")
        try:
            version = read_version(line)
        except RemoteProtocolError as error:
            raise MatchAborted(str(error)) from error
        if not is_supported(version):
            self._transcript.say(WRONG_VERSION + "\n")

    def _resume(self, transactions: TransactionFile) -> None:
        """Bring the match to where a transaction file leaves it; nothing of that is sent or logged."""
        for transaction in transactions.recorded(self._terms.definition.no_limit):
            text = str(transaction).rstrip()
            if transaction.hand_id != self._hand_id:
                raise MatchAborted(f"handId mismatch in transaction log: {text}")
            seat = self._betting.actor ^ self._first_seat
            try:
                betting = self._betting.apply(transaction.action)
            except IllegalAction as error:
                raise MatchAborted(f"invalid action in transaction log: {text} ({error})") from error
            if not self._clock.charge(seat, transaction.asked_us, transaction.answered_us):
                raise MatchAborted(f"seat {seat + 1} ran out of time in transaction file")
            self._betting = betting
            if betting.is_finished:
                self._count(HandState(betting, self._hole, self._board).values())
                self._start_hand()
