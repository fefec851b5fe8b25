"""Running win rates of a match, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

Z_95 = 1.96
"""Half the width of a 95 % interval, in standard errors."""


class Winnings:
    """One player's result, hand by hand, in thousandths of a big blind per hand (mbb/hand)."""

    def __init__(self, big_blind: int) -> None:
        self._mbb = 1000 / max(big_blind, 1)
        self.hands = 0
        self._sum = 0.0
        self._sum_of_squares = 0.0

    def add(self, chips: float) -> None:
        """Add the result of a hand."""
        value = chips * self._mbb
        self.hands += 1
        self._sum += value
        self._sum_of_squares += value * value

    @property
    def mean(self) -> float:
        """The mean so far."""
        return self._sum / max(self.hands, 1)

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval for independent hands; infinite for fewer than two hands."""
        if self.hands < 2:
            return math.inf
        variance = max(self._sum_of_squares / self.hands - self.mean * self.mean, 0.0)
        return Z_95 * math.sqrt(variance / (self.hands - 1))

    def __str__(self) -> str:
        return f"{self.mean:+,.0f} ± {self.margin:,.0f} mbb/hand"


class PairWinnings:
    """The first player's result over pairs (`pairs`), corrected by AIVAT if the pairs contain that."""

    def __init__(self, big_blind: int) -> None:
        self._winnings = Winnings(big_blind)

    @property
    def pairs(self) -> int:
        """Number of pairs so far."""
        return self._winnings.hands

    def add_lines(self, lines: Sequence[str]) -> None:
        """Add pairs from journal lines."""
        for line in lines:
            fields = line.split()
            first, second = fields[7:] or (fields[2], fields[5])
            self._winnings.add((float(first) + float(second)) / 2)

    def __str__(self) -> str:
        return str(self._winnings)
