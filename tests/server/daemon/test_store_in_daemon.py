"""The hand store in the daemon: matches are stored, and a full or slow disk does not delay play."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from random import Random

from server.config.config import MatchConfig
from server.http.app_keys import MATCHES
from server.http.context import STORE
from server.store.hand_reader import HandQuery, HandReader
from tests.server.api_setups import StandIn, get, play_hand, post, running
from tests.server.matches.test_matches import SCRIPT, listening
from tests.server.stand_ins import StandInDecider
from tests.server.store.test_hand_store import fill_disk


def test_hands_of_dealer_matches_are_stored(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandInDecider()) as client, listening(SCRIPT) as dealer:
            assert client.server is not None
            matches = client.server.app[MATCHES]
            started = matches.start(MatchConfig("127.0.0.1", dealer.port, name="Bob"))
            await matches.wait(started.match)
            listed = await get(client, "/v1/hands?channel=acpc")
        assert [hand["number"] for hand in listed["hands"]] == [1, 0]
        lost, won = listed["hands"]
        assert (won["chips"], won["bot_hole"]) == (-20000, ["Td", "As"])
        assert (lost["chips"], lost["bot_hole"]) == (200, None), "he never saw our cards"

    asyncio.run(play())
    reader = HandReader(tmp_path / "hands.sqlite")
    hands = [hand for _, hand in reader.hands(HandQuery(opponent="Bob"))]
    assert [hand.chips for hand in hands] == [-200, 20000]
    assert len({hand.match for hand in hands}) == 1
    assert [decision.betting for decision in reader.decisions(hands[0].id)] == ["", "cc/r200", "cc/r200c/c"]
    reader.close()


def test_play_continues_on_a_full_disk(tmp_path: Path) -> None:
    async def play() -> int:
        async with running(tmp_path, StandIn(say="c")) as client:
            assert client.server is not None
            store = client.server.app[STORE]
            await post(client, "/v1/hands", {}, 201)
            fill_disk(store, 1)
            rng, hands = Random(1), []
            while store.num_waiting < 10:
                hands.append(await play_hand(client, rng))
            async with client.get("/metrics") as response:
                text = await response.text()
            assert "fathom_store_failures_total 0.0" not in text
            assert f"fathom_store_waiting {float(store.num_waiting)}" in text
            for hand in hands:  # also those that only wait for the disk
                assert (await get(client, f"/v1/hands/{hand['id']}"))["chips"] == hand["chips"]
            fill_disk(store, 1_000_000)
            hands.append(await play_hand(client, rng))
            assert store.num_waiting == store.dropped == 0
            return len(hands)

    count = asyncio.run(play())
    reader = HandReader(tmp_path / "hands.sqlite")
    assert len(list(reader.hands(HandQuery(finished=True, limit=10_000)))) == count
    reader.close()


def test_a_slow_disk_does_not_delay_other_requests(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:
            await post(client, "/v1/hands", {}, 201)
            other = sqlite3.connect(tmp_path / "hands.sqlite", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")  # another process holds the write lock
            dealt = asyncio.create_task(post(client, "/v1/hands", {}, 201))
            for _ in range(5):
                await get(client, "/healthz")
                await get(client, "/v1/hands")
            assert not dealt.done(), "nothing is told before it is kept"
            other.execute("COMMIT")
            other.close()
            assert (await dealt)["id"]

    asyncio.run(play())
