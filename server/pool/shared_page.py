"""A memory page shared by a worker and the daemon, for stop requests and progress without messages.

| word | written by | meaning |
| --- | --- | --- |
| 0 | the daemon | stop: answer tasks up to this number with the best result so far |
| 1 | the worker | the task that the next two words describe; 0: none |
| 2 | the worker | iterations done |
| 3 | the worker | maximum iterations |

1. Nothing secret is written here: no cards, no seeds, no betting.
2. A single word is written atomically; several words are not. The worker writes its task number last, and the
   daemon reads it before and after the other words, so it never mixes up the progress of two tasks.
"""

from __future__ import annotations

import mmap
import os
import tempfile

from server.decisions import Progress

_BYTES = mmap.PAGESIZE
_STOP, _TASK, _DONE, _MOST = range(4)


class SharedPage:
    """One side's view of a worker's page. No call blocks."""

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, _BYTES)
        self._words = memoryview(self._memory).cast("q")

    def close(self) -> None:
        """Unmap the page."""
        self._words.release()
        self._memory.close()

    # The daemon's side

    def stop(self, number: int) -> None:
        """Stop a task and all before it: the worker answers with its best result so far."""
        self._words[_STOP] = number

    def progress(self, number: int) -> Progress | None:
        """Progress of a task; None if it is not the worker's current one or has not started iterating."""
        words = self._words
        if words[_TASK] != number:
            return None
        most = words[_MOST]
        done = words[_DONE]  # after `most`: see `report`
        if words[_TASK] != number or not most:
            return None
        return Progress(min(done, most), most)

    # The worker's side

    def is_stopped(self, number: int) -> bool:
        """Whether the daemon asked to stop a task."""
        return bool(self._words[_STOP] >= number)

    def begin(self, number: int) -> None:
        """Begin a task with no progress."""
        words = self._words
        words[_TASK] = 0
        words[_DONE] = words[_MOST] = 0
        words[_TASK] = number

    def report(self, done: int, most: int) -> None:
        """Report the progress of the current task."""
        words = self._words
        if words[_MOST] != most:
            # Another solve begins: a reader of its `most` must not see the last solve's `done`.
            words[_DONE] = 0
            words[_MOST] = most
        words[_DONE] = done


def make_shared_page() -> int:
    """An in-memory file of one page, to be inherited by a child process."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("fathom-worker")
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, _BYTES)
    return fd
