"""The daemon's handle of a worker: a process, a connection and a shared page. All waiting is asynchronous."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from server.decisions import Progress
from server.pool.messages import (
    LENGTH,
    Hello,
    Reply,
    Task,
    Usage,
    pack_task,
    unpack_hello,
    unpack_reply,
)
from server.pool.shared_page import SharedPage, make_shared_page

_HOME = Path(__file__).resolve().parents[2]
_GOODBYE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """What a worker runs."""

    factory: str = "server.pool.answers:make_agent_answerer"
    """`module:function` that returns an `Answerer`, imported in the worker."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Keyword arguments of the factory."""
    nice: int = 0


class WorkerGoneError(Exception):
    """The worker exited, or its connection was closed."""


class WorkerProcess:
    """One worker process from start to end. Takes one task at a time."""

    def __init__(self, number: int, spec: WorkerSpec) -> None:
        self.number = number
        self.usage = Usage()
        self._spec = spec
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._page: SharedPage | None = None

    @property
    def pid(self) -> int:
        """The process id; 0 before the start."""
        return 0 if self._process is None else self._process.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status; negative: the signal that ended it; None while it runs."""
        return None if self._process is None else self._process.returncode

    async def start(self) -> Hello:
        """Start the process and wait until it is warm; raises `WorkerGoneError` if it exits before that."""
        ours, theirs = socket.socketpair()
        with ExitStack() as half, ExitStack() as opened:
            half.callback(ours.close)  # if cancelled: the closed connection ends the worker
            opened.callback(theirs.close)
            page_fd = make_shared_page()
            opened.callback(os.close, page_fd)
            self._page = SharedPage(page_fd)
            spec = self._spec
            numbers = (theirs.fileno(), page_fd)
            words = [*map(str, numbers), str(spec.nice), spec.factory, json.dumps(dict(spec.arguments))]
            starting = asyncio.create_subprocess_exec(
                sys.executable, "-m", "server.pool.worker", *words,
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=numbers,
                start_new_session=True,  # Ctrl-C is for the daemon
                env={**os.environ, "PYTHONPATH": _search_path()},
            )  # fmt: skip
            await self._have_started(asyncio.ensure_future(starting))
            self._reader, self._writer = await asyncio.open_connection(sock=ours)
            half.pop_all()
        hello = unpack_hello(await self._read())
        self.usage = hello.usage
        return hello

    async def replies(self) -> AsyncIterator[Reply]:
        """All replies until the worker exits."""
        while True:
            try:
                reply = unpack_reply(await self._read())
            except WorkerGoneError:
                return
            yield reply

    def send(self, task: Task) -> None:
        """Send a task; does not wait."""
        assert self._writer is not None
        self._writer.write(pack_task(task))

    def stop(self, number: int) -> None:
        """Ask for the best answer so far to a task, if it is still running."""
        assert self._page is not None
        self._page.stop(number)

    def progress(self, number: int) -> Progress | None:
        """Progress of a task; None if it is not the current one or has not started iterating."""
        return None if self._page is None else self._page.progress(number)

    def kill(self) -> None:
        """Send SIGKILL, which also ends a stopped process."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGKILL)

    async def close(self) -> None:
        """Close the connection and make sure that the process ends, even if this call is cancelled."""
        try:
            if self._writer is not None:
                # A plain close would wait until a stopped process has read the rest.
                self._writer.transport.abort()
                with suppress(OSError):
                    await self._writer.wait_closed()
            if self._process is not None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_GOODBYE_SECONDS):
                        await self._process.wait()
        finally:
            if self._process is not None:
                self.kill()
                await self._process.wait()
            if self._page is not None:
                self._page.close()
                self._page = None

    async def _have_started(self, starting: asyncio.Future[asyncio.subprocess.Process]) -> None:
        """Wait for the process to start; keeps its handle even if cancelled, so that `close` can end it."""
        try:
            self._process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            self._process = await starting
            raise

    async def _read(self) -> bytes:
        assert self._reader is not None
        try:
            (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
            return await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise WorkerGoneError from error


def _search_path() -> str:
    """PYTHONPATH with this program first, so that workers import the same code."""
    return os.pathsep.join(filter(None, [str(_HOME), os.environ.get("PYTHONPATH", "")]))
