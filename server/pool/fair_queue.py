"""A bounded queue that is fair between matches (round robin)."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, TypeVar

_T = TypeVar("_T")


class FairQueue(Generic[_T]):
    """Round robin over keys; within a key, first in first out.

    When the queue is full, the key with the most items loses its newest one: a key with many requests cannot
    displace one with few.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._waiting: OrderedDict[str, deque[_T]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def put(self, key: str, item: _T) -> _T | None:
        """Add an item; returns the evicted item if the queue was full, possibly `item` itself."""
        if self._length < self._capacity:
            self._waiting.setdefault(key, deque()).append(item)
            self._length += 1
            return None
        longest = max(self._waiting, key=lambda name: len(self._waiting[name]), default=key)
        if len(self._waiting.get(longest, ())) <= len(self._waiting.get(key, ())) + 1:
            return item
        evicted = self._waiting[longest].pop()
        self._waiting.setdefault(key, deque()).append(item)
        return evicted

    def put_back(self, key: str, item: _T) -> None:
        """Return an item to the head of the queue, even if the queue is full."""
        self._waiting.setdefault(key, deque()).appendleft(item)
        self._waiting.move_to_end(key, last=False)
        self._length += 1

    def pop(self) -> _T:
        """Remove and return the next item; raises `IndexError` if the queue is empty."""
        if not self._waiting:
            raise IndexError("pop from an empty queue")
        key, items = next(iter(self._waiting.items()))
        item = items.popleft()
        self._length -= 1
        if items:
            self._waiting.move_to_end(key)
        else:
            del self._waiting[key]
        return item

    def remove(self, key: str, item: _T) -> bool:
        """Remove an item; returns whether it was queued."""
        items = self._waiting.get(key)
        if items is None or item not in items:
            return False
        items.remove(item)
        self._length -= 1
        if not items:
            del self._waiting[key]
        return True
