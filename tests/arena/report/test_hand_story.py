"""Hand stories: descriptions of hands from the agent's point of view."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.players.agent_player import AgentHand, AgentPlayer
from arena.players.registry import make_player
from arena.report.hand_story import Story, describe, oddities, play_story, tell
from game.actions import CALL, FOLD, Action, raise_to
from game.cards import parse_cards
from game.definition import HUNL
from game.hands import NUM_HANDS, unblocked
from game.state import hand_state
from protocol.acpc import parse_betting
from server.cli import main
from solver.agent.agent import Agent
from solver.decisions.decision import Decision, Method
from solver.decisions.range_strategy import RangeStrategy
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.arena.players.test_agent_player import QUICK


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    return Agent(made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE), QUICK)


@pytest.fixture(autouse=True)
def quick_preflop_equity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace pre-flop equity, which takes half a minute to enumerate."""
    monkeypatch.setattr(
        "solver.equity.all_in.preflop_wins", lambda: np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.float32)
    )


def test_a_story_describes_every_decision(agent: Agent) -> None:
    player = AgentPlayer("agent", agent)
    story = play_story(player, make_player("call"), HUNL, seed=3)
    text = tell(story)
    assert text.startswith("# ")
    assert text.count("## ") == len(story.hand.decisions)
    assert "on the button" in text
    assert "**" in text
    assert f"{story.chips:+,} chips" in text
    again = play_story(player, make_player("call"), HUNL, seed=3)
    assert again.state == story.state


def test_folding_the_nuts_and_calling_with_no_equity_are_reported(agent: Agent) -> None:
    board = tuple(parse_cards("QsJsTs2d3c"))

    def after(action: Action, cards: str) -> list[str]:
        before = parse_betting(HUNL, "r300c/cc/cc/r777")
        hole = tuple(parse_cards(cards)), tuple(parse_cards("9c9d"))
        hand = AgentHand(agent, 1)
        ranges = np.ones((2, NUM_HANDS), dtype=np.float32)
        ranges[:, ~unblocked(board)] = 0
        rows = np.full((2, NUM_HANDS), 0.5, dtype=np.float32)
        strategy = RangeStrategy((FOLD, CALL), rows)
        hand.decisions["", board] = Decision(before, board, strategy, ranges, Method.BLUEPRINT, 0)
        position = before.actor
        both = hole if position == 0 else hole[::-1]
        return oddities(Story(hand_state(before.apply(action), both, board), position, hand, "somebody"))

    assert "folded with 100% equity" in after(FOLD, "AsKs")[0]
    assert "called with" in after(CALL, "4h5h")[0]
    assert after(CALL, "AsKs") == []
    assert after(FOLD, "4h5h") == []


def test_actions_in_words() -> None:
    betting = parse_betting(HUNL, "r300")
    words = [describe(action, betting) for action in (FOLD, CALL, raise_to(900), raise_to(20_000))]
    assert words == ["fold", "call 200", "raise to 900", "all-in"]
    assert describe(CALL, parse_betting(HUNL, "c")) == "check"
    assert describe(raise_to(450), parse_betting(HUNL, "r300c/")) == "bet 150"
    assert describe(raise_to(900), parse_betting(HUNL, "r300c/r450")) == "raise to 600"
    assert describe(raise_to(300), parse_betting(HUNL, "c")) == "raise to 300"


def test_the_command_writes_files(agent: Agent, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"agent:{agent.blueprint.path},iterations=2"
    assert (
        main(["story", "--agent", name, "--against", "fold", "--hands", "2", "--folder", str(tmp_path)]) == 0
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hand-1.md", "hand-2.md"]
    assert "chips" in capsys.readouterr().err
    assert main(["story", "--agent", "call"]) == 2
    assert "only agents explain" in capsys.readouterr().err
