"""Goofspiel with imperfect information: only who wins a point card is announced, not the bids.

As `goofspiel(imp_info=True)` of OpenSpiel: bids are made one after the other and unseen, and the last card,
for which there is no choice, is played by itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from lab.games.interface import TERMINAL

Order = Literal["descending", "ascending"]
Returns = Literal["win_loss", "point_difference"]


@dataclass(frozen=True, slots=True)
class GoofspielState:
    """Bids of both players, and what was announced: 0 or 1 for the winner, 2 for a tie."""

    bids: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    announced: tuple[int, ...] = ()


class Goofspiel:
    """Cards 1 to K; actions are cards minus 1."""

    def __init__(
        self, cards: int, order: Order = "descending", returns: Returns = "point_difference"
    ) -> None:
        self.name = f"goofspiel{cards}"
        points = range(1, cards + 1)
        self._points = list(reversed(points)) if order == "descending" else list(points)
        self._returns = returns

    def start(self) -> GoofspielState:
        """Before the first bid."""
        return GoofspielState()

    def actor(self, state: GoofspielState) -> int:
        """Player 0 bids first, unseen."""
        if len(state.announced) == len(self._points):
            return TERMINAL
        return int(len(state.bids[0]) > len(state.bids[1]))

    def actions(self, state: GoofspielState) -> Sequence[int]:
        """Cards in hand."""
        bids = state.bids[self.actor(state)]
        return [card for card in range(len(self._points)) if card not in bids]

    def chance(self, state: GoofspielState) -> Sequence[float]:  # noqa: ARG002
        """The deck is fixed."""
        return []

    def next(self, state: GoofspielState, action: int) -> GoofspielState:
        """Bid; after the second bid the winner is announced."""
        actor = self.actor(state)
        if actor == 0:
            return GoofspielState(((*state.bids[0], action), state.bids[1]), state.announced)
        after = _announce((state.bids[0], (*state.bids[1], action)), state.announced)
        if len(after.announced) < len(self._points) - 1:
            return after
        last = [next(card for card in range(len(self._points)) if card not in bids) for bids in after.bids]
        return _announce(((*after.bids[0], last[0]), (*after.bids[1], last[1])), after.announced)

    def private(self, state: GoofspielState, player: int) -> Hashable:
        """The own bids, and what was announced."""
        return state.bids[player], state.announced

    def public(self, state: GoofspielState) -> Hashable:
        """What was announced, and whose turn it is."""
        return state.announced, self.actor(state)

    def utility(self, state: GoofspielState) -> float:
        """Half of the points by which player 0 leads (as OpenSpiel: what is above the mean), or who leads."""
        points = [0, 0, 0]
        for card, winner in zip(self._points, state.announced, strict=True):
            points[winner] += card
        lead = points[0] - points[1]
        return lead / 2 if self._returns == "point_difference" else float((lead > 0) - (lead < 0))


def _announce(bids: tuple[tuple[int, ...], tuple[int, ...]], announced: tuple[int, ...]) -> GoofspielState:
    mine, other = bids[0][-1], bids[1][-1]
    return GoofspielState(bids, (*announced, 2 if mine == other else int(mine < other)))
