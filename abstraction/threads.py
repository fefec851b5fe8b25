"""Run work in chunks on all cores.

Kernels release the GIL, so plain threads suffice, and kernels without `prange` compile in half the time.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numba
from rich.progress import Progress

_T = TypeVar("_T")
_config: Any = numba.config


def run_chunks(
    work: Callable[[int, int], _T],
    total: int,
    chunk: int,
    progress: Progress | None = None,
    label: str = "working",
) -> list[_T]:
    """Call `work(start, end)` for consecutive ranges of `chunk` that cover 0..total; results in that order.

    NUMBA_NUM_THREADS limits the threads. With a progress bar, one task named `label` follows the chunks.
    """
    task = progress.add_task(label, total=total) if progress else None
    results = []
    with ThreadPoolExecutor(_config.NUMBA_NUM_THREADS) as pool:
        starts = range(0, total, chunk)
        ends = [min(start + chunk, total) for start in starts]
        for end, result in zip(ends, pool.map(work, starts, ends), strict=True):
            results.append(result)
            if progress and task is not None:
                progress.update(task, completed=end)
    return results
