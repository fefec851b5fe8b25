"""`fathom slumbot` against the built-in server over an unreliable network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from aiohttp import web

from server.cli.play.slumbot import result_record, result_text
from server.matches.slumbot_journal import Journal, JournalError
from server.matches.slumbot_match import (
    GaveUpError,
    SlumbotMatch,
    SlumbotTerms,
    TransportError,
    WrongServerError,
)
from server.matches.slumbot_transport import SlumbotHttp
from server.store.hand_reader import HandQuery, HandReader
from server.store.hand_store import HandStore
from tests.server.api_setups import Client, StandIn, running


async def no_sleep(_seconds: float) -> None:
    await asyncio.sleep(0)


class Network:
    """Posts to a daemon and loses some requests and some responses."""

    def __init__(self, client: Client, rng: Random, failures: float) -> None:
        self.client, self.rng, self.failures = client, rng, failures
        self.cuts = 0

    async def __call__(self, endpoint: str, body: Mapping[str, object]) -> tuple[int, object]:
        if self.rng.random() < self.failures:
            self.cuts += 1
            raise TransportError("the request was lost")
        async with self.client.post(f"/api/{endpoint}", json=body) as response:
            answer = await response.json()
        if self.rng.random() < self.failures:
            self.cuts += 1
            if self.rng.random() < 0.5:
                return 502, None
            raise TransportError("the answer was lost")
        return response.status, answer


def totals_of_server(folder: Path) -> tuple[int, int]:
    """Finished hands and the client's chips in the server's store."""
    reader = HandReader(folder / "hands.sqlite")
    hands = [hand for _, hand in reader.hands(HandQuery(channel="slumbot-api", finished=True, limit=10**6))]
    reader.close()
    return len(hands), -sum(hand.chips or 0 for hand in hands)


@pytest.mark.parametrize("failures", [0.0, 0.15])
def test_both_ends_agree_on_every_figure(tmp_path: Path, failures: float) -> None:
    async def play() -> tuple[SlumbotMatch, Network]:
        async with running(tmp_path) as client:
            network = Network(client, Random(5), failures)
            journal = Journal(tmp_path / "journal", "url", None)
            with HandStore(tmp_path / "ours.sqlite") as store:
                match = SlumbotMatch(network, StandIn(), journal, SlumbotTerms(), store, sleep=no_sleep)
                await match.play(200)
            journal.close()
            return match, network

    match, network = asyncio.run(play())
    tally = match.tally
    hands, chips = totals_of_server(tmp_path)
    # A session whose very first token was lost is the server's alone, with one hand under way.
    assert (tally.hands, tally.chips) == (hands, chips)
    assert tally.hands in (200, 201)
    assert tally.lost == tally.disagreements == tally.refusals == 0
    if failures:
        assert network.cuts > 50
        assert tally.retries > 50
        assert tally.recovered > 0
    else:
        assert tally.recovered == 0
    reader = HandReader(tmp_path / "ours.sqlite")
    kept = [hand for _, hand in reader.hands(HandQuery(channel="slumbot", finished=True, limit=1000))]
    assert len(kept) == tally.hands - tally.recovered
    assert sum(hand.chips or 0 for hand in kept) == sum(
        record["hand"]["winnings"]
        for record in map(json.loads, (tmp_path / "journal").read_text().splitlines())
        if "hand" in record
    )
    assert any(list(reader.decisions(hand.id)) for hand in kept)
    reader.close()
    record = result_record("url", None, tally, 1.0)
    assert f"{tally.hands} hands" in result_text(record)
    assert record["big_blind"]["hands"] + record["button"]["hands"] + record["recovered_hands"] == tally.hands


def test_an_interrupted_match_is_resumed(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:

            class CutError(Exception):
                pass

            sent: list[str] = []

            async def breaking(endpoint: str, body: Mapping[str, object]) -> tuple[int, object]:
                sent.append(endpoint)
                if len(sent) == 10:
                    raise CutError  # our process dies here
                async with client.post(f"/api/{endpoint}", json=body) as response:
                    return response.status, await response.json()

            path = tmp_path / "journal"
            journal = Journal(path, "url", None)
            with pytest.raises(CutError):
                await SlumbotMatch(breaking, StandIn(say="c"), journal, SlumbotTerms(), sleep=no_sleep).play(
                    6
                )
            journal.close()
            with path.open("ab") as file:
                file.write(b'{"hand": {"half')
            journal = Journal(path, "url", None)
            assert journal.goes_on
            assert journal.token is not None
            network = Network(client, Random(1), 0.0)
            tally = await SlumbotMatch(
                network, StandIn(say="c"), journal, SlumbotTerms(), sleep=no_sleep
            ).play(6)
            journal.close()
        assert tally.hands == 6
        assert tally.recovered == tally.lost == 0
        assert (tally.hands, tally.chips) == totals_of_server(tmp_path)

    asyncio.run(play())


def test_a_lost_session_is_replaced(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:
            lost: list[str] = []

            async def forgetful(endpoint: str, body: Mapping[str, object]) -> tuple[int, object]:
                if endpoint == "act" and len(lost) < 2:
                    lost.append(endpoint)
                    return 401, {"error_msg": "no such session"}
                async with client.post(f"/api/{endpoint}", json=body) as response:
                    return response.status, await response.json()

            journal = Journal(None, "url", "me")
            terms = SlumbotTerms(username="me")
            tally = await SlumbotMatch(forgetful, StandIn(say="c"), journal, terms, sleep=no_sleep).play(3)
            assert tally.hands == 3
            assert tally.lost == 2

    asyncio.run(play())


def test_a_rejected_action_is_not_sent_twice(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, StandIn(say="c")) as client:

            async def picky(endpoint: str, body: Mapping[str, object]) -> tuple[int, object]:
                if str(body.get("incr", "")).startswith("b"):
                    return 200, {"error_msg": "Illegal bet"}
                async with client.post(f"/api/{endpoint}", json=body) as response:
                    return response.status, await response.json()

            decider, journal = StandIn(say="r20000"), Journal(None, "url", None)
            tally = await SlumbotMatch(picky, decider, journal, SlumbotTerms(), sleep=no_sleep).play(2)
            assert tally.hands == 2
            assert tally.refusals > 0

    asyncio.run(play())


def test_the_match_is_given_up_after_patience_seconds(tmp_path: Path) -> None:
    async def nobody(endpoint: str, body: Mapping[str, object]) -> tuple[int, object]:
        raise TransportError("nobody is there")

    waited: list[float] = []
    told: list[str] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    async def play() -> None:
        terms = SlumbotTerms(patience_seconds=100)
        journal = Journal(None, "u", None)
        match = SlumbotMatch(nobody, StandIn(), journal, terms, on_trouble=told.append, sleep=wait)
        with pytest.raises(GaveUpError, match="nobody is there"):
            await match.play(1)
        assert not match.hand_under_way, "it may be ended at once"

    asyncio.run(play())
    assert len(told) == len(waited)
    assert "nobody is there: retrying in" in told[0]
    assert sum(waited) == pytest.approx(100)
    assert max(waited) > 4 * waited[0]


@pytest.mark.parametrize("status", [404, 405])
def test_a_server_without_the_api_is_not_retried(status: int) -> None:
    async def other(endpoint: str, body: Mapping[str, object]) -> tuple[int, object]:
        return status, None

    async def play() -> None:
        with pytest.raises(WrongServerError, match="check --url"):
            await SlumbotMatch(other, StandIn(), Journal(None, "u", None), SlumbotTerms()).play(1)

    asyncio.run(play())


def test_leaving_finishes_the_hand_first(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            network, journal = Network(client, Random(1), 0.0), Journal(None, "url", None)
            match = SlumbotMatch(network, StandIn(), journal, SlumbotTerms(), sleep=no_sleep)
            match._on_hand = lambda tally: match.leave() if tally.hands == 5 else None
            under_way = []

            async def post(endpoint: str, body: Mapping[str, object]) -> tuple[int, object]:
                under_way.append((endpoint, match.hand_under_way))
                return await network(endpoint, body)

            match._post = post
            tally = await match.play(100)
            assert tally.hands == 5
            assert set(under_way) == {("new_hand", True), ("act", True)}
        hands, _ = totals_of_server(tmp_path)
        assert hands == 5

    asyncio.run(play())


def test_other_journals_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal(path, "here", None).close()
    with pytest.raises(JournalError, match="another match"):
        Journal(path, "there", None)
    path.write_text("no journal\n")
    with pytest.raises(JournalError, match="not the journal"):
        Journal(path, "here", None)


def test_invalid_responses_are_transport_errors(tmp_path: Path) -> None:
    async def play() -> None:
        async def page(request: web.Request) -> web.Response:
            return web.Response(status=int(request.match_info["status"]), text="<html>")

        app = web.Application()
        app.router.add_post("/{status}/new_hand", page)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with SlumbotHttp(f"{base}/502") as post:
            assert await post("new_hand", {}) == (502, None)
        async with SlumbotHttp(f"{base}/200/") as post:
            with pytest.raises(TransportError, match="JSON"):
                await post("new_hand", {})
        await runner.cleanup()
        async with SlumbotHttp(base) as post:
            with pytest.raises(TransportError):
                await post("new_hand", {})
        with pytest.raises(ValueError, match="not an HTTP URL"):
            SlumbotHttp("slumbot.com")

    asyncio.run(play())


def test_the_tally_includes_the_servers_baseline() -> None:
    journal = Journal(None, "url", None)
    hand: dict[str, Any] = {"winnings": 100, "position": 1, "session_hands": 1, "session_total": 100}
    journal.keep_hand({**hand, "baseline_winnings": 50})
    assert journal.tally.baseline.hands == 1
    record = result_record("url", None, journal.tally, 1.0)
    assert record["baseline_mbb_per_hand"] == 500.0
    assert record["margin_95"] is None
    assert "Slumbot's own" in result_text(record)
