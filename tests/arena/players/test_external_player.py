"""External programs over a socket: ACPC sequence, duplicate matches, AIVAT, and programs that die."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arena.duplicate.duplicate import DuplicateTerms, play_duplicate
from arena.duplicate.pairs import play_pair
from arena.errors import MatchAborted
from arena.players.base import PolicyPlayer
from arena.players.external_player import ExternalPlayer, Patience
from arena.players.policies import POLICIES
from arena.players.registry import external_command, make_match_player, player_identity
from game.definition import HUNL
from server.cli import main
from tests.arena.aivat_setups import LATE, use_quick_values
from tests.arena.blueprints import made_up_blueprint

PROGRAM = f"acpc:{shlex.quote(sys.executable)} {Path(__file__).with_name('caller_program.py')}"
QUICK = Patience(start=20.0, reply=20.0)


def terms(first: str, second: str, pairs: int = 5) -> DuplicateTerms:
    return DuplicateTerms(HUNL, (first, second), ("a", "b"), 3, pairs)


def external(options: str = "", patience: Patience = QUICK) -> ExternalPlayer:
    command = external_command(f"{PROGRAM} {options}")
    assert command is not None
    return ExternalPlayer("caller", command, patience)


@pytest.mark.parametrize("seats", [("min-raise", PROGRAM), (PROGRAM, "random")])
def test_an_external_program_plays_like_the_same_policy(seats: tuple[str, str]) -> None:
    result = play_duplicate(terms(*seats))
    same = play_duplicate(terms(*[text.replace(PROGRAM, "call") for text in seats]), workers=1)
    assert result.betting == same.betting
    assert result.to_json() == same.to_json()


def test_each_copy_receives_a_dealers_sequence_of_states(tmp_path: Path) -> None:
    """No repeated cards, alternating positions, all states of a hand in order, cards at the showdown."""
    log = tmp_path / "seen"
    result = play_duplicate(terms("check-down", f"{PROGRAM} log={log}", 3))
    copies: list[list[str]] = [[], []]
    for line in log.read_text().splitlines():
        position, hand_id = (int(field) for field in line.split(":")[1:3])
        # B's position is 1 in the first hand of a pair, and copies change after every pair.
        copies[1 ^ position ^ hand_id % 2].append(line)
    for copy, lines in enumerate(copies):
        heads = list(dict.fromkeys(tuple(line.split(":")[:3]) for line in lines))
        assert heads == [("MATCHSTATE", str(1 ^ copy ^ hand % 2), str(hand)) for hand in range(3)]
        bettings = [line.split(":")[3] for line in lines if line.split(":")[2] == "1"]
        assert bettings == [
            "",
            "c",
            "cc/",
            "cc/c",
            "cc/cc/",
            "cc/cc/c",
            "cc/cc/cc/",
            "cc/cc/cc/c",
            "cc/cc/cc/cc",
        ]
    shown = [
        line.split(":")[4].split("/")[0]
        for line in copies[0]
        if line.count("c") >= 8 and "cc/cc/cc/cc" in line
    ]
    assert all(len(cards) == len("AsAd|KsKd") for cards in shown)
    assert set(result.betting) == {"cc/cc/cc/cc"}


def test_a_program_that_dies_is_restarted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mark = tmp_path / "died"
    result = play_duplicate(terms("min-raise", f"{PROGRAM} die=2 once={mark}"))
    assert mark.exists()
    assert result.to_json() == play_duplicate(terms("min-raise", "call"), workers=1).to_json()
    assert "out of luck" in caplog.text
    assert "restarting it" in caplog.text


def test_a_match_resumes_after_a_program_failed(tmp_path: Path) -> None:
    """The program always dies in its third hand; earlier hands are kept."""
    match, journal = terms("min-raise", f"{PROGRAM} die=2", 4), tmp_path / "duel.match"
    reason = r"closed the connection, asked MATCHSTATE:\d:2:(.|\n)*status 1\nout of luck"
    with pytest.raises(MatchAborted, match=reason):
        play_duplicate(match, journal)
    before = journal.read_text()
    assert len(before.splitlines()) == 3  # terms, and two pairs
    result = play_duplicate(match, journal)
    assert journal.read_text().startswith(before)
    assert result.to_json() == play_duplicate(terms("min-raise", "call", 4), workers=1).to_json()


@pytest.mark.parametrize(
    ("player", "message"),
    [
        (ExternalPlayer("x", ["/no/such/program"]), "could not start /no/such/program"),
        (ExternalPlayer("x", ["/bin/false"]), "to the host and port it was given\nexit status 1"),
        (external("version=HELLO"), "version first: invalid version string HELLO"),
        (external("mute=0", Patience(20.0, 0.1)), "did not answer within 0.1 s, asked MATCHSTATE"),
    ],
)
def test_failures_of_a_program_are_reported(player: ExternalPlayer, message: str) -> None:
    with pytest.raises(MatchAborted, match=message):
        play_pair(HUNL, (PolicyPlayer("a", POLICIES["call"]), player), 3, 0)
    player.close()


def test_programs_are_not_started_before_they_act() -> None:
    player = make_match_player("acpc:/no/such/program --x=1,2")
    player.start_hand(0)
    assert player_identity(player.name) == ""


def test_an_external_program_is_corrected_as_an_unknown_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program always calls. AIVAT must treat it as unknown, in any process."""
    use_quick_values(tmp_path, monkeypatch)
    blueprint = f"blueprint:{made_up_blueprint(tmp_path, LATE, spread=1.0).path}"
    hidden = replace(terms(blueprint, PROGRAM, 4), aivat=True)
    result = play_duplicate(hidden, tmp_path / "hidden.match")
    monkeypatch.setattr("arena.players.registry.OPEN_POLICIES", frozenset())
    same = play_duplicate(replace(hidden, players=(blueprint, "call")), workers=1)
    assert result.betting == same.betting
    assert result.corrected is not None
    np.testing.assert_array_equal(result.corrected, same.corrected)
    again = play_duplicate(hidden, tmp_path / "hidden.match")
    np.testing.assert_array_equal(again.corrected, result.corrected)


@pytest.mark.slow
def test_match_command_with_an_external_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of our policies behind a socket, from the command line to both intervals, with a resume."""
    use_quick_values(tmp_path, monkeypatch)
    blueprint = f"blueprint:{made_up_blueprint(tmp_path, LATE, spread=1.0).path}"
    box = f"acpc:{shlex.quote(sys.executable)} -m server.cli acpc --policy call --wait 60"
    words = ["match", blueprint, box, "--aivat", "--save", str(tmp_path / "duel")]
    assert main([*words, "--hands", "6"]) == 0
    assert "over 6 hands (95 % interval)\n" in capsys.readouterr().out
    assert main([*words, "--hands", "10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["hands"] == 10
    assert found["aivat"]["variance_removed"] <= 1
    assert {"mbb_per_hand", "margin_95"} < set(found["aivat"])
    assert len((tmp_path / "duel.match").read_text().splitlines()) == 6
    assert main([*words, "--hands", "10", "--dealer"]) == 2
    assert "leave out --dealer" in capsys.readouterr().err
    assert main(["match", box, box, "--aivat"]) == 1
    assert "neither of these reveals its" in capsys.readouterr().err
