"""The workers as a whole: started, watched, replaced. Knows tasks by their numbers, and nothing of decisions.

1. There are as many workers as the configuration says, or they are on their way. The first one starts alone:
   it compiles what is not compiled yet, and the others are quick then and do not compete.
2. One that ends is replaced at once, with a growing pause if starting fails. One that says nothing long after
   a deadline is killed; idle ones are asked now and then whether they are there. One that holds too much
   memory works on until its successor is warm.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Protocol

from server.config import WorkersConfig
from server.decisions import Progress
from server.metrics import Metrics, street_name
from server.pool.messages import Reply, Task
from server.pool.worker_process import WorkerGoneError, WorkerProcess, WorkerSpec

log = logging.getLogger(__name__)

_RETRY_SECONDS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Before the next start, by how many starts in a row have failed."""
_MB = 1 << 20
_CLOSING = "closing"


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """One worker now."""

    pid: int
    state: str
    decisions: int
    own_mb: float


@dataclass(eq=False, slots=True)
class Worker:
    """A worker and what it is doing."""

    process: WorkerProcess
    is_warm: bool = False
    is_leaving: bool = False
    """Replaced as soon as another one is warm."""
    task: int | None = None
    """The number of the task it is at."""
    hang_timer: asyncio.TimerHandle | None = None
    decisions: int = 0
    end_reason: str = ""
    """Why we ended it; empty if it ended by itself."""

    @property
    def state(self) -> str:
        """For people."""
        if not self.is_warm:
            return "starting"
        return "idle" if self.task is None else "busy"

    def stop(self, number: int) -> None:
        """Have a task answered with what is known, if it is still at it."""
        if self.task == number:
            self.process.stop(number)

    def progress(self, number: int) -> Progress | None:
        """How far it is with a task; None if it is not at it, or has not begun to count."""
        return self.process.progress(number) if self.task == number else None


class CrewOwner(Protocol):
    """Who is told what happens. Called from the event loop; must not block."""

    def on_reply(self, reply: Reply) -> None:
        """A task was answered."""

    def on_lost(self, number: int) -> None:
        """The worker that was at a task is gone."""

    def on_idle(self) -> None:
        """Somebody may have nothing to do."""


class Crew:
    """All workers. `start`, then `give` tasks to whom `find_idle` finds, then `close`."""

    def __init__(self, config: WorkersConfig, spec: WorkerSpec, owner: CrewOwner, metrics: Metrics) -> None:
        self._config = config
        self._spec = spec
        self._owner = owner
        self._metrics = metrics
        self._workers: set[Worker] = set()
        self._idle: list[Worker] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._started = 0
        self._roll_calls = 0
        self._failed_starts = 0
        self._was_ready = False
        self._is_closing = False
        self._warm = asyncio.Event()
        self.failure = ""
        """Why the last worker could not start; empty when one could."""

    @property
    def is_ready(self) -> bool:
        """Whether a worker is warm."""
        return any(worker.is_warm for worker in self._workers)

    @property
    def num_busy(self) -> int:
        """Workers that are at a task."""
        return sum(worker.task is not None for worker in self._workers)

    def statuses(self) -> tuple[WorkerStatus, ...]:
        """Of all workers, the oldest first."""
        workers = sorted(self._workers, key=lambda worker: worker.process.number)
        return tuple(
            [
                WorkerStatus(
                    worker.process.pid, worker.state, worker.decisions, worker.process.usage.own_bytes / _MB
                )
                for worker in workers
            ]
        )

    async def wait_until_ready(self) -> None:
        """Until a worker is warm."""
        while not self.is_ready:
            self._warm.clear()
            await self._warm.wait()

    def start(self) -> None:
        """Begin to start the workers; does not wait."""
        self._keep_up()
        self._spawn(self._call_roll())

    def find_idle(self) -> Worker | None:
        """Somebody with nothing to do."""
        return self._idle[-1] if self._idle else None

    def give(self, worker: Worker, task: Task) -> None:
        """Have an idle worker do something."""
        self._idle.remove(worker)
        worker.task = task.number
        patience = max(task.deadline - time.monotonic(), 0.0) + self._config.hang_seconds
        worker.hang_timer = asyncio.get_running_loop().call_later(
            patience, self._on_hang, worker, task.number
        )
        worker.process.send(task)
        self._count()

    def stop_all(self) -> None:
        """Have every task answered with what is known, now."""
        for worker in self._workers:
            if worker.task is not None:
                worker.process.stop(worker.task)

    async def close(self) -> None:
        """End all workers."""
        self._is_closing = True
        for worker in self._workers:
            worker.end_reason = _CLOSING
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _keep_up(self) -> None:
        """Start as many workers as are missing."""
        staying = sum(not worker.is_leaving for worker in self._workers)
        wanted = self._config.count if self._was_ready else 1
        for _ in range(wanted - staying):
            self._started += 1
            worker = Worker(WorkerProcess(self._started, self._spec))
            self._workers.add(worker)
            self._spawn(self._tend(worker))
        self._count()

    async def _call_roll(self) -> None:
        """Again and again, ask the idle ones whether they are there: one that is not is killed as if busy."""
        while True:
            await asyncio.sleep(self._config.hang_seconds)
            for worker in list(self._idle):
                self._roll_calls += 1
                self.give(worker, Task(-self._roll_calls, None, time.monotonic(), 1))

    async def _tend(self, worker: Worker) -> None:
        """A worker's whole life."""
        try:
            delay = _RETRY_SECONDS[min(self._failed_starts, len(_RETRY_SECONDS) - 1)]
            if delay:
                await asyncio.sleep(delay)
            if not await self._warm_up(worker):
                return
            async for reply in worker.process.replies():
                self._take(worker, reply)
        finally:
            self._replace(worker)
            await worker.process.close()
            if worker.end_reason != _CLOSING:
                reason, status = worker.end_reason or "died", worker.process.exit_status
                log.warning("worker %d is gone: %s, exit status %s", worker.process.pid, reason, status)

    async def _warm_up(self, worker: Worker) -> bool:
        """Whether it is ready to work."""
        try:
            async with asyncio.timeout(self._config.start_seconds):
                error = (await worker.process.start()).error
        except TimeoutError:
            error = f"not ready after {self._config.start_seconds:g} s"
        except (WorkerGoneError, OSError) as gone:
            error = f"it ended while it started {gone}".strip()
        if error:
            self._failed_starts += 1
            self.failure = error
            worker.end_reason = worker.end_reason or "start_failed"
            worker.process.kill()
            log.error("a worker could not start: %s", error)
            return False
        self._failed_starts, self.failure = 0, ""
        worker.is_warm = self._was_ready = True
        log.info("worker %d is warm", worker.process.pid)
        self._keep_up()
        for leaving in [other for other in self._idle if other.is_leaving]:
            self._spare(leaving)
        self._warm.set()
        self._free(worker)
        return True

    def _take(self, worker: Worker, reply: Reply) -> None:
        """A worker has answered."""
        worker.task = None
        worker.decisions += reply.number > 0
        if worker.hang_timer is not None:
            worker.hang_timer.cancel()
        before, worker.process.usage = worker.process.usage, reply.usage
        faults = self._metrics.page_faults
        faults.labels("major").inc(max(reply.usage.major_faults - before.major_faults, 0))
        faults.labels("minor").inc(max(reply.usage.minor_faults - before.minor_faults, 0))
        if reply.estimate is not None:
            street = street_name(reply.estimate.street)
            self._metrics.exploitability.labels(street).observe(reply.estimate.big_blinds)
        if reply.error:
            log.error("worker %d failed: %s", worker.process.pid, reply.error)
        self._owner.on_reply(reply)
        self._free(worker)

    def _free(self, worker: Worker) -> None:
        """It may be given the next task, unless it is to leave and can be spared."""
        own_mb = worker.process.usage.own_bytes // _MB
        if not worker.is_leaving and 0 < self._config.memory_mb < own_mb:
            log.warning("worker %d holds %d MB: replaced", worker.process.pid, own_mb)
            worker.is_leaving = True
            self._keep_up()
        # One that leaves is the last to be chosen.
        self._idle.insert(0 if worker.is_leaving else len(self._idle), worker)
        if worker.is_leaving:
            self._spare(worker)
        self._count()
        self._owner.on_idle()

    def _spare(self, leaving: Worker) -> None:
        """End one that leaves if all others are there."""
        warm = sum(worker.is_warm and not worker.is_leaving for worker in self._workers)
        if warm >= self._config.count:
            self._end(leaving, "memory")

    def _on_hang(self, worker: Worker, number: int) -> None:
        if worker.task == number:
            log.warning("worker %d does not answer: killed", worker.process.pid)
            self._end(worker, "hung")

    def _end(self, worker: Worker, reason: str) -> None:
        """Kill a worker; `_tend` does the rest when it is gone."""
        worker.end_reason = reason
        if worker in self._idle:
            self._idle.remove(worker)
        worker.process.kill()

    def _replace(self, worker: Worker) -> None:
        """A worker is gone: its task is given back, and another one takes its place."""
        self._workers.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        if worker.hang_timer is not None:
            worker.hang_timer.cancel()
        if worker.end_reason != _CLOSING:
            self._metrics.worker_restarts.labels(worker.end_reason or "died").inc()
        number, worker.task = worker.task, None
        if number is not None:
            self._owner.on_lost(number)
        if not self._is_closing:
            self._keep_up()
            self._owner.on_idle()

    def _count(self) -> None:
        for state in ("starting", "idle", "busy"):
            self._metrics.workers.labels(state).set(sum(worker.state == state for worker in self._workers))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.critical("a worker's keeper failed", exc_info=error)
