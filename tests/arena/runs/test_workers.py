"""Worker processes: cleanup when a match is aborted."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from arena.runs.workers import WorkerPool


class Opened:
    """A resource that must be closed, such as an external program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        weakref.finalize(self, _close, folder)

    def __call__(self, task: int) -> int:
        """Run a task; all tasks but 0 are slow."""
        (self.folder / f"began-{task}").touch()
        if task:
            time.sleep(60)
        return task


def _close(folder: Path) -> None:
    (folder / "closed").touch()


def open_one(folder: Path) -> Callable[[int], int]:
    return Opened(folder)


def break_off(folder: Path) -> None:
    """Abort while a worker runs a long task."""
    with WorkerPool[int, int](partial(open_one, folder), 1) as pool:
        assert next(pool.run(iter((0, 1))))[:2] == (0, 0)
        while not (folder / "began-1").exists():
            time.sleep(0.01)
        raise KeyboardInterrupt


def test_terminated_workers_close_what_they_opened(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        break_off(tmp_path)
    assert (tmp_path / "closed").exists()
