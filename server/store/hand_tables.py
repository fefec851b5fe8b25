"""The hand store's SQLite file: its tables, the mapping of records to rows, and opening it."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

from game.cards import cards_text, parse_cards
from numeric.folders import data_home
from server.store.hand_records import (
    Channel,
    StoredDecision,
    StoredHand,
    StoredPushFold,
    StoredSession,
    StoredThought,
)

SCHEMA_VERSION = 1

_BUSY_SECONDS = 10.0

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
"""Tables added later within this schema version; older programs ignore them."""

HAND_COLUMNS = (
    "id", "channel", "match", "number", "opponent", "owner", "position", "betting", "hole0", "hole1",
    "board", "started_at", "finished_at", "chips", "secret",
)  # fmt: skip
DECISION_COLUMNS = (
    "hand_id", "number", "betting", "action", "strategy", "method", "rung", "iterations", "seconds", "at",
)  # fmt: skip
SESSION_COLUMNS = (
    "id", "channel", "owner", "opponent", "next_position", "hands", "chips", "hand_id", "used_at",
)  # fmt: skip
PUSH_FOLD_COLUMNS = (
    "id", "owner", "at", "stack", "position", "hole", "bot_hole", "board", "all_in", "bot_all_in", "chips",
)  # fmt: skip


def _upsert(table: str, columns: tuple[str, ...], keys: int) -> str:
    # Safe: the names are the constants above.
    rest = [name for name in columns[keys:] if name != "started_at"]
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
        f" ON CONFLICT ({', '.join(columns[:keys])}) DO UPDATE SET"
        f" {', '.join(f'{name} = excluded.{name}' for name in rest)}"
    )


_SAVE_HAND = _upsert("hands", HAND_COLUMNS, 1)
_SAVE_DECISION = _upsert("decisions", DECISION_COLUMNS, 2)
_SAVE_SESSION = _upsert("sessions", SESSION_COLUMNS, 1)
_SAVE_PUSH_FOLD = _upsert("push_fold", PUSH_FOLD_COLUMNS, 1)
_SAVE_THOUGHT = _upsert("thoughts", ("hand_id", "number", "body"), 2)

Item = StoredHand | StoredDecision | StoredSession | StoredThought | StoredPushFold


class StoreError(OSError):
    """A hand store cannot be used; the message says what to do."""


def default_store_path() -> Path:
    """The default path of the hand store."""
    return data_home() / "hands.sqlite"


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open or create the file; raises `StoreError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = _connect(path)
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
        raise StoreError(f"cannot open the hand store {path}: {error}: choose another file") from error
    except OSError as error:
        raise StoreError(
            f"cannot open the hand store {path}: {error.strerror}: choose a writable place"
        ) from error
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open the file read-only, also while others write it; raises `StoreError`."""
    if not path.is_file():
        raise StoreError(f"no hand store at {path}: play some hands, or give another file with --store")
    try:
        connection = _connect(path)
        connection.execute("PRAGMA query_only = ON")
        _verify_version(connection, path)
    except sqlite3.Error as error:
        raise StoreError(f"cannot read the hand store {path}: {error}") from error
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _verify_version(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"{path} has schema version {version}, this Fathom needs version {SCHEMA_VERSION}:"
            " choose another file"
        )


def item_key(item: Item) -> tuple[str, ...]:
    """A record's key: a newer record with the same key replaces it."""
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


def save_statement(item: Item) -> tuple[str, tuple[object, ...]]:
    """SQL and values that write a record."""
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


def read_hand(row: tuple[object, ...]) -> StoredHand:
    """The hand of a row of `HAND_COLUMNS`."""
    fields = dict(zip(HAND_COLUMNS, row, strict=True))
    hole = parse_cards(str(fields.pop("hole0"))), parse_cards(str(fields.pop("hole1")))
    board = parse_cards(str(fields.pop("board")))
    channel = Channel(str(fields.pop("channel")))
    return StoredHand(channel=channel, hole=hole, board=board, **fields)  # type: ignore[arg-type]
