"""What is left to play, in chunks: long enough to be worth sending, short enough to lose in a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from arena.journal import Journal
from solver.layout import I64

_CHUNK_SECONDS = 0.25
LARGEST_CHUNK = 8192

Chunk = tuple[int, int]
"""Number of the first, and how many."""
PlayedChunks = Iterator[tuple[Chunk, str, float]]
"""Chunks with their lines of the journal and their seconds, as they are done."""
Tick = Callable[[Journal], None]


class Pace:
    """How many fit a fraction of a second: what a kill may cost, and how smooth the progress bar is."""

    def __init__(self, largest: int = LARGEST_CHUNK) -> None:
        self.size, self._largest = 1, largest

    def note(self, size: int, seconds: float) -> None:
        """Learn from a chunk that was done."""
        fitting = int(size * _CHUNK_SECONDS / max(seconds, 1e-6))
        self.size = max(1, min(fitting, 4 * size, self._largest))


def missing_numbers(lines: Sequence[str], count: int) -> I64:
    """int64[M]: the numbers below `count` that no line of a journal starts with, ascending."""
    done = np.zeros(count, dtype=np.bool_)
    for line in lines:
        number = int(line.split(" ", 1)[0])
        if number < count:
            done[number] = True
    return np.flatnonzero(np.logical_not(done))


def cut_chunks(missing: I64, pace: Pace) -> Iterator[Chunk]:
    """Runs of neighbours among the missing, no longer than the pace says when asked for."""
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
    """Play the numbers that are missing, and write them down as they are done; blocks.

    tick     called after every chunk that was written down
    largest  what a chunk may hold, and what a player who breaks off may cost
    """
    pace = Pace(largest)
    for (_, size), text, seconds in play(cut_chunks(missing, pace)):
        pace.note(size, seconds)
        journal.add(text)
        if tick is not None:
            tick(journal)
