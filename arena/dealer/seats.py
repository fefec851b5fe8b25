"""Connections to the players of a match: listening sockets, accepted connections, sending and reading lines.

All calls block, each up to a time limit. One thread serves both players: exactly one of them is to act at any
time, so there is never more than one connection to wait for.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import time
from collections.abc import Sequence

from arena.dealer.clock import TimeLimits, now_us
from arena.errors import MatchAborted
from protocol.acpc_dealer import LineBuffer

ANY_ADDRESS = ""

_RECEIVE_BYTES = 4096
_AT_ONCE = socket.MSG_DONTWAIT
# Waking a sleeping process on an idle core takes about as long as a simple player's reply. So the dealer
# first yields the core repeatedly for about a millisecond before it blocks. If a yield takes long, another
# process is using this core; then blocking at once is the quicker way to get the core back.
_YIELDS_BEFORE_WAITING = 400
_LONG_YIELD_US = 60
_SLEEPY_TURNS = 10
_PATIENCE_MS = 5
_LONGEST_WAIT_MS = 86400e3 * 20  # stands for "no limit": poll() takes no more than 2^31 ms


def listen(host: str, ports: Sequence[int]) -> list[socket.socket]:
    """Open one listening socket per seat; port 0 lets the system choose."""
    with contextlib.ExitStack() as opened:
        listeners: list[socket.socket] = []
        for seat, port in enumerate(ports):
            try:
                listener = socket.create_server((host, port), backlog=8)
            except (OSError, OverflowError) as error:
                raise MatchAborted(
                    f"could not create listen socket for player {seat + 1}: {error}"
                ) from error
            listeners.append(opened.enter_context(listener))
        opened.pop_all()
        return listeners


def accept_all(
    listeners: Sequence[socket.socket], limits: TimeLimits, start_timeout_ms: int | None
) -> list[Seat]:
    """Wait for a player on every listener, in seat order, then close the listeners.

    start_timeout_ms  how long to wait for all players; None for no limit
    """
    deadline = None if start_timeout_ms is None else time.monotonic() + start_timeout_ms / 1000
    with contextlib.ExitStack() as opened:
        seats: list[Seat] = []
        for number, listener in enumerate(listeners):
            with listener:
                try:
                    if deadline is not None:
                        listener.settimeout(max(deadline - time.monotonic(), 1e-6))
                    connection, _ = listener.accept()
                except TimeoutError:
                    raise MatchAborted(f"timed out waiting for seat {number + 1} to connect") from None
                except OSError as error:
                    raise MatchAborted(f"seat {number + 1} could not connect: {error}") from error
            seat = Seat(number, connection, limits.response_us())
            opened.callback(seat.close)
            seats.append(seat)
        opened.pop_all()
        return seats


class Seat:
    """One player's connection."""

    def __init__(self, number: int, connection: socket.socket, response_us: int) -> None:
        self.number = number
        self._connection = connection
        self._send = connection.sendall
        self._receive = connection.recv
        self._lines = LineBuffer()
        self.outbox = b""
        """Lines that are sent together with the next one, to save system calls."""
        self.asked_us = self.answered_us = 0
        self._response_ms = min(response_us / 1000, _LONGEST_WAIT_MS)  # a wrapped negative limit means none
        self._sleepy_turns = 0
        self._poller = select.poll()
        self._poller.register(connection, select.POLLIN)
        connection.setblocking(True)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeval(_PATIENCE_MS))
        # A player that does not read gets the same time limit as one that does not answer.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(self._response_ms))

    def send(self, line: bytes = b"") -> None:
        """Send the outbox and then this line."""
        outbox = self.outbox + line
        if outbox:
            try:
                self._send(outbox)
            except OSError as error:
                raise MatchAborted(f"could not send state to seat {self.number + 1}") from error
            self.outbox = b""

    def ask(self, line: bytes) -> bytes | None:
        """Send as `send` does; returns the reply if it arrives almost at once, else None.

        Sets `asked_us` and `answered_us`.
        """
        self.send(line)
        self.asked_us = asked_us = now_us()
        if self._sleepy_turns:
            self._sleepy_turns -= 1
            reply = self._read_now(flags=0)
            self.answered_us = now_us()
            return reply
        os.sched_yield()
        try:
            reply = self._lines.feed(self._receive(_RECEIVE_BYTES, _AT_ONCE))
        except OSError:
            reply = None
        self.answered_us = answered_us = now_us()
        if answered_us - asked_us > _LONG_YIELD_US:
            self._sleepy_turns = _SLEEPY_TURNS
        return reply

    def read_reply(self) -> bytes:
        """Read the next line, waiting up to the response limit; empty if none arrives."""
        line = None
        for _ in range(0 if self._sleepy_turns else _YIELDS_BEFORE_WAITING):
            line = self._read_now()
            if line is not None:
                break
            os.sched_yield()
        else:
            line = self.read_line(self._response_ms)
        self.answered_us = now_us()
        return line

    def read_line(self, timeout_ms: float | None) -> bytes:
        """Read the next line, waiting up to a timeout (None for no limit); empty if none arrives."""
        limit_ms = _LONGEST_WAIT_MS if timeout_ms is None else timeout_ms
        deadline = time.monotonic() + limit_ms / 1000
        line = self._lines.next_line()
        while line is None:
            if not self._poller.poll(max(deadline - time.monotonic(), 0.0) * 1000):
                return b""
            try:
                chunk = self._connection.recv(_RECEIVE_BYTES)
            except OSError:
                return b""
            if not chunk:
                return self._lines.rest()
            line = self._lines.feed(chunk)
        return line

    def _read_now(self, flags: int = _AT_ONCE) -> bytes | None:
        line = self._lines.next_line()
        if line is None:
            try:
                line = self._lines.feed(self._receive(_RECEIVE_BYTES, flags))
            except OSError:
                return None
        return line

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _timeval(milliseconds: float) -> bytes:
    seconds, rest = divmod(max(milliseconds, 1.0), 1000)  # zero would mean no limit
    return struct.pack("ll", int(seconds), int(rest * 1000))
