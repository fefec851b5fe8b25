"""Playing against the bot over HTTP: a real daemon with a stand-in decider."""

from __future__ import annotations

import asyncio
import itertools
import signal
import subprocess
from pathlib import Path
from random import Random

import msgpack
import pytest

from game.cards import cards_text, parse_cards
from game.definition import HUNL
from game.state import hand_state
from protocol.acpc import parse_betting, parse_match_state
from protocol.acpc_log_reader import parse_log_state
from protocol.phh import parse_histories, parse_history
from server.store.hand_reader import HandQuery, HandReader
from tests.server.api_setups import (
    StandIn,
    config_for,
    get,
    play_hand,
    post,
    random_action,
    running,
)
from tests.server.programs import DAEMON, start_python


def test_hands_are_played_to_the_end_and_kept(tmp_path: Path) -> None:
    async def play() -> list[dict[str, object]]:
        async with running(tmp_path) as client:
            rng, session, hands = Random(1), None, []
            for _ in range(30):
                hand = await play_hand(client, rng, session)
                session = hand["session"]
                hands.append(hand)
                assert await get(client, f"/v1/hands/{hand['id']}") == {
                    name: value for name, value in hand.items() if name != "session"
                }
            return hands

    hands = asyncio.run(play())
    assert [hand["number"] for hand in hands] == list(range(30))
    positions = [hand["position"] for hand in hands]
    assert all(a != b for a, b in itertools.pairwise(positions)), "the button alternates"
    reader = HandReader(tmp_path / "hands.sqlite")
    stored = {hand.id: hand for _, hand in reader.hands(HandQuery())}
    for hand in hands:
        kept = stored[str(hand["id"])]
        state = hand_state(parse_betting(HUNL, str(hand["betting"])), kept.hole, kept.board)
        assert state.betting.is_finished
        assert hand["chips"] == state.values()[1 - kept.position] == -(kept.chips or 0)
        assert kept.secret is None
        assert state.betting.is_showdown == (hand["bot_hole"] is not None)
        assert len({*kept.hole[0], *kept.hole[1], *kept.board}) == 9
        for decision in reader.decisions(kept.id):
            assert kept.betting.startswith(decision.betting + decision.action)
    reader.close()


def test_the_matchstate_is_what_a_dealer_would_send(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            for number in range(6):
                hand = await play_hand(client, Random(number))
                match = parse_match_state(hand["matchstate"], HUNL)
                assert match.position == hand["position"]
                assert cards_text(match.state.hole[match.position]) == "".join(hand["hole"])
                assert match.state.betting.text == hand["betting"]

    asyncio.run(play())


def test_deals_and_seeds_never_repeat(tmp_path: Path) -> None:
    async def play() -> None:
        decider = StandIn()
        async with running(tmp_path, decider) as client:
            hands = [await post(client, "/v1/hands", {}, 201) for _ in range(40)]
        assert len({tuple(hand["hole"]) for hand in hands}) > 30
        assert len({hand["id"] for hand in hands}) == 40
        assert len({hand["session"] for hand in hands}) == 40
        seeds = {request.seed for request in decider.requests}
        assert len(seeds) == len(decider.requests) > 5, "about half of the hands begin with the bot"

    asyncio.run(play())


def test_a_session_plays_one_hand_at_a_time(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:
            first = await post(client, "/v1/hands", {"opponent": "Änne"}, 201)
            again = await post(client, "/v1/hands", {"session": first["session"]}, 200)
            assert again == first
            await post(client, "/v1/hands", {"session": "unknown"}, 404)

    asyncio.run(play())


def test_acting_twice_is_noticed(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:
            hand = await post(client, "/v1/hands", {}, 201)
            path = f"/v1/hands/{hand['id']}/actions"
            body = {"action": "c", "betting": hand["betting"]}
            results = await asyncio.gather(*[client.post(path, json=body) for _ in range(5)])
            statuses = sorted([response.status for response in results])
            assert statuses == [200, 409, 409, 409, 409]

    asyncio.run(play())


def test_illegal_actions_change_nothing(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:
            hand = await post(client, "/v1/hands", {}, 201)
            path = f"/v1/hands/{hand['id']}/actions"
            for action in ("r1", "r20001", "x", "", "r", "call", "r-5", "R300"):
                problem = await post(client, path, {"action": action}, 422)
                assert problem["code"] == "illegal-action"
            await post(client, path, {}, 400)
            await post(client, path, {"action": 5}, 400)
            await post(client, path, {"action": "c", "more": 1}, 400)
            assert (await get(client, f"/v1/hands/{hand['id']}"))["betting"] == hand["betting"]
            await post(client, "/v1/hands/nobody/actions", {"action": "c"}, 404)
            finished = await play_hand(client, Random(3))
            problem = await post(client, f"/v1/hands/{finished['id']}/actions", {"action": "c"}, 409)
            assert "over" in problem["detail"]

    asyncio.run(play())


@pytest.mark.parametrize("say", ["r5", "f", "nonsense"])
def test_illegal_answers_of_the_bot_are_replaced(tmp_path: Path, say: str) -> None:
    async def play() -> None:
        decider = StandIn(say=say)
        async with running(tmp_path, decider) as client:
            for number in range(4):
                await play_hand(client, Random(number))
            async with client.get("/metrics") as response:
                text = await response.text()
        if say != "f":
            assert 'reason="illegal_answer"' in text

    asyncio.run(play())


def test_a_failing_decider_does_not_lose_the_hand(tmp_path: Path) -> None:
    class Broken:
        async def decide(self, request: object) -> object:
            raise RuntimeError(f"it knows {request}")

    async def play() -> None:
        async with running(tmp_path, Broken()) as client:
            hand = await play_hand(client, Random(1))
            assert hand["finished"]

    asyncio.run(play())


def test_bodies_can_be_msgpack(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:
            headers = {"Content-Type": "application/msgpack", "Accept": "application/msgpack"}
            body = msgpack.packb({"opponent": "me"})
            async with client.post("/v1/hands", data=body, headers=headers) as response:
                assert response.status == 201
                assert response.content_type == "application/msgpack"
                hand = msgpack.unpackb(await response.read())
            async with client.get(f"/v1/hands/{hand['id']}") as response:
                assert response.content_type == "application/json"
                assert (await response.json())["hole"] == hand["hole"]
            accept = {"Accept": "application/json;q=0.5, application/x-msgpack"}
            async with client.get(f"/v1/hands/{hand['id']}", headers=accept) as response:
                assert response.content_type == "application/msgpack"

    asyncio.run(play())


def test_hands_are_listed_in_pages_and_exported_as_files(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:
            hands = [await play_hand(client, Random(number)) for number in range(5)]
            session = None
            for _ in range(2):  # on the button once: there he folds
                hand = await post(client, "/v1/hands", {"session": session}, 201)
                session = hand["session"]
                while not hand["finished"]:
                    action = "f" if hand["seat"] == "button" else "c"
                    hand = await post(client, f"/v1/hands/{hand['id']}/actions", {"action": action})
                hands.append(hand)
            assert {hand["bot_hole"] is None for hand in hands} == {True, False}
            open_hand = await post(client, "/v1/hands", {}, 201)
            page = await get(client, "/v1/hands?limit=5")
            assert [hand["id"] for hand in page["hands"]] == [
                open_hand["id"],
                *[hand["id"] for hand in reversed(hands[3:])],
            ]
            rest = await get(client, f"/v1/hands?limit=5&before={page['next']}")
            assert len(rest["hands"]) == 3
            assert "next" not in rest
            assert len((await get(client, "/v1/hands?finished=false"))["hands"]) == 1
            assert len((await get(client, "/v1/hands?finished=true&channel=http"))["hands"]) == 7
            assert (await get(client, "/v1/hands?channel=acpc"))["hands"] == []
            for query in ("limit=0", "limit=x", "limit=1001", "before=-1", "finished=1", "format=pdf"):
                await get(client, f"/v1/hands?{query}", 400)
            async with client.get("/v1/hands?format=phh") as response:
                records = parse_histories(await response.text())
            for hand, record in zip(hands, records, strict=True):
                assert record.state.betting.text == hand["betting"]
                bots = record.state.hole[1 - hand["position"]]
                assert bots == parse_cards("".join(hand["bot_hole"] or []))
            shown = next(hand for hand in hands if hand["bot_hole"])
            async with client.get(f"/v1/hands/{shown['id']}?format=phh") as response:
                assert parse_history(await response.text()).state.betting.text == shown["betting"]
                assert "attachment" in response.headers["Content-Disposition"]
            under_way = (await get(client, "/v1/hands?finished=false"))["hands"][0]["id"]
            for kind in ("phh", "acpc"):
                async with client.get(f"/v1/hands/{under_way}?format={kind}") as response:
                    assert response.status == 409
                    assert (await response.json())["code"] == "not-over"
            async with client.get(f"/v1/hands/{shown['id']}?format=acpc") as response:
                record = parse_log_state((await response.text()).strip(), HUNL)
            assert record.state.values()[shown["position"]] == shown["chips"]

    asyncio.run(play())


def test_hands_continue_after_a_restart_with_their_context(tmp_path: Path) -> None:
    async def begin() -> dict[str, object]:
        async with running(tmp_path, StandIn(say="c")) as client:
            hand = await post(client, "/v1/hands", {"budget": 2}, 201)
            moved = await post(client, f"/v1/hands/{hand['id']}/actions", {"action": "c"})
            assert "/" in moved["betting"]
            return {**moved, "session": hand["session"]}

    async def go_on(hand: dict[str, object]) -> None:
        decider = StandIn(say="c")
        async with running(tmp_path, decider) as client:
            assert (await get(client, f"/v1/hands/{hand['id']}"))["hole"] == hand["hole"]
            again = await post(client, "/v1/hands", {"session": hand["session"]}, 200)
            assert again["id"] == hand["id"]
            while not again["finished"]:
                again = await post(client, f"/v1/hands/{hand['id']}/actions", {"action": "c"})
        first = decider.requests[0]
        assert first.context is not None
        assert first.context.startswith(b"after "), "of the decision before the restart"
        assert first.betting.startswith(str(hand["betting"]))

    hand = asyncio.run(begin())
    asyncio.run(go_on(hand))


def test_acknowledged_hands_survive_a_kill_of_the_daemon(tmp_path: Path) -> None:
    from aiohttp import ClientSession

    acknowledged: dict[str, str] = {}
    sessions: dict[str, str] = {}

    async def play(port: int, process: subprocess.Popen[str]) -> None:
        async with ClientSession(f"http://127.0.0.1:{port}") as http:

            async def one(seed: int) -> None:
                rng = Random(seed)
                while True:
                    async with http.post("/v1/hands", json={}) as response:
                        hand = await response.json()
                    sessions[hand["id"]] = hand["session"]
                    acknowledged[hand["id"]] = hand["betting"]
                    while not hand["finished"]:
                        action = random_action(parse_betting(HUNL, hand["betting"]), rng)
                        path = f"/v1/hands/{hand['id']}/actions"
                        async with http.post(path, json={"action": str(action)}) as response:
                            hand = await response.json()
                        acknowledged[hand["id"]] = hand["betting"]
                        if len(acknowledged) > 60:
                            process.send_signal(signal.SIGKILL)

            await asyncio.gather(*[one(seed) for seed in range(8)], return_exceptions=True)

    with start_python(DAEMON, tmp_path) as process:
        assert process.stdout is not None
        asyncio.run(play(int(process.stdout.readline()), process))
    assert process.returncode == -signal.SIGKILL

    async def look() -> None:
        unfinished = 0
        async with running(tmp_path) as client:
            for hand_id, betting in acknowledged.items():
                hand = await get(client, f"/v1/hands/{hand_id}")
                assert hand["betting"].startswith(betting)
                rng = Random(9)
                unfinished += not hand["finished"]
                while not hand["finished"]:
                    action = random_action(parse_betting(HUNL, hand["betting"]), rng)
                    hand = await post(client, f"/v1/hands/{hand_id}/actions", {"action": str(action)})
        assert unfinished, "the kill came in the middle"

    assert len(acknowledged) > 60
    asyncio.run(look())


def test_many_hands_at_once(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            hands = await asyncio.gather(*[play_hand(client, Random(seed)) for seed in range(100)])
            assert all(hand["finished"] for hand in hands)
            status = await get(client, "/v1/status")
            assert status["ready"]

    asyncio.run(play())
    assert config_for(tmp_path).store.path
