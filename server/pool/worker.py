"""A worker process: `python -m server.pool.worker SOCKET PAGE NICE FACTORY ARGUMENTS`.

1. Workers keep nothing of a hand: between tasks they keep what `Answerer` opened at the start and what saves
   it time. Any worker can answer any task, and killing one loses at most one task.
2. One thread reads messages; the main thread answers them. When the daemon exits for any reason, the
   connection closes and the worker exits, even during a solve.
3. SIGINT and SIGTERM are ignored: Ctrl-C reaches all processes of a terminal, and a service manager's SIGTERM
   all processes of a service, but the daemon must drain first.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import mmap
import os
import queue
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from server.pool.messages import (
    Hello,
    Reply,
    Task,
    Usage,
    pack_hello,
    pack_reply,
    read_messages,
    unpack_task,
)
from server.pool.shared_page import SharedPage
from solver.decisions.limits import Limits

_PR_SET_PDEATHSIG = 1
_STATM = Path("/proc/self/statm")


def _step_back(nice: int) -> None:
    """Lower the worker's priority, so that the daemon's event loop runs first.

    A worker leads its own session (Ctrl-C is for the daemon), and Linux divides CPU time between sessions
    before niceness counts (autogroups, sched(7)): the session's niceness must be set, too.
    """
    os.nice(nice)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(nice), encoding="ascii")


def main(words: list[str]) -> int:
    """Answer tasks until the connection ends."""
    socket_fd, page_fd, nice, factory, arguments = words
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _die_with_parent()
    _step_back(int(nice))
    connection = socket.socket(fileno=int(socket_fd))
    page = SharedPage(int(page_fd))
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, tasks), daemon=True).start()
    try:
        answerer = _load(factory)(**json.loads(arguments))
        answerer.warm_up()
    except Exception as error:
        connection.sendall(pack_hello(Hello(f"{type(error).__name__}: {error}", usage())))
        return 1
    connection.sendall(pack_hello(Hello("", usage())))
    estimate = None
    with contextlib.suppress(ConnectionError):  # the daemon is gone; the reading thread may exit first
        while True:
            reply = _answer(answerer, tasks.get(), page)
            connection.sendall(pack_reply(replace(reply, estimate=estimate)))
            with contextlib.suppress(Exception):  # estimates are optional
                estimate = answerer.estimate()
    return 0


def usage() -> Usage:
    """Resource usage of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return Usage(_own_bytes(), used.ru_majflt, used.ru_minflt)


def _answer(answerer: Any, task: Task, page: SharedPage) -> Reply:
    if task.request is None:
        return Reply(task.number, None, "", usage())
    page.begin(task.number)
    limits = Limits(
        seconds=max(task.deadline - time.monotonic(), 0.0),
        stop=lambda: page.is_stopped(task.number),
        threads=task.threads,
        report=page.report,
    )
    try:
        answer = answerer.answer(task.request, limits)
    except Exception as error:  # the daemon falls back and counts it; the worker remains usable
        return Reply(task.number, None, _words(error), usage())
    return Reply(task.number, answer, "", usage())


def _read(connection: socket.socket, tasks: queue.SimpleQueue[Task]) -> None:
    try:
        read_messages(connection, lambda data: tasks.put(unpack_task(data)))
    finally:
        os._exit(0)  # the daemon is gone


def _die_with_parent() -> None:
    """Have the kernel kill us when the daemon exits: a stopped process does not notice the closed socket."""
    with contextlib.suppress(AttributeError, OSError):  # Linux only
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _load(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    loaded: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return loaded


def _words(error: Exception) -> str:
    """The error's type and place, without its message: this is logged, and messages may contain cards."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {place}"


def _own_bytes() -> int:
    try:
        _, resident, shared, *_ = _STATM.read_text(encoding="ascii").split()
    except (OSError, ValueError):  # not Linux: use the peak instead
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return (int(resident) - int(shared)) * mmap.PAGESIZE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
