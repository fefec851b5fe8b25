"""Places threads on different processors.

Two threads that wait for each other every few microseconds both look busy to the scheduler, which may leave
them on one processor, where they take turns, for as long as they run. So threads that join are told to keep
off the processor of the calling thread.
"""

from __future__ import annotations

import ctypes
import os

_NOWHERE = -1


def processor_here() -> int:
    """The processor this thread runs on now, or -1 if unknown."""
    if not hasattr(os, "sched_setaffinity"):
        return _NOWHERE
    return int(_libc.sched_getcpu())


def keep_off(processor: int) -> None:
    """Move the calling thread to any other allowed processor, if there is one."""
    if processor == _NOWHERE:
        return
    allowed = os.sched_getaffinity(os.getpid())
    others = allowed - {processor}
    if others:
        os.sched_setaffinity(0, others)


_libc = ctypes.CDLL(None)
