"""The dispatcher: assigns decisions to workers and answers each one in time, whatever happens to its worker.

1. `decide` always returns a legal action: a worker's, or one from a lower rung of the ladder of fallbacks
   (`server.decisions.Rung`). This is the only place that turns a failure into an action, and every fallback
   is counted with its reason.
2. Decisions wait in a fair queue. A decision falls back if its deadline passes while it waits, or if the
   queue is full. A running decision is told to stop at its deadline, and abandoned a little later.
3. If a worker dies, its decision goes to another worker with the remaining time.
4. Nothing here blocks: workers are processes, and the blueprint is looked up in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from game.betting import BettingState
from game.definition import GameDefinition
from protocol.acpc import parse_betting
from server.config.config import WorkersConfig
from server.config.machine import usable_cores
from server.decisions import DecisionAnswer, DecisionRequest, Progress, Rung, parse_action
from server.pool.crew import Crew, Worker, WorkerStatus
from server.pool.fair_queue import FairQueue
from server.pool.fallback import check_or_fold
from server.pool.messages import Reply, Task
from server.pool.worker_process import WorkerSpec
from server.telemetry.metrics import Metrics, street_name

log = logging.getLogger(__name__)

_LEAST_SECONDS = 0.01
"""Minimum thinking time: with less left, a worker would be late."""
_WAY_SECONDS = 0.005
"""Reserved for the way from the worker's answer to ours; subtracted from the worker's time."""
_LOOK_UP_SECONDS = 1.0
"""Timeout of the blueprint look-up: after that, check or fold."""
_LAST_WORD_SECONDS = 0.5
"""Time for stopped decisions to be answered when the daemon shuts down."""


class Fallback(Protocol):
    """Makes decisions when no worker does."""

    @property
    def definition(self) -> GameDefinition:
        """The game it plays."""

    def warm_up(self) -> None:
        """Load everything needed; blocks."""

    def answer(self, request: DecisionRequest) -> DecisionAnswer:
        """Decide quickly; blocks for milliseconds."""


class _NoAnswerError(Exception):
    """No worker will answer; the message is the reason, as metrics name it."""


@dataclass(eq=False, slots=True)
class _Job:
    """A decision that is waiting or being made."""

    request: DecisionRequest
    asked: float
    deadline: float
    """In `time.monotonic()`: the event loop's own clock may lag by milliseconds."""
    future: asyncio.Future[DecisionAnswer]
    number: int = 0
    worker: Worker | None = None
    """None while it waits in the queue."""
    timers: list[asyncio.TimerHandle] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """The current status of the pool."""

    workers: tuple[WorkerStatus, ...]
    waiting: int
    running: int
    failure: str
    """Why the last worker could not start; empty once one has started."""


class Dispatcher:
    """A crew of workers with the ladder of fallbacks: a `Decider` and `Watchable`.

    Call `start`, then `decide` any number of times, then `close`.
    """

    def __init__(
        self,
        config: WorkersConfig,
        spec: WorkerSpec,
        fallback: Fallback,
        metrics: Metrics | None = None,
    ) -> None:
        self.metrics = Metrics() if metrics is None else metrics
        self._config = config
        self._fallback = fallback
        self._crew = Crew(config, spec, self, self.metrics)
        self._queue: FairQueue[_Job] = FairQueue(config.queue)
        self._running: dict[int, _Job] = {}
        self._numbers = 0
        self._active = 0
        self._is_closing = False
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._look_up = ThreadPoolExecutor(1, "fathom-blueprint")
        self._warming: asyncio.Future[None] | None = None
        self._cores = usable_cores()

    @property
    def definition(self) -> GameDefinition:
        """The game it plays."""
        return self._fallback.definition

    @property
    def is_ready(self) -> bool:
        """Whether a worker is warm."""
        return self._crew.is_ready

    def status(self) -> PoolStatus:
        """The current status."""
        return PoolStatus(self._crew.statuses(), len(self._queue), self._crew.num_busy, self._crew.failure)

    async def start(self) -> None:
        """Start the workers in the background; returns at once. `wait_until_ready` waits for them."""
        loop = asyncio.get_running_loop()
        self._warming = loop.run_in_executor(self._look_up, self._fallback.warm_up)
        self._warming.add_done_callback(_report_failure)
        self._crew.start()

    async def wait_until_ready(self) -> None:
        """Wait until a worker is warm."""
        await self._crew.wait_until_ready()

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        """Always answer in time with a legal action; raises `ValueError` for illegal or finished betting."""
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
        self.metrics.decisions.labels(answer.rung.value).inc()
        self.metrics.decision_seconds.labels(street_name(betting.round_index)).observe(now - asked)
        self.metrics.deadline_margin.observe(asked + request.seconds - now)
        return answer

    def progress(self, request: DecisionRequest) -> Progress | None:
        """Progress of a request's solve; None while it waits. Reads shared memory, sends no message."""
        for job in self._running.values():
            if job.request is request and job.worker is not None:
                return job.worker.progress(job.number)
        return None

    def stop_all(self) -> None:
        """Stop all running decisions; each is answered with its best result so far."""
        self._crew.stop_all()

    async def close(self, drain_seconds: float = 0.0) -> None:
        """Wait for running decisions, stop those that take too long, then end the workers."""
        self._is_closing = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(drain_seconds):
                await self._quiet.wait()
        self.stop_all()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORD_SECONDS):
                await self._quiet.wait()
        await self._crew.close()
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
        except Exception as error:  # whatever went wrong, answer with a legal action
            log.warning("blueprint look-up failed (%s): check or fold", type(error).__name__)
            answer = check_or_fold(request, betting)
        self.metrics.fallbacks.labels(answer.rung.value, reason).inc()
        log.info("decision of %s fell back to %s: %s", request.match, answer.rung.value, reason)
        return answer

    async def _ask_worker(self, request: DecisionRequest, asked: float) -> DecisionAnswer:
        if self._is_closing:
            raise _NoAnswerError("closing")
        if request.seconds < _LEAST_SECONDS:
            raise _NoAnswerError("no_time")
        future = asyncio.get_running_loop().create_future()
        job = _Job(request, asked, asked + request.seconds, future)
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
            if job.worker is not None:
                job.worker.stop(job.number)  # abandoned or cancelled: the answer is no longer needed
            self._queue.remove(request.match, job)
            self._running.pop(job.number, None)
            self.metrics.queue_length.set(len(self._queue))

    def _on_deadline(self, job: _Job) -> None:
        if job.worker is None:
            self._queue.remove(job.request.match, job)
            self._fail(job, "queue_wait")
            return
        job.worker.stop(job.number)
        self._after(job, job.deadline + self._config.late_seconds, lambda job: self._fail(job, "late"))

    def _after(self, job: _Job, when: float, act: Callable[[_Job], None]) -> None:
        job.timers.append(asyncio.get_running_loop().call_later(max(when - time.monotonic(), 0.0), act, job))

    @staticmethod
    def _fail(job: _Job, reason: str) -> None:
        if not job.future.done():
            job.future.set_exception(_NoAnswerError(reason))

    # Assigning decisions to workers

    def _assign(self) -> None:
        """Give waiting decisions to idle workers."""
        while len(self._queue) and (worker := self._crew.find_idle()) is not None:
            job = self._queue.pop()
            now = time.monotonic()
            if job.future.done():
                continue
            if job.deadline - now < _LEAST_SECONDS:
                self._fail(job, "queue_wait")
                continue
            self._numbers += 1
            job.number, job.worker = self._numbers, worker
            self._running[job.number] = job
            self.metrics.queue_wait.observe(now - job.asked)
            deadline = job.deadline - _WAY_SECONDS
            self._crew.give(worker, Task(job.number, job.request, deadline, self._share_of_cores()))
        self.metrics.queue_length.set(len(self._queue))

    def _share_of_cores(self) -> int:
        """Threads for one more decision: all cores if it is alone, otherwise an equal share."""
        wanted = 1 + len(self._queue) + self._crew.num_busy
        return max(min(self._cores // wanted, self._config.threads or self._cores), 1)

    # Callbacks of the crew

    def on_reply(self, reply: Reply) -> None:
        """Resolve a decision; late replies to abandoned ones are dropped."""
        job = self._running.pop(reply.number, None)
        if job is None or job.future.done():
            return
        if reply.answer is None:
            self._fail(job, "worker_error")
        else:
            job.future.set_result(reply.answer)

    def on_lost(self, number: int) -> None:
        """A worker exited: queue its decision again if there is time left."""
        job = self._running.pop(number, None)
        if job is None or job.future.done():
            return
        job.worker = None
        if self._is_closing or job.deadline - time.monotonic() < _LEAST_SECONDS:
            self._fail(job, "worker_died")
            return
        self.metrics.redispatches.inc()
        self._queue.put_back(job.request.match, job)

    def on_idle(self) -> None:
        """A worker may be idle."""
        self._assign()


def _verify(answer: DecisionAnswer, betting: BettingState) -> None:
    try:
        betting.verify(parse_action(answer.action))
    except ValueError as error:
        log.error("illegal answer rejected: %s", type(error).__name__)
        raise _NoAnswerError("illegal") from error


def _report_failure(warming: asyncio.Future[None]) -> None:
    if not warming.cancelled() and (error := warming.exception()) is not None:
        log.error("warming up the blueprint fallback failed", exc_info=error)
