from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from game.actions import CALL, Action
from game.definition import HUNL
from protocol.acpc import MatchState
from server.cli import main
from server.matches.acpc_client import MatchSummary, play
from tests.arena.scripted import JOIN_SECONDS

VERSION = b"VERSION:2.0.0\r\n"

# Lines and the replies due: we win an all-in, then fold after putting in 200.
DIALOGUE: list[tuple[bytes, bytes | None]] = [
    (b"MATCHSTATE:0:0::TdAs|\r\n", None),
    (b"MATCHSTATE:0:0:r20000:TdAs|\r\n", b"MATCHSTATE:0:0:r20000:TdAs|:c\r\n"),
    (b"MATCHSTATE:0:0:r20000c///:TdAs|2c3s/8cQc4c/Ah/Ad\r\n", None),
    (b"MATCHSTATE:1:1::|6h5d\r\n", b"MATCHSTATE:1:1::|6h5d:c\r\n"),
    (b"MATCHSTATE:1:1:c:|6h5d\r\n", None),
    (b"MATCHSTATE:1:1:cc/:|6h5d/7h8h9h\r\n", None),
    (b"MATCHSTATE:1:1:cc/r200:|6h5d/7h8h9h\r\n", b"MATCHSTATE:1:1:cc/r200:|6h5d/7h8h9h:c\r\n"),
    (b"MATCHSTATE:1:1:cc/r200c/:|6h5d/7h8h9h/2c\r\nMATCHSTATE:1:1:cc/r200c/c:|6h5d/7h8h9h/2c\r\n",
     b"MATCHSTATE:1:1:cc/r200c/c:|6h5d/7h8h9h/2c:c\r\n"),
]  # fmt: skip
LAST_FOLD = b"MATCHSTATE:1:1:cc/r200c/cc/r20000f:|6h5d/7h8h9h/2c/2d\r\n"


class FakeDealer:
    """A dealer in a thread: sends lines and reads replies on one connection; records errors."""

    def __init__(self, dialogue: list[tuple[bytes, bytes | None]], last: bytes = b"") -> None:
        self.dialogue, self.last = dialogue, last
        self.replies: list[bytes] = []

    def serve(self, connection: socket.socket) -> None:
        connection.settimeout(JOIN_SECONDS)
        with connection, connection.makefile("rb") as reader:
            self.replies.append(reader.readline())
            for line, reply in self.dialogue:
                connection.sendall(line)
                if reply is not None:
                    self.replies.append(reader.readline())
            connection.sendall(self.last)

    def expected(self) -> list[bytes]:
        return [VERSION, *(reply for _, reply in self.dialogue if reply is not None)]


def play_against(dealer: FakeDealer) -> tuple[MatchSummary, list[str]]:
    ours, theirs = socket.socketpair()
    ours.settimeout(JOIN_SECONDS)
    thread = threading.Thread(target=dealer.serve, args=(theirs,))
    thread.start()
    reports: list[str] = []
    with ours:
        summary = play(ours, HUNL, call, reports.append)
    thread.join(JOIN_SECONDS)
    return summary, reports


def call(match_state: MatchState) -> Action:
    assert match_state.is_our_turn
    return CALL


@contextmanager
def listening(dealer: FakeDealer) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(JOIN_SECONDS)

        def accept() -> None:
            dealer.serve(server.accept()[0])

        thread = threading.Thread(target=accept)
        thread.start()
        yield server.getsockname()[1]
        thread.join(JOIN_SECONDS)


def test_a_match_is_played_and_summarised() -> None:
    dealer = FakeDealer(DIALOGUE, LAST_FOLD)
    summary, reports = play_against(dealer)
    assert dealer.replies == dealer.expected()
    assert summary == MatchSummary(
        hands=2, chips=20000 - 200, big_blind=100, malformed_lines=0, unfinished_hand=None
    )
    assert summary.mbb_per_hand == pytest.approx(99000.0)
    assert reports == []


def test_a_malformed_line_is_reported_and_the_match_continues() -> None:
    dealer = FakeDealer([(b"nonsense\r\n# hello\r\n", None), *DIALOGUE], LAST_FOLD)
    summary, reports = play_against(dealer)
    assert dealer.replies == dealer.expected()
    assert summary.malformed_lines == 1
    assert summary.hands == 2
    assert "nonsense" in reports[0]


def test_a_disconnect_during_a_hand_is_reported() -> None:
    summary, reports = play_against(FakeDealer(DIALOGUE[:-1], b"MATCHSTATE:1:1:cc/r2"))
    assert summary.hands == 1
    assert summary.unfinished_hand == 1
    assert "middle of a line" in reports[0]


def test_the_command_plays_and_prints_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    dealer = FakeDealer(DIALOGUE, LAST_FOLD)
    with listening(dealer) as port:
        assert main(["acpc", "127.0.0.1", str(port), "--policy", "call", "--seed", "3"]) == 0
    assert dealer.replies == dealer.expected()
    assert capsys.readouterr().out == "2 hands, +19800 chips, +99000.0 mbb/hand\n"


def test_the_command_fails_if_the_dealer_disconnects_early(capsys: pytest.CaptureFixture[str]) -> None:
    with listening(FakeDealer([])) as port:
        assert main(["acpc", "127.0.0.1", str(port), "--policy", "call"]) == 1
    assert "before the first hand" in capsys.readouterr().err


def test_an_unreachable_dealer_is_a_one_line_error(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        port = unused.getsockname()[1]
        assert main(["acpc", "127.0.0.1", str(port), "--wait", "0"]) == 2
    err = capsys.readouterr().err
    assert f"no dealer at 127.0.0.1:{port}" in err
    assert "Traceback" not in err


def test_an_unknown_game_is_a_one_line_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["acpc", "127.0.0.1", "1", "--game", "chess"]) == 2
    assert "neither a file nor one of the presets hunl" in capsys.readouterr().err
