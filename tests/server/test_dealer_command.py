"""`fathom dealer` as people and scripts start it."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from game.definition import HUNL, definition_text
from tests.arena.scripted import JOIN_SECONDS, player, sensible

COMMAND = [sys.executable, "-m", "server.cli", "dealer"]
ROOT = Path(__file__).parents[2]


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
    assert "Alice|Bob" in log.splitlines()[5]  # -f: nobody changes seats
    assert messages == "".join(log.splitlines(keepends=True)[:4]) + score
    assert (tmp_path / "duel.tlog").read_text().count("\n") > 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("m", "no.game", "10", "1", "A", "B"), "ERROR: 'no.game' is neither a file"),
        (("m", "hunl", "0", "1", "A", "B"), "ERROR: invalid number of hands 0"),
        (("m", "hunl", "many", "1", "A", "B"), "ERROR: invalid number of hands many"),
        (("m", "hunl", "10", "x", "A", "B"), "ERROR: invalid random number seed x"),
        (("m", "hunl", "10", "1", "A"), "ERROR: 1 player names, needs 2"),
        (("m", "hunl", "10", "1", "A", "B", "-p", "x,y"), "ERROR: bad port string x,y"),
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


def test_three_players_are_refused(tmp_path: Path) -> None:
    game = definition_text(HUNL).replace("numPlayers = 2", "numPlayers = 3")
    (tmp_path / "three.game").write_text(game)
    outcome = _run("m", str(tmp_path / "three.game"), "10", "1", "A", "B", "C")
    assert outcome.returncode == 1
    assert "the game has 3 players: Fathom plays two-player games only" in outcome.stderr
