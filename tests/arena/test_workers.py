"""Processes that work on tasks: what they leave behind when a match breaks off."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from arena.workers import WorkerPool


class Opened:
    """Something that must be closed, as a program that plays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        weakref.finalize(self, _close, folder)

    def __call__(self, task: int) -> int:
        """Slow for all tasks but 0."""
        (self.folder / f"began-{task}").touch()
        if task:
            time.sleep(60)
        return task


def _close(folder: Path) -> None:
    (folder / "closed").touch()


def open_one(folder: Path) -> Callable[[int], int]:
    return Opened(folder)


def break_off(folder: Path) -> None:
    """While a worker is at a long task."""
    with WorkerPool[int, int](partial(open_one, folder), 1) as pool:
        assert next(pool.run(iter((0, 1))))[:2] == (0, 0)
        while not (folder / "began-1").exists():
            time.sleep(0.01)
        raise KeyboardInterrupt


def test_workers_that_are_told_to_end_close_what_they_opened(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        break_off(tmp_path)
    assert (tmp_path / "closed").exists()
