"""Values at the end of the flop: play-outs of continuations that have adapted to the ranges at hand.

The paper's continuations are the blueprint and biased copies of it (`solver.rollouts`): good where ranges are
the blueprint's own. Elsewhere the blueprint's turn and river are no answer to them, and no bias mends that.
So learned leaves (`solver.learned_leaves`) first find out how turn and river are played with these ranges.
Then their last strategies are frozen, and both players choose, hand by hand, between those and biased copies.
"""

from __future__ import annotations

from game.cards import Cards
from solver.blueprint import Blueprint
from solver.game import Game
from solver.layout import F32
from solver.leaf_match import Leaf
from solver.leaf_thinning import Thinning, thin_blueprint
from solver.learned_leaves import LearnedLeaves
from solver.rollouts import FOUR_STRATEGIES, BlueprintRollouts


class AdaptedRollouts(BlueprintRollouts):
    """Leaf values by play-outs of what was learned. Make one per subgame; not for concurrent calls."""

    def __init__(
        self,
        learned: LearnedLeaves,
        blueprint: Blueprint,
        game: Game,
        flop: Cards,
        leaves: list[Leaf],
        chooser: int,
        bias: F32 = FOUR_STRATEGIES,
        seed: int = 0,
        threads: int = 1,
        steady: bool = True,
    ) -> None:
        """Play-outs of the leaves of a game, by strategies as they are now; `learned` may go on.

        learned  below the same leaves
        seed     another than theirs: strategies are not to be judged by the cards that taught them
        bias     continuations of both players; this and all else: see `BlueprintRollouts`
        """
        super().__init__(blueprint, game, flop, leaves, chooser, bias, seed, threads, steady, both=True)
        self._book.words[:] = learned.words

    def _thinning(self) -> Thinning | None:
        return thin_blueprint(self._blueprint)
