"""`fathom solve` on the command line.

`python tests/server/cli/study/test_solve_cli.py` regenerates the golden file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from server.cli import main

GOLDEN = Path(__file__).parents[3] / "golden" / "solve_river.json"
RIVER = ["solve", "--board", "AsKd7h4c2s", "--pot", "100", "--stack", "200", "--threads", "1"]
SMALL = [*RIVER, "--oop", "QQ:0.5,JTs,A5s,7c7d", "--ip", "KQs,TT,99"]
# A fixed variant and few iterations: a better default or another order of sums must not change this.
GOLDEN_ARGS = [
    *SMALL, "--menu", "50%, a | a", "--variant", "cfr+", "--iterations", "40", "--node", "b50%", "--json",
]  # fmt: skip
TURN = ["solve", "--board", "AsKd7h4c", "--pot", "100", "--stack", "200", "--oop", "AQs,77", "--ip", "AJs,44"]


def run(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main(args) == 0
    return capsys.readouterr().out


def run_json(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    out = run(capsys, *args, "--json")
    assert out.count("\n") == 1
    record: dict[str, Any] = json.loads(out)
    return record


def without_circumstances(record: dict[str, Any]) -> dict[str, Any]:
    """The result without fields that depend on the machine or the memory layout."""
    return {key: value for key, value in record.items() if key not in ("seconds", "memory_bytes")}


def assert_close(found: Any, expected: Any, where: str = "") -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            assert_close(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, value in enumerate(expected):
            assert_close(found[i], value, f"{where}[{i}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=2e-3, abs=2e-3), where
    else:
        assert found == expected, where


def test_a_river_card_merged_by_symmetry_is_shown_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    spot = [
        "solve",
        "--board",
        "AsKs7s4s",
        "--pot",
        "100",
        "--stack",
        "200",
        "--oop",
        "QQ,JTs",
        "--ip",
        "JJ,98s",
    ]
    looks = [
        run_json(capsys, *spot, "--iterations", "50", "--node", f"x/x/{card}/x") for card in ("Th", "Td")
    ]
    hearts, diamonds = [look["node"]["players"]["ip"]["hands"] for look in looks]
    swap = str.maketrans("dh", "hd")
    evs = [
        {frozenset([hand[:2], hand[2:]]): one["ev"] for hand, one in hands.items()}
        for hands in (hearts, diamonds)
    ]
    assert len(evs[0]) > 5
    for cards, ev in evs[0].items():
        assert evs[1][frozenset(card.translate(swap) for card in cards)] == pytest.approx(ev, abs=1e-3)


def test_json_of_a_river_is_as_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(run(capsys, *GOLDEN_ARGS))
    assert_close(without_circumstances(record), json.loads(GOLDEN.read_text()))


def test_values_in_the_json_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    record = run_json(capsys, *SMALL, "--iterations", "100", "--node", "x")
    node = record["node"]
    assert sum(record["ev"].values()) == pytest.approx(100, abs=1e-3)
    players = node["players"]
    assert players["oop"]["ev"] + players["ip"]["ev"] == pytest.approx(node["pot"], abs=1e-3)
    assert players["oop"]["equity"] + players["ip"]["equity"] == pytest.approx(1, abs=1e-4)
    assert sum(action["frequency"] for action in node["actions"]) == pytest.approx(1, abs=1e-4)
    assert node["actor"] == "ip"
    for hand in players["ip"]["hands"].values():
        assert sum(hand["strategy"]) == pytest.approx(1, abs=1e-4)
        assert len(hand["action_ev"]) == len(node["actions"])
        mixed = sum(s * ev for s, ev in zip(hand["strategy"], hand["action_ev"], strict=True))
        assert mixed == pytest.approx(hand["ev"], abs=1e-2)
    assert not any("strategy" in hand for hand in players["oop"]["hands"].values())


def test_threads_do_not_change_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    records = [run_json(capsys, *TURN, "--iterations", "30", "--threads", count) for count in ("1", "2")]
    one, two = ({**without_circumstances(record), "threads": 0} for record in records)
    assert one == two


def test_the_screen_shows_the_strategy_without_colours(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, *SMALL, "--iterations", "100", "--hands", "QQ,JhTh")
    assert "A♠ K♦ 7♥ 4♣ 2♠   pot 100   behind 200" in out
    assert "\x1b" not in out
    lines = out.splitlines()
    assert any(line.startswith("x  check") for line in lines)
    assert any(line.startswith("AA") is False and "A5s" in line for line in lines)
    assert "Exploitability" in out
    assert "100 iterations in" in out
    assert "Q♠Q♥" in out
    assert max(map(len, lines)) <= 80


def test_the_screen_has_colours_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[48;2;" in run(capsys, *SMALL, "--iterations", "10")
    monkeypatch.setenv("NO_COLOR", "1")
    out = run(capsys, *SMALL, "--iterations", "10")
    assert "48;2;" not in out
    assert "x  check" in out


def test_a_target_is_reached(capsys: pytest.CaptureFixture[str]) -> None:
    record = run_json(capsys, *SMALL, "--target", "0.3%")
    assert record["exploitability_pct"] <= 0.3
    assert record["exploitability_chips"] == pytest.approx(record["exploitability_pct"])  # the pot is 100


def test_an_unconverged_solve_prints_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    few, many = [*SMALL, "--iterations", "1"], [*SMALL, "--iterations", "100"]
    assert "Warning: not converged: exploitable for" in run(capsys, *few)
    assert run_json(capsys, *few)["converged"] is False
    assert "Warning" not in run(capsys, *many)
    record = run_json(capsys, *many)
    assert record["converged"] is True
    assert record["quality"] == f"solved: exploitable for {record['exploitability_pct']:.2f} % of the pot"


@pytest.mark.parametrize("board", ["AsKd7h4c", "AsKs7s4s"])  # in the second, river cards merge
def test_a_solve_can_be_saved_shown_and_resumed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str
) -> None:
    file = str(tmp_path / "a.solve")
    spot = [*TURN, "--board", board]
    whole = run_json(capsys, *spot, "--iterations", "60", "--node", "x/x/Td")
    run(capsys, *spot, "--iterations", "20", "--save", file)
    loaded = run_json(capsys, "solve", "--load", file)
    assert (loaded["iterations"], loaded["board"], loaded["stack"]) == (20, board, 200)
    resumed = run_json(
        capsys, "solve", "--resume", file, "--iterations", "60", "--save", file, "--node", "x/x/Td"
    )
    assert without_circumstances(resumed) == without_circumstances(whole)
    again = run_json(capsys, "solve", "--load", file, "--node", "x/x/Td")
    assert again["node"] == whole["node"]


def test_locks_hold_and_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "locked.solve")
    lock = "b50% = f random:0.7; c rest"
    record = run_json(
        capsys,
        *SMALL,
        "--iterations",
        "50",
        "--lock",
        lock,
        "--node",
        "b50%",
        "--save",
        file,
        "--strategy-only",
    )
    assert record["locked"] == ["b50"]
    assert record["node"]["actions"][0]["frequency"] == pytest.approx(0.7, abs=1e-4)
    assert run_json(capsys, "solve", "--load", file)["locked"] == ["b50"]
    assert "Locked: b50." in run(capsys, "solve", "--load", file)
    turn = run_json(capsys, *TURN, "--iterations", "5", "--lock", "x/x/* = x random")
    assert turn["locked"] == ["x/x/*"]


def test_an_unreached_node_prints_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    args = [*SMALL, "--iterations", "5", "--lock", "root = x random", "--node", "b50%"]
    assert "This node is never reached" in run(capsys, *args)
    record = run_json(capsys, *args)
    assert record["node"]["players"]["ip"]["ev"] is None


def test_ranges_can_be_read_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "range.txt").write_text("QQ,\nJTs\n")
    record = run_json(
        capsys, *RIVER, "--oop", f"@{tmp_path / 'range.txt'}", "--ip", "KQs", "--iterations", "2"
    )
    assert record["node"]["players"]["oop"]["weight"] == 10


def test_the_smaller_of_two_stacks_counts(capsys: pytest.CaptureFixture[str]) -> None:
    args = [*SMALL, "--iterations", "2", "--stack", "900,150"]
    assert run_json(capsys, *args)["stack"] == 150


def test_a_solve_that_needs_too_much_memory_is_rejected(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.solves.input.available_memory_bytes", lambda: 50_000)
    assert main([*RIVER, "--iterations", "1"]) == 2
    error = capsys.readouterr().err
    assert "of memory and 50 kB are free: offer fewer sizes with --menu" in error


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--board", "AsAs7h4c2s"], "--board: As appears twice"),
        (["--board", "AsKd"], "--board: 'AsKd' has 2 cards: give 3 (flop), 4 (turn) or 5 (river)"),
        (["--board", "AsKd7h4c2s3s"], "--board: 'AsKd7h4c2s3s' has 6 cards"),
        (["--board", "AsKd7x"], "--board: '7x' is not a card"),
        (["--board", "10sKd7h"], "--board: '10sKd7h': each card is two characters: write T for ten"),
        (["--board", "asKD7"], "--board: 'asKD7' is not a list of cards"),
        (["--save", "/proc/x"], "--save /proc/x: cannot be written"),
        (["--pot", "0"], "--pot: '0' is not a number of chips: write a whole number above 0, e.g. 1000"),
        (["--pot", "12.5"], "--pot: '12.5' is not a number of chips"),
        (["--stack", "-5"], "--stack: '-5' is not a number of chips"),
        (["--stack", "5,"], "--stack: '' is not a number of chips"),
        (["--stack", "5,6,7"], "--stack: '5,6,7' has 3 stacks"),
        (["--pot", "99999999999999999999"], "--pot: '99999999999999999999' is too large"),
        (["--threads", "1000"], "--threads: '1000' is more than 256"),
        (["--menu", "50%; 60%"], "--menu: '60%' is a second menu without a street"),
        (["--save", "/"], "--save /: is a folder"),
        (["--big-blind", "no"], "--big-blind: 'no' is not a number of chips"),
        (["--oop", "none"], "--oop: 'none' contains no hand: write e.g. 'QQ+,AKs'"),
        (["--ip", "AsAh,7h7d"], "--ip: no hand of 'AsAh,7h7d' is possible: all share a card with AsKd7h4c2s"),
        (["--ip", "AZ"], "--ip: 'AZ' is not a hand: write e.g."),
        (["--ip", ""], "--ip: an empty range"),
        (["--oop", "AhAd", "--ip", "AhQh"], "--oop and --ip: no pair of hands is possible"),
        (["--oop", "AhAd:1e-25"], "--oop and --ip: a range of weights below 1e-18 is lost in rounding"),
        (["--oop", "@/no/such/file"], "--oop: cannot read /no/such/file"),
        (["--menu", "-"], "--menu: '-' offers no bet on the river or later: write sizes"),
        (["--menu", "turn: 50%"], "--menu: 'turn: 50%' offers no bet on the river"),
        (["--menu", "50"], "--menu: '50' is not a bet size: write e.g. 50%"),
        (["--menu", "preturn: 50%"], "--menu: 'preturn' names no street"),
        (["--target", "1/2"], "--target: '1/2' is not a percentage"),
        (["--target=-1%"], "--target: '-1' is not a percentage"),
        (["--target", "100%"], "--target: '100%' is more than the pot"),
        (["--iterations", "0"], "--iterations: '0' is not a number of iterations"),
        (["--seconds", "nan"], "--seconds: 'nan' is not a number of seconds"),
        (["--threads", "two"], "--threads: 'two' is not a number of threads"),
        (["--node", "b77"], "--node: 'b77' is not offered at the root: write one of x, b50, b100, a"),
        (["--lock", "b50% = f AA"], "--lock: 'b50% = f AA' gives"),
        (["--hands", "77+x"], "--hands: "),
        (["--save", "/no/such/folder/x"], "--save /no/such/folder/x: there is no folder /no/such/folder"),
        (["--strategy-only"], "--strategy-only: needs a file to save to: add --save FILE"),
        (["--load", "/no/file", "--target", "1%"], "--target: --load only shows a solve"),
        (["--load", "/no/file"], "--board: the spot comes from the --load file"),
        (["--variant", "improved-cfr+"], "--variant: improved-cfr+ needs the number of iterations"),
    ],
)  # fmt: skip
def test_errors_name_the_option_and_a_fix(
    capsys: pytest.CaptureFixture[str], args: list[str], message: str
) -> None:
    assert main([*RIVER, *args]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"fathom solve: {message}")
    assert captured.err.count("\n") == 1
    assert not captured.out


def test_a_missing_option_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "--pot", "5"]) == 2
    assert "--board and --stack are missing: write e.g. --board AsKd7h4c2s" in capsys.readouterr().err


def test_all_missing_options_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve"]) == 2
    assert "--board, --pot and --stack are missing" in capsys.readouterr().err


def test_open_cards_cannot_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TURN, "--node", "x/x/*"]) == 2
    assert "--node: 'x/x/*' leaves a card open: to show a node, name the card" in capsys.readouterr().err


def test_files_that_are_not_solves_are_rejected(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    for name in ("--load", "--resume"):
        assert main(["solve", name, str(tmp_path / "x")]) == 2
        assert f"{name}: {tmp_path / 'x'} is not a saved solve" in capsys.readouterr().err


if __name__ == "__main__":
    import contextlib
    import io

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        main(GOLDEN_ARGS)
    GOLDEN.write_text(json.dumps(without_circumstances(json.loads(text.getvalue())), indent=1) + "\n")
    sys.exit(0)
