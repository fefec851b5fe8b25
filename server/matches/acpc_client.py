"""Play a match on an ACPC dealer over a blocking socket.

With one player and one connection there is nothing else to wait for, so a blocking socket is enough.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from game.actions import Action
from game.definition import GameDefinition
from protocol.acpc import ClientConnection, MalformedLine, MatchState, StateReceived

Player = Callable[[MatchState], Action]
Report = Callable[[str], None]
Observer = Callable[[MatchState], None]

_RECEIVE_BYTES = 65536
_CONNECT_TIMEOUT_SECONDS = 5.0
_RETRY_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """The result of a match from our player's point of view."""

    hands: int
    chips: int
    big_blind: int
    malformed_lines: int
    unfinished_hand: int | None
    """The hand during which the dealer disconnected, if any."""

    @property
    def mbb_per_hand(self) -> float:
        """Thousandths of a big blind won per hand."""
        return 1000 * self.chips / (max(self.big_blind, 1) * max(self.hands, 1))


def connect(host: str, port: int, wait_seconds: float, report: Report) -> socket.socket:
    """Connect to a dealer; blocks, retrying for up to `wait_seconds` while nothing listens."""
    deadline = time.monotonic() + wait_seconds
    attempts = 0
    while True:
        attempts += 1
        try:
            connection = socket.create_connection((host, port), timeout=_CONNECT_TIMEOUT_SECONDS)
        except socket.gaierror as error:
            raise OSError(f"cannot find the host {host!r}: {error.strerror}") from error
        except OSError as error:
            if time.monotonic() + _RETRY_SECONDS > deadline:
                reason = error.strerror or str(error)
                raise OSError(
                    f"no dealer at {host}:{port} ({reason}, {attempts} attempts in {wait_seconds:g} s):"
                    " start the dealer first and give the port it prints for your seat"
                ) from error
            if attempts == 1:
                report(f"no dealer at {host}:{port} yet, retrying for {wait_seconds:g} s")
            time.sleep(_RETRY_SECONDS)
        else:
            connection.settimeout(None)  # the dealer decides how long it waits for the other player
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection


def play(
    connection: socket.socket,
    definition: GameDefinition,
    player: Player,
    report: Report,
    observer: Observer | None = None,
) -> MatchSummary:
    """Play until the dealer closes the connection; blocks. Malformed lines are reported and skipped.

    observer  called with the last state of every hand
    """
    client = ClientConnection(definition)
    hands = chips = malformed_lines = 0
    latest: MatchState | None = None
    try:
        connection.sendall(client.version())
        while data := connection.recv(_RECEIVE_BYTES):
            for event in client.receive(data):
                if isinstance(event, StateReceived):
                    latest = event.match_state
                    if latest.state.betting.is_finished:
                        hands += 1
                        chips += latest.state.values()[latest.position]
                        if observer is not None:
                            observer(latest)
                elif isinstance(event, MalformedLine):
                    malformed_lines += 1
                    report(f"the dealer sent a bad line: {event.error}")
            # Only the newest state needs a reply: the dealer waits for one reply at most.
            awaiting = client.awaiting
            if awaiting is not None:
                connection.sendall(client.reply(awaiting, player(awaiting)))
    except (ConnectionResetError, BrokenPipeError):
        report("the dealer reset the connection")
    for event in client.close():
        if isinstance(event, MalformedLine):
            malformed_lines += 1
            report(f"the dealer sent a bad line: {event.error}")
    unfinished = latest is not None and not latest.state.betting.is_finished
    return MatchSummary(
        hands=hands,
        chips=chips,
        big_blind=definition.big_blind,
        malformed_lines=malformed_lines,
        unfinished_hand=latest.hand_id if latest is not None and unfinished else None,
    )
