"""Locks a training's folder, so that only one process at a time trains in it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from solver.training.run import CHECKPOINT, CheckpointError

LOCK = "training.lock"


@contextmanager
def occupied(folder: Path) -> Iterator[None]:
    """Lock a folder, made if it does not exist. Raises if another process holds the lock.

    Reading a checkpoint takes no lock: `read_checkpoint` and `extract` work beside a running training.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CheckpointError(
                f"a training is running in {folder}: wait for it or stop it, or name another folder"
            ) from None
        for left in folder.glob(f".{CHECKPOINT}.*.partial"):  # left by a process killed while writing
            left.unlink()
        yield
