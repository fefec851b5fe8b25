"""The dispatcher: every decision gets a worker in turn, and an answer in time whatever happens to it.

1. `decide` always returns a legal action: a worker's, or from further down the ladder
   (`server.decisions.Rung`). This is the only place that turns failure into an action, and every step down
   is counted with its reason.
2. Decisions wait in a fair queue. One whose deadline comes while it waits falls down the ladder; so does
   one the queue has no room for. At its deadline a running one is told to stop, and a little later it is
   given up.
3. A worker that dies gives its decision back: the next one gets it for the time that is left. One that says
   nothing long after a deadline is killed. One that holds too much memory goes on until its successor is
   warm.
4. Nothing here blocks: workers are processes, the blueprint is looked up in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from game.betting import BettingState
from game.definition import GameDefinition
from protocol.acpc import parse_betting
from server.config import WorkersConfig
from server.decisions import DecisionAnswer, DecisionRequest, Rung, parse_action
from server.machine import usable_cores
from server.metrics import Metrics, street_name
from server.pool.fair_queue import FairQueue
from server.pool.fallback import check_or_fold
from server.pool.messages import Reply, Task, Usage
from server.pool.worker_process import WorkerGoneError, WorkerProcess, WorkerSpec

log = logging.getLogger(__name__)

_LEAST_SECONDS = 0.01
"""To think: with less left, a worker would only be late."""
_WAY_SECONDS = 0.005
"""Between the worker's answer and ours: kept back from its time."""
_LOOK_UP_SECONDS = 1.0
"""For the blueprint's answer: after that, check or fold."""
_RETRY_SECONDS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Before the next start, by how many starts in a row have failed."""
_LAST_WORD_SECONDS = 0.5
"""For stopped decisions to be answered when the daemon ends."""
_MB = 1 << 20


class Fallback(Protocol):
    """Who answers when no worker does."""

    @property
    def definition(self) -> GameDefinition:
        """The game."""

    def warm_up(self) -> None:
        """Be ready; blocks."""

    def answer(self, request: DecisionRequest) -> DecisionAnswer:
        """Quick; blocks."""


class _NoAnswerError(Exception):
    """No worker's answer will come; the text is the reason, as metrics name it."""


@dataclass(eq=False, slots=True)
class _Job:
    """A decision on its way."""

    request: DecisionRequest
    deadline: float
    """`time.monotonic()`: the loop's own clock may be milliseconds behind."""
    future: asyncio.Future[DecisionAnswer]
    asked: float
    number: int = 0
    worker: _Worker | None = None
    timers: list[asyncio.TimerHandle] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class _Worker:
    """A worker and what it is doing."""

    process: WorkerProcess
    is_warm: bool = False
    is_leaving: bool = False
    """Replaced as soon as another one is warm."""
    job: _Job | None = None
    hang_timer: asyncio.TimerHandle | None = None
    decisions: int = 0
    end_reason: str = ""
    """Why we ended it; empty if it ended by itself."""

    @property
    def state(self) -> str:
        if not self.is_warm:
            return "starting"
        return "idle" if self.job is None else "busy"


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """One worker now."""

    pid: int
    state: str
    decisions: int
    own_mb: float


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """The pool now."""

    workers: tuple[WorkerStatus, ...]
    waiting: int
    running: int
    failure: str
    """Why the last worker could not start; empty when one could."""


class Dispatcher:
    """A pool of workers and the ladder below it: a `Decider`. `start`, then `decide`, then `close`."""

    def __init__(
        self,
        config: WorkersConfig,
        spec: WorkerSpec,
        fallback: Fallback,
        metrics: Metrics | None = None,
    ) -> None:
        self.metrics = Metrics() if metrics is None else metrics
        self._config = config
        self._spec = spec
        self._fallback = fallback
        self._queue: FairQueue[_Job] = FairQueue(config.queue)
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = 0
        self._active = 0
        self._failed_starts = 0
        self._failure = ""
        self._was_ready = False
        self._is_closing = False
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._warm = asyncio.Event()
        self._look_up = ThreadPoolExecutor(1, "fathom-blueprint")
        self._cores = usable_cores()

    @property
    def definition(self) -> GameDefinition:
        """The game it decides about."""
        return self._fallback.definition

    @property
    def is_ready(self) -> bool:
        """Whether a worker is warm."""
        return any(worker.is_warm for worker in self._workers)

    def status(self) -> PoolStatus:
        """For people and metrics."""
        workers = [
            WorkerStatus(
                worker.process.pid, worker.state, worker.decisions, worker.process.usage.own_bytes / _MB
            )
            for worker in sorted(self._workers, key=lambda worker: worker.process.number)
        ]
        busy = sum(worker.state == "busy" for worker in workers)
        return PoolStatus(tuple(workers), len(self._queue), busy, self._failure)

    async def start(self) -> None:
        """Begin to start the workers; returns at once, `wait_until_ready` waits."""
        self._spawn(self._warm_fallback())
        self._keep_up()

    async def wait_until_ready(self) -> None:
        """Until a worker is warm."""
        while not self.is_ready:
            self._warm.clear()
            await self._warm.wait()

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        """Answer in time, always, with a legal action; refuses betting that is not of our game."""
        betting = parse_betting(self.definition, request.betting)
        if betting.is_finished:
            raise ValueError(f"the betting {request.betting!r} is over: there is nothing to decide")
        asked = time.monotonic()
        self._active += 1
        self._quiet.clear()
        try:
            answer = await self._answer(request, betting, asked)
        finally:
            self._active -= 1
            if not self._active:
                self._quiet.set()
        now = time.monotonic()
        street = street_name(betting.round_index)
        self.metrics.decisions.labels(answer.rung.value).inc()
        self.metrics.decision_seconds.labels(street).observe(now - asked)
        self.metrics.deadline_margin.observe(asked + request.seconds - now)
        return answer

    def stop_all(self) -> None:
        """Have every running decision answered with what is known, now."""
        for worker in self._workers:
            if worker.job is not None:
                worker.process.stop(worker.job.number)

    async def close(self, drain_seconds: float = 0.0) -> None:
        """Let running decisions end, then the workers."""
        self._is_closing = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(drain_seconds):
                await self._quiet.wait()
        self.stop_all()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORD_SECONDS):
                await self._quiet.wait()
        for worker in self._workers:
            worker.end_reason = "closing"
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        while len(self._queue):
            self._fail(self._queue.pop(), "closing")
        self._look_up.shutdown(wait=False, cancel_futures=True)

    # The ladder

    async def _answer(self, request: DecisionRequest, betting: BettingState, asked: float) -> DecisionAnswer:
        try:
            answer = await self._ask_worker(request, asked)
            _verify(answer, betting)
            labels = street_name(betting.round_index), answer.method
            self.metrics.solve_seconds.labels(*labels).observe(answer.seconds)
            self.metrics.iterations.labels(*labels).observe(answer.iterations)
        except _NoAnswerError as error:
            return await self._fall_back(request, betting, str(error))
        if answer.rung is Rung.BEST_SO_FAR:
            self.metrics.fallbacks.labels(answer.rung.value, "cut_short").inc()
        return answer

    async def _fall_back(
        self, request: DecisionRequest, betting: BettingState, reason: str
    ) -> DecisionAnswer:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_LOOK_UP_SECONDS):
                answer = await loop.run_in_executor(self._look_up, self._fallback.answer, request)
            _verify(answer, betting)
        except Exception as error:  # whatever it is: something legal goes out
            log.warning("the blueprint has no answer (%s): check or fold", type(error).__name__)
            answer = check_or_fold(request, betting)
        self.metrics.fallbacks.labels(answer.rung.value, reason).inc()
        log.info("decision of %s fell to %s: %s", request.match, answer.rung.value, reason)
        return answer

    async def _ask_worker(self, request: DecisionRequest, asked: float) -> DecisionAnswer:
        loop = asyncio.get_running_loop()
        job = _Job(request, asked + request.seconds, loop.create_future(), asked)
        if self._is_closing:
            raise _NoAnswerError("closing")
        if request.seconds < _LEAST_SECONDS:
            raise _NoAnswerError("no_time")
        evicted = self._queue.put(request.match, job)
        if evicted is not None:
            self._fail(evicted, "queue_full")
        self._after(job, job.deadline, self._on_deadline)
        self._assign()
        try:
            return await job.future
        finally:
            for timer in job.timers:
                timer.cancel()
            if job.worker is not None and job.worker.job is job:
                job.worker.process.stop(job.number)  # given up or cancelled: nobody waits for it any more
            self._queue.remove(request.match, job)
            self.metrics.queue_length.set(len(self._queue))

    def _on_deadline(self, job: _Job) -> None:
        if job.worker is None:
            self._queue.remove(job.request.match, job)
            self._fail(job, "queue_wait")
            return
        job.worker.process.stop(job.number)
        self._after(job, job.deadline + self._config.late_seconds, lambda job: self._fail(job, "late"))

    def _after(self, job: _Job, when: float, act: Callable[[_Job], None]) -> None:
        job.timers.append(asyncio.get_running_loop().call_later(max(when - time.monotonic(), 0.0), act, job))

    @staticmethod
    def _fail(job: _Job, reason: str) -> None:
        if not job.future.done():
            job.future.set_exception(_NoAnswerError(reason))

    # Sharing out

    def _assign(self) -> None:
        """Give waiting decisions to idle workers."""
        loop = asyncio.get_running_loop()
        while self._idle and len(self._queue):
            job = self._queue.pop()
            now = time.monotonic()
            left = job.deadline - now
            if job.future.done():
                continue
            if left < _LEAST_SECONDS:
                self._fail(job, "queue_wait")
                continue
            worker = self._idle.pop()
            self._numbers += 1
            job.number, job.worker, worker.job = self._numbers, worker, job
            self.metrics.queue_wait.observe(now - job.asked)
            worker.hang_timer = loop.call_later(
                left + self._config.hang_seconds, self._on_hang, worker, job.number
            )
            task = Task(job.number, job.request, job.deadline - _WAY_SECONDS, self._share_of_cores())
            worker.process.send(task)
        self.metrics.queue_length.set(len(self._queue))
        self._count_workers()

    def _share_of_cores(self) -> int:
        """Threads for one more decision: all cores when it is alone, its share of them otherwise."""
        wanted = len(self._queue) + sum(worker.job is not None for worker in self._workers)
        return max(min(self._cores // max(wanted, 1), self._config.threads or self._cores), 1)

    def _on_hang(self, worker: _Worker, number: int) -> None:
        if worker.job is not None and worker.job.number == number:
            log.warning("worker %d does not answer: killed", worker.process.pid)
            self._end(worker, "hung")

    def _take(self, worker: _Worker, reply: Reply) -> None:
        """A worker has answered."""
        job, worker.job = worker.job, None
        worker.decisions += 1
        if worker.hang_timer is not None:
            worker.hang_timer.cancel()
        self._count_usage(worker, reply.usage)
        if reply.estimate is not None:
            street = street_name(reply.estimate.street)
            self.metrics.exploitability.labels(street).observe(reply.estimate.big_blinds)
        if job is not None and job.number == reply.number and not job.future.done():
            if reply.answer is None:
                log.error("worker %d failed: %s", worker.process.pid, reply.error)
                self._fail(job, "worker_error")
            else:
                job.future.set_result(reply.answer)
        self._free(worker)

    def _free(self, worker: _Worker) -> None:
        """It may be given the next decision, unless it is to leave and can be spared."""
        limit = self._config.memory_mb * _MB
        if limit and worker.process.usage.own_bytes > limit and not worker.is_leaving:
            log.warning(
                "worker %d holds %d MB: replaced", worker.process.pid, worker.process.usage.own_bytes // _MB
            )
            worker.is_leaving = True
            self._keep_up()
        if worker.is_leaving and self._staying_warm() >= self._config.count:
            self._end(worker, "memory")
        elif worker.is_leaving:
            self._idle.insert(0, worker)  # the last one to be chosen
        else:
            self._idle.append(worker)
        self._assign()

    # Workers come and go

    def _keep_up(self) -> None:
        """Start as many workers as are missing."""
        staying = sum(not worker.is_leaving for worker in self._workers)
        # The first one compiles what is not compiled yet: the others are quick then, and do not compete.
        wanted = self._config.count if self._was_ready else 1
        for _ in range(wanted - staying):
            self._numbers += 1
            worker = _Worker(WorkerProcess(self._numbers, self._spec))
            self._workers.add(worker)
            self._spawn(self._tend(worker))
        self._count_workers()

    async def _tend(self, worker: _Worker) -> None:
        """A worker's whole life."""
        process = worker.process
        try:
            delay = _RETRY_SECONDS[min(self._failed_starts, len(_RETRY_SECONDS) - 1)]
            if delay:
                await asyncio.sleep(delay)
            if not await self._warm_up(worker):
                return
            async for reply in process.replies():
                self._take(worker, reply)
        finally:
            self._bury(worker)
            await process.close()

    async def _warm_up(self, worker: _Worker) -> bool:
        """Whether it is ready to work."""
        try:
            async with asyncio.timeout(self._config.start_seconds):
                hello = await worker.process.start()
            error = hello.error
        except TimeoutError:
            error = f"not ready after {self._config.start_seconds:g} s"
        except (WorkerGoneError, OSError) as gone:
            error = f"it ended while it started {gone}".strip()
        if error:
            self._failed_starts += 1
            self._failure = error
            worker.end_reason = worker.end_reason or "start_failed"
            worker.process.kill()
            log.error("a worker could not start: %s", error)
            return False
        self._failed_starts, self._failure = 0, ""
        worker.is_warm = self._was_ready = True
        self._keep_up()
        log.info("worker %d is warm", worker.process.pid)
        for leaving in [other for other in self._idle if other.is_leaving]:
            if self._staying_warm() >= self._config.count:
                self._end(leaving, "memory")
        self._warm.set()
        self._free(worker)
        return True

    def _end(self, worker: _Worker, reason: str) -> None:
        """Kill a worker; `_bury` does the rest when it is gone."""
        worker.end_reason = reason
        if worker in self._idle:
            self._idle.remove(worker)
        worker.process.kill()

    def _bury(self, worker: _Worker) -> None:
        """A worker is gone: its decision goes to another one, and so does its place."""
        self._workers.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        if worker.hang_timer is not None:
            worker.hang_timer.cancel()
        job, worker.job = worker.job, None
        reason = worker.end_reason or "died"
        if reason != "closing":
            self.metrics.worker_restarts.labels(reason).inc()
            log.warning("worker %d is gone: %s", worker.process.pid, reason)
        if job is not None and not job.future.done():
            self._give_back(job)
        if not self._is_closing:
            self._keep_up()
            self._assign()

    def _give_back(self, job: _Job) -> None:
        job.worker = None
        if self._is_closing or job.deadline - time.monotonic() < _LEAST_SECONDS:
            self._fail(job, "worker_died")
            return
        self.metrics.redispatches.inc()
        self._queue.put_back(job.request.match, job)

    def _staying_warm(self) -> int:
        return sum(worker.is_warm and not worker.is_leaving for worker in self._workers)

    def _count_workers(self) -> None:
        for state in ("starting", "idle", "busy"):
            self.metrics.workers.labels(state).set(sum(worker.state == state for worker in self._workers))

    def _count_usage(self, worker: _Worker, usage: Usage) -> None:
        before, worker.process.usage = worker.process.usage, usage
        self.metrics.page_faults.labels("major").inc(max(usage.major_faults - before.major_faults, 0))
        self.metrics.page_faults.labels("minor").inc(max(usage.minor_faults - before.minor_faults, 0))

    async def _warm_fallback(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._look_up, self._fallback.warm_up)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.critical("a part of the pool failed", exc_info=error)


def _verify(answer: DecisionAnswer, betting: BettingState) -> None:
    try:
        betting.verify(parse_action(answer.action))
    except ValueError as error:
        log.error("an answer was refused: %s", type(error).__name__)
        raise _NoAnswerError("illegal") from error
