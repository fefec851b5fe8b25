"""Rate limits per key: requests per second, and concurrent requests."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from server.http.problems import Problem

_MOST_NAMES = 10_000


@dataclass(slots=True)
class _Account:
    tokens: float
    filled_at: float
    running: int = 0


class RateLimiter:
    """A token bucket per name, refilled continuously; every request takes one token."""

    def __init__(
        self, per_second: float, burst: float, at_once: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Create a limiter; a limit of 0 means none."""
        self._per_second, self._burst, self._at_once = per_second, max(burst, 1.0), at_once
        self._clock = clock
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    @contextmanager
    def request(self, name: str) -> Iterator[None]:
        """Count a request while it runs; raises `Problem` 429."""
        account = self._account(name)
        if self._at_once and account.running >= self._at_once:
            raise Problem(
                429,
                f"{self._at_once} requests of this key are running: wait for one to end",
                "too-many-at-once",
                {"Retry-After": "1"},
            )
        self._take(account)
        account.running += 1
        try:
            yield
        finally:
            account.running -= 1

    def _take(self, account: _Account) -> None:
        if not self._per_second:
            return
        now = self._clock()
        account.tokens = min(self._burst, account.tokens + (now - account.filled_at) * self._per_second)
        account.filled_at = now
        if account.tokens < 1:
            wait = (1 - account.tokens) / self._per_second
            raise Problem(
                429,
                f"more than {self._per_second:g} requests per second: try again in {wait:.1f} s",
                "too-many-requests",
                {"Retry-After": str(max(1, round(wait)))},
            )
        account.tokens -= 1

    def _account(self, name: str) -> _Account:
        account = self._accounts.get(name)
        if account is None:
            account = self._accounts[name] = _Account(self._burst, self._clock())
            if len(self._accounts) > _MOST_NAMES:
                idle = next((key for key, old in self._accounts.items() if not old.running), None)
                if idle is not None:
                    del self._accounts[idle]
        self._accounts.move_to_end(name)
        return account
