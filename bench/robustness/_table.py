"""A dealer in this process, an opponent that plays on it, and a faulty connection to the other seat."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from arena.dealer.clock import TimeLimits
from arena.dealer.dealer import DealerOptions, run_dealer
from arena.dealer.match import MatchTerms
from arena.players.policies import POLICIES
from game.definition import HUNL, definition_text
from protocol.acpc import ClientConnection, StateReceived
from protocol.acpc_log_reader import read_log
from protocol.records import HandRecord
from server.matches.acpc_client import play

_HOST = "127.0.0.1"
_NAMES = ("Fathom", "Random")
_START_MS = 120_000
_CHUNK = 65536


@dataclass
class Table:
    """One match: seat 1 is the client of `wire.port`, seat 2 plays at random."""

    folder: Path
    name: str
    hands: int
    seed: int
    limits: TimeLimits
    policy: str = "random"
    program: str = ""
    """Another dealer, which takes the same arguments as ours."""
    messages: io.BytesIO = field(default_factory=io.BytesIO)
    status: int | None = None

    def start(self) -> Wire:
        """Start dealer and opponent in threads; returns the wire to seat 1."""
        reading, writing = os.pipe()
        deal = self._run_program if self.program else self._deal
        self._dealer = threading.Thread(target=deal, args=(writing,), daemon=True)
        self._dealer.start()
        self._said = os.fdopen(reading, "rb")  # stays open until the dealer has printed the score
        first, second = map(int, self._said.readline().split())
        wire = Wire(first)
        threading.Thread(target=self._play, args=(second,), daemon=True).start()
        return wire

    def wait(self, seconds: float | None) -> bool:
        """Wait for the end of the match, None without limit; returns whether it is over."""
        self._dealer.join(seconds)
        if self._dealer.is_alive():
            return False
        self._said.close()
        return True

    @property
    def complaints(self) -> list[str]:
        """The dealer's warnings and errors."""
        lines = self.messages.getvalue().decode("utf-8", "replace").splitlines()
        return [line for line in lines if not line.startswith(("#", "SCORE"))]

    def hands_played(self) -> list[HandRecord]:
        """The hands in the dealer's log."""
        lines = (self.folder / f"{self.name}.log").read_text(encoding="utf-8").splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n") and not line.startswith("SCORE")]
        return list(read_log(whole, HUNL).hands)

    def chips(self) -> int:
        """Chips won by seat 1 in all finished hands."""
        return sum(hand.state.values()[hand.players.index(_NAMES[0])] for hand in self.hands_played())

    def _deal(self, writing: int) -> None:
        terms = MatchTerms(HUNL, self.hands, self.seed, _NAMES, limits=self.limits)
        options = DealerOptions(
            str(self.folder / self.name), "hunl", terms, host=_HOST, quiet=True, start_timeout_ms=_START_MS
        )
        with os.fdopen(writing, "wb") as out:
            self.status = run_dealer(options, out, self.messages)

    def _run_program(self, writing: int) -> None:
        game = self.folder / "hunl.game"
        game.write_text(definition_text(HUNL), encoding="ascii")
        limits = {
            "--t_response": self.limits.response_ms,
            "--t_hand": self.limits.hand_ms,
            "--t_per_hand": self.limits.per_hand_ms,
            "--start_timeout": _START_MS,
        }
        words = [str(word) for option in limits.items() for word in option]
        command = [self.program, self.name, game.name, str(self.hands), str(self.seed), *_NAMES, "-q", *words]
        with os.fdopen(writing, "wb") as out:
            ended = subprocess.run(command, cwd=self.folder, stdout=out, stderr=subprocess.PIPE, check=False)
        self.messages.write(ended.stderr)
        self.status = ended.returncode

    def _play(self, port: int) -> None:
        policy, rng = POLICIES[self.policy], Random(self.seed)
        with socket.create_connection((_HOST, port)) as connection:
            play(connection, HUNL, lambda match: policy(match.state, match.position, rng), _say_nothing)


class Wire:
    """A proxy between a dealer and a player: forwards lines, adds junk, can be cut, measures replies."""

    def __init__(self, dealer_port: int) -> None:
        self._listener = socket.create_server((_HOST, 0))
        self.port = int(self._listener.getsockname()[1])
        self.reply_seconds: list[float] = []
        self.hands_shown = 0
        """Number of hands whose end was sent to the player."""
        self.junk_sent = 0
        self._junk: list[bytes] = []
        self._asked = 0.0
        self._watch = ClientConnection(HUNL)
        self._dealer = socket.create_connection((_HOST, dealer_port))
        self._player: socket.socket | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def add_junk(self, line: bytes) -> None:
        """Send a junk line to the player, between two lines of the dealer."""
        self._junk.append(line)

    def cut(self) -> None:
        """Close both connections, as a broken network does."""
        for connection in (self._dealer, self._player):
            if connection is not None:
                with suppress(OSError):  # already closed
                    connection.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        with self._listener, self._dealer:
            self._player, _ = self._listener.accept()
            for connection in (self._player, self._dealer):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=self._pass_back, daemon=True)
            back.start()
            with self._player:
                try:
                    while data := self._dealer.recv(_CHUNK):
                        self._pass_on(data)
                    self._player.shutdown(socket.SHUT_WR)
                except OSError:
                    pass  # one side disconnected: disconnect the other
                back.join()

    def _pass_on(self, data: bytes) -> None:
        assert self._player is not None
        for event in self._watch.receive(data):
            if isinstance(event, StateReceived):
                self.hands_shown += event.match_state.state.betting.is_finished
                if event.match_state.is_our_turn:
                    self._asked = time.monotonic()
        if data.endswith(b"\n"):  # otherwise junk would split a line, which would be lost
            while self._junk:
                self._player.sendall(self._junk.pop())
                self.junk_sent += 1
        self._player.sendall(data)

    def _pass_back(self) -> None:
        assert self._player is not None
        try:
            while data := self._player.recv(_CHUNK):
                if self._asked:
                    self.reply_seconds.append(time.monotonic() - self._asked)
                    self._asked = 0.0
                self._dealer.sendall(data)
            self._dealer.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def _say_nothing(_message: str) -> None:
    pass
