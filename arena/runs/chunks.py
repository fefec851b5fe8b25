"""Divide work into chunks: large enough for little overhead, small enough to lose if a process is killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from arena.runs.journal import Journal
from numeric.arrays import I64

_CHUNK_SECONDS = 0.25
LARGEST_CHUNK = 8192

Chunk = tuple[int, int]
"""The number of the first item, and how many."""
PlayedChunks = Iterator[tuple[Chunk, str, float]]
"""Finished chunks with their journal lines and their seconds."""
Tick = Callable[[Journal], None]


class Pace:
    """Adapts the chunk size to a fraction of a second: smooth progress, and little to lose if killed."""

    def __init__(self, largest: int = LARGEST_CHUNK) -> None:
        self.size, self._largest = 1, largest

    def note(self, size: int, seconds: float) -> None:
        """Record how long a chunk took."""
        fitting = int(size * _CHUNK_SECONDS / max(seconds, 1e-6))
        self.size = max(1, min(fitting, 4 * size, self._largest))


def missing_numbers(lines: Sequence[str], count: int) -> I64:
    """int64[M]: the numbers below `count` that have no journal line yet, ascending."""
    done = np.zeros(count, dtype=np.bool_)
    for line in lines:
        number = int(line.split(" ", 1)[0])
        if number < count:
            done[number] = True
    return np.flatnonzero(np.logical_not(done))


def cut_chunks(missing: I64, pace: Pace) -> Iterator[Chunk]:
    """Yield runs of consecutive missing numbers, each as long as the pace allows at that time."""
    at = 0
    while at < len(missing):
        size = 1
        while size < pace.size and at + size < len(missing) and missing[at + size] == missing[at] + size:
            size += 1
        yield int(missing[at]), size
        at += size


def play_missing(
    missing: I64,
    play: Callable[[Iterator[Chunk]], PlayedChunks],
    journal: Journal,
    tick: Tick | None = None,
    largest: int = LARGEST_CHUNK,
) -> None:
    """Play the missing numbers and add them to the journal as they finish; blocks.

    tick     called after every chunk that was written to the journal
    largest  largest chunk size, and so the most that is lost if a player fails
    """
    pace = Pace(largest)
    for (_, size), text, seconds in play(cut_chunks(missing, pace)):
        pace.note(size, seconds)
        journal.add(text)
        if tick is not None:
            tick(journal)
