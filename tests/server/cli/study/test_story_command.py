"""`fathom story`: its output, and checks of its arguments before it plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.cli import main
from tests.arena.blueprints import WIDE, made_up_blueprint


def test_a_hand_is_printed_without_oddities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blueprint = made_up_blueprint(tmp_path, WIDE).path
    agent = f"agent:{blueprint},iterations=2"
    assert main(["story", "--agent", agent, "--against", "fold", "--folder", str(tmp_path / "told")]) == 0
    assert "no oddities" in capsys.readouterr().err
    assert (tmp_path / "told" / "hand-1.md").is_file()


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blueprint = made_up_blueprint(tmp_path, WIDE).path
    folder = tmp_path / "file"
    folder.write_text("x")
    assert main(["story", "--agent", f"agent:{blueprint},iterations=2", "--folder", str(folder)]) == 2
    assert f"--folder {folder}: cannot be created" in capsys.readouterr().err


def test_zero_hands_are_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["story", "--hands", "0"])
    assert "argument --hands: write a whole number of at least 1" in capsys.readouterr().err
