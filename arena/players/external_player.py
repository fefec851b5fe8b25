"""An external program as a player: `acpc:COMMAND` speaks ACPC; its strategy is unknown.

1. The program runs twice. Each copy plays one hand of every pair, so neither sees the same cards twice. For
   each copy, positions change after every hand and hands are numbered from 0, as with any dealer.
2. A copy is started as the ACPC starts players, COMMAND HOST PORT, when it first has to act. It receives
   states in the dealer's order, but only when it has to act: the last state of a hand comes with those of the
   next.
3. Replies are read as the dealer reads them: an illegal action becomes a call or the nearest legal raise.
4. A copy that dies is restarted and asked once more: the match state contains the whole hand so far. If it
   dies again before it answers, does not start or takes too long, the match ends with `MatchAborted`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import tempfile
import time
import weakref
from dataclasses import dataclass
from typing import IO, NoReturn

from arena.dealer.clock import TimeLimits
from arena.dealer.seats import Seat, listen
from arena.errors import MatchAborted
from arena.players.base import HANDS_PER_PAIR
from game.actions import Action
from game.state import HandState
from protocol.acpc_dealer import ActionLine, HandLines, ReplyRequest, read_reply, read_version
from protocol.errors import RemoteProtocolError
from solver.games.history import betting_states

HOST = "127.0.0.1"
_LINE_END = b"\r\n"
_POLL_SECONDS = 0.1
_GOODBYE_SECONDS = 5.0
_LAST_WORDS = 5
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a program, in seconds."""

    start: float = 120.0
    reply: float = TimeLimits().response_ms / 1000


class ExternalPlayer:
    """A player run as an external program, started when first needed. Not for concurrent calls; close it."""

    def __init__(self, name: str, command: list[str], patience: Patience | None = None) -> None:
        self.name = name
        patience = Patience() if patience is None else patience
        self._copies = [_Copy(name, command, patience) for _ in range(HANDS_PER_PAIR)]
        self._hands = 0
        self.close = weakref.finalize(self, _close_all, self._copies)
        """Closes the connections and ends the program if it does not exit; may be called again."""

    def start_hand(self, seed: int) -> ExternalHand:  # noqa: ARG002 - the program has its own randomness
        """Start a hand: return an object that plays it, from either position."""
        return ExternalHand(self)

    def take_hand(self) -> tuple[_Copy, int]:
        """The copy that plays the next hand, and the hand's number for that copy."""
        pair, second = divmod(self._hands, HANDS_PER_PAIR)
        self._hands += 1
        return self._copies[second ^ (pair % HANDS_PER_PAIR)], pair


class ExternalHand:
    """Plays one hand from one position."""

    def __init__(self, player: ExternalPlayer) -> None:
        self._player = player
        self._copy: _Copy | None = None
        self._lines: HandLines | None = None
        self._hand_id = 0
        self._told = -1  # actions that the program has seen

    def act(self, state: HandState, position: int) -> Action:
        """Ask the program for an action; blocks until it replies."""
        copy, asked = self._tell(state, position)
        request = ReplyRequest(asked, self._hand_id, state.betting, state.hole[position], state.visible_board)
        return copy.ask(request)

    def finish(self, state: HandState, position: int) -> None:
        """Queue the final states of the hand."""
        self._tell(state, position)

    def _tell(self, state: HandState, position: int) -> tuple[_Copy, bytes]:
        """Queue the states that the program has not seen yet, and return the last one."""
        if self._copy is None or self._lines is None:
            self._copy, self._hand_id = self._player.take_hand()
            self._lines = HandLines(state.definition, self._hand_id, state.hole, state.board)
        line = b""
        for number, betting in enumerate(betting_states(state.betting)):
            if number > self._told:
                line = self._lines.match_states(betting)[position]
                self._copy.outbox.append(line)
                self._told = number
        return self._copy, line


class _Left(Exception):  # noqa: N818 - it names what happened
    """The program stopped answering; the message says how this was noticed."""


class _Copy:
    """A running copy of a program, or one that is not running yet."""

    def __init__(self, name: str, command: list[str], patience: Patience) -> None:
        self._name, self._command, self._patience = name, command, patience
        self._process: subprocess.Popen[bytes] | None = None
        self._seat: Seat | None = None
        self._said: IO[bytes] | None = None
        self.outbox: list[bytes] = []
        """Lines to be sent, without line endings."""

    def ask(self, request: ReplyRequest) -> Action:
        """Send the outbox and wait for the reply to its last line."""
        if self._seat is None:
            self._start()
        try:
            return self._ask(request)
        except _Left as left:
            _LOG.warning("%s", f"{self._obituary(left, request)}\nrestarting it and asking again")
        self._stop()
        self.outbox = [request.match_state]
        self._start()
        try:
            return self._ask(request)
        except _Left as left:
            raise MatchAborted(self._obituary(left, request)) from None

    def close(self) -> None:
        """Send the outbox and close the connection; wait for the program to exit, kill it if it does not."""
        if self._seat is not None:
            with contextlib.suppress(MatchAborted):
                self._seat.send(self._lines_out())
        self._stop(_GOODBYE_SECONDS)

    def _ask(self, request: ReplyRequest) -> Action:
        assert self._seat is not None
        deadline = time.monotonic() + self._patience.reply
        try:
            self._seat.send(self._lines_out())
        except MatchAborted as error:
            raise _Left("broke the connection") from error
        while True:
            line = self._seat.read_line(max(deadline - time.monotonic(), 0.0) * 1000)
            if not line:
                if time.monotonic() >= deadline:
                    self._abort(f"did not answer within {self._patience.reply:g} s", request)
                raise _Left("closed the connection")
            reply = read_reply(line, request)
            if isinstance(reply, ActionLine):
                return reply.action

    def _lines_out(self) -> bytes:
        lines = b"".join(line + _LINE_END for line in self.outbox)
        self.outbox.clear()
        return lines

    def _start(self) -> None:
        """Start the program and wait until it has connected and sent its version."""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `_stop`
        listener = listen(HOST, [0])[0]
        words = [*self._command, HOST, str(listener.getsockname()[1])]
        deadline = time.monotonic() + self._patience.start
        with listener:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - the user names it
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=self._said,
                    stderr=self._said,
                    start_new_session=True,  # a script's children are ended with it
                )
            except OSError as error:
                raise MatchAborted(f"{self._name}: could not start {words[0]}: {error.strerror}") from None
            listener.settimeout(_POLL_SECONDS)
            while self._seat is None:
                with contextlib.suppress(TimeoutError):
                    self._seat = Seat(0, listener.accept()[0], int(self._patience.reply * 1e6))
                if self._seat is None and (self._process.poll() or time.monotonic() > deadline):
                    self._abort("did not connect to the host and port it was given")
        line = self._seat.read_line(max(deadline - time.monotonic(), 0.0) * 1000)
        try:
            read_version(line)
        except RemoteProtocolError as error:
            self._abort(f"did not send its version first: {error}")

    def _stop(self, patience: float = 0.0) -> None:
        if self._seat is not None:
            self._seat.close()
        if self._process is not None:
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        if self._said is not None:
            self._said.close()
        self._seat = self._process = self._said = None

    def _abort(self, what: str, request: ReplyRequest | None = None) -> NoReturn:
        raise MatchAborted(self._obituary(what, request))

    def _obituary(self, what: object, request: ReplyRequest | None = None) -> str:
        """What happened, at which state, the exit status and the last lines of output; one fact per line."""
        assert self._process is not None
        assert self._said is not None
        where = "" if request is None else f", asked {request.match_state.decode()}"
        facts = [f"{self._name} {what}{where}"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(_POLL_SECONDS)
            facts.append(f"exit status {status}" if status >= 0 else f"ended by signal {-status}")
        self._said.seek(0)
        facts += self._said.read().decode("utf-8", "replace").strip().splitlines()[-_LAST_WORDS:]
        return "\n".join(facts)


def _close_all(copies: list[_Copy]) -> None:
    for copy in copies:
        copy.close()
