from __future__ import annotations

import pytest

from server.cli import main


def test_demo_prints_hands_and_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--hands", "6", "--show", "2", "--alice", "call", "--bob", "random"]) == 0
    told = capsys.readouterr().out
    assert "Hand 1: Bob" in told
    assert "Hand 2: Alice" in told
    assert "Hand 3" not in told
    assert "After 6 hands: Alice" in told


def test_demo_lists_the_policies_for_an_unknown_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--alice", "genius"]) == 2
    assert "unknown policy 'genius': choose from call, fold" in capsys.readouterr().err
