"""Authorisation and limits; the bot's cards and seeds are never revealed too early."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import msgpack
import pytest

from game.cards import card_text, cards_text
from game.definition import HUNL
from protocol.acpc import parse_betting
from protocol.slumbot import ClientSession
from server.cli import main
from server.config.config import ServerConfig, load_config
from server.config.keys import KeyFileError, KeyRing, Scope, add_key, parse_key_line, read_keys, revoke_key
from server.config.reader import ConfigError
from server.http.bodies import MAX_BODY_BYTES
from server.http.limits import RateLimiter
from server.http.problems import Problem
from server.store.hand_reader import HandReader
from tests.server.api_setups import (
    Client,
    StandIn,
    config_for,
    get,
    post,
    random_action,
    running,
)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_daemon_reachable_from_other_machines_needs_keys(tmp_path: Path) -> None:
    async def start(host: str) -> None:
        config = replace(config_for(tmp_path), server=ServerConfig(host=host, port=0))
        async with running(tmp_path, config=config):
            pass

    for host in ("0.0.0.0", "::", "10.1.2.3", "example.org", ""):
        with pytest.raises(ConfigError, match="fathom keys add"):
            asyncio.run(start(host))
    for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"):
        asyncio.run(start(host))
    add_key(tmp_path / "keys.json", "alice", ["play"])
    asyncio.run(start("0.0.0.0"))


def test_scopes_allow_only_their_routes(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    keys = {scope: add_key(file, f"{scope}-er", [scope]) for scope in ("play", "solve", "admin")}
    line = {"matchstate": "MATCHSTATE:1:0::|AsKd"}
    spot = {"board": "As"}  # refused after the key is looked at

    async def play() -> None:
        async with running(tmp_path, config=config_for(tmp_path, require_keys="always")) as client:
            for path in ("/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"):
                async with client.get(path) as response:
                    assert response.status == 200, path
            for headers, status in [
                ({}, 401),
                (bearer("guess"), 401),
                ({"Authorization": f"Basic {keys['play']}"}, 401),
                (bearer(keys["solve"]), 403),
                (bearer(keys["play"]), 200),
                (bearer(keys["admin"]), 200),
            ]:
                answer = await post(client, "/v1/decide", line, status, headers=headers)
                if status == 401:
                    assert answer["code"].startswith("key-")
            for key, status in [("play", 403), ("solve", 400), ("admin", 400)]:
                await post(client, "/v1/solve", spot, status, headers=bearer(keys[key]))
                await get(client, "/v1/status", 200 if key == "admin" else 403, headers=bearer(keys[key]))
                await get(client, "/v1/matches", 200 if key == "admin" else 403, headers=bearer(keys[key]))
                await get(client, "/v1/unknown", 404 if key == "admin" else 403, headers=bearer(keys[key]))
            async with client.post("/v1/decide", json=line) as response:
                assert response.headers["WWW-Authenticate"].startswith("Bearer")
            revoke_key(file, "play-er")
            async with asyncio.timeout(300):
                while True:
                    async with client.post("/v1/decide", json=line, headers=bearer(keys["play"])) as response:
                        if response.status == 401:
                            break
                    await asyncio.sleep(0.05)

    asyncio.run(play())


def test_hands_belong_to_their_key(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    alice, bob = (bearer(add_key(file, name, ["play"])) for name in ("alice", "bob"))
    admin = bearer(add_key(file, "root", ["admin"]))

    async def play() -> None:
        config = config_for(tmp_path, require_keys="always")
        async with running(tmp_path, StandIn(say="c"), config) as client:
            hand = await post(client, "/v1/hands", {}, 201, headers=alice)
            path = f"/v1/hands/{hand['id']}"
            await get(client, path, 404, headers=bob)
            await post(client, f"{path}/actions", {"action": "c"}, 404, headers=bob)
            await post(client, "/v1/hands", {"session": hand["session"]}, 404, headers=bob)
            assert (await get(client, "/v1/hands", headers=bob))["hands"] == []
            assert len((await get(client, "/v1/hands", headers=alice))["hands"]) == 1
            shown = await get(client, path, headers=admin)
            assert shown["bot_hole"] is None

    asyncio.run(play())


def test_requests_are_limited_by_key(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    alice, bob = (bearer(add_key(file, name, ["play"])) for name in ("alice", "bob"))

    async def play() -> None:
        config = config_for(tmp_path, require_keys="always", requests_per_second=0.001, burst=3.0)
        async with running(tmp_path, config=config) as client:
            statuses = []
            for _ in range(5):
                async with client.get("/v1/hands", headers=alice) as response:
                    statuses.append(response.status)
                    if response.status == 429:
                        assert int(response.headers["Retry-After"]) > 0
            assert statuses == [200, 200, 200, 429, 429]
            await get(client, "/v1/hands", 200, headers=bob)

    asyncio.run(play())


def test_the_rate_limiter_refills_and_counts_concurrent_requests() -> None:
    now = [0.0]
    limiter = RateLimiter(2.0, 4.0, 2, lambda: now[0])

    def ask(name: str = "a") -> bool:
        try:
            with limiter.request(name):
                return True
        except Problem:
            return False

    assert [ask() for _ in range(5)] == [True] * 4 + [False]
    assert ask("b")
    now[0] += 0.5
    assert [ask(), ask()] == [True, False]
    now[0] += 100
    with limiter.request("a"), limiter.request("a"):
        assert not ask()
    assert ask()


def test_bodies_that_are_large_deep_or_of_another_type_are_rejected(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            json_type, msgpack_type = (
                {"Content-Type": "application/json"},
                {"Content-Type": "application/msgpack"},
            )
            deep = b'{"a":' + b"[" * 40 + b"]" * 40 + b"}"
            packed_deep: Any = {}
            for _ in range(40):
                packed_deep = {"a": packed_deep}
            cases = [
                (b"{" + b" " * MAX_BODY_BYTES + b"}", json_type, 413),
                (deep, json_type, 400),
                (b"[" * 60000, json_type, 400),
                (b'{"a":' * 10000, json_type, 400),
                (msgpack.packb(packed_deep), msgpack_type, 400),
                (b"\x91" * 60000, msgpack_type, 400),
                (b"\xc1", msgpack_type, 400),
                (b"{}", {"Content-Type": "text/plain"}, 415),
                (b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
                (b"{", json_type, 400),
                (b'{"budget": NaN}', json_type, 400),
                (b'{"budget": 1e999}', json_type, 400),
                (b'{"budget": 1' + b"0" * 5000 + b"}", json_type, 400),
                (b'{"opponent": "\\ud800"}', json_type, 400),
                (b'{"opponent": "\\u0000"}', json_type, 400),
                (b"\xff\xfe", json_type, 400),
                (msgpack.packb({1: 2}), msgpack_type, 400),
                (b"null", json_type, 400),
            ]
            for body, headers, status in cases:
                async with client.post("/v1/hands", data=body, headers=headers) as response:
                    assert response.status == status, body[:60]
                    assert response.content_type == "application/problem+json"
                    problem = await response.json()
                    assert problem["status"] == status
                    assert "Traceback" not in json.dumps(problem)

    asyncio.run(play())


def test_endless_bodies_are_rejected(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:

            async def endless() -> Any:
                while True:
                    yield b" " * 1000

            headers = {"Content-Type": "application/json"}
            async with client.post("/v1/hands", data=endless(), headers=headers) as response:
                assert response.status == 413

    asyncio.run(play())


def test_slow_bodies_time_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.http.bodies.READ_SECONDS", 0.05)

    async def play() -> None:
        async with running(tmp_path) as client:
            reader, writer = await asyncio.open_connection(client.host, client.port)
            writer.write(
                b"POST /v1/hands HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100\r\n\r\n{"
            )
            answer = await reader.readline()
            assert b"408" in answer
            writer.close()

    asyncio.run(play())


def test_foreign_host_headers_are_rejected(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            for host, status in [
                ("evil.example", 403),
                ("evil.example:8080", 403),
                ("127.0.0.1:9", 200),
                ("localhost", 200),
                ("localhost:80", 200),
                ("[::1]:80", 200),
            ]:
                await get(client, "/v1/hands", status, headers={"Host": host})

    asyncio.run(play())


def test_every_response_has_the_security_headers(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as client:
            for path in ("/v1/hands", "/nothing", "/docs", "/v1/hands/x"):
                async with client.get(path) as response:
                    assert response.headers["Server"] == "fathom"
                    assert response.headers["X-Content-Type-Options"] == "nosniff"
            async with client.get("/docs") as response:
                text = await response.text()
                assert "default-src 'none'" in response.headers["Content-Security-Policy"]
                assert not re.search(r"(src|href)=['\"]?(https?:)?//", text), "nothing from elsewhere"
                assert "/v1/decide" in text
            async with client.put("/v1/hands") as response:
                assert response.status == 405
                assert set(response.headers["Allow"].split(",")) >= {"GET", "POST"}

    asyncio.run(play())


def test_unexpected_errors_reveal_no_details(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret = "the bot holds " + cards_text((51, 45))

    async def play() -> None:
        async with running(tmp_path) as client:
            from server.http.context import TABLE

            assert client.server is not None
            table = client.server.app[TABLE]

            async def broken(*_args: object, **_more: object) -> None:
                raise RuntimeError(secret)

            table.new_hand = broken  # type: ignore[method-assign, assignment]
            problem = await post(client, "/v1/hands", {}, 500)
            assert "AsKd" not in json.dumps(problem)
            assert "Runtime" not in json.dumps(problem)

    with caplog.at_level(logging.DEBUG):
        asyncio.run(play())
    assert "RuntimeError" in caplog.text, "the log says what kind of thing it was"
    assert "AsKd" not in caplog.text


def secrets_of(cards: tuple[int, int], seed: int | None) -> list[str]:
    """Every notation of a hand's two cards."""
    low, high = cards
    texts = [card_text(low), card_text(high)]
    found = [a + between + b for a, b in (texts, texts[::-1]) for between in ("", " ", ", ", '","', '", "')]
    found += [f"[{low}, {high}]", f"[{high}, {low}]", f"[{low},{high}]", f"[{high},{low}]"]
    return found + ([] if seed is None else [str(seed), f"{seed:x}"])


async def everything(client: Client, hand_id: str) -> str:
    """The responses of all routes, about this hand and in general."""
    said = []
    for path in (
        f"/v1/hands/{hand_id}",
        f"/v1/hands/{hand_id}?format=phh",
        f"/v1/hands/{hand_id}?format=acpc",
        f"/v1/hands/{hand_id}/thinking",
        f"/v1/hands/{hand_id}/thoughts",
        "/v1/hands",
        "/v1/hands?format=phh",
        "/v1/hands?format=acpc",
        "/metrics",
        "/v1/status",
        "/v1/solve",
        "/v1/matches",
    ):
        async with client.get(path) as response:
            said.append(await response.text())
    async with client.get(f"/v1/hands/{hand_id}", headers={"Accept": "application/msgpack"}) as response:
        said.append(json.dumps(msgpack.unpackb(await response.read())))
    for body in ({"action": "r1"}, {"action": "x"}, {"action": "c", "betting": "wrong"}):
        async with client.post(f"/v1/hands/{hand_id}/actions", json=body) as response:
            said.append(await response.text())
    return "\n".join(said)


def verify_silence(folder: Path, hand_id: str, said: str, shown: bool) -> None:
    """Assert that the text contains neither the bot's cards, nor its seed, nor undealt board cards."""
    reader = HandReader(folder / "hands.sqlite")
    stored = reader.hand(hand_id)
    reader.close()
    assert stored is not None
    said = re.sub(r"[\w-]{32}", "", said)  # tokens and ids: random text that might look like anything
    cards = stored.hole[stored.position]
    seed = msgpack.unpackb(stored.secret)["seed"] if stored.secret else None
    found = [text for text in secrets_of((cards[0], cards[1]), seed) if text in said]
    assert bool(found) == shown, found
    unseen = stored.board[HUNL.board_size(stored.betting_state().round_index) :]
    if len(unseen) > 1:
        assert cards_text(unseen) not in said


@pytest.mark.parametrize("seed", range(8))
def test_the_bots_cards_and_seeds_are_never_revealed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    """Uses a new daemon for every hand, so that data of two hands cannot be confused."""
    decider = StandIn(say="c" if seed % 2 else None)

    async def play() -> str:
        rng = Random(seed)
        async with running(tmp_path, decider) as client:
            hand = await post(client, "/v1/hands", {}, 201)
            said = json.dumps(hand)
            while not hand["finished"]:
                verify_silence(tmp_path, hand["id"], said + await everything(client, hand["id"]), shown=False)
                action = random_action(parse_betting(HUNL, hand["betting"]), rng)
                hand = await post(client, f"/v1/hands/{hand['id']}/actions", {"action": str(action)})
                said = json.dumps(hand)
            showdown = parse_betting(HUNL, hand["betting"]).is_showdown
            verify_silence(tmp_path, hand["id"], said + await everything(client, hand["id"]), shown=showdown)
            return str(hand["id"])

    with caplog.at_level(logging.DEBUG):
        hand_id = asyncio.run(play())
    verify_silence(tmp_path, hand_id, caplog.text, shown=False)
    for request in decider.requests:
        assert str(request.seed) not in caplog.text


@pytest.mark.parametrize("seed", range(4))
def test_the_slumbot_api_reveals_the_bots_cards_only_at_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    async def play() -> str:
        rng, session = Random(seed), ClientSession()
        async with running(tmp_path, StandIn(say="c" if seed % 2 else None)) as client:
            answer = await post(client, "/api/new_hand", session.new_hand())
            hand_id = str((await get(client, "/v1/hands?channel=slumbot-api"))["hands"][0]["id"])
            hand = session.receive(200, answer)
            while hand.result is None:
                assert "bot_hole_cards" not in answer
                said = json.dumps(answer) + await everything(client, hand_id)
                verify_silence(tmp_path, hand_id, said, shown=False)
                answer = await post(client, "/api/act", session.act(random_action(hand.state.betting, rng)))
                hand = session.receive(200, answer)
            assert len(answer["bot_hole_cards"]) == 2
            verify_silence(tmp_path, hand_id, json.dumps(answer), shown=True)
            showdown = hand.state.betting.is_showdown
            verify_silence(tmp_path, hand_id, await everything(client, hand_id), shown=showdown)
            return hand_id

    with caplog.at_level(logging.DEBUG):
        hand_id = asyncio.run(play())
    verify_silence(tmp_path, hand_id, caplog.text, shown=False)


def test_tokens_and_ids_cannot_be_guessed(tmp_path: Path) -> None:
    async def play() -> tuple[str, str]:
        async with running(tmp_path) as client:
            hand = await post(client, "/v1/hands", {}, 201)
            token = (await post(client, "/api/new_hand", {}))["token"]
        for secret in (hand["id"], hand["session"], token):
            assert len(secret) >= 32
        return hand["session"], token

    session, token = asyncio.run(play())
    stored = b"".join([path.read_bytes() for path in tmp_path.glob("hands.sqlite*")])
    assert session.encode() not in stored, "of tokens only digests are kept"
    assert token.encode() not in stored


def test_keys_are_created_listed_and_revoked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "k" / "keys.json")
    assert main(["keys", "list", "--file", file]) == 0
    assert "no keys" in capsys.readouterr().out
    assert main(["keys", "add", "alice", "--file", file]) == 0
    key = capsys.readouterr().out.strip()
    assert len(key) > 40
    assert main(["keys", "add", "root", "--scopes", "admin", "--file", file]) == 0
    capsys.readouterr()
    assert main(["keys", "list", "--file", file]) == 0
    text = capsys.readouterr().out
    assert "alice" in text
    assert "play+solve" in text
    assert key not in text
    assert key not in Path(file).read_text()
    assert (Path(file).stat().st_mode & 0o777) == 0o600
    assert main(["keys", "list", "--toml", "--file", file]) == 0
    printed = capsys.readouterr().out
    config = tmp_path / "fathom.toml"
    config.write_text(f"[security]\nkeys = [\n{printed}]\n")
    keys = load_config(config, environment={}).security.keys
    assert load_config(environment={"FATHOM_SECURITY__KEYS": printed}).security.keys == keys
    ring = KeyRing(None, [parse_key_line(line) for line in keys])
    found = ring.find(key)
    assert found is not None
    assert found.name == "alice"
    assert found.may(Scope.PLAY)
    assert not found.may(Scope.ADMIN)
    config.write_text(f'[security]\nkeys_file = "{file}"\n')
    assert main(["keys", "list", "--config", str(config)]) == 0
    assert "alice" in capsys.readouterr().out
    assert main(["keys", "add", "alice", "--file", file]) == 2
    assert main(["keys", "add", "a b", "--file", file]) == 2
    assert main(["keys", "revoke", "alice", "--file", file]) == 0
    assert main(["keys", "revoke", "alice", "--file", file]) == 2
    assert [kept.name for kept in read_keys(Path(file))] == ["root"]


def test_invalid_key_files_and_lines_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    for text in ("{", "[1]", '[{"name": "a"}]', "[" * 100000):
        path.write_text(text)
        with pytest.raises(KeyFileError):
            KeyRing(path)
    digest = "0" * 64
    for line in ("a", "a:b", f"a:none:{digest}", "a:play:12", f":play:{digest}", f"a::{digest}"):
        with pytest.raises(KeyFileError):
            parse_key_line(line)


def test_the_default_is_to_listen_on_loopback_only() -> None:
    assert socket.inet_aton(ServerConfig().host)[0] == 127
