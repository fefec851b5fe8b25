"""A bounded queue that takes turns between matches."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, TypeVar

_T = TypeVar("_T")


class FairQueue(Generic[_T]):
    """Items wait by key; keys take turns, each gives its oldest item.

    When it is full, the key with most waiting gives up its newest item: who asks for a lot cannot push out
    who asks for little.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._waiting: OrderedDict[str, deque[_T]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def put(self, key: str, item: _T) -> _T | None:
        """Let an item wait; returns the one that has to go instead, if any: perhaps this very one."""
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
        """Let an item that had its turn be the very next one, full or not."""
        self._waiting.setdefault(key, deque()).appendleft(item)
        self._waiting.move_to_end(key, last=False)
        self._length += 1

    def pop(self) -> _T:
        """The next item of the key whose turn it is; raises `IndexError` when nobody waits."""
        if not self._waiting:
            raise IndexError("nobody waits")
        key, items = next(iter(self._waiting.items()))
        item = items.popleft()
        self._length -= 1
        if items:
            self._waiting.move_to_end(key)
        else:
            del self._waiting[key]
        return item

    def remove(self, key: str, item: _T) -> bool:
        """Take an item out; whether it was there."""
        items = self._waiting.get(key)
        if items is None or item not in items:
            return False
        items.remove(item)
        self._length -= 1
        if not items:
            del self._waiting[key]
        return True
