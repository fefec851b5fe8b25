"""All dealer matches of the daemon, each run as its own asyncio task."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from dataclasses import dataclass

from server.config.config import MatchConfig
from server.config.game_files import load_definition
from server.matches.acpc_match import ENDED, AcpcMatch, MatchStatus, OurSide

_LAST_WORD_SECONDS = 1.0

MOST_REMEMBERED = 1000
"""Maximum matches in the list; the oldest ended ones are dropped first."""


@dataclass(frozen=True, slots=True)
class _Running:
    match: AcpcMatch
    task: asyncio.Task[MatchStatus]


class MatchManager:
    """Starts, lists and stops matches."""

    def __init__(self, us: OurSide) -> None:
        self._us = us
        self._matches: dict[str, _Running] = {}
        self._started = 0
        self._left_at = 0.0

    def start(self, spec: MatchConfig) -> MatchStatus:
        """Start a match; needs a running event loop. Raises `ValueError` if we play another game."""
        if load_definition(spec.game) != self._us.definition:
            raise ValueError(
                f"the blueprint is not for the game {spec.game!r}: give the blueprint's own game"
            )
        self._started += 1
        name = f"m{self._started}"
        match = AcpcMatch(name, spec, self._us)
        task = asyncio.get_running_loop().create_task(match.play(), name=f"match {name}")
        task.add_done_callback(lambda _task: self._count())
        self._matches[name] = _Running(match, task)
        self._forget()
        self._count()
        return match.status()

    def statuses(self) -> list[MatchStatus]:
        """The status of all matches, oldest first."""
        return [running.match.status() for running in self._matches.values()]

    def status(self, name: str) -> MatchStatus:
        """The status of one match; raises `KeyError`."""
        return self._matches[name].match.status()

    async def stop(self, name: str) -> MatchStatus:
        """Leave a match after the decision in progress, and wait until it has ended; raises `KeyError`."""
        running = self._matches[name]
        running.match.leave()
        return await asyncio.shield(running.task)

    async def wait(self, name: str) -> MatchStatus:
        """Wait until a match is over."""
        return await asyncio.shield(self._matches[name].task)

    def leave(self) -> None:
        """Ask all matches to end; does not wait."""
        self._left_at = self._left_at or time.monotonic()
        for running in self._matches.values():
            running.match.leave()

    async def close(self, drain_seconds: float) -> None:
        """Leave all matches; cancel those that have not ended `drain_seconds` after they were asked to leave.

        They get one second more: decisions are stopped at that time, and their answers must still be sent.
        """
        self.leave()
        tasks = [running.task for running in self._matches.values()]
        if not tasks:
            return
        patience = self._left_at + drain_seconds + _LAST_WORD_SECONDS - time.monotonic()
        _, late = await asyncio.wait(tasks, timeout=max(patience, 0.0))
        for task in late:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def _forget(self) -> None:
        ended = [name for name, running in self._matches.items() if running.task.done()]
        for name in ended[: max(len(self._matches) - MOST_REMEMBERED, 0)]:
            del self._matches[name]

    def _count(self) -> None:
        counts = Counter(status.state for status in self.statuses() if status.state not in ENDED)
        for state in ("connecting", "warming_up", "playing"):
            self._us.metrics.matches.labels(state).set(counts[state])
