"""All-in adjustment: where the betting ended before the last card, the mean over all run-outs counts.

Unbiased, because nobody decides anything once all chips are in. Hold'em only: other games stay as they are.
"""

from __future__ import annotations

import numpy as np

from arena.results import MatchResult
from game.definition import HUNL, GameDefinition
from solver.allin_equity import pair_wins, preflop_pair_wins, preflop_wins_are_counted
from solver.layout import F64

TABLE_FROM_HANDS = 1_000
"""So many hands all-in before the flop are worth counting all pairs once, which takes some 20 seconds."""


def allin_chips(result: MatchResult) -> F64:
    """float64[H]: chips of player A, adjusted. Hands whose cards are not all known stay as they are."""
    definition, chips = result.definition, result.chips.astype(np.float64)
    if not _is_holdem(definition):
        return chips
    # Rounds without a decision leave their slashes at the end: all-in, and nobody folded.
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
