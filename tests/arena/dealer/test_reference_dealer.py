"""Comparison with the reference dealer. Set FATHOM_REFERENCE_DEALER to its binary to run these tests."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from game.definition import HUNL
from protocol.acpc import MatchState
from tests.arena.scripted import chaotic, play_ours, play_reference, sensible, timeless_transactions
from tests.arena.setups import SETUPS, setup

BINARY = os.environ.get("FATHOM_REFERENCE_DEALER")
pytestmark = pytest.mark.skipif(
    BINARY is None,
    reason="needs the reference dealer: build it as docs/acpc.md says and name it in FATHOM_REFERENCE_DEALER",
)


@pytest.mark.parametrize("name", SETUPS)
def test_same_log_and_messages(name: str, tmp_path: Path) -> None:
    assert BINARY is not None
    setup, scripts = SETUPS[name]
    theirs = play_reference(BINARY, setup, scripts, tmp_path)
    ours = play_ours(setup, scripts, tmp_path)
    assert theirs.log == ours.log
    assert theirs.stdout == ours.stdout
    assert theirs.status == ours.status
    assert theirs.timeless_stderr.splitlines() == ours.timeless_stderr.splitlines()


@pytest.mark.parametrize("kept", [0, 1, 3, 20, 41, 10_000])
def test_same_resumed_log(kept: int, tmp_path: Path) -> None:
    """Both dealers resume from the same interrupted files."""
    assert BINARY is not None
    scripts = chaotic(1), chaotic(2)
    play_reference(BINARY, setup(HUNL, 20, 5, "-T"), scripts, tmp_path)
    log, transactions = tmp_path / "match.log", tmp_path / "match.tlog"
    kept_log = b"".join(log.read_bytes().splitlines(keepends=True)[:9])
    kept_transactions = b"".join(transactions.read_bytes().splitlines(keepends=True)[:kept])
    resumed = []
    for play in (partial(play_reference, BINARY), play_ours):
        log.write_bytes(kept_log)
        transactions.write_bytes(kept_transactions)
        outcome = play(setup(HUNL, 20, 5, "-T", "-a"), scripts, tmp_path)
        # Timestamps have the same number of digits in both files: each dealer can read the other's.
        assert [len(line.split()) for line in transactions.read_bytes().splitlines()].count(
            4
        ) >= kept % 10_000
        resumed.append(
            (outcome.status, outcome.log, outcome.timeless_stderr, timeless_transactions(transactions))
        )
    # Our log's header contains a path; play_ours strips only the first one, from the interrupted match.
    ours = resumed[1]
    resumed[1] = (ours[0], ours[1].replace(str(tmp_path / "match").encode(), b"match"), *ours[2:])
    assert resumed[0] == resumed[1]


@pytest.mark.parametrize(
    "line",
    [
        "x 0 1.000000 1.000000", "rx 0 1.000000 1.000000", "r 0 1.000000 1.000000", "c 1 1.000000 1.000000",
        "c 0 1.000000", "c 0 1 1", "r20001 0 1.000000 1.000000", "c 0 1.000000 602.000000", "", "c",
        "c 0 1.5 1.5", "c +0 1.000000 1.000000 more", "k 0 5.000000 1.000000", "c 0 1.0000001 2.0",
    ],
)  # fmt: skip
def test_same_verdict_on_a_transaction(line: str, tmp_path: Path) -> None:
    assert BINARY is not None
    outcomes = []
    for play in (partial(play_reference, BINARY), play_ours):
        (tmp_path / "match.tlog").write_text(line + "\n")
        (tmp_path / "match.log").unlink(missing_ok=True)
        outcome = play(setup(HUNL, 3, 5, "-T", "-a"), (sensible(1), sensible(2)), tmp_path)
        complaint = outcome.stderr.partition(b"ERROR: ")[2][:30]
        outcomes.append((outcome.status, outcome.log, outcome.stdout, complaint))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "flags",
    [
        ("--t_response", "30"), ("--t_hand", "0"), ("--t_per_hand", "0"),
        ("--t_response", "-1", "--t_hand", "-5", "--t_per_hand", "99999999999"),
    ],
)  # fmt: skip
def test_same_time_limits(flags: tuple[str, ...], tmp_path: Path) -> None:
    assert BINARY is not None

    def thinks_at_last(state: MatchState | None, line: str) -> list[bytes]:
        return sensible(2)(state, line) if ":4:" not in line or "30" not in flags else []

    match, scripts = setup(HUNL, 6, 5, *flags), (sensible(1), thinks_at_last)
    theirs = play_reference(BINARY, match, scripts, tmp_path)
    ours = play_ours(match, scripts, tmp_path)
    assert (theirs.status, theirs.log, theirs.stdout) == (ours.status, ours.log, ours.stdout)
    assert theirs.timeless_stderr == ours.timeless_stderr
