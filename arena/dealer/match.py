"""A match between two seats: deal, send states, collect actions, keep score.

One thread, which spends most of its time waiting. Rules:

1. The player to act gets the state first. The opponent gets it while the dealer waits for the reply; if the
   reply has already arrived, the opponent gets it together with the next state.
2. The last state of a hand is sent together with the first state of the next one. Scores, the log, the
   transcript and dealing are done in batches or while a player thinks: interleaved with the turns of other
   processes, the same work costs several times as much.
3. Players and files receive what the reference dealer sends and writes, in the same order.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from arena.dealer.clock import MatchClock, TimeLimits, now_us
from arena.dealer.deck import Deck
from arena.dealer.seats import Seat
from arena.dealer.transactions import TransactionFile
from arena.dealer.transcript import Transcript
from arena.errors import MatchAborted
from game.actions import CALL, FOLD, Action
from game.betting import NOBODY, BettingState, start
from game.definition import NUM_PLAYERS, GameDefinition
from game.errors import IllegalAction
from game.state import HandState
from protocol.acpc_dealer import (
    WRONG_VERSION,
    CommentLine,
    HandLines,
    IgnoredLine,
    ReplyRequest,
    is_supported,
    plain_reply,
    read_plain_reply,
    read_reply,
    read_version,
)
from protocol.acpc_log import Transaction, stamp
from protocol.errors import RemoteProtocolError

_TIMES_EVERY_HANDS = 100
_HANDS_AT_A_TIME = 32
_LINE_END = b"\r\n"


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """The game, the players and the cards of a match."""

    definition: GameDefinition
    hands: int
    seed: int
    names: tuple[str, str]
    """By seat."""
    fixed_seats: bool = False
    """Whether seat 1 keeps position 0, instead of changing position after every hand."""
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


class _Hand:
    """One deal: the cards and the lines that show them."""

    __slots__ = ("board", "first_seat", "hand_id", "hole", "lines")

    def __init__(self, definition: GameDefinition, deck: Deck, hand_id: int, first_seat: int) -> None:
        self.hand_id = hand_id
        self.first_seat = first_seat
        """The seat that has position 0: seat = position ^ first_seat, and the other way round."""
        self.hole, self.board = deck.deal()
        self.lines = HandLines(definition, hand_id, self.hole, self.board)


_Played = tuple[Action, BettingState]
"""An action and the betting after it."""


class Match:
    """One match. Call `play` once to run it."""

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
        self._last_asked_us = 0
        self._totals = [0] * NUM_PLAYERS  # by seat
        self._hands_dealt = 0
        self._dealt: deque[_Hand] = deque()
        self._finished: list[tuple[_Hand, BettingState]] = []
        """Hands that were played but not yet scored and logged."""

    def play(self, version_timeout_ms: int | None) -> tuple[int, int]:
        """Play all hands; blocks. Returns the chips won by each seat, or raises `MatchAborted`."""
        transcript = self._transcript
        for seat in self._seats:
            self._check_version(seat, version_timeout_ms)
        self._last_asked_us = now_us()
        transcript.remark(f"STARTED at {stamp(self._last_asked_us)}\n")
        hand, betting = self._take_hand(), self._opening
        if self._transactions is not None:
            hand, betting = self._resume(self._transactions, hand)
        try:
            while hand.hand_id < self._terms.hands:
                betting = self._play_hand(hand, betting)
                self._finished.append((hand, betting))
                if len(self._finished) == _HANDS_AT_A_TIME:
                    self._write_down()
                hand, betting = self._take_hand(), self._opening
            for seat in self._seats:
                seat.send()
        finally:
            self._write_down()
        transcript.remark(f"FINISHED at {stamp(self._last_asked_us)}\n")
        return self._totals[0], self._totals[1]

    def _take_hand(self) -> _Hand:
        self._deal_if_needed()
        return self._dealt.popleft()

    def _play_hand(self, hand: _Hand, betting: BettingState) -> BettingState:
        """Play a hand to its end; its last state stays queued."""
        transcript = self._transcript
        while betting.actor != NOBODY:
            betting = self._take_turn(hand, betting)
        states = hand.lines.match_states(betting)
        for seat in self._seats:
            seat.outbox += states[seat.number ^ hand.first_seat] + _LINE_END
        if not transcript.quiet:
            self._report(hand, states, now_us())
            if hand.hand_id % _TIMES_EVERY_HANDS == 0:
                for number, used_us in enumerate(self._clock.used_match_us):
                    transcript.remark(
                        f"Seconds cumulatively spent in match for seat {number}: {used_us // 1_000_000}\n"
                    )
        self._clock.start_hand()
        return betting

    def _take_turn(self, hand: _Hand, betting: BettingState) -> BettingState:
        """The betting after the reply of the player to act; an illegal reply is corrected first."""
        actor = betting.actor
        number = actor ^ hand.first_seat
        seat, opponent = self._seats[number], self._seats[1 - number]
        states = hand.lines.match_states(betting)
        asked = states[actor]
        line = seat.ask(asked + _LINE_END)
        opponent.outbox += states[1 - actor] + _LINE_END
        self._last_asked_us = asked_us = waiting_since_us = seat.asked_us
        transcript = self._transcript
        if not transcript.quiet:
            self._report(hand, states, asked_us)
        foreseen: dict[bytes, _Played] = {}
        while True:
            if line is None:
                opponent.send()
                self._write_down()
                foreseen = foreseen or _foresee(asked, betting)
                line = seat.read_reply()
            answered_us = seat.answered_us
            if not line:
                waited, limit = (answered_us - waiting_since_us) / 1e6, self._terms.limits.response_us() / 1e6
                raise MatchAborted(
                    f"could not get action from seat {number + 1}\n"
                    f"{waited:.1f} seconds spent waiting; timeout {limit:.1f}"
                )
            if not transcript.quiet:
                transcript.received(answered_us, number, line)
            waiting_since_us = answered_us
            played = foreseen.get(line) or _play_plainly(line, asked, betting)
            if played is not None:
                self._charge(number, asked_us, answered_us)
            else:
                reply = read_reply(line, _request(hand, betting, asked))
                line = None
                if isinstance(reply, CommentLine):
                    transcript.flush()
                    continue
                self._charge(number, asked_us, answered_us)
                for warning in reply.warnings:
                    transcript.say(warning + "\n")
                if isinstance(reply, IgnoredLine):
                    transcript.flush()
                    continue
                played = reply.action, betting.apply(reply.action)
            if self._transactions is not None:
                self._write_down()  # hands that a resumed match skips must be in the log
                self._transactions.write(Transaction(played[0], hand.hand_id, asked_us, answered_us))
            return played[1]

    def _report(self, hand: _Hand, states: tuple[bytes, bytes], time_us: int) -> None:
        """Record in the transcript that a state, given as each position sees it, was sent to both players."""
        self._transcript.sent(time_us, states if hand.first_seat == 0 else states[::-1])

    def _charge(self, seat: int, asked_us: int, answered_us: int) -> None:
        if not self._clock.charge(seat, asked_us, answered_us):
            raise MatchAborted(f"seat {seat + 1} ran out of time")

    def _write_down(self) -> None:
        """Do the work that can wait: score and log finished hands, deal the next ones."""
        terms, finished, records, results = self._terms, self._finished, [], []
        self._finished = []
        for hand, betting in finished:
            state = HandState(betting, hand.hole, hand.board)
            values = state.values()
            names = terms.names if hand.first_seat == 0 else (terms.names[1], terms.names[0])
            self._count(hand, values)
            records.append(hand.lines.record(betting, values, names))
            if self._observer is not None:
                results.append(HandResult(hand.hand_id, state, values, names, hand.first_seat))
        if self._log is not None and records:
            self._log.write(os.fsencode("".join(records)))
        if self._observer is not None:
            for result in results:
                self._observer(result)
        self._deal_if_needed()
        self._transcript.flush()

    def _deal_if_needed(self) -> None:
        if self._dealt:
            return
        first_hand, terms = self._hands_dealt, self._terms
        self._hands_dealt += _HANDS_AT_A_TIME
        for hand_id in range(first_hand, self._hands_dealt):
            first_seat = 0 if terms.fixed_seats else hand_id % NUM_PLAYERS
            self._dealt.append(_Hand(terms.definition, self._deck, hand_id, first_seat))

    def _count(self, hand: _Hand, values: tuple[int, int]) -> None:
        for position, value in enumerate(values):
            self._totals[position ^ hand.first_seat] += value

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

    def _resume(self, transactions: TransactionFile, hand: _Hand) -> tuple[_Hand, BettingState]:
        """The hand and betting that a transaction file ends at. Its actions are not sent or logged again."""
        betting = self._opening
        for transaction in transactions.recorded(self._terms.definition.no_limit):
            text = str(transaction).rstrip()
            if transaction.hand_id != hand.hand_id:
                raise MatchAborted(f"handId mismatch in transaction log: {text}")
            seat = betting.actor ^ hand.first_seat
            try:
                betting = betting.apply(transaction.action)
            except IllegalAction as error:
                raise MatchAborted(f"invalid action in transaction log: {text} ({error})") from error
            if not self._clock.charge(seat, transaction.asked_us, transaction.answered_us):
                raise MatchAborted(f"seat {seat + 1} ran out of time in transaction file")
            if betting.is_finished:
                self._count(hand, HandState(betting, hand.hole, hand.board).values())
                self._clock.start_hand()
                hand, betting = self._take_hand(), self._opening
        return hand, betting


def _foresee(asked: bytes, betting: BettingState) -> dict[bytes, _Played]:
    """The results of the most likely replies, computed while the player thinks."""
    foreseen = {plain_reply(asked, CALL): (CALL, betting.apply(CALL))}
    if betting.can_fold():
        foreseen[plain_reply(asked, FOLD)] = FOLD, betting.apply(FOLD)
    return foreseen


def _play_plainly(line: bytes, asked: bytes, betting: BettingState) -> _Played | None:
    action = read_plain_reply(line, asked, betting.definition.no_limit)
    if action is None:
        return None
    try:
        return action, betting.apply(action)
    except IllegalAction:
        return None


def _request(hand: _Hand, betting: BettingState, asked: bytes) -> ReplyRequest:
    board = hand.board[: betting.definition.board_size(betting.round_index)]
    return ReplyRequest(asked, hand.hand_id, betting, hand.hole[betting.actor], board)
