from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from game.definition import HUNL
from protocol.acpc_log_reader import parse_log_state
from protocol.phh import parse_histories, parse_history
from server.cli import main
from server.store.hand_reader import HandQuery, HandReader
from server.store.hand_records import Channel, StoredSession, acpc_text, phh_text
from server.store.hand_store import HandStore
from server.store.hand_tables import StoreError
from tests.server.hand_setups import a_decision, played_hand
from tests.server.programs import start_python


def test_saved_records_can_be_read(tmp_path: Path) -> None:
    async def play(store: HandStore) -> None:
        hand = played_hand(1)
        begun = replace(hand, betting="", finished_at=None, chips=None, secret=b"seed")
        assert await store.save(begun)
        assert await store.hand(hand.id) == begun
        decision = a_decision(hand.id)
        assert await store.save(hand, decision)
        assert await store.hand(hand.id) == hand
        assert await store.decisions(hand.id) == [decision]
        assert await store.hand("another") is None
        session = StoredSession("digest", Channel.SLUMBOT_API, "", "bob", 1, 2, -300, hand.id, 5.0)
        assert await store.save(session)
        assert await store.session("digest") == session

    with HandStore(tmp_path / "deep" / "hands.sqlite") as store:
        asyncio.run(play(store))
        assert store.written == 4
    assert stat.S_IMODE(os.stat(tmp_path / "deep" / "hands.sqlite").st_mode) == 0o600


def test_hands_are_found_newest_first_page_by_page(tmp_path: Path) -> None:
    async def look(store: HandStore) -> None:
        for number in range(10):
            channel = Channel.ACPC if number % 2 else Channel.HTTP
            await store.save(played_hand(number, channel, match=f"m{number // 5}"))
        page = await store.hands(HandQuery(limit=4))
        assert [hand.number for _, hand in page] == [9, 8, 7, 6]
        page = await store.hands(HandQuery(limit=4, before=page[-1][0]))
        assert [hand.number for _, hand in page] == [5, 4, 3, 2]
        found = await store.hands(HandQuery(channel="acpc", match="m1", finished=True))
        assert [hand.number for _, hand in found] == [9, 7, 5]
        assert await store.hands(HandQuery(finished=False)) == []

    with HandStore(tmp_path / "h.sqlite") as store:
        asyncio.run(look(store))


def test_caches_are_never_stale(tmp_path: Path) -> None:
    async def look(store: HandStore) -> None:
        hand = played_hand(1)
        begun = replace(hand, betting="", finished_at=None, chips=None)
        query = HandQuery(limit=5)
        for number, saved in enumerate([begun, hand, played_hand(2), played_hand(3)]):
            await store.save(saved)
            for _ in range(2):
                assert await store.hand(saved.id) == saved
                found = [one for _, one in await store.hands(query)]
                assert found[0] == saved
                assert len(found) == max(number, 1)
        assert await store.hand(hand.id) == hand

    with HandStore(tmp_path / "h.sqlite") as store:
        asyncio.run(look(store))


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    program = """
import sys
from dataclasses import replace
from pathlib import Path
from tests.server.hand_setups import a_decision, played_hand
from server.store.hand_store import HandStore
store = HandStore(Path(sys.argv[1]))
for number in range(100000):
    hand = replace(played_hand(number % 50), id=f"hand-{number}")
    assert store.submit(hand, a_decision(hand.id)).result()
    print(hand.id, flush=True)
"""
    path = tmp_path / "hands.sqlite"
    with start_python(program, path) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline().strip() for _ in range(200)]
        process.send_signal(signal.SIGKILL)
        acknowledged += process.stdout.read().split("\n")[:-1]
    assert process.returncode == -signal.SIGKILL
    with HandStore(path) as store:
        reader = HandReader(path)
        for hand_id in acknowledged:
            assert reader.hand(hand_id) is not None
            assert len(list(reader.decisions(hand_id))) == 1
        reader.close()
        assert store.submit(played_hand(7)).result(), "and it can be written on"


def fill_disk(store: HandStore, pages: int) -> None:
    """Limit the file's number of pages: beyond it SQLite reports a full disk."""
    store._connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    async def play(store: HandStore) -> None:
        assert await store.save(played_hand(0))
        fill_disk(store, 1)
        number, refused = 1, []
        while len(refused) < 20:  # the last page has room for some
            hand = played_hand(number)
            if not await store.save(hand, a_decision(hand.id)):
                refused.append(hand)
            number += 1
        assert store.failures >= 20
        assert store.num_waiting >= 20
        assert await store.hand(refused[0].id) == refused[0], "what waits can be looked at"
        fill_disk(store, 100_000)
        assert await store.save(played_hand(1000))
        assert store.num_waiting == 0
        assert len(await store.hands(HandQuery(limit=1000))) == number + 1
        assert store.dropped == 0

    with HandStore(tmp_path / "h.sqlite") as store:
        asyncio.run(play(store))


def test_waiting_items_are_written_on_close_or_counted_as_dropped(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    store = HandStore(path)
    fill_disk(store, 1)
    hands = [played_hand(number) for number in range(200)]
    for hand in hands:
        store.submit(hand).result()
    waiting = store.num_waiting
    assert waiting
    store.close()
    store.close()
    assert store.dropped == waiting
    assert not store.submit(hands[0]).result()
    reader = HandReader(path)
    assert len(list(reader.hands(HandQuery(limit=1000)))) == len(hands) - waiting
    reader.close()


def test_files_that_are_not_stores_are_rejected(tmp_path: Path) -> None:
    junk = tmp_path / "junk"
    junk.write_text("no database at all, but long enough to be one " * 100)
    with pytest.raises(StoreError, match="not a database"):
        HandStore(junk)
    with pytest.raises(StoreError, match="no hand store"):
        HandReader(tmp_path / "missing")
    later = tmp_path / "later"
    connection = sqlite3.connect(later)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="version 99"):
        HandStore(later)
    with pytest.raises(StoreError, match="choose a writable place"):
        HandStore(junk / "below" / "h.sqlite")


def test_the_opponents_view_contains_no_secrets() -> None:
    for number in range(60):
        hand = replace(played_hand(number), secret=b"x")
        seen = hand.as_seen_by_opponent()
        betting = hand.betting_state()
        assert seen.hole[1 - hand.position] == hand.hole[1 - hand.position]
        assert seen.secret is None
        assert bool(seen.hole[hand.position]) == betting.is_showdown
        assert len(seen.board) == HUNL.board_size(betting.round_index)
        unfinished = replace(hand, finished_at=None, chips=None)
        assert unfinished.as_seen_by_opponent().hole[hand.position] == ()


def test_exports_can_be_read_back() -> None:
    hands = [played_hand(number) for number in range(12)]
    for hand, record in zip(hands, parse_histories(phh_text(hands)), strict=True):
        assert record.state == hand.state()
        assert record.players == hand.names()
    assert parse_history(phh_text(hands[:1])).state == hands[0].state()
    for hand, line in zip(hands, acpc_text(hands).splitlines(), strict=True):
        record = parse_log_state(line, HUNL)
        assert record.state == hand.state()
        assert record.hand_id == hand.number
    unknown = replace(hands[0], hole=(hands[0].hole[0], ()))
    assert parse_history(phh_text([unknown])).state.hole[1] == ()
    assert "|" in acpc_text([unknown])


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    path = tmp_path / "h.sqlite"
    with HandStore(path) as store:
        for number in range(5):
            hand = played_hand(number)
            store.submit(hand, a_decision(hand.id)).result()
        under_way = replace(
            played_hand(5), id="open", betting="r200", position=0, finished_at=None, chips=None, secret=b"s"
        )
        store.submit(under_way).result()
    return path


def test_hands_are_listed_and_shown(store_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hands", "list", "--store", str(store_path)]) == 0
    text = capsys.readouterr().out
    assert "hand-4" in text
    assert "in progress" in text
    assert main(["hands", "list", "--store", str(store_path), "--json", "--finished", "--limit", "2"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["id"] for record in records] == ["hand-4", "hand-3"]
    assert main(["hands", "show", "hand-3", "--store", str(store_path)]) == 0
    assert "f 25.0%, c 75.0%" in capsys.readouterr().out
    assert main(["hands", "show", "open", "--store", str(store_path), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["hole"] == "|", "cards stay hidden while the hand is in progress"
    assert record["board"] == ""


def test_a_list_without_hands_says_why(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hands", "list", "--store", str(store_path), "--opponent", "nobody"]) == 0
    assert capsys.readouterr().out == "no matching hands\n"
    HandStore(tmp_path / "empty.sqlite").close()
    assert main(["hands", "list", "--store", str(tmp_path / "empty.sqlite")]) == 0
    assert capsys.readouterr().out == "no hands yet: play some (fathom serve, fathom slumbot)\n"


def test_hands_are_exported(store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hands", "export", "--store", str(store_path)]) == 0
    assert [record.hand_id for record in parse_histories(capsys.readouterr().out)] == [0, 1, 2, 3, 4]
    out = tmp_path / "hands.log"
    assert (
        main(["hands", "export", "--store", str(store_path), "--format", "acpc", "--output", str(out)]) == 0
    )
    assert len(out.read_text().splitlines()) == 5


@pytest.mark.parametrize("name", ["h.sqlite", "link", "other.sqlite"])
def test_an_export_never_replaces_a_hand_store(
    store_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = store_path.with_name(name)
    if name == "link":
        out.symlink_to(store_path)
    elif name == "other.sqlite":
        HandStore(out).close()
    before = out.read_bytes()
    assert main(["hands", "export", "--store", str(store_path), "--output", str(out)]) == 2
    assert "is an SQLite file" in capsys.readouterr().err
    assert out.read_bytes() == before


def test_ids_that_are_listed_can_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "h.sqlite"
    ids = ["slumbot-0a1b2c3d-1", "slumbot-0a1b2c3d-17", "slumbot-ffffffff-1", "Pq3xWaaaaaaaaaaaaaaaaa"]
    with HandStore(path) as store:
        for number, hand_id in enumerate(ids):
            store.submit(replace(played_hand(number), id=hand_id)).result()
    assert main(["hands", "list", "--store", str(path)]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert listed[::-1] == ["slumbot-0a1b2c3d-1", "slumbot-0a1b2c3d-17", "slumbot-f", "Pq3xWa"]
    for shown, hand_id in zip(listed[::-1], ids, strict=True):
        for text in (shown, shown + "…"):
            assert main(["hands", "show", text, "--store", str(path), "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["id"] == hand_id


def test_the_store_of_the_environment_is_used(
    store_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_STORE__PATH", str(store_path))
    assert main(["hands", "list"]) == 0
    assert "hand-4" in capsys.readouterr().out
    assert main(["pushfold", "report"]) == 0


def test_the_store_of_the_daemons_configuration_is_used(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "fathom.toml"
    config.write_text(f'[store]\npath = "{store_path}"\n')
    assert main(["hands", "list", "--config", str(config)]) == 0
    assert "hand-4" in capsys.readouterr().out
    assert main(["pushfold", "report", "--config", str(config)]) == 0
    config.write_text("[store]\npaths = 1\n")
    assert main(["hands", "list", "--config", str(config)]) == 2
    assert "[store] has no key 'paths'" in capsys.readouterr().err


def test_a_narrow_terminal_drops_columns(
    store_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    assert main(["hands", "list", "--store", str(store_path)]) == 0
    text = capsys.readouterr().out
    assert "hand-4" in text
    assert "…" not in text
    assert "betting" not in text


def test_unknown_hands_are_an_error(store_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hands", "show", "nothing", "--store", str(store_path)]) == 2
    assert main(["hands", "show", "hand", "--store", str(store_path)]) == 2
    assert main(["hands", "export", "--match", "x", "--store", str(store_path)]) == 2
    assert main(["hands", "list", "--store", str(store_path) + "x"]) == 2
    assert "Traceback" not in capsys.readouterr().err
