"""`fathom bench` finds the figures and passes their options on."""

from __future__ import annotations

import pytest

from server.cli import main


def test_help_after_a_figure_is_that_figures_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench", "fuzz", "--help"])
    assert ended.value.code == 0
    assert "usage: fathom bench fuzz" in capsys.readouterr().out


def test_help_has_a_line_for_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    shown = capsys.readouterr().out
    assert "\n  evaluator    Speed of the compiled hand evaluator on one core.\n" in shown
    assert "\n  strength     Win rate of the agent against its own blueprint" in shown


def test_all_accepts_only_the_json_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "all", "--hands", "5"]) == 2
    assert "`all` takes only --json" in capsys.readouterr().err
