"""Side by side with the reference dealer: set FATHOM_REFERENCE_DEALER to its binary to run these."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.arena.scripted import play_ours, play_reference
from tests.arena.setups import SETUPS

BINARY = os.environ.get("FATHOM_REFERENCE_DEALER")
pytestmark = pytest.mark.skipif(BINARY is None, reason="FATHOM_REFERENCE_DEALER names no dealer")


@pytest.mark.parametrize("name", SETUPS)
def test_same_log_and_same_words(name: str, tmp_path: Path) -> None:
    assert BINARY is not None
    setup, scripts = SETUPS[name]
    theirs = play_reference(BINARY, setup, scripts, tmp_path)
    ours = play_ours(setup, scripts, tmp_path)
    assert theirs.log == ours.log
    assert theirs.stdout == ours.stdout
    assert theirs.status == ours.status
    assert theirs.timeless_stderr.splitlines() == ours.timeless_stderr.splitlines()
