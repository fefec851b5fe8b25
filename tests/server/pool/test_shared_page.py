"""The memory page shared by a worker and the daemon."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from server.decisions import Progress
from server.pool.shared_page import SharedPage, make_shared_page


@pytest.fixture
def sides() -> Iterator[tuple[SharedPage, SharedPage]]:
    """The daemon's and the worker's view of one page."""
    fd = make_shared_page()
    daemon, worker = SharedPage(fd), SharedPage(fd)
    os.close(fd)
    yield daemon, worker
    daemon.close()
    worker.close()


def test_a_stop_applies_to_a_task_and_all_before_it(sides: tuple[SharedPage, SharedPage]) -> None:
    daemon, worker = sides
    assert not worker.is_stopped(1)
    daemon.stop(5)
    assert [worker.is_stopped(number) for number in (4, 5, 6)] == [True, True, False]


def test_progress_is_that_of_the_requested_task(sides: tuple[SharedPage, SharedPage]) -> None:
    daemon, worker = sides
    assert daemon.progress(1) is None
    worker.begin(1)
    assert daemon.progress(1) is None, "it has not begun to count"
    worker.report(7, 100)
    assert daemon.progress(1) == Progress(7, 100)
    assert daemon.progress(2) is None
    worker.begin(2)
    assert daemon.progress(1) is None
    assert daemon.progress(2) is None, "what was done is of the task before"


def test_a_second_solve_restarts_the_progress(sides: tuple[SharedPage, SharedPage]) -> None:
    daemon, worker = sides
    worker.begin(1)
    worker.report(1500, 2000)
    worker.report(1, 1000)
    assert daemon.progress(1) == Progress(1, 1000)


class Recorded(SharedPage):
    """Reads the page after every single write, as the daemon might."""

    def __init__(self, fd: int, daemon: SharedPage) -> None:
        super().__init__(fd)
        self.seen: list[Progress | None] = []
        inner, seen = self._words, self.seen

        class Words:
            def __getitem__(self, at: int) -> int:
                return inner[at]

            def __setitem__(self, at: int, value: int) -> None:
                inner[at] = value
                seen.append(daemon.progress(2))

            def release(self) -> None:
                inner.release()

        self._words = Words()  # type: ignore[assignment]


def test_readers_never_see_inconsistent_progress() -> None:
    fd = make_shared_page()
    daemon = SharedPage(fd)
    worker = Recorded(fd, daemon)
    os.close(fd)
    worker.begin(1)
    worker.report(1999, 2000)
    assert set(worker.seen) == {None}
    worker.begin(2)
    assert set(worker.seen) == {None}
    worker.report(3, 2000)
    worker.report(1990, 2000)
    worker.report(1, 1000)
    told = [Progress(0, 2000), Progress(3, 2000), Progress(1990, 2000), Progress(0, 2000), Progress(0, 1000)]
    assert [seen for seen in worker.seen if seen is not None] == [*told, Progress(1, 1000)]
    worker.close()
    daemon.close()
