"""`fathom decide` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from game.actions import CALL, FOLD, raise_to
from game.definition import HUNL
from protocol.acpc import parse_betting
from server.cli import main
from server.config.machine import usable_cores
from tests.arena.blueprints import WIDE, made_up_blueprint


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE).path


def decide(blueprint: Path, state: str, *options: str) -> list[str]:
    return ["decide", state, "--blueprint", str(blueprint), "--iterations", "2", *options]


@pytest.mark.parametrize(
    ("state", "betting", "method"),
    [
        ("MATCHSTATE:1:0::|AsKd", "", "blueprint"),
        ("MATCHSTATE:0:0:r300c/cr450:QhJh|/Th9c2s", "r300c/cr450", "depth-limited"),
        ("MATCHSTATE:0:0:r300c/cc/cc/r777c", "", "refused"),
        ("MATCHSTATE:1:0:r300c/cc/cc/r777:|QhJh/Th9c2s/3d/4d", "r300c/cc/cc/r777", "exact, safe"),
        # Earlier bets of ours that the agent would not have made: another player started the hand.
        ("MATCHSTATE:1:0:r251c/cr463c/c:|QhJh/Th9c2s/3d", "r251c/cr463c/c", "exact"),
    ],
)
def test_json_output_is_one_line(
    blueprint: Path, capsys: pytest.CaptureFixture[str], state: str, betting: str, method: str
) -> None:
    status = main(decide(blueprint, state, "--json"))
    if method == "refused":
        assert status == 2
        assert "MATCHSTATE" in capsys.readouterr().err
        return
    record = json.loads(capsys.readouterr().out)
    assert status == 0
    assert record["method"] == method
    assert sum(record["strategy"].values()) == pytest.approx(1.0, abs=0.01)
    assert record["action"] in record["strategy"]
    assert record["converged"] in ((None,) if method == "blueprint" else (True, False))
    assert record["quality"]
    at = parse_betting(HUNL, betting)
    simple = {"f": FOLD, "c": CALL}
    for action in record["strategy"]:
        at.verify(simple.get(action) or raise_to(int(action[1:])))


def test_text_output_has_grids_and_the_action(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(decide(blueprint, "MATCHSTATE:0:0:r300c/:QhJh|/Th9c2s")) == 0
    shown = capsys.readouterr().out
    for word in (
        "flop",
        "QhJh",
        "check",
        "bet 450",
        "our range",
        "opponent's range",
        "AKs",
        "→",
        "nothing to call",
        "in the big blind",
    ):
        assert word in shown


RIVER = "MATCHSTATE:1:0:r300c/cc/cc/r777:|QhJh/Th9c2s/3d/4d"


def test_an_unconverged_solve_prints_a_warning_with_advice(
    blueprint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["decide", RIVER, "--blueprint", str(blueprint), "--iterations"]
    assert main([*asked, "1"]) == 0
    shown = capsys.readouterr().out
    assert "Warning: not converged: exploitable for" in shown
    assert "try --iterations 4\n" in shown
    assert main([*asked, "300"]) == 0
    shown = capsys.readouterr().out
    assert "Warning" not in shown
    assert "solved: exploitable for" in shown
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main([*asked, "1"]) == 0
    assert "\x1b[1;33mWarning: not converged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("state", "warns"), [("MATCHSTATE:0:0:r300c/:QhJh|/Th9c2s", True), ("MATCHSTATE:1:0::|AsKd", False)]
)
def test_looked_up_decisions_are_labelled_and_warned_about_postflop(
    blueprint: Path, capsys: pytest.CaptureFixture[str], state: str, warns: bool
) -> None:
    options = ["--blueprint", str(blueprint), "--budget", "0.001", "--threads", str(usable_cores())]
    assert main(["decide", state, *options]) == 0
    shown = capsys.readouterr().out
    assert "looked up in the blueprint, nothing was solved" in shown
    assert ("Warning" in shown) is warns
    assert ("try --budget 0.004\n" in shown) is warns


def test_all_cores_are_used_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["decide", "--help"])
    words = " ".join(capsys.readouterr().out.split())
    assert f"(default: all cores, here {usable_cores()};" in words


def test_without_colours_letters_and_blocks_show_shares(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(decide(blueprint, "MATCHSTATE:0:0:r300c/:QhJh|/Th9c2s")) == 0
    lines = capsys.readouterr().out.splitlines()
    (check,) = [line for line in lines if "check" in line and "%" in line]
    assert check.startswith("c ")
    assert "█" in "".join(lines)
    ours = lines.index("our range, by action")
    theirs = lines.index("the opponent's range")
    assert set("".join(lines[ours + 2 : ours + 27 : 2])) & set("ca123")
    assert "#" in "".join(lines[theirs + 2 : theirs + 27 : 2])


def test_not_our_turn_is_refused(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(decide(blueprint, "MATCHSTATE:0:0::QhJh|")) == 2
    assert "not our turn" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("MATCHSTATE:1:0::AsKd|", "position 1: write your hole cards after the |"),
        ("MATCHSTATE:0:0:r300:|AsKd", "position 0: write your hole cards before the |"),
        ("MATCHSTATE", "MATCHSTATE"),
    ],
)
def test_cards_on_the_wrong_side_are_rejected(
    blueprint: Path, state: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(decide(blueprint, state)) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--budget", "0"], "argument --budget: write a number above 0, not '0'"),
        (["--budget", "nan"], "argument --budget: write a number above 0"),
        (["--iterations", "0"], "argument --iterations: write a whole number of at least 1, not '0'"),
        (["--threads", "0"], "argument --threads: write a whole number of at least 1"),
        (["--budget", "1", "--iterations", "5"], "not allowed with"),
    ],
)
def test_invalid_numbers_are_rejected(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["decide", "MATCHSTATE:1:0::|AsKd", *options])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_a_missing_blueprint_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(decide(tmp_path / "nope", "MATCHSTATE:1:0::|AsKd")) == 2
    assert f"--blueprint {tmp_path / 'nope'}: no such file" in capsys.readouterr().err


def test_a_tiny_budget_still_gets_an_answer(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = "MATCHSTATE:0:0:r300c/:QhJh|/Th9c2s"
    assert main(["decide", state, "--blueprint", str(blueprint), "--budget", "0.001", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["method"] == "blueprint"  # better than an iteration or two
    assert answer["action"]
