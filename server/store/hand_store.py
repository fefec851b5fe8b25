"""The hand store: every hand and decision in one SQLite file, written before the response is sent.

1. One thread writes; items that arrive during a write go into the next transaction together. The event loop
   never blocks on the disk: callers await `save`.
2. The file is in WAL mode, so readers do not wait for the writer. A commit survives a kill of this process at
   any moment (`synchronous=NORMAL`: a power failure may lose the last moments, but never corrupts the file).
3. A full disk does not stop play: unwritten items wait in memory, only the newest state of each hand, and are
   retried with every new item and once a second.
4. Reads use a separate thread. On a busy machine the thread switch costs more than the read itself, so
   finished hands, which never change, and recent lists are cached.
5. The file contains the cards of hands in progress: only its owner may read it.
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

from server.store.hand_reader import HandQuery, HandReader
from server.store.hand_records import StoredDecision, StoredHand, StoredPushFold, StoredSession, StoredThought
from server.store.hand_tables import Item, item_key, open_for_writing, save_statement

_LOG = logging.getLogger(__name__)

MAX_WAITING = 200_000
"""Maximum items kept in memory while the disk rejects writes."""

_RETRY_SECONDS = 1.0
_MOST_AT_ONCE = 512
_MOST_REMEMBERED = 1024
_MOST_LISTS = 16
_LIST_SECONDS = 0.5
"""How long a list is cached; our own writes invalidate it at once, those of other processes do not."""
_K = TypeVar("_K")
_T = TypeVar("_T")

_Look = Callable[[HandReader], _T]


@dataclass(frozen=True, slots=True)
class _Save:
    items: tuple[Item, ...]
    done: Future[bool] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class _List:
    """A cached answer to a query, with its time."""

    hands: list[tuple[int, StoredHand]]
    written: int
    at: float


class HandStore:
    """Writes and reads the hand store. Call `close`, or use it as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open or create the file; blocks. Raises `StoreError`."""
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
        """Failed writes."""
        self.dropped = 0
        """Items lost permanently."""
        self.written = 0
        """Items written, counting every change."""
        self._closed = False
        self._writer = threading.Thread(target=self._write, name="hand-store-write", daemon=True)
        self._writer.start()

    def __enter__(self) -> HandStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def num_waiting(self) -> int:
        """The number of items not written yet."""
        return len(self._waiting)

    def submit(self, *items: Item) -> Future[bool]:
        """Queue items for writing, all or none of them; the result says whether they were. Thread-safe."""
        save = _Save(items)
        if self._closed:
            save.done.set_result(False)
        else:
            self._queue.put(save)
        return save.done

    async def save(self, *items: Item) -> bool:
        """Write items; returns whether they were written. Failed writes are retried in the background."""
        return await asyncio.wrap_future(self.submit(*items))

    async def hand(self, hand_id: str) -> StoredHand | None:
        """One hand, or None if there is no such id."""
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
        """One session, or None if there is no such id."""
        with self._lock:
            waiting = self._waiting.get(("session", session_id))
        if isinstance(waiting, StoredSession):
            return waiting
        return await self._read(lambda reader: reader.session(session_id))

    async def hands(self, query: HandQuery) -> list[tuple[int, StoredHand]]:
        """Written hands with their row numbers, newest first."""
        known, now = self._lists.get(query), time.monotonic()
        if known is None or known.written != self.written or now > known.at + _LIST_SECONDS:
            written = self.written  # read before the query, so that a concurrent write invalidates the list
            found = await self._read(lambda reader: list(reader.hands(query)))
            known = _List(found, written, now)
            _remember(self._lists, query, known, _MOST_LISTS)
        return known.hands

    async def decisions(self, hand_id: str) -> list[StoredDecision]:
        """The decisions of one hand, in order."""
        return await self._read(lambda reader: list(reader.decisions(hand_id)))

    async def thoughts(self, hand_id: str) -> list[StoredThought]:
        """The explanations of one hand's decisions, in order."""
        return await self._read(lambda reader: list(reader.thoughts(hand_id)))

    async def push_fold_hands(self) -> list[StoredPushFold]:
        """All push/fold hands, oldest first."""
        return await self._read(lambda reader: list(reader.push_fold_hands()))

    async def _read(self, look: _Look[_T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._look, look)

    def _look(self, look: _Look[_T]) -> _T:
        if self._reader is None:
            self._reader = HandReader(self.path)
        return look(self._reader)

    def close(self) -> None:
        """Write the waiting items if the disk accepts them, and close the file; blocks. Idempotent."""
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

    # The methods below run in the writer's thread.

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
            # There may be room for some items: try finished hands first.
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
            # The future is cancelled if the event loop is gone.
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
                _LOG.error("cannot write to %s: %s; play continues, retrying", self.path, error)
            self.failures += 1
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            return False
        self.written += count
        return True


def _remember(known: OrderedDict[_K, _T], key: _K, value: _T, most: int) -> None:
    """Add to a cache of bounded size, evicting the oldest entry."""
    known[key] = value
    known.move_to_end(key)
    if len(known) > most:
        known.popitem(last=False)


def _urgency(item: Item) -> int:
    if isinstance(item, StoredHand):
        return 0 if item.is_finished else 1
    return 2
