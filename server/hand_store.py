"""The hand store: every hand and decision in one SQLite file, on disk before the answer goes out.

1. One thread writes; whatever waits while it does goes into one transaction. Nobody else waits for the disk:
   `save` is awaited, the event loop goes on.
2. The file is in WAL mode, so readers do not wait for the writer. A commit is with the operating system: it
   survives a kill of this process at any moment (`synchronous=NORMAL`; a power cut may take the last moments
   with it, never the file).
3. A full disk does not stop the play: what could not be written waits in memory, newest state of each hand
   only, and is tried again with everything that comes, and once a second.
4. Reading takes a thread of its own, too. Handing over to a thread and back costs a busy machine more than
   the reading itself: finished hands, which never change, and the last lists are remembered.
5. The file holds cards of hands under way: only its owner may read it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import queue
import sqlite3
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from game.cards import cards_text, parse_cards
from game.folders import data_home
from server.hand_records import (
    Channel,
    StoredDecision,
    StoredHand,
    StoredPushFold,
    StoredSession,
    StoredThought,
)

_LOG = logging.getLogger(__name__)

SCHEMA_VERSION = 1
MAX_WAITING = 200_000
"""Hands and decisions kept in memory while the disk takes none."""

_RETRY_SECONDS = 1.0
_BUSY_SECONDS = 10.0
_MOST_AT_ONCE = 512
_MOST_REMEMBERED = 1024
_MOST_LISTS = 16
_LIST_SECONDS = 0.5
"""How long a list is remembered; our own writes end it at once, another process's do not."""
_K = TypeVar("_K")
_T = TypeVar("_T")

_SCHEMA = """
CREATE TABLE hands (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  channel TEXT NOT NULL,
  match TEXT NOT NULL,
  number INTEGER NOT NULL,
  opponent TEXT NOT NULL,
  owner TEXT NOT NULL,
  position INTEGER NOT NULL,
  betting TEXT NOT NULL,
  hole0 TEXT NOT NULL,
  hole1 TEXT NOT NULL,
  board TEXT NOT NULL,
  started_at REAL NOT NULL,
  finished_at REAL,
  chips INTEGER,
  secret BLOB
);
CREATE INDEX hands_by_match ON hands (match, number);
CREATE INDEX hands_by_owner ON hands (owner, row);
CREATE TABLE decisions (
  hand_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  betting TEXT NOT NULL,
  action TEXT NOT NULL,
  strategy TEXT NOT NULL,
  method TEXT NOT NULL,
  rung TEXT NOT NULL,
  iterations INTEGER NOT NULL,
  seconds REAL NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (hand_id, number)
) WITHOUT ROWID;
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  channel TEXT NOT NULL,
  owner TEXT NOT NULL,
  opponent TEXT NOT NULL,
  next_position INTEGER NOT NULL,
  hands INTEGER NOT NULL,
  chips INTEGER NOT NULL,
  hand_id TEXT,
  used_at REAL NOT NULL
) WITHOUT ROWID;
"""

_LATER_TABLES = (
    """CREATE TABLE IF NOT EXISTS thoughts (
  hand_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (hand_id, number)
) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS push_fold (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  at REAL NOT NULL,
  stack REAL NOT NULL,
  position INTEGER NOT NULL,
  hole TEXT NOT NULL,
  bot_hole TEXT NOT NULL,
  board TEXT NOT NULL,
  all_in INTEGER,
  bot_all_in INTEGER,
  chips REAL NOT NULL
)""",
)
"""Came after the first files of this version; older programs do not miss them."""

_HAND_COLUMNS = (
    "id", "channel", "match", "number", "opponent", "owner", "position", "betting", "hole0", "hole1",
    "board", "started_at", "finished_at", "chips", "secret",
)  # fmt: skip
_DECISION_COLUMNS = (
    "hand_id", "number", "betting", "action", "strategy", "method", "rung", "iterations", "seconds", "at",
)  # fmt: skip
_SESSION_COLUMNS = (
    "id", "channel", "owner", "opponent", "next_position", "hands", "chips", "hand_id", "used_at",
)  # fmt: skip


def _upsert(table: str, columns: tuple[str, ...], keys: int) -> str:
    # Names are ours, from above.
    rest = [name for name in columns[keys:] if name != "started_at"]
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
        f" ON CONFLICT ({', '.join(columns[:keys])}) DO UPDATE SET"
        f" {', '.join(f'{name} = excluded.{name}' for name in rest)}"
    )


_SAVE_HAND = _upsert("hands", _HAND_COLUMNS, 1)
_SAVE_DECISION = _upsert("decisions", _DECISION_COLUMNS, 2)
_SAVE_SESSION = _upsert("sessions", _SESSION_COLUMNS, 1)
_PUSH_FOLD_COLUMNS = (
    "id", "owner", "at", "stack", "position", "hole", "bot_hole", "board", "all_in", "bot_all_in", "chips",
)  # fmt: skip
_SAVE_PUSH_FOLD = _upsert("push_fold", _PUSH_FOLD_COLUMNS, 1)
_SAVE_THOUGHT = _upsert("thoughts", ("hand_id", "number", "body"), 2)

Item = StoredHand | StoredDecision | StoredSession | StoredThought | StoredPushFold
_Look = Callable[["HandReader"], _T]


class StoreError(OSError):
    """A hand store that cannot be used; the message says what to do."""


def default_store_path() -> Path:
    """Where hands are kept unless somebody says otherwise."""
    return data_home() / "hands.sqlite"


@dataclass(frozen=True, slots=True)
class _Save:
    items: tuple[Item, ...]
    done: Future[bool] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class HandQuery:
    """Which hands to look at, newest first."""

    channel: str | None = None
    match: str | None = None
    opponent: str | None = None
    owner: str | None = None
    finished: bool | None = None
    before: int | None = None
    """Rows before this one: where the last page ended."""
    limit: int = 100


@dataclass(frozen=True, slots=True)
class _List:
    """An answer to a query, and when it was true."""

    hands: list[tuple[int, StoredHand]]
    written: int
    at: float


class HandStore:
    """Writes and reads the hand store. `close` it, or use it as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open or make the file; blocks. Raises `StoreError`."""
        self.path = path
        self._connection = _open_for_writing(path)
        self._queue: queue.SimpleQueue[_Save | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, ...], Item] = {}
        self._readers = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hand-store-read")
        self._reader: HandReader | None = None
        self._finished: OrderedDict[str, StoredHand] = OrderedDict()
        self._lists: OrderedDict[HandQuery, _List] = OrderedDict()
        self.failures = 0
        """Writes that the disk refused."""
        self.dropped = 0
        """Hands and decisions lost for good."""
        self.written = 0
        """Hands and decisions on disk, each change of them counted."""
        self._closed = False
        self._writer = threading.Thread(target=self._write, name="hand-store-write", daemon=True)
        self._writer.start()

    def __enter__(self) -> HandStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def num_waiting(self) -> int:
        """Hands and decisions that the disk has not taken yet."""
        return len(self._waiting)

    def submit(self, *items: Item) -> Future[bool]:
        """Have these written, all or none of them; the answer is whether they are on disk. Any thread may."""
        save = _Save(items)
        if self._closed:
            save.done.set_result(False)
        else:
            self._queue.put(save)
        return save.done

    async def save(self, *items: Item) -> bool:
        """Write, and return when they are on disk, or when the disk refused: then they are tried again."""
        return await asyncio.wrap_future(self.submit(*items))

    async def hand(self, hand_id: str) -> StoredHand | None:
        """One hand."""
        with self._lock:
            waiting = self._waiting.get(("hand", hand_id))
        if isinstance(waiting, StoredHand):
            return waiting
        known = self._finished.get(hand_id)
        if known is None:
            known = await self._read(lambda reader: reader.hand(hand_id))
            if known is not None and known.is_finished:
                _remember(self._finished, hand_id, known, _MOST_REMEMBERED)
        return known

    async def session(self, session_id: str) -> StoredSession | None:
        """One session."""
        with self._lock:
            waiting = self._waiting.get(("session", session_id))
        if isinstance(waiting, StoredSession):
            return waiting
        return await self._read(lambda reader: reader.session(session_id))

    async def hands(self, query: HandQuery) -> list[tuple[int, StoredHand]]:
        """Hands on disk with their rows, newest first."""
        known, now = self._lists.get(query), time.monotonic()
        if known is None or known.written != self.written or now > known.at + _LIST_SECONDS:
            written = self.written  # before we look: what comes meanwhile makes the list old
            found = await self._read(lambda reader: list(reader.hands(query)))
            known = _List(found, written, now)
            _remember(self._lists, query, known, _MOST_LISTS)
        return known.hands

    async def decisions(self, hand_id: str) -> list[StoredDecision]:
        """Of one hand, in order."""
        return await self._read(lambda reader: list(reader.decisions(hand_id)))

    async def thoughts(self, hand_id: str) -> list[StoredThought]:
        """Of one hand, in order."""
        return await self._read(lambda reader: list(reader.thoughts(hand_id)))

    async def push_fold_hands(self) -> list[StoredPushFold]:
        """All of them."""
        return await self._read(lambda reader: list(reader.push_fold_hands()))

    async def _read(self, look: _Look[_T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._look, look)

    def _look(self, look: _Look[_T]) -> _T:
        if self._reader is None:
            self._reader = HandReader(self.path)
        return look(self._reader)

    def close(self) -> None:
        """Write what waits, as far as the disk takes it; blocks. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        self._writer.join()
        self._readers.submit(self._close_reader).result()
        self._readers.shutdown()

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()

    # The writer's thread from here on.

    def _write(self) -> None:
        running = True
        while running:
            saves: list[_Save] = []
            with contextlib.suppress(queue.Empty):
                first = self._queue.get(timeout=_RETRY_SECONDS if self._waiting else None)
                while first is not None:
                    saves.append(first)
                    if len(saves) == _MOST_AT_ONCE:
                        break
                    first = self._queue.get_nowait()
                else:
                    running = False
            self._write_saves(saves)
        if self._waiting:
            self.dropped += len(self._waiting)
            _LOG.error("%d hands and decisions could not be written to %s", len(self._waiting), self.path)
        self._connection.close()

    def _write_saves(self, saves: list[_Save]) -> None:
        with self._lock:
            for save in saves:
                for item in save.items:
                    key = _key(item)
                    self._waiting.pop(key, None)
                    self._waiting[key] = item
            waiting = dict(self._waiting)
        if self._commit(waiting.values()):
            done = waiting
        else:
            done = {}
            # Perhaps there is room for some: finished hands first.
            for key, item in sorted(waiting.items(), key=lambda pair: _urgency(pair[1])):
                if not self._commit([item]):
                    break
                done[key] = item
        with self._lock:
            for key in done:
                del self._waiting[key]
            while len(self._waiting) > MAX_WAITING:
                self._waiting.pop(next(iter(self._waiting)))
                self.dropped += 1
        for save in saves:
            # Nobody waits any more where the event loop is gone.
            if save.done.set_running_or_notify_cancel():
                save.done.set_result(all(_key(item) in done for item in save.items))

    def _commit(self, items: Iterable[Item]) -> bool:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            count = 0
            for item in items:
                connection.execute(*_statement(item))
                count += 1
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if not self.failures:
                _LOG.error("cannot write to %s: %s; playing on, trying again", self.path, error)
            self.failures += 1
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            return False
        self.written += count
        return True


class HandReader:
    """Reads a hand store; its writer, in this process or another, may go on. For one thread at a time."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise StoreError(f"no hand store at {path}: play some hands, or name another with --store")
        try:
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA query_only = ON")
            _verify_version(self._connection, path)
        except sqlite3.Error as error:
            raise StoreError(f"cannot read the hand store {path}: {error}") from error

    def close(self) -> None:
        """Idempotent."""
        self._connection.close()

    def hand(self, hand_id: str) -> StoredHand | None:
        """One hand."""
        row = self._connection.execute(
            f"SELECT {', '.join(_HAND_COLUMNS)} FROM hands WHERE id = ?",  # noqa: S608
            (hand_id,),
        ).fetchone()
        return None if row is None else _hand(row)

    def unique_beginning(self, hand_id: str, least: int) -> str:
        """The shortest part of an id, of at least so many letters, that no other hand's id begins with.

        An id that another one begins with comes whole.
        """
        neighbours = self._connection.execute(
            "SELECT max(id) FROM hands WHERE id < ? UNION ALL SELECT min(id) FROM hands WHERE id > ?",
            (hand_id, hand_id),
        )
        shared = [_shared_letters(hand_id, other) for (other,) in neighbours if other is not None]
        return hand_id[: max([least - 1, *shared]) + 1]

    def beginning_with(self, letters: str, limit: int) -> list[StoredHand]:
        """Hands whose ids begin with these letters, by id."""
        rows = self._connection.execute(
            f"SELECT {', '.join(_HAND_COLUMNS)} FROM hands WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",  # noqa: S608
            (letters, letters + chr(sys.maxunicode), limit),
        )
        return [_hand(row) for row in rows]

    def hands(self, query: HandQuery) -> Iterator[tuple[int, StoredHand]]:
        """Rows and hands, newest first."""
        conditions, values = _conditions(query)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        rows = self._connection.execute(
            f"SELECT row, {', '.join(_HAND_COLUMNS)} FROM hands {where} ORDER BY row DESC LIMIT ?",  # noqa: S608
            (*values, query.limit),
        )
        for row in rows:
            yield row[0], _hand(row[1:])

    def decisions(self, hand_id: str) -> Iterator[StoredDecision]:
        """Of one hand, in order."""
        rows = self._connection.execute(
            f"SELECT {', '.join(_DECISION_COLUMNS)} FROM decisions WHERE hand_id = ? ORDER BY number",  # noqa: S608
            (hand_id,),
        )
        for hand, number, betting, action, strategy, *rest in rows:
            shares = tuple([(str(name), float(share)) for name, share in json.loads(strategy)])
            yield StoredDecision(hand, number, betting, action, shares, *rest)

    def thoughts(self, hand_id: str) -> Iterator[StoredThought]:
        """Of one hand, in order."""
        rows = self._connection.execute(
            "SELECT hand_id, number, body FROM thoughts WHERE hand_id = ? ORDER BY number", (hand_id,)
        )
        for row in rows:
            yield StoredThought(*row)

    def push_fold_hands(self) -> Iterator[StoredPushFold]:
        """All hands of push/fold, the oldest first; none in a file from before they were kept."""
        known = "SELECT 1 FROM sqlite_master WHERE name = 'push_fold'"
        if self._connection.execute(known).fetchone() is None:
            return
        rows = self._connection.execute(
            f"SELECT {', '.join(_PUSH_FOLD_COLUMNS)} FROM push_fold ORDER BY row"  # noqa: S608
        )
        for hand_id, owner, at, stack, position, hole, bot_hole, board, all_in, bot_all_in, chips in rows:
            yield StoredPushFold(
                hand_id, owner, at, stack, position, parse_cards(hole), parse_cards(bot_hole),
                parse_cards(board), _yes_no(all_in), _yes_no(bot_all_in), chips,
            )  # fmt: skip

    def session(self, session_id: str) -> StoredSession | None:
        """One session."""
        row = self._connection.execute(
            f"SELECT {', '.join(_SESSION_COLUMNS)} FROM sessions WHERE id = ?",  # noqa: S608
            (session_id,),
        ).fetchone()
        return None if row is None else StoredSession(row[0], Channel(row[1]), *row[2:])


def _shared_letters(a: str, b: str) -> int:
    """How many letters two texts begin with in common."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _remember(known: OrderedDict[_K, _T], key: _K, value: _T, most: int) -> None:
    """Keep the newest so many."""
    known[key] = value
    known.move_to_end(key)
    if len(known) > most:
        known.popitem(last=False)


def _open_for_writing(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        for statement in _LATER_TABLES:
            connection.execute(statement)
        connection.execute("COMMIT")
        _verify_version(connection, path)
    except StoreError:
        raise
    except sqlite3.Error as error:
        raise StoreError(f"cannot open the hand store {path}: {error}: name another place") from error
    except OSError as error:
        raise StoreError(
            f"cannot open the hand store {path}: {error.strerror}: name a place that can be written to"
        ) from error
    return connection


def _verify_version(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"{path} is of version {version}, this Fathom keeps hands in version {SCHEMA_VERSION}:"
            " name another file"
        )


def _key(item: Item) -> tuple[str, ...]:
    match item:
        case StoredHand():
            return "hand", item.id
        case StoredDecision():
            return "decision", item.hand_id, str(item.number)
        case StoredSession():
            return "session", item.id
        case StoredThought():
            return "thought", item.hand_id, str(item.number)
        case StoredPushFold():
            return "push_fold", item.id


def _urgency(item: Item) -> int:
    if isinstance(item, StoredHand):
        return 0 if item.is_finished else 1
    return 2


def _statement(item: Item) -> tuple[str, tuple[object, ...]]:
    match item:
        case StoredHand():
            return _SAVE_HAND, (
                item.id, str(item.channel), item.match, item.number, item.opponent, item.owner,
                item.position, item.betting, cards_text(item.hole[0]), cards_text(item.hole[1]),
                cards_text(item.board), item.started_at, item.finished_at, item.chips, item.secret,
            )  # fmt: skip
        case StoredDecision():
            return _SAVE_DECISION, (
                item.hand_id, item.number, item.betting, item.action, json.dumps(item.strategy), item.method,
                item.rung, item.iterations, item.seconds, item.at,
            )  # fmt: skip
        case StoredSession():
            return _SAVE_SESSION, (
                item.id, str(item.channel), item.owner, item.opponent, item.next_position, item.hands,
                item.chips, item.hand_id, item.used_at,
            )  # fmt: skip
        case StoredThought():
            return _SAVE_THOUGHT, (item.hand_id, item.number, item.body)
        case StoredPushFold():
            return _SAVE_PUSH_FOLD, (
                item.id, item.owner, item.at, item.stack, item.position, cards_text(item.hole),
                cards_text(item.bot_hole), cards_text(item.board), item.all_in, item.bot_all_in, item.chips,
            )  # fmt: skip


def _yes_no(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _hand(row: tuple[object, ...]) -> StoredHand:
    fields = dict(zip(_HAND_COLUMNS, row, strict=True))
    hole = parse_cards(str(fields.pop("hole0"))), parse_cards(str(fields.pop("hole1")))
    board = parse_cards(str(fields.pop("board")))
    channel = Channel(str(fields.pop("channel")))
    return StoredHand(channel=channel, hole=hole, board=board, **fields)  # type: ignore[arg-type]


def _conditions(query: HandQuery) -> tuple[list[str], list[object]]:
    conditions, values = [], []
    for name in ("channel", "match", "opponent", "owner"):
        value = getattr(query, name)
        if value is not None:
            conditions.append(f"{name} = ?")
            values.append(value)
    if query.finished is not None:
        conditions.append(f"finished_at IS {'NOT ' if query.finished else ''}NULL")
    if query.before is not None:
        conditions.append("row < ?")
        values.append(query.before)
    return conditions, values
