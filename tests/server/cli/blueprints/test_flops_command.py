"""`fathom blueprint flops`, with a made-up blueprint."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from abstraction.isomorphism import canonical_boards
from game.cards import parse_cards
from game.definition import HUNL
from protocol.acpc import parse_betting
from server.cli import main
from server.cli.parts import flops
from solver.agent.agent import Agent
from solver.blueprint.file import Blueprint
from solver.decisions.decision import Method
from solver.decisions.settings import AgentSettings
from solver.flop_book.book import FlopBook, book_folder, book_menu
from solver.flop_book.making import BOOK_ITERATIONS, flops_in_order, only_maker
from tests.arena.blueprints import WIDE, made_up_blueprint

MENU = book_menu(AgentSettings())


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)


def command(blueprint: Blueprint, *options: object) -> list[str]:
    words = ("blueprint", "flops", blueprint.path, "--quiet", "--json", "--processes", 1, "--iterations", 3)
    return [str(word) for word in (*words, *options)]


def test_the_book_is_written_where_agents_look(
    blueprint: Blueprint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(blueprint, "--line", "r300c", "--flops", 3)) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["lines"], facts["entries"], facts["made_now"]) == (["r300c"], 3, 3)
    book = FlopBook(book_folder(blueprint, MENU), blueprint, MENU)
    assert sorted(book.files["r300c"].rows_made()) == sorted(flops_in_order(3).tolist())
    assert facts["disk_bytes"] > 3 * 30_000
    # What is there is not made again; more is added.
    assert main(command(blueprint, "--line", "r300c/", "--line", "cc", "--flops", 4)) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["entries"], facts["made_now"]) == (8, 5)
    board = tuple(canonical_boards(3)[flops_in_order(1)[0]].tolist())
    agent = Agent(blueprint, AgentSettings(budget=None))
    assert agent.decide(parse_betting(HUNL, "cc/"), board, None, 1).method is Method.BOOK


def test_named_flops_are_solved_once_up_to_suits(
    blueprint: Blueprint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Flops that are the same up to suits are solved once."""
    flops = ("--flop", "AsKd7h", "--flop", "AcKh7s", "--flop", "2c2d9s")
    assert main(command(blueprint, "--line", "cc", *flops, "--book", tmp_path)) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 2
    entry = FlopBook(tmp_path, blueprint, MENU).entry("cc", tuple(parse_cards("7dAhKs")))
    assert entry is not None


def test_a_plan_solves_nothing(
    blueprint: Blueprint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(blueprint, "--lines", 2, "--plan", "--book", tmp_path / "book")) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["entries"] == facts["missing"] == 2 * 1_755
    assert facts["flops_share"] == 1
    assert facts["expected_hours"] > 0
    assert facts["expected_bytes"] > 2 * 1_755 * 1_176 * 10
    assert not (tmp_path / "book").exists()


def test_default_lines_cover_most_flops(blueprint: Blueprint, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(blueprint, "--plan", "--flops", 1)) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["lines_share"] >= 0.9
    assert main(command(blueprint, "--plan", "--flops", 1, "--lines", len(facts["lines"]) - 1)) == 0
    assert json.loads(capsys.readouterr().out)["lines_share"] < 0.9


def test_a_killed_run_resumes_to_the_same_bytes(blueprint: Blueprint, tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    options = ("--line", "r300c", "--flops", 60, "--book")
    words = command(blueprint, *options, killed)
    with subprocess.Popen([sys.executable, "-m", "server.cli", *words]) as process:
        deadline = time.monotonic() + 600
        made = 0
        while not made and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
            if (killed / "r300c.flops").exists():
                made = len(FlopBook(killed, blueprint, MENU).files["r300c"].rows_made())
        process.send_signal(signal.SIGKILL)
    assert made
    assert main(words) == 0
    assert main(command(blueprint, *options, whole)) == 0
    assert (killed / "r300c.flops").read_bytes() == (whole / "r300c.flops").read_bytes()


def test_several_processes_write_the_same_book(blueprint: Blueprint, tmp_path: Path) -> None:
    for count in (1, 2):
        options = ("--line", "cc", "--flops", 2, "--processes", count, "--book", tmp_path / str(count))
        assert main(command(blueprint, *options)) == 0
    assert (tmp_path / "1" / "cc.flops").read_bytes() == (tmp_path / "2" / "cc.flops").read_bytes()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--line", "r350c"], "--line r350c: no such line"),
        (["--line", "r20000c"], "no such line: it must lead to a flop with betting left in this blueprint"),
        (["--flop", "AsKd"], "a flop is three different cards"),
        (["--flop", "AsKdAs"], "As"),
        (["--book", "/dev/null"], "is a file: name a folder"),
    ],
)
def test_refused(
    blueprint: Blueprint, options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(blueprint, *options)) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [["--flops", "0"], ["--flops", "1756"], ["--flops", "some"], ["--share", "x"]]
)
def test_numbers_are_checked(blueprint: Blueprint, options: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(command(blueprint, *options))


def test_only_one_process_may_write_a_book(
    blueprint: Blueprint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with only_maker(tmp_path):
        assert main(command(blueprint, "--line", "cc", "--flops", 1, "--book", tmp_path)) == 2
    assert "is being made" in capsys.readouterr().err


def test_too_little_disk_space_is_an_error(
    blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(flops.shutil, "disk_usage", lambda _: usage)
    assert main(command(blueprint, "--line", "cc", "--flops", 1, "--book", tmp_path)) == 2
    assert "choose fewer lines or flops" in capsys.readouterr().err


def test_help_shows_the_default_iterations() -> None:
    assert flops._ITERATIONS == BOOK_ITERATIONS
