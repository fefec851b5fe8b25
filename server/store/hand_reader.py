"""Read a hand store, also while another process writes it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from game.cards import parse_cards
from server.store.hand_records import (
    Channel,
    StoredDecision,
    StoredHand,
    StoredPushFold,
    StoredSession,
    StoredThought,
)
from server.store.hand_tables import (
    DECISION_COLUMNS,
    HAND_COLUMNS,
    PUSH_FOLD_COLUMNS,
    SESSION_COLUMNS,
    open_for_reading,
    read_hand,
)


@dataclass(frozen=True, slots=True)
class HandQuery:
    """Filters for hands, newest first."""

    channel: str | None = None
    match: str | None = None
    opponent: str | None = None
    owner: str | None = None
    finished: bool | None = None
    before: int | None = None
    """Only rows before this one: the end of the last page."""
    limit: int = 100


class HandReader:
    """Reads a hand store, concurrently with a writer in this or another process. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        """Open the file; raises `StoreError`."""
        self._connection = open_for_reading(path)

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._connection.close()

    def hand(self, hand_id: str) -> StoredHand | None:
        """One hand, or None if there is no such id."""
        row = self._connection.execute(
            f"SELECT {', '.join(HAND_COLUMNS)} FROM hands WHERE id = ?",  # noqa: S608
            (hand_id,),
        ).fetchone()
        return None if row is None else read_hand(row)

    def unique_beginning(self, hand_id: str, least: int) -> str:
        """The shortest unique prefix of an id, with at least `least` characters.

        The whole id if it is itself a prefix of another one.
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
            f"SELECT {', '.join(HAND_COLUMNS)} FROM hands WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",  # noqa: S608
            (letters, letters + chr(sys.maxunicode), limit),
        )
        return [read_hand(row) for row in rows]

    def hands(self, query: HandQuery) -> Iterator[tuple[int, StoredHand]]:
        """Row numbers and hands, newest first."""
        conditions, values = _conditions(query)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        rows = self._connection.execute(
            f"SELECT row, {', '.join(HAND_COLUMNS)} FROM hands {where} ORDER BY row DESC LIMIT ?",  # noqa: S608
            (*values, query.limit),
        )
        for row in rows:
            yield row[0], read_hand(row[1:])

    def decisions(self, hand_id: str) -> Iterator[StoredDecision]:
        """The decisions of one hand, in order."""
        rows = self._connection.execute(
            f"SELECT {', '.join(DECISION_COLUMNS)} FROM decisions WHERE hand_id = ? ORDER BY number",  # noqa: S608
            (hand_id,),
        )
        for hand, number, betting, action, strategy, *rest in rows:
            shares = tuple([(str(name), float(share)) for name, share in json.loads(strategy)])
            yield StoredDecision(hand, number, betting, action, shares, *rest)

    def thoughts(self, hand_id: str) -> Iterator[StoredThought]:
        """The explanations of one hand's decisions, in order."""
        rows = self._connection.execute(
            "SELECT hand_id, number, body FROM thoughts WHERE hand_id = ? ORDER BY number", (hand_id,)
        )
        for row in rows:
            yield StoredThought(*row)

    def push_fold_hands(self) -> Iterator[StoredPushFold]:
        """All push/fold hands, oldest first; none in files older than that table."""
        known = "SELECT 1 FROM sqlite_master WHERE name = 'push_fold'"
        if self._connection.execute(known).fetchone() is None:
            return
        rows = self._connection.execute(
            f"SELECT {', '.join(PUSH_FOLD_COLUMNS)} FROM push_fold ORDER BY row"  # noqa: S608
        )
        for hand_id, owner, at, stack, position, hole, bot_hole, board, all_in, bot_all_in, chips in rows:
            yield StoredPushFold(
                hand_id, owner, at, stack, position, parse_cards(hole), parse_cards(bot_hole),
                parse_cards(board), _yes_no(all_in), _yes_no(bot_all_in), chips,
            )  # fmt: skip

    def session(self, session_id: str) -> StoredSession | None:
        """One session, or None if there is no such id."""
        row = self._connection.execute(
            f"SELECT {', '.join(SESSION_COLUMNS)} FROM sessions WHERE id = ?",  # noqa: S608
            (session_id,),
        ).fetchone()
        return None if row is None else StoredSession(row[0], Channel(row[1]), *row[2:])


def _shared_letters(a: str, b: str) -> int:
    """The length of the common prefix of two strings."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _yes_no(value: int | None) -> bool | None:
    return None if value is None else bool(value)


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
