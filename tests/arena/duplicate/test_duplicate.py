from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from arena.duplicate.duplicate import DuplicateTerms, play_duplicate
from arena.duplicate.results import estimate
from arena.errors import MatchAborted
from arena.runs.journal import Journal
from arena.runs.workers import WorkerPool
from game.definition import HUNL, NLFH
from protocol.acpc_log_reader import read_log
from protocol.phh import parse_histories
from server.cli import main

ROOT = Path(__file__).parents[3]


def terms(pairs: int, first: str = "random", second: str = "check-down", seed: int = 5) -> DuplicateTerms:
    return DuplicateTerms(NLFH, (first, second), ("A", "B"), seed, pairs)


def double(number: int) -> int:
    if number == 13:
        raise ValueError("thirteen")
    if number == 666:
        os._exit(1)
    return 2 * number


def make_double(base: int) -> object:
    return lambda number: base + double(number)


def test_workers_run_every_task_once() -> None:
    with WorkerPool[int, int](partial(make_double, 1), 2) as pool:
        done = {task: result for task, result, _ in pool.run(iter(range(10)))}
        assert done == {task: 2 * task + 1 for task in range(10)}
        with pytest.raises(MatchAborted, match="ValueError: thirteen"):
            list(pool.run(iter([13])))
    with (
        WorkerPool[int, int](partial(make_double, 0), 1) as pool,
        pytest.raises(MatchAborted, match="worker process died"),
    ):
        list(pool.run(iter([666])))


def test_resumed_and_extended_matches_end_the_same(tmp_path: Path) -> None:
    path = tmp_path / "duel.match"
    whole = play_duplicate(terms(40), workers=1)
    play_duplicate(terms(25), path, workers=1)
    cut = path.read_bytes()
    path.write_bytes(cut[: len(cut) // 2])  # killed in the middle of a line
    resumed = play_duplicate(terms(40), path, workers=2)
    assert resumed.to_json() == whole.to_json()
    assert resumed.betting == whole.betting
    before = path.read_bytes()
    ticks: list[Journal] = []
    again = play_duplicate(terms(40), path, tick=ticks.append)
    assert again.to_json() == whole.to_json()
    assert path.read_bytes() == before
    assert not ticks
    assert play_duplicate(terms(30), path).num_hands == 60


def test_a_journal_of_another_match_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "duel.match"
    play_duplicate(terms(2), path, workers=1)
    with pytest.raises(MatchAborted, match="seed 5, not 6"):
        play_duplicate(terms(2, seed=6), path)
    with pytest.raises(MatchAborted, match="another match"):
        play_duplicate(terms(2, first="call"), path)
    path.write_text("my shopping list\n")
    with pytest.raises(MatchAborted, match="not the journal"):
        play_duplicate(terms(2), path)
    path.write_bytes(b"# fathom ma")  # killed while writing the first line
    assert play_duplicate(terms(2), path, workers=1).num_hands == 4


def test_a_journal_in_use_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "duel.match"
    journal = Journal(path, terms(2).to_json())
    with pytest.raises(MatchAborted, match="another process"):
        play_duplicate(terms(2), path)
    journal.close()
    assert play_duplicate(terms(1), path, workers=1).to_json()["margin_95"] is None


def test_always_folding_loses_the_blinds_and_calling_breaks_even() -> None:
    """Folding every hand loses 75 chips per hand (750 mbb); two players that always call break even."""
    folds = play_duplicate(replace(terms(20, "fold", "min-raise"), definition=HUNL), workers=1)
    assert (folds.total.mean, folds.total.margin) == (-750.0, 0.0)
    calls = play_duplicate(replace(terms(20, "call", "call"), definition=HUNL), workers=1)
    assert (calls.total.mean, calls.total.margin) == (0.0, 0.0)
    assert calls.of_hands(calls.position == 0).mean == -calls.of_hands(calls.position == 1).mean
    assert (calls.street == 3).all()


def test_estimate_has_mean_and_margin() -> None:
    found = estimate(np.array([1.0, 2.0, 3.0, 6.0]))
    assert found.mean == 3.0
    assert found.margin == pytest.approx(1.96 * np.sqrt((4 + 1 + 0 + 9) / 3) / 2)
    assert estimate(np.array([1.0])).margin == np.inf


def test_a_match_of_one_pair_gives_valid_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON contains no infinity, even after all-in adjustment."""
    assert main(["match", "all-in", "call", "--hands", "2", "--seed", "1", "--workers", "1", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line, parse_constant=pytest.fail)
    assert found["margin_95"] is None
    assert found["allin"]["margin_95"] is None


@pytest.mark.parametrize("option", ["--html", "--png", "--log", "--phh", "--save"])
def test_files_that_cannot_be_written_are_refused_before_the_first_hand(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.cli.measure.match._play", lambda *_: pytest.fail("it played"))
    bad = tmp_path / "missing" / "x"
    assert main(["match", "call", "call", "--hands", "2", option, str(bad)]) == 2
    said = capsys.readouterr().err
    assert f"{option} {bad}" in said
    assert "there is no folder" in said


def test_pictures_without_matplotlib_are_refused_before_the_first_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.cli.measure.match._play", lambda *_: pytest.fail("it played"))
    monkeypatch.setattr("arena.report.png.find_spec", lambda _name: None)
    assert main(["match", "call", "call", "--hands", "2", "--png", str(tmp_path / "x.png")]) == 2
    assert "pip install -e '.[lab]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_result_is_printed_even_if_the_report_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("arena.report.hand_files.write_log", fail)
    command = ["match", "call", "call", "--hands", "2", "--workers", "1", "--log", str(tmp_path / "log")]
    assert main(command) == 2
    shown = capsys.readouterr()
    assert "call-A against call-B" in shown.out
    assert "the disk is full" in shown.err


@pytest.mark.parametrize(
    ("player", "words"),
    [
        ("agent,budget=x", "'agent,budget=x': budget=x: write a number"),
        ("agent,iterations=1.5", "iterations=1.5: write a whole number"),
        ("agent,foo=1", "its options are budget, iterations, leaf"),
        ("blueprint,foo=1", "blueprint has no option 'foo': its options are bias, threshold, purify"),
        ("blueprint,bias=call*x", "bias=call*x: write a whole number after the *"),
        ("blueprint:nope", "'blueprint:nope': nope: there is no such file"),
        ("nobody", "agent, python:FILE.py:NAME, acpc:COMMAND"),
    ],
)
def test_invalid_players_are_refused(player: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", player, "call", "--hands", "2"]) == 2
    assert words in capsys.readouterr().err


def test_an_empty_game_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = tmp_path / "empty.game"
    game.write_text("")
    assert main(["match", "call", "call", "--hands", "2", "--game", str(game)]) == 2
    assert "no game definition" in capsys.readouterr().err


def run_match(*options: str, errors: IO[str] | int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "server.cli", "match", "pot-odds", "random", "--seed", "3"]
    command += options
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=errors)


@pytest.mark.slow
def test_a_killed_match_resumes(tmp_path: Path) -> None:
    save = tmp_path / "duel"
    journal = tmp_path / "duel.match"
    options = ("--hands", "400", "--json")
    said = tmp_path / "said"
    with said.open("w") as errors:
        killed = run_match(*options, "--save", str(save), errors=errors)
    deadline = time.monotonic() + 600
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 20):
        assert killed.poll() is None, said.read_text()
        assert time.monotonic() < deadline, said.read_text()
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    kept = journal.read_bytes().splitlines()[:-1]
    assert 20 <= len(kept) < 201
    resumed, undisturbed = run_match(*options, "--save", str(save)), run_match(*options)
    assert resumed.communicate()[0] == undisturbed.communicate()[0] != ""
    assert journal.read_bytes().splitlines()[: len(kept)] == kept


def test_hands_are_written_as_acpc_log_and_phh(tmp_path: Path) -> None:
    log, histories = tmp_path / "duel.log", tmp_path / "duel.phhs"
    shown = run_match(
        "--hands", "20", "--workers", "1", "--log", str(log), "--phh", str(histories)
    ).communicate()[0]
    assert "pot-odds against random: " in shown
    read = read_log(log.read_text().splitlines(), HUNL)
    assert len(read.hands) == 20
    assert read.score is not None
    assert read.score.players == ("pot-odds", "random")
    parsed = parse_histories(histories.read_text())
    assert [hand.state.betting.text for hand in parsed] == [hand.state.betting.text for hand in read.hands]
    assert f"{read.score.totals[0] / 20 / 100 * 1000:+,.0f}" in shown
