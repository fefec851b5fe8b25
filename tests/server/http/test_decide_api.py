from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.server.api_setups import DETAILS, StandIn, post, running

FLOP = "MATCHSTATE:0:0:r300c/:QhJh|/Th9c2s"


def ask(folder: Path, body: dict[str, Any], status: int = 200, decider: Any = None) -> Any:
    async def play() -> Any:
        async with running(folder, decider) as client:
            return await post(client, "/v1/decide", body, status)

    return asyncio.run(play())


def test_a_matchstate_line_is_answered(tmp_path: Path) -> None:
    decider = StandIn()
    answer = ask(tmp_path, {"matchstate": FLOP, "seed": 5, "budget": 2.0}, decider=decider)
    assert answer["hand"] == "QhJh"
    assert answer["street"] == "flop"
    assert answer["strategy"] == {answer["action"]: 1.0}
    assert answer["range_strategy"] == {answer["action"]: 1.0}
    assert (answer["method"], answer["rung"], answer["iterations"]) == ("exact", "solved", 7)
    assert "600 in the pot" in answer["explanation"]
    assert "QhJh" in answer["explanation"]
    (request,) = decider.requests
    assert request.seed == 5
    assert 0 < request.seconds < 2
    assert request.context is None


def test_the_same_state_as_separate_fields(tmp_path: Path) -> None:
    first, second = StandIn(), StandIn()
    line = ask(tmp_path, {"matchstate": FLOP, "seed": 5}, decider=first)
    parts = {"betting": "r300c/", "board": "Th9c2s", "hole": "QhJh", "seed": 5, "range": True}
    answer = ask(tmp_path, parts, decider=second)
    assert first.requests[0].board == second.requests[0].board
    assert first.requests[0].hand == second.requests[0].hand
    assert answer["range"]["actions"] == [answer["action"]]
    assert answer["range"]["hands"]["QhJh"] == {"weight": 1.0, "strategy": [1.0]}
    assert {name: value for name, value in answer.items() if name != "range"} == line


def test_earlier_decisions_are_repeated_to_build_the_context(tmp_path: Path) -> None:
    decider = StandIn()
    line = "MATCHSTATE:0:0:r300c/cr600c/:QhJh|/Th9c2s/3d"
    ask(tmp_path, {"matchstate": line, "seed": 1}, decider=decider)
    assert [(request.betting, request.played) for request in decider.requests] == [
        ("r300c/", "c"),
        ("r300c/cr600", "c"),
        ("r300c/cr600c/", None),
    ]
    assert [request.context for request in decider.requests] == [
        None,
        b"after r300c/c",
        b"after r300c/cr600c",
    ]
    assert [len(request.board) for request in decider.requests] == [3, 3, 4]


def test_details_are_included_on_request(tmp_path: Path) -> None:
    answer = ask(tmp_path, {"matchstate": FLOP, "explain": True})
    assert answer["details"] == DETAILS
    assert ". Not converged: exploitable for 8.40 % of the pot" in answer["explanation"]
    answer = ask(tmp_path, {"matchstate": FLOP})
    assert "details" not in answer
    assert "onverged" not in answer["explanation"], "nobody measured"


def test_seeds_differ_unless_given(tmp_path: Path) -> None:
    decider = StandIn()
    for _ in range(2):
        ask(tmp_path, {"matchstate": FLOP}, decider=decider)
    assert decider.requests[0].seed != decider.requests[1].seed


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "hole: is missing"),
        ({"matchstate": "junk"}, 422, "MATCHSTATE"),
        ({"matchstate": 5}, 400, "matchstate: must be text"),
        ({"matchstate": "MATCHSTATE:0:0::QhJh|"}, 422, "not our turn"),
        ({"matchstate": "MATCHSTATE:0:0:r300f:QhJh|"}, 422, "not our turn"),
        ({"matchstate": FLOP, "hole": "AsKd"}, 400, "either"),
        ({"matchstate": FLOP, "budget": 0}, 400, "budget"),
        ({"matchstate": FLOP, "budget": "1"}, 400, "budget"),
        ({"matchstate": FLOP, "seed": -1}, 400, "seed"),
        ({"matchstate": FLOP, "seed": 0.5}, 400, "seed"),
        ({"matchstate": FLOP, "range": 1}, 400, "range"),
        ({"matchstate": FLOP, "cards": 1}, 400, "cards"),
        ({"hole": "AsAs"}, 422, "twice"),
        ({"hole": "As"}, 422, "hole cards"),
        ({"hole": "AsKd", "board": "2c"}, 422, "board"),
        ({"hole": "AsKd", "betting": "c/"}, 422, "betting"),
        ({"hole": "AsKd", "betting": "r300f"}, 422, "no player is to act"),
        ({"hole": "AsKd", "betting": "cc/", "board": "2c3c4c5c"}, 422, "do not fit"),
        ({"hole": "\u2660"}, 400, "ASCII"),
    ],
)
def test_invalid_requests_are_rejected(tmp_path: Path, body: dict[str, Any], status: int, words: str) -> None:
    problem = ask(tmp_path, body, status)
    assert words in problem["detail"]
    assert problem["status"] == status
