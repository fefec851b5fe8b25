"""`fathom dealer` on the command line."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from game.definition import HUNL, definition_text
from protocol.acpc import MatchState
from tests.arena.scripted import JOIN_SECONDS, Script, player, sensible

COMMAND = [sys.executable, "-m", "server.cli", "dealer"]
ROOT = Path(__file__).parents[4]


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=JOIN_SECONDS, check=False
    )


def test_a_match(tmp_path: Path) -> None:
    (tmp_path / "my.game").write_text(definition_text(HUNL))
    arguments = ["-q", str(tmp_path / "duel"), str(tmp_path / "my.game"), "3", "42", "Alice", "Bob"]
    options = ["-Tf", "--host", "127.0.0.1", "-p", "0,0", "--t_response=60000"]
    with subprocess.Popen(
        [*COMMAND, *arguments, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as dealer:
        assert dealer.stdout is not None
        assert dealer.stderr is not None
        ports = dealer.stdout.readline().split()
        players = [
            threading.Thread(target=player, args=(int(port), HUNL, sensible(i)), daemon=True)
            for i, port in enumerate(ports)
        ]
        for thread in players:
            thread.start()
        score, messages = dealer.stdout.read(), dealer.stderr.read()
        assert dealer.wait(JOIN_SECONDS) == 0
    for thread in players:
        thread.join(JOIN_SECONDS)
    log = (tmp_path / "duel.log").read_text()
    header = f"# name/game/hands/seed {tmp_path}/duel {tmp_path}/my.game 3 42\n#--t_response 60000\n"
    assert log.startswith(header)
    assert log.endswith(score)
    assert [line[:8] for line in log.splitlines()[4:]] == ["STATE:0:", "STATE:1:", "STATE:2:", score[:8]]
    assert "Alice|Bob" in log.splitlines()[5]  # -f: seats are fixed
    assert messages == "".join(log.splitlines(keepends=True)[:4]) + score
    assert (tmp_path / "duel.tlog").read_text().count("\n") > 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("m", "no.game", "10", "1", "A", "B"), "ERROR: 'no.game' is neither a file"),
        (("m", "hunl", "0", "1", "A", "B"), "ERROR: invalid number of hands 0"),
        (("m", "hunl", "1", "1", "A", "B", "C"), "ERROR: 3 player names (A B C), takes 2"),
        (("-q", "--", "m", "hunl", "-4", "1", "A", "B"), "ERROR: invalid number of hands -4"),
        (("m", "hunl", "many", "1", "A", "B"), "ERROR: invalid number of hands many"),
        (("m", "hunl", "10", "x", "A", "B"), "ERROR: invalid random number seed x"),
        (("m", "hunl", "10", "1", "A"), "ERROR: 1 player names, needs 2"),
        (("m", "hunl", "10", "1", "A", "B", "-p", "x,y"), "ERROR: bad port string x,y"),
        (("no/such/folder/m", "hunl", "10", "1", "A", "B"), "ERROR: could not open log file no/such/folder/"),
        (
            ("m", "hunl", "10", "1", "A", "B", "--t_hand", "x"),
            "ERROR: could not get player hand timeout from x",
        ),
    ],
)
def test_refusals(arguments: tuple[str, ...], complaint: str) -> None:
    outcome = _run(*arguments)
    assert outcome.returncode == 1
    assert complaint in outcome.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_match_is_resumed(ending: signal.Signals, tmp_path: Path) -> None:
    thinking = threading.Event()

    def stops_at_hand_3(state: MatchState | None, line: str) -> list[bytes]:
        if state is not None and state.hand_id == 3:
            thinking.set()
            return []
        return sensible(2)(state, line)

    with _dealing(tmp_path, "-T") as dealer:
        _seat_players(dealer, sensible(1), stops_at_hand_3)
        assert thinking.wait(JOIN_SECONDS)
        dealer.send_signal(ending)
        assert dealer.wait(JOIN_SECONDS) == 128 + ending
        assert dealer.stderr is not None
        assert "Traceback" not in dealer.stderr.read()
    assert _hands_in_log(tmp_path) == [0, 1, 2]
    with _dealing(tmp_path, "-T", "-a") as dealer:
        _seat_players(dealer, sensible(1), sensible(2))
        assert dealer.stdout is not None
        assert dealer.stdout.read().startswith("SCORE:")
        assert dealer.wait(JOIN_SECONDS) == 0
    assert _hands_in_log(tmp_path) == [0, 1, 2, 3, 4, 5]


def _dealing(directory: Path, *options: str) -> subprocess.Popen[str]:
    arguments = [str(directory / "duel"), "hunl", "6", "42", "Alice", "Bob", "-q", "--host", "127.0.0.1"]
    return subprocess.Popen(
        [*COMMAND, *arguments, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background has them ignore Ctrl-C, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def _seat_players(dealer: subprocess.Popen[str], *scripts: Script) -> None:
    assert dealer.stdout is not None
    for port, script in zip(dealer.stdout.readline().split(), scripts, strict=True):
        threading.Thread(target=player, args=(int(port), HUNL, script), daemon=True).start()


def _hands_in_log(directory: Path) -> list[int]:
    lines = (directory / "duel.log").read_text().splitlines()
    return [int(line.split(":")[1]) for line in lines if line.startswith("STATE:")]


def test_an_interrupted_player_prints_no_traceback() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(JOIN_SECONDS)
        address = ("127.0.0.1", str(server.getsockname()[1]))
        command = [sys.executable, "-m", "server.cli", "acpc", *address, "--policy", "call"]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as client:
            connection, _ = server.accept()
            with connection:
                assert connection.recv(100) == b"VERSION:2.0.0\r\n"
                client.send_signal(signal.SIGTERM)
                assert client.wait(JOIN_SECONDS) == 128 + signal.SIGTERM
            assert client.stderr is not None
            assert b"Traceback" not in client.stderr.read()


def test_a_bad_option_prints_the_usage() -> None:
    outcome = _run("m", "hunl", "10", "1", "A", "B", "-z")
    assert outcome.returncode == 2
    assert "usage: fathom dealer" in outcome.stderr
    assert "unrecognized arguments: -z" in outcome.stderr


def test_three_players_are_refused(tmp_path: Path) -> None:
    game = definition_text(HUNL).replace("numPlayers = 2", "numPlayers = 3")
    (tmp_path / "three.game").write_text(game)
    outcome = _run("m", str(tmp_path / "three.game"), "10", "1", "A", "B", "C")
    assert outcome.returncode == 1
    assert "the game has 3 players: Fathom plays two-player games only" in outcome.stderr
