"""`fathom bench` finds the figures and hands their options on."""

from __future__ import annotations

import pytest

from server.cli import main


def test_an_options_help_is_the_figures_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench", "fuzz", "--help"])
    assert ended.value.code == 0
    assert "usage: fathom bench fuzz" in capsys.readouterr().out


def test_all_figures_share_no_option_but_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "all", "--hands", "5"]) == 2
    assert "all figures share one option, --json" in capsys.readouterr().err
