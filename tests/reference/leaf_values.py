"""What fixed strategies win on one deal, by plain recursion: the twin of `kernels.leaf_tables`."""

from __future__ import annotations

from numeric.arrays import F32
from solver.blueprint.abstract_game import TrainingGame
from solver.blueprint.layout import Deals


def play_out(game: TrainingGame, deals: Deals, d: int, node: int, tables: tuple[F32, F32]) -> float:
    """What player 0 wins from a decision node on, in units; `tables` are both players' strategies."""
    betting = game.betting
    player, width = int(betting.player[node]), int(betting.num_actions[node])
    bucket = int(deals.buckets[d, betting.column[node]])
    start = int(betting.base[node]) + bucket * width
    chances = tables[player][start : start + width]
    total = 0.0
    for action in range(width):
        entry = int(betting.first_entry[node]) + action
        following = int(betting.child[entry])
        if following < 0:
            outcome = deals.outcome[d, betting.column[node] % game.num_rounds]
            value = float(betting.fixed[entry] + betting.stake[entry] * outcome)
        else:
            value = play_out(game, deals, d, following, tables)
        total += float(chances[action]) * value
    return total
