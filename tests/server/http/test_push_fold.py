"""Push/fold over HTTP and on the command line: fair deals, correct reviews, complete logs."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from server.cli import main
from server.store.hand_reader import HandReader
from tests.server.api_setups import Client, get, post, running
from tests.server.stand_ins import run


async def play(client: Client, choose: Any, hands: int) -> tuple[str | None, list[dict[str, Any]]]:
    session, played = None, []
    for _ in range(hands):
        hand = await post(client, "/v1/pushfold/hands", {"session": session})
        session = hand["session"]
        if not hand["finished"]:
            assert hand["bot_hole"] is None
            assert hand["board"] == []
            assert hand["chips"] is None
            body = {"session": session, "number": hand["number"], "action": choose(hand)}
            hand = await post(client, "/v1/pushfold/actions", body)
        assert hand["finished"]
        played.append(hand)
    return session, played


def test_hands_are_played_and_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = Random(3)

    async def check() -> list[dict[str, Any]]:
        async with running(tmp_path) as client:
            _, played = await play(client, lambda hand: rng.choice(["allin", "fold"]), 60)
            report = await get(client, "/v1/pushfold/report")
            decided = [hand for hand in played if hand["all_in"] is not None]
            assert report["decisions"] == len(decided)
            assert report["bot_value"] > 0, "somebody who plays at random loses"
            return played

    played = run(check())
    assert {hand["position"] for hand in played} == {0, 1}
    assert all(first["position"] != second["position"] for first, second in zip(played, played[1:]))  # noqa: B905, RUF007
    for hand in played:
        both = hand["all_in"] is True and hand["bot_all_in"] is True
        assert (hand["bot_hole"] is not None) == both
        assert len(hand["board"]) == (5 if both else 0)
        if both:
            assert hand["chips"] in (-10.0, 0.0, 10.0)
        elif hand["position"] == 1:
            assert hand["chips"] == (1.0 if hand["all_in"] else -0.5)
            assert hand["bot_all_in"] is (False if hand["all_in"] else None)
        else:
            assert hand["chips"] == (-1.0 if hand["bot_all_in"] else 0.5)
        assert (hand["review"] is None) == (hand["all_in"] is None)
    reader = HandReader(tmp_path / "hands.sqlite")
    logged = list(reader.push_fold_hands())
    reader.close()
    assert [hand.chips for hand in logged] == [hand["chips"] for hand in played]
    assert [hand.all_in for hand in logged] == [hand["all_in"] for hand in played]
    store = str(tmp_path / "hands.sqlite")
    assert main(["pushfold", "report", "--store", store]) == 0
    words = capsys.readouterr().out
    assert "the equilibrium wins +" in words
    assert "small blind: the bot here expects" in words
    assert main(["pushfold", "report", "--store", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decisions"] == sum(h["all_in"] is not None for h in played)


def test_a_hand_must_be_finished_before_the_next(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as client:
            hand = {"finished": True, "session": None}
            while hand["finished"]:
                hand = await post(client, "/v1/pushfold/hands", {"session": hand["session"]})
            again = await post(client, "/v1/pushfold/hands", {"session": hand["session"]})
            assert again == hand
            body = {"session": hand["session"], "number": hand["number"], "action": "fold"}
            await post(client, "/v1/pushfold/actions", {**body, "number": 999}, 409)
            await post(client, "/v1/pushfold/actions", body)
            problem = await post(client, "/v1/pushfold/actions", body, 409)
            assert problem["code"] == "moved-on"

    run(check())


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"session": "nobody", "number": 0, "action": "fold"}, 404),
        ({"session": "nobody", "number": 0, "action": "limp"}, 400),
        ({"session": "nobody", "action": "fold"}, 400),
        ({"number": 0, "action": "fold"}, 400),
        ({"session": "nobody", "number": -1, "action": "fold"}, 400),
        ({"session": "nobody", "number": 0, "action": "fold", "more": 1}, 400),
    ],
)
def test_bad_requests_are_rejected(tmp_path: Path, body: dict[str, Any], status: int) -> None:
    async def check() -> None:
        async with running(tmp_path) as client:
            await post(client, "/v1/pushfold/actions", body, status)

    run(check())


def test_the_chart_shows_the_gain_of_each_decision(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as client:
            chart = await get(client, "/v1/pushfold/chart")
            assert chart["stack"] == 10.0
            aces, worst = chart["hands"].index("AA"), chart["hands"].index("72o")
            assert chart["push"][aces] == chart["call"][aces] == 1.0
            assert chart["push"][worst] == chart["call"][worst] == 0.0
            assert chart["push_gain"][aces] > 0 > chart["push_gain"][worst]
            assert chart["call_gain"][aces] > 7
            assert chart["call_gain"][worst] < 0

    run(check())


def test_the_chart_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pushfold", "chart"]) == 0
    words = capsys.readouterr().out
    assert "small blind goes all-in: 58.3 % of hands" in words
    assert main(["pushfold", "chart", "--stack", "9.4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["call"]["J9o"] > 0.99
    with pytest.raises(SystemExit):
        main(["pushfold", "chart", "--stack", "0"])
    assert "--stack: write a number from 1 to 100, not '0'" in capsys.readouterr().err


def test_a_report_without_hands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def check() -> None:
        async with running(tmp_path):
            pass

    run(check())
    assert main(["pushfold", "report", "--store", str(tmp_path / "hands.sqlite")]) == 0
    assert "no push/fold hands in the store yet" in capsys.readouterr().out
