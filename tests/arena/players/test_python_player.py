"""Players from Python files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.duplicate.duplicate import DuplicateTerms, play_duplicate
from arena.errors import JournalError, MatchAborted, PlayerError
from arena.players.registry import make_player, player_identity, player_labels
from game.definition import HUNL
from server.cli import main

ROOT = Path(__file__).parents[3]

BOT = """
from __future__ import annotations

from dataclasses import dataclass
from random import Random

from game.actions import CALL, FOLD, raise_to
from player_of_a_test_helper import LEAST


def cheats(state, position, rng):
    return raise_to(LEAST)


def crashes(state, position, rng):
    return {}["nothing"]


def never_pays(state, position, rng):
    return FOLD if state.betting.to_call else CALL


@dataclass
class Once:
    chance: str = "1"

    def start_hand(self, seed):
        return Hand(Random(seed), float(self.chance))


class Hand:
    def __init__(self, rng, chance):
        self.rng, self.chance, self.raised = rng, chance, False

    def act(self, state, position):
        bounds = state.betting.raise_bounds()
        if bounds is None or self.raised or self.rng.random() >= self.chance:
            return CALL
        self.raised = True
        return raise_to(bounds[0])


class Mute:
    pass


limit = 3
"""


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    (tmp_path / "player_of_a_test_helper.py").write_text("LEAST = 1")
    return path


def chips(first: str, second: str, workers: int = 1) -> int:
    played = play_duplicate(DuplicateTerms(HUNL, (first, second), ("A", "B"), 3, 40), workers=workers)
    return int(played.chips.sum())


def test_functions_and_classes_are_players(bot: Path) -> None:
    # The small blind folds half of the hands; the others are checked down.
    assert chips(f"python:{bot}:never_pays", "call") != chips(f"python:{bot}:never_pays", "fold") == 0
    once = chips(f"python:{bot}:Once,chance=0.5", "call")
    assert once == chips(f"python:{bot}:Once,chance=0.5", "call", workers=2)
    assert once != chips(f"python:{bot}:Once,chance=0", "call") == chips("call", "call")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("python", "write python:FILE.py:NAME"),
        ("python:{bot}", "write python:FILE.py:NAME|there is no such file"),
        ("python:nowhere.py:Bot", "nowhere.py: there is no such file"),
        ("python:{bot}:Nobody", "has no 'Nobody': it defines cheats, crashes, never_pays, Once, Hand, Mute"),
        ("python:{bot}:limit", "has no 'limit'"),
        ("python:{bot}:never_pays,chance=1", "takes no options"),
        ("python:{bot}:Once,luck=1", "TypeError: .*luck"),
        ("python:{bot}:Mute", r"no method start_hand\(seed\)"),
        ("python:{broken}:Bot", "cannot be loaded: ZeroDivisionError"),
        ("python:{text}:Bot", "must end in .py"),
    ],
)
def test_invalid_python_players_are_refused_with_a_reason(bot: Path, text: str, reason: str) -> None:
    broken, plain = bot.with_name("broken.py"), bot.with_name("bot.text")
    broken.write_text("1 / 0")
    plain.write_text(BOT)
    with pytest.raises(PlayerError, match=reason):
        make_player(text.format(bot=bot, broken=broken, text=plain))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cheats", "raise to 1 is out of range"),
        ("crashes", r"KeyError: 'nothing' \(.*bot.py, line 16\)"),
    ],
)
def test_errors_of_a_player_are_reported_with_the_line(
    bot: Path, name: str, reason: str, workers: int
) -> None:
    for players in ((f"python:{bot}:{name}", "call"), ("call", f"python:{bot}:{name}")):
        with pytest.raises(MatchAborted, match=f"^python:.*:{name}: {reason}"):
            chips(*players, workers=workers)


def test_players_of_one_file_have_different_labels(bot: Path) -> None:
    assert player_labels((f"python:{bot}:never_pays", f"python:{bot}:Once,chance=1")) == (
        "python-bot-never_pays",
        "python-bot-Once-chance=1",
    )


def test_a_changed_file_cannot_continue_a_journal(bot: Path, tmp_path: Path) -> None:
    text = f"python:{bot}:never_pays"
    terms = DuplicateTerms(HUNL, (text, "call"), ("A", "B"), 3, 4)
    play_duplicate(terms, workers=1, path=tmp_path / "bot.match")
    before = player_identity(text)
    bot.write_text(BOT + "\n# changed\n")
    assert player_identity(text) != before
    with pytest.raises(JournalError, match="another match"):
        play_duplicate(terms, workers=1, path=tmp_path / "bot.match")


def test_the_examples_in_the_documentation_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs/arena.md").read_text().split("## Your own player")[1]
    (code,) = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    path = tmp_path / "mybot.py"
    path.write_text(code)
    commands = [line for line in text.split("\n") if line.startswith("fathom match python:mybot.py:")]
    assert len(commands) == 2
    for command in commands:
        words = command.partition("#")[0].replace("mybot.py", str(path)).split()[1:]
        assert main([*words[:3], "--hands", "20", "--seed", "1", "--workers", "1", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["hands"] == 20
