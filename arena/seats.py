"""The players' ends of a match: listening sockets, accepted connections, lines in and lines out.

Everything here blocks, each call up to a limit. One thread serves both players: exactly one of them is to act
at any time, so there is never more than one connection to wait for.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence

from arena.clock import TimeLimits
from arena.errors import MatchAborted
from protocol.acpc_dealer import LineBuffer

ANY_ADDRESS = ""

_RECEIVE_BYTES = 4096
_LONGEST_WAIT_SECONDS = 30 * 86400.0  # stands for "no limit": poll() takes no more than 2^31 ms


def listen(host: str, ports: Sequence[int]) -> list[socket.socket]:
    """One listening socket per seat; port 0 lets the system choose."""
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
    """Wait for a player on every listener, in seat order, and close the listeners; None waits for ever."""
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
    """One player's connection. Lines are queued and sent together, as late as the player can need them."""

    def __init__(self, number: int, connection: socket.socket, response_us: int) -> None:
        self.number = number
        self._connection = connection
        self._lines = LineBuffer()
        self._outbox: list[bytes] = []
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # From 2^63 on the limit was negative: none.
        self._wait_seconds = min(response_us / 1e6, _LONGEST_WAIT_SECONDS)
        connection.settimeout(max(self._wait_seconds, 1e-6))

    def queue(self, line: bytes) -> None:
        """Have a line sent with the next `flush`."""
        self._outbox.append(line)

    def flush(self) -> None:
        """Send what is queued. A player who never reads is given as long as one who never answers."""
        try:
            self._connection.sendall(b"".join(self._outbox))
        except OSError as error:
            raise MatchAborted(f"could not send state to seat {self.number + 1}") from error
        self._outbox.clear()

    def read_reply(self) -> bytes:
        """The next line, waiting no longer than the response limit; empty if there is none."""
        line = self._lines.next_line()
        if line is not None:
            return line
        return self._receive_line(self._wait_seconds)

    def read_line(self, timeout_ms: int | None) -> bytes:
        """The next line, waiting no longer than given; None waits for ever."""
        line = self._lines.next_line()
        if line is not None:
            return line
        wait_seconds = _LONGEST_WAIT_SECONDS if timeout_ms is None else timeout_ms / 1000
        self._connection.settimeout(max(wait_seconds, 1e-6))
        try:
            return self._receive_line(wait_seconds)
        finally:
            self._connection.settimeout(max(self._wait_seconds, 1e-6))

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _receive_line(self, wait_seconds: float) -> bytes:
        started = time.monotonic()
        usual_timeout = self._connection.gettimeout()
        lines, receive = self._lines, self._connection.recv
        try:
            while True:
                chunk = receive(_RECEIVE_BYTES)
                if not chunk:
                    return lines.rest()
                lines.feed(chunk)
                line = lines.next_line()
                if line is not None:
                    return line
                # Half a line: what is left of the time is for the other half.
                left = started + wait_seconds - time.monotonic()
                if left <= 0:
                    return b""
                self._connection.settimeout(left)
        except OSError:  # timed out, or the connection broke
            return b""
        finally:
            self._connection.settimeout(usual_timeout)
