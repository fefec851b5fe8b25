"""Every example of docs/solve.md runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from server.cli import main

PAGE = (Path(__file__).parents[4] / "docs" / "solve.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(commands) >= 8
    for command in commands:
        program, *args = shlex.split(command)
        assert program == "fathom"
        assert main(args) == 0, f"{command}: {capsys.readouterr().err}"


def test_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    exec(compile(code, "docs/solve.md", "exec"), {})
    assert capsys.readouterr().out.startswith("{")
