"""All-in adjustment: a hand that was all-in before the last card counts as the mean over all run-outs.

Unbiased, because there are no decisions after the all-in. Hold'em only; results of other games are unchanged.
"""

from __future__ import annotations

import numpy as np

from arena.duplicate.results import MatchResult
from game.definition import HUNL, GameDefinition
from numeric.arrays import F64
from solver.equity.all_in import pair_wins, preflop_pair_wins, preflop_wins_are_counted

TABLE_FROM_HANDS = 1_000
"""From this many pre-flop all-ins, the equities of all pairs are tabulated first, which takes about 20 s."""


def allin_chips(result: MatchResult) -> F64:
    """float64[H]: all-in adjusted chips of player A. Hands with unknown cards are unchanged."""
    definition, chips = result.definition, result.chips.astype(np.float64)
    if not _is_holdem(definition):
        return chips
    # A betting text that ends in slashes has rounds without decisions: all-in and called.
    early = [index for index, text in enumerate(result.betting) if text.endswith("/")]
    before_flop = sum(int(result.street[index]) == 0 for index in early)
    by_table = before_flop >= TABLE_FROM_HANDS or preflop_wins_are_counted()
    for index in early:
        hole, board = result.deal(index)
        own = int(result.position[index])
        first, second = hole[own], hole[1 - own]
        if first and second:
            seen = board[: definition.board_size(int(result.street[index]))]
            wins = (
                pair_wins(first, second, seen) if seen or not by_table else preflop_pair_wins(first, second)
            )
            chips[index] = result.stake[index] * wins
    return chips


def _is_holdem(definition: GameDefinition) -> bool:
    facts = [(d.num_hole_cards, d.deck, d.board_cards) for d in (definition, HUNL)]
    return facts[0] == facts[1]
