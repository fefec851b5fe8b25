"""The hands of a match as columns, and the win rate estimated from them.

A *sample* is an independent unit: a pair of hands in duplicate matches, a hand in others. The 95 % confidence
interval is the normal approximation over samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from arena.duplicate.pairs import deal_pair
from arena.players.base import HANDS_PER_PAIR
from arena.runs.statistics import Z_95
from game.betting import BettingState
from game.cards import Cards
from game.definition import GameDefinition
from game.state import HandState, HoleCards
from numeric.arrays import F64, I64
from protocol.acpc import parse_betting
from protocol.records import HandRecord

Deal = Callable[[int], tuple[HoleCards, Cards]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean in mbb/hand and half the width of its 95 % interval."""

    mean: float
    margin: float
    samples: int

    def __str__(self) -> str:
        return f"{self.mean:+,.0f} ± {self.margin:,.0f} mbb/hand"

    def to_json(self) -> dict[str, float | None]:
        """The estimate as JSON values. An infinite margin becomes null, since JSON has no infinity."""
        return {
            "mbb_per_hand": self.mean,
            "margin_95": self.margin if math.isfinite(self.margin) else None,
        }


def estimate(samples: F64) -> Estimate:
    """The mean of independent samples with its margin, which is infinite for fewer than two samples."""
    count = len(samples)
    if count < 2:
        return Estimate(float(samples.sum()), math.inf, count)
    return Estimate(float(samples.mean()), Z_95 * float(samples.std(ddof=1)) / math.sqrt(count), count)


@dataclass(frozen=True, eq=False)
class MatchResult:
    """All hands of a match. Chips are those of player A, the first of the names."""

    definition: GameDefinition
    names: tuple[str, str]
    """A and B."""
    hands_per_sample: int
    position: I64
    """int64[H]: A's position."""
    chips: I64
    stake: I64
    """int64[H]: what the loser lost or, in a tie, could have lost."""
    betting: Sequence[str]
    deal: Deal
    """The known cards of a hand, by index."""
    corrected: F64 | None = None
    """float64[H]: AIVAT's chips, if AIVAT was applied while the match was played."""

    @property
    def num_hands(self) -> int:
        """Number of hands (not pairs)."""
        return len(self.chips)

    @cached_property
    def mbb(self) -> F64:
        """float64[H]: what A won, in thousandths of a big blind."""
        return np.asarray(self.chips * (1000.0 / max(self.definition.big_blind, 1)), dtype=np.float64)

    @cached_property
    def samples(self) -> F64:
        """float64[S]: mbb per hand of each sample."""
        samples: F64 = self.mbb.reshape(-1, self.hands_per_sample).mean(axis=1)
        return samples

    @cached_property
    def street(self) -> I64:
        """int64[H]: the betting round of the last decision."""
        return np.array([text.rstrip("/").count("/") for text in self.betting], dtype=np.int64)

    @property
    def total(self) -> Estimate:
        """A's win rate over the whole match."""
        return estimate(self.samples)

    def of_hands(self, chosen: Any) -> Estimate:
        """A's win rate over hands chosen by a mask or indices; each hand counts as one sample."""
        return estimate(self.mbb[chosen])

    def record(self, index: int) -> HandRecord:
        """The full record of a hand."""
        betting: BettingState = parse_betting(self.definition, self.betting[index])
        hole, board = self.deal(index)
        names = self.names if self.position[index] == 0 else (self.names[1], self.names[0])
        visible = board[: self.definition.board_size(betting.round_index)]
        return HandRecord(index, HandState(betting, hole, visible), names)

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        total = self.total
        return {
            "a": self.names[0],
            "b": self.names[1],
            "hands": self.num_hands,
            "samples": total.samples,
            **total.to_json(),
            "sd_mbb": float(self.samples.std(ddof=1)) if total.samples > 1 else None,
            "chips": int(self.chips.sum()),
            **{f"position_{p}": self.of_hands(self.position == p).to_json() for p in (0, 1)},
        }


def duplicate_result(
    definition: GameDefinition, names: tuple[str, str], seed: int, lines: Iterable[str]
) -> MatchResult:
    """The result from a journal's lines, in any order; the same pairs give the same result."""
    fields = [line.split() for line in lines]
    fields.sort(key=lambda pair: int(pair[0]))
    numbers = [int(pair[0]) for pair in fields]
    values = [float(value) for pair in fields for value in pair[7:]]
    flat = [(pair[at], int(pair[at + 1]), int(pair[at + 2])) for pair in fields for at in (1, 4)]
    return MatchResult(
        definition,
        names,
        HANDS_PER_PAIR,
        position=np.arange(len(flat), dtype=np.int64) % 2,
        chips=np.array([hand[1] for hand in flat], dtype=np.int64),
        stake=np.array([hand[2] for hand in flat], dtype=np.int64),
        betting=[hand[0] for hand in flat],
        deal=lambda index: deal_pair(definition, seed, numbers[index // HANDS_PER_PAIR]),
        corrected=np.array(values) if values and len(values) == len(flat) else None,
    )


def recorded_result(
    definition: GameDefinition, names: tuple[str, str], records: Sequence[HandRecord]
) -> MatchResult:
    """The result from full hand records, from a dealer or a log; A is the player named `names[0]`."""
    position = [record.players.index(names[0]) for record in records]
    values = [record.state.values() for record in records]
    return MatchResult(
        definition,
        names,
        hands_per_sample=1,
        position=np.array(position, dtype=np.int64),
        chips=np.array([value[p] for value, p in zip(values, position, strict=True)], dtype=np.int64),
        stake=np.array([min(record.state.betting.spent) for record in records], dtype=np.int64),
        betting=[record.state.betting.text for record in records],
        deal=lambda index: (records[index].state.hole, records[index].state.board),
    )
