"""`fathom`: unknown commands and options."""

from __future__ import annotations

import pytest

from server.cli import main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solv"], "unknown command 'solv': did you mean solve?"),
        (["xyzzy"], "unknown command 'xyzzy': choose from serve, "),
        (["acpc", "localhost", "abc"], "argument port: write a whole number from 1 to 65535, not 'abc'"),
        (["config"], "the following arguments are required: check|show"),
        (["bench"], "the following arguments are required: FIGURE\n"),
        (["pushfold", "chart", "--stack", "abc"], "--stack: write a number from 1 to 100, not 'abc'"),
        (["pushfold", "chart", "--stack", "0.5"], "--stack: write a number from 1 to 100, not '0.5'"),
    ],
)
def test_unknown_commands_and_options(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
