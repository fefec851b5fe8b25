"""The page of memory that a worker shares with the daemon: numbers that need no message.

| word | written by | what it is |
| --- | --- | --- |
| 0 | the daemon | stop: tasks up to this number are to be answered with what is known |
| 1 | the worker | the task that the next two words are about; 0: none |
| 2 | the worker | iterations done |
| 3 | the worker | most iterations |

1. Nothing that is secret is written here: no cards, no seeds, no betting.
2. Each word is written at once; several are not. The worker names its task last, and the daemon reads the
   name before and after: numbers of another task are never taken for those of this one.
"""

from __future__ import annotations

import mmap
import os
import tempfile

from server.decisions import Progress

_BYTES = mmap.PAGESIZE
_STOP, _TASK, _DONE, _MOST = range(4)


class SharedPage:
    """One side's view of the page of a worker. Nothing here waits."""

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, _BYTES)
        self._words = memoryview(self._memory).cast("q")

    def close(self) -> None:
        """Let go of the page."""
        self._words.release()
        self._memory.close()

    # The daemon's

    def stop(self, number: int) -> None:
        """Ask for the answer to a task, and to all before it."""
        self._words[_STOP] = number

    def progress(self, number: int) -> Progress | None:
        """How far a task is; None if the worker is not at it, or has not begun to count."""
        words = self._words
        if words[_TASK] != number:
            return None
        most = words[_MOST]
        done = words[_DONE]  # after `most`: see `report`
        if words[_TASK] != number or not most:
            return None
        return Progress(min(done, most), most)

    # The worker's

    def is_stopped(self, number: int) -> bool:
        """Whether somebody asked for the answer to a task."""
        return bool(self._words[_STOP] >= number)

    def begin(self, number: int) -> None:
        """A task: nothing is done yet."""
        words = self._words
        words[_TASK] = 0
        words[_DONE] = words[_MOST] = 0
        words[_TASK] = number

    def report(self, done: int, most: int) -> None:
        """How far the task is."""
        words = self._words
        if words[_MOST] != most:
            # Of another solve: whoever sees this one's `most` must not see what the last one had done.
            words[_DONE] = 0
            words[_MOST] = most
        words[_DONE] = done


def make_shared_page() -> int:
    """A file of one page in memory that a child can be given."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("fathom-worker")
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, _BYTES)
    return fd
