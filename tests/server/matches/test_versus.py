from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pytest

from arena.dealer.dealer import DealerOptions, run_dealer
from arena.dealer.match import HandResult, MatchTerms
from arena.errors import MatchAborted, PlayerError
from arena.players.registry import external_command, make_player, player_labels
from game.definition import HUNL
from protocol.acpc import parse_match_state
from protocol.acpc_log_reader import read_log
from server.cli import main
from server.matches.dealer_match import DealerMatchTerms, play_over_dealer
from server.matches.versus import HandLog


def deal(hands: int, first: list[str], second: list[str], seed: int = 5) -> list[HandResult]:
    """Play a match between two `fathom versus` commands, in threads, on our dealer."""
    results: list[HandResult] = []
    ports_end, out_end = os.pipe()
    terms = MatchTerms(HUNL, hands, seed, ("one", "two"))
    options = DealerOptions(
        "x", "hunl", terms, host="127.0.0.1", log=False, quiet=True, start_timeout_ms=60_000
    )

    def serve() -> None:
        with os.fdopen(out_end, "wb") as out:
            run_dealer(options, out, io.BytesIO(), results.append)

    dealer = threading.Thread(target=serve)
    dealer.start()
    with os.fdopen(ports_end, "rb") as out:
        ports = out.readline().split()
        players = [
            threading.Thread(
                target=main, args=(["versus", words[0], "127.0.0.1", port.decode(), *words[1:]],)
            )
            for words, port in zip((first, second), ports, strict=True)
        ]
        for player in players:
            player.start()
        for thread in (dealer, *players):
            thread.join()
    return results


def test_the_report_agrees_with_the_dealer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, histories = tmp_path / "versus.html", tmp_path / "versus.phhs"
    ours = [
        "random",
        "--seed",
        "1",
        "--html",
        str(page),
        "--phh",
        str(histories),
        "--opponent",
        "Deep Thought",
    ]
    results = deal(30, ours, ["call", "--quiet"])
    won = sum(result.values[result.first_seat] for result in results)
    shown = capsys.readouterr().out
    assert f"random against Deep_Thought: {won / 30 / 100 * 1000:+,.0f} ±" in shown
    assert "over 30 hands" in shown
    assert "Deep_Thought" in page.read_text()
    assert "????" in histories.read_text()


def test_an_interrupted_match_gives_one_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save = ["--save", str(tmp_path / "series"), "--seed", "1"]
    whole = deal(12, ["random", "--seed", "1", "--quiet"], ["call", "--quiet"])
    deal(12, ["random", *save, "--quiet"], ["call", "--quiet"])
    journal = tmp_path / "series.hands"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:5]) + lines[5][:20])
    capsys.readouterr()
    deal(12, ["random", *save, "--json"], ["call", "--quiet"])
    won = sum(result.values[result.first_seat] for result in whole)
    assert f'"chips": {won}' in capsys.readouterr().out
    assert len(set(journal.read_bytes().splitlines())) == 12


def test_another_match_under_the_same_name_is_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "series.hands"
    states = [
        parse_match_state(f"MATCHSTATE:0:{hand}:r300f:{cards}|", HUNL)
        for cards in ("AsKd", "2d2c")
        for hand in (0, 1)
    ]
    log = HandLog(HUNL, path)
    for state in states[:3]:
        log.add(state)
    log.add(states[2])  # the dealer, killed and started again, may repeat a hand
    log.close()
    assert log.states() == [states[2]]
    assert path.read_bytes().count(b"\n") == 4
    again = HandLog(HUNL, path)
    again.add(states[3])
    again.close()
    assert again.states() == states[2:]


def test_quiet_prints_nothing_but_writes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "quiet.log"
    deal(4, ["call", "--quiet", "--log", str(log)], ["call", "--quiet"])
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""
    assert log.read_text().count("STATE:") == 4


def test_players_are_seeded_by_hand_number() -> None:
    results = [deal(10, ["random", "--seed", "4", "--quiet"], ["min-raise", "--quiet"]) for _ in range(2)]
    assert [r.state.betting.text for r in results[0]] == [r.state.betting.text for r in results[1]]


def test_an_unreachable_dealer_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["versus", "call", "127.0.0.1", "1", "--wait", "0"]) == 2
    assert "no dealer at" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["versus", "call", "127.0.0.1", "70000"])
    assert "argument PORT: write a whole number from 1 to 65535, not '70000'" in capsys.readouterr().err
    assert main(["versus", "nobody", "127.0.0.1", "7000"]) == 2
    assert "choose one of call" in capsys.readouterr().err


def test_external_programs_have_commands_and_names() -> None:
    assert external_command("call") is None
    assert external_command("acpc:./bot -x 'a b'") == ["./bot", "-x", "a b"]
    assert player_labels(("acpc:./bots/slow.sh 1,2", "call")) == ("acpc-slow", "call")
    with pytest.raises(PlayerError, match="names no program"):
        external_command("acpc: ")
    with pytest.raises(PlayerError, match="plays matches only"):
        make_player("acpc:./bot")


def terms(first: str, second: str, pairs: int = 6) -> DealerMatchTerms:
    texts = first, second
    return DealerMatchTerms(HUNL, "hunl", texts, player_labels(texts), 3, pairs)


@pytest.mark.slow
def test_over_the_dealer_with_another_program_and_resumed(tmp_path: Path) -> None:
    other = f"acpc:{sys.executable} -m server.cli acpc --policy random --seed 2 --wait 30"
    hands: list[HandResult] = []
    result = play_over_dealer(terms("call", other), tmp_path / "duel", hands.append)
    assert len(hands) == result.num_hands == 12
    assert (result.position.reshape(-1, 2) == [[0, 1], [1, 0]] * 3).all()
    for index in range(0, 12, 2):  # the same cards, the other way round
        assert result.deal(index)[0] == result.deal(index + 1)[0]
    again = play_over_dealer(terms("call", other), tmp_path / "duel", hands.append)
    assert again.to_json() == result.to_json()
    assert len(hands) == 12
    log = tmp_path / "duel-2.log"
    text = log.read_text()
    assert len(read_log(text.splitlines(), HUNL).hands) == 6
    with pytest.raises(MatchAborted, match="another match"):
        play_over_dealer(terms("fold", other), tmp_path / "duel", hands.append)


def test_a_program_that_fails_to_start_or_exits_aborts_the_match() -> None:
    with pytest.raises(MatchAborted, match="could not start"):
        play_over_dealer(terms("acpc:/no/such/program", "call"), None, lambda hand: None)
    with pytest.raises(MatchAborted, match="was aborted"):
        play_over_dealer(terms("acpc:/bin/false", "acpc:/bin/false"), None, lambda hand: None)
