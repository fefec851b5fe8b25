"""What all leaf methods are told about the solve whose leaves they value."""

from __future__ import annotations

from dataclasses import dataclass

from game.cards import Cards
from numeric.arrays import F32
from solver.blueprint.file import Blueprint
from solver.games.game import Game
from solver.leaves.match import Leaf


@dataclass(frozen=True, slots=True, eq=False)
class FlopEnd:
    """The end of a flop solve."""

    blueprint: Blueprint
    """It plays turn and river, or its strategies are where learning starts."""
    game: Game
    """The flop, from `rollouts.one_round_game`."""
    leaves: list[Leaf]
    """The leaves of the game's tree, or some of them."""
    chooser: int
    """The player who chooses among continuations (`solver.depth_limited.solver`)."""
    wins: F32 | None
    """float32[H, H]: all-in results of the game's hands (`equity.all_in.flop_wins`); with them the variance
    from the run-out is reduced."""
    seed: int = 0
    """Of the run-outs."""
    threads: int = 1

    @property
    def flop(self) -> Cards:
        """The three cards."""
        return self.game.board_cards[0]
