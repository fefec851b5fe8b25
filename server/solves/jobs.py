"""Solves requested over HTTP: started, followed and cancelled here; results are kept for a while.

Each solve runs in its own process (`server.solves.worker`), beside the worker pool and at a lower priority.
The number of concurrent solves is limited; more are rejected. The least recently requested results are
dropped first.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import sys
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

_LOG = logging.getLogger(__name__)

MOST_SECONDS = 600.0
_MOST_LINE_BYTES = 64 << 20
_START_SECONDS = 600.0
"""Time for a process to become ready, including compiling kernels."""
_MOST_EVENTS = 5000
_KEPT = 64


class SolveBusyError(Exception):
    """The maximum number of solves is running."""


class SolveState(StrEnum):
    """The state of a solve."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    """Cancelled; has a result unless it was cancelled very early."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SolveSettings:
    """Limits for all solves."""

    at_once: int = 2
    most_seconds: float = 120.0
    memory_mb: int = 4096
    threads: int = 1
    nice: int = 10


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """What to solve: the options of `fathom solve` as text; None: the default."""

    board: str
    pot: str
    stack: str
    oop: str | None = None
    ip: str | None = None
    menu: str | None = None
    big_blind: str | None = None
    iterations: str | None = None
    target: str | None = None
    seconds: str | None = None
    node: str = "root"

    def options(self) -> dict[str, str | None]:
        """The options as `server.solves.input` reads them."""
        names = (
            "board", "pot", "stack", "oop", "ip", "menu", "big_blind", "iterations", "target", "seconds",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}


@dataclass(slots=True, eq=False)
class SolveJob:
    """One solve. Events are numbered from 1."""

    id: str
    owner: str
    started_at: float
    state: SolveState = SolveState.RUNNING
    events: list[dict[str, Any]] = field(default_factory=list)
    """Progress events; the last event is `result` or `failed`."""
    result: bytes | None = None
    """The result as JSON."""
    detail: str = ""
    """The error message, if it failed."""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    process: asyncio.subprocess.Process | None = None
    cancelled: bool = False

    @property
    def is_over(self) -> bool:
        """Whether the solve has ended."""
        return self.state is not SolveState.RUNNING

    @property
    def progress(self) -> dict[str, Any] | None:
        """The latest progress event."""
        return next((event for event in reversed(self.events) if event["event"] == "progress"), None)

    async def follow(self, since: int = 0) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        """Numbered events after `since`, as they happen, until the solve ends."""
        at = since
        while True:
            async with self.changed:
                while len(self.events) <= at and not self.is_over:
                    await self.changed.wait()
            while at < len(self.events):
                at += 1
                yield at, self.events[at - 1]
            if self.is_over:
                return


class SolveJobs:
    """All solves of a daemon."""

    def __init__(self, settings: SolveSettings) -> None:
        self.settings = settings
        self._jobs: OrderedDict[str, SolveJob] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    @property
    def running(self) -> int:
        """The number of running solves."""
        return sum(not job.is_over for job in self._jobs.values())

    def start(self, request: SolveRequest, owner: str) -> SolveJob:
        """Start a solve; raises `SolveBusyError`."""
        if self._closing or self.running >= self.settings.at_once:
            raise SolveBusyError(f"{self.running} solves are running, the maximum: try again later")
        job = SolveJob(secrets.token_urlsafe(16), owner, time.time())
        self._jobs[job.id] = job
        while len(self._jobs) > _KEPT:
            oldest = next((key for key, old in self._jobs.items() if old.is_over), None)
            if oldest is None:
                break
            del self._jobs[oldest]
        task = asyncio.create_task(self._run(job, request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def find(self, job_id: str, owner: str | None) -> SolveJob | None:
        """A job by id, or None; it must belong to `owner` (None: any owner)."""
        job = self._jobs.get(job_id)
        if job is None or (owner is not None and job.owner != owner):
            return None
        self._jobs.move_to_end(job_id)
        return job

    def list(self, owner: str | None) -> list[SolveJob]:
        """The jobs of an owner (None: all), newest first."""
        found = [job for job in self._jobs.values() if owner is None or job.owner == owner]
        return sorted(found, key=lambda job: -job.started_at)

    async def cancel(self, job: SolveJob) -> None:
        """Stop a solve, and wait until it has ended with its result so far."""
        self._stop(job)
        async with job.changed:
            await job.changed.wait_for(lambda: job.is_over)

    async def close(self) -> None:
        """End all solves and notify their followers. Idempotent."""
        self._closing = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @staticmethod
    def _stop(job: SolveJob) -> None:
        job.cancelled = True
        process = job.process
        if process is not None and process.stdin is not None:
            process.stdin.close()

    async def _run(self, job: SolveJob, request: SolveRequest) -> None:
        try:
            async with asyncio.timeout(_START_SECONDS + self.settings.most_seconds):
                await self._talk(job, request)
        except TimeoutError:
            await self._finish(job, SolveState.FAILED, "the solve did not end in time")
        except asyncio.CancelledError:
            await self._finish(job, SolveState.CANCELLED, "the daemon is shutting down")
            raise
        except OSError as error:
            _LOG.error("cannot start a solve: %s", error)
            await self._finish(job, SolveState.FAILED, "the solver process could not be started")
        finally:
            if job.process is not None and job.process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    job.process.kill()
                await asyncio.shield(job.process.wait())

    async def _talk(self, job: SolveJob, request: SolveRequest) -> None:
        process = job.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "server.solves.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_MOST_LINE_BYTES,
        )  # fmt: skip
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        settings = self.settings
        order = {
            "spot": request.options(),
            "node": request.node,
            "threads": settings.threads,
            "memory_bytes": settings.memory_mb << 20,
            "most_seconds": settings.most_seconds,
            "nice": settings.nice,
        }
        process.stdin.write(json.dumps(order).encode() + b"\n")
        if job.cancelled:  # cancelled before the process existed
            process.stdin.close()
        while line := await process.stdout.readline():
            event = json.loads(line)
            if event["event"] == "result":
                job.result = json.dumps(event["result"], separators=(",", ":")).encode()
                state = SolveState.CANCELLED if event["stopped"] else SolveState.DONE
                await self._finish(job, state)
            elif event["event"] == "failed":
                await self._finish(job, SolveState.FAILED, event["detail"])
            elif len(job.events) < _MOST_EVENTS:
                await self._tell(job, event)
        if not job.is_over:
            await self._finish(job, SolveState.FAILED, "the solve ended without a result")

    async def _finish(self, job: SolveJob, state: SolveState, detail: str = "") -> None:
        if job.is_over:
            return
        job.state, job.detail = state, detail
        event: dict[str, Any] = {"event": "failed", "detail": detail}
        if job.result is not None:
            event = {"event": "result", "state": str(state)}
        await self._tell(job, event)

    @staticmethod
    async def _tell(job: SolveJob, event: dict[str, Any]) -> None:
        async with job.changed:
            job.events.append(event)
            job.changed.notify_all()
