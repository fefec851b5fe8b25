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
import logging
import queue
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from server.hand_reader import HandQuery, HandReader
from server.hand_records import (
    StoredDecision,
    StoredHand,
    StoredPushFold,
    StoredSession,
    StoredThought,
)
from server.hand_tables import Item, item_key, open_for_writing, save_statement

_LOG = logging.getLogger(__name__)

MAX_WAITING = 200_000
"""Hands and decisions kept in memory while the disk takes none."""

_RETRY_SECONDS = 1.0
_MOST_AT_ONCE = 512
_MOST_REMEMBERED = 1024
_MOST_LISTS = 16
_LIST_SECONDS = 0.5
"""How long a list is remembered; our own writes end it at once, another process's do not."""
_K = TypeVar("_K")
_T = TypeVar("_T")

_Look = Callable[[HandReader], _T]


@dataclass(frozen=True, slots=True)
class _Save:
    items: tuple[Item, ...]
    done: Future[bool] = field(default_factory=Future)


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
        self._connection = open_for_writing(path)
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
                    key = item_key(item)
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
                save.done.set_result(all(item_key(item) in done for item in save.items))

    def _commit(self, items: Iterable[Item]) -> bool:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            count = 0
            for item in items:
                connection.execute(*save_statement(item))
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


def _remember(known: OrderedDict[_K, _T], key: _K, value: _T, most: int) -> None:
    """Keep the newest so many."""
    known[key] = value
    known.move_to_end(key)
    if len(known) > most:
        known.popitem(last=False)


def _urgency(item: Item) -> int:
    if isinstance(item, StoredHand):
        return 0 if item.is_finished else 1
    return 2
