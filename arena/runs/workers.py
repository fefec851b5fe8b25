"""A pool of worker processes, each with its own worker object. They end when the parent process ends.

Every task is run exactly once. Results come back one by one, in any order.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Generic, TypeVar

from arena.errors import MatchAborted

Task = TypeVar("Task")
Result = TypeVar("Result")

_LEAVING_SECONDS = 2.0
_GOODBYE_SECONDS = 20.0
"""Time for a terminated worker to close the external programs it runs."""


class WorkerPool(Generic[Task, Result]):
    """`count` worker processes; use as a context manager.

    make  called once in each process; returns the function that runs a task. `make`, tasks and results must
          be picklable
    """

    def __init__(self, make: Callable[[], Callable[[Task], Result]], count: int) -> None:
        # Spawned, not forked: a forked child inherits locks held by threads that it does not have.
        context = multiprocessing.get_context("spawn")
        self._processes: list[SpawnProcess] = []
        self._ends: list[Connection] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(make, theirs), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._ends.append(ours)

    def run(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Result, float]]:
        """Yield each task with its result and its seconds as it finishes. Tasks are taken when needed."""
        busy: dict[Connection, tuple[Task, float]] = {}
        for end in self._ends:
            self._start(end, tasks, busy)
        while busy:
            ready = set(wait(list(busy)))
            for end in [end for end in busy if end in ready]:
                task, started = busy.pop(end)
                try:
                    result, complaint = end.recv()
                except (EOFError, OSError):
                    raise MatchAborted("a worker process died: run the command again to continue") from None
                if complaint:
                    raise MatchAborted(complaint)
                seconds = time.monotonic() - started
                self._start(end, tasks, busy)
                yield task, result, seconds

    def _start(
        self, end: Connection, tasks: Iterator[Task], busy: dict[Connection, tuple[Task, float]]
    ) -> None:
        for task in tasks:
            end.send(task)
            busy[end] = task, time.monotonic()
            return

    def __enter__(self) -> WorkerPool[Task, Result]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for end in self._ends:
            end.close()
        deadline = time.monotonic() + _LEAVING_SECONDS
        for process in self._processes:
            if kind is None:
                process.join(max(0.0, deadline - time.monotonic()))
            process.terminate()
        for process in self._processes:
            process.join(_GOODBYE_SECONDS)
            process.kill()
            process.join()


def _work(make: Callable[[], Callable[[Task], Result]], end: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that players close what they have opened
    try:
        work = make()
        while True:
            end.send((work(end.recv()), ""))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is done, or dead
    except MatchAborted as error:
        end.send((None, str(error)))
    except Exception as error:  # reported to the parent
        end.send((None, f"{type(error).__name__}: {error}"))
