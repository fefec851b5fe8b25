"""Supervises the worker processes: starts, watches and replaces them. Knows tasks by number only.

1. The configured number of workers is kept running or starting. The first one starts alone: it compiles the
   kernels that are not cached yet, so that the others load them quickly and do not compete for cores.
2. A worker that exits is replaced at once, or after a growing delay if starting fails. A worker that does not
   answer long after a deadline is killed; idle workers are pinged regularly. A worker that uses too much
   memory keeps working until its replacement is warm.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Protocol

from server.config.config import WorkersConfig
from server.decisions import Progress
from server.pool.messages import Reply, Task
from server.pool.worker_process import WorkerGoneError, WorkerProcess, WorkerSpec
from server.telemetry.metrics import Metrics, street_name

log = logging.getLogger(__name__)

_RETRY_SECONDS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Delay before the next start, by the number of consecutive failed starts."""
_MB = 1 << 20
_CLOSING = "closing"


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The current status of one worker."""

    pid: int
    state: str
    decisions: int
    own_mb: float


@dataclass(eq=False, slots=True)
class Worker:
    """A worker and its current task."""

    process: WorkerProcess
    is_warm: bool = False
    is_leaving: bool = False
    """Ended as soon as its replacement is warm."""
    task: int | None = None
    """The number of its current task; None if idle."""
    hang_timer: asyncio.TimerHandle | None = None
    decisions: int = 0
    end_reason: str = ""
    """Why we ended it; empty if it exited by itself."""

    @property
    def state(self) -> str:
        """`starting`, `idle` or `busy`."""
        if not self.is_warm:
            return "starting"
        return "idle" if self.task is None else "busy"

    def stop(self, number: int) -> None:
        """Ask for the best answer so far to a task, if it is the current one."""
        if self.task == number:
            self.process.stop(number)

    def progress(self, number: int) -> Progress | None:
        """Progress of a task; None if it is not the current one or has not started iterating."""
        return self.process.progress(number) if self.task == number else None


class CrewOwner(Protocol):
    """Callbacks of the crew. Called from the event loop; must not block."""

    def on_reply(self, reply: Reply) -> None:
        """A task was answered."""

    def on_lost(self, number: int) -> None:
        """The worker of a task exited without an answer."""

    def on_idle(self) -> None:
        """A worker may be idle."""


class Crew:
    """All workers. Call `start`, `give` tasks to the workers that `find_idle` returns, then `close`."""

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
        """Why the last worker could not start; empty once one has started."""

    @property
    def is_ready(self) -> bool:
        """Whether a worker is warm."""
        return any(worker.is_warm for worker in self._workers)

    @property
    def num_busy(self) -> int:
        """The number of workers with a task."""
        return sum(worker.task is not None for worker in self._workers)

    def statuses(self) -> tuple[WorkerStatus, ...]:
        """The status of all workers, oldest first."""
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
        """Wait until a worker is warm."""
        while not self.is_ready:
            self._warm.clear()
            await self._warm.wait()

    def start(self) -> None:
        """Start the workers in the background; returns at once."""
        self._keep_up()
        self._spawn(self._call_roll())

    def find_idle(self) -> Worker | None:
        """An idle worker, or None."""
        return self._idle[-1] if self._idle else None

    def give(self, worker: Worker, task: Task) -> None:
        """Assign a task to an idle worker."""
        self._idle.remove(worker)
        worker.task = task.number
        patience = max(task.deadline - time.monotonic(), 0.0) + self._config.hang_seconds
        worker.hang_timer = asyncio.get_running_loop().call_later(
            patience, self._on_hang, worker, task.number
        )
        worker.process.send(task)
        self._count()

    def stop_all(self) -> None:
        """Ask for the best answers so far to all running tasks."""
        for worker in self._workers:
            if worker.task is not None:
                worker.process.stop(worker.task)

    async def close(self) -> None:
        """End all workers and wait for them."""
        self._is_closing = True
        for worker in self._workers:
            worker.end_reason = _CLOSING
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _keep_up(self) -> None:
        """Start workers until the configured number is running or starting."""
        staying = sum(not worker.is_leaving for worker in self._workers)
        wanted = self._config.count if self._was_ready else 1
        for _ in range(wanted - staying):
            self._started += 1
            worker = Worker(WorkerProcess(self._started, self._spec))
            self._workers.add(worker)
            self._spawn(self._tend(worker))
        self._count()

    async def _call_roll(self) -> None:
        """Ping idle workers regularly; one that does not answer is killed like a busy one that hangs."""
        while True:
            await asyncio.sleep(self._config.hang_seconds)
            for worker in list(self._idle):
                self._roll_calls += 1
                self.give(worker, Task(-self._roll_calls, None, time.monotonic(), 1))

    async def _tend(self, worker: Worker) -> None:
        """Supervise one worker from its start to its end."""
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
                log.warning("worker %d exited: %s, exit status %s", worker.process.pid, reason, status)

    async def _warm_up(self, worker: Worker) -> bool:
        """Start the worker and wait until it is warm; returns False if that fails."""
        try:
            async with asyncio.timeout(self._config.start_seconds):
                error = (await worker.process.start()).error
        except TimeoutError:
            error = f"not ready after {self._config.start_seconds:g} s"
        except (WorkerGoneError, OSError) as gone:
            error = f"it exited during start-up {gone}".strip()
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
        """Process a worker's reply."""
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
            log.error("worker %d: decision failed: %s", worker.process.pid, reply.error)
        self._owner.on_reply(reply)
        self._free(worker)

    def _free(self, worker: Worker) -> None:
        """Mark a worker as idle, or end it if it is leaving and no longer needed."""
        own_mb = worker.process.usage.own_bytes // _MB
        if not worker.is_leaving and 0 < self._config.memory_mb < own_mb:
            log.warning("worker %d uses %d MB: replacing it", worker.process.pid, own_mb)
            worker.is_leaving = True
            self._keep_up()
        # `find_idle` takes from the end: a leaving worker is the last choice.
        self._idle.insert(0 if worker.is_leaving else len(self._idle), worker)
        if worker.is_leaving:
            self._spare(worker)
        self._count()
        self._owner.on_idle()

    def _spare(self, leaving: Worker) -> None:
        """End a leaving worker if the configured number of others is warm."""
        warm = sum(worker.is_warm and not worker.is_leaving for worker in self._workers)
        if warm >= self._config.count:
            self._end(leaving, "memory")

    def _on_hang(self, worker: Worker, number: int) -> None:
        if worker.task == number:
            log.warning("worker %d does not answer: killing it", worker.process.pid)
            self._end(worker, "hung")

    def _end(self, worker: Worker, reason: str) -> None:
        """Kill a worker; `_tend` cleans up when it has exited."""
        worker.end_reason = reason
        if worker in self._idle:
            self._idle.remove(worker)
        worker.process.kill()

    def _replace(self, worker: Worker) -> None:
        """After a worker's exit: return its task to the owner and start a replacement."""
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
            log.critical("worker supervision task failed", exc_info=error)
