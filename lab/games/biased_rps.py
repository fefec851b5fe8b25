"""Two rounds of rock, paper, scissors; rock wins twice as much; each round is revealed when it is over.

The paper (Milec, Kubicek and Lisy, appendix G) does not print its payoffs; the bias is ours.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from lab.games.interface import TERMINAL

PAYOFFS = ((0.0, -1.0, 2.0), (1.0, 0.0, -1.0), (-2.0, 1.0, 0.0))
"""Of player 0, by the shapes of both players."""

_ROUNDS = 2

Shapes = tuple[int, ...]
"""The shapes shown so far, those of player 0 first in each round."""


class BiasedRps:
    """Actions: rock, paper, scissors."""

    name = "biased-rps"

    def start(self) -> Shapes:
        """Before the first round."""
        return ()

    def actor(self, state: Shapes) -> int:
        """Player 0 chooses first, unseen."""
        return TERMINAL if len(state) == 2 * _ROUNDS else len(state) % 2

    def actions(self, state: Shapes) -> Sequence[int]:  # noqa: ARG002
        """The shapes."""
        return range(3)

    def chance(self, state: Shapes) -> Sequence[float]:  # noqa: ARG002
        """There is no chance."""
        return []

    def next(self, state: Shapes, action: int) -> Shapes:
        """Choose a shape."""
        return (*state, action)

    def private(self, state: Shapes, player: int) -> Hashable:  # noqa: ARG002
        """All rounds that are over."""
        return self.public(state)

    def public(self, state: Shapes) -> Hashable:
        """The same, and whose turn it is."""
        return state[: len(state) // 2 * 2], len(state) % 2

    def utility(self, state: Shapes) -> float:
        """The sum of both rounds."""
        return sum(PAYOFFS[state[i]][state[i + 1]] for i in range(0, len(state), 2))
