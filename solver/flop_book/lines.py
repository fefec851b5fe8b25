"""Pre-flop lines: every betting sequence of the blueprint's first round that leads to a flop with betting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from game.betting import BettingState, start
from game.hands import HAND_CARDS, HAND_CLASS
from numeric.arrays import F32
from solver.blueprint.file import FULL, Blueprint
from solver.games.game import unblocked_weight
from solver.games.history import coded_action
from solver.games.tree import CHANCE, DECISION, FOLD_ACTION
from solver.resolving.ranges import full_ranges, narrowed_range

_HANDS = HAND_CARDS.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class FlopLine:
    """A pre-flop line."""

    text: str
    """The line in the usual notation, such as r300c."""
    betting: BettingState
    """Betting state at the start of the flop."""
    share: float
    """Share among all flops with betting to come, when the blueprint plays the first round."""
    ranges: F32
    """float32[2, 1326]: both players' ranges on the flop under the blueprint."""


def line_text(betting: BettingState) -> str:
    """The pre-flop line of a hand that has reached the flop."""
    return betting.text.partition("/")[0]


def flop_lines(blueprint: Blueprint) -> list[FlopLine]:
    """All pre-flop lines of a blueprint, the most frequent first."""
    found = list(_lines(blueprint, 0, start(blueprint.definition), full_ranges(), full_ranges()))
    total = sum(share for _, share, _ in found)
    lines = [FlopLine(line_text(state), state, share / total, ranges) for state, share, ranges in found]
    return sorted(lines, key=lambda line: (-line.share, line.text))


def _lines(
    blueprint: Blueprint, node: int, betting: BettingState, reach: F32, ranges: F32
) -> Iterator[tuple[BettingState, float, F32]]:
    """Flops below a node, the weight of pairs of hands that reach them, and both ranges.

    reach   float32[2, 1326]: reach of each hand
    ranges  float32[2, 1326]: likewise, but unchanged by actions that are never taken
            (`resolving.ranges.narrowed_range`)
    """
    tree = blueprint.tree
    if tree.kind[node] == CHANCE:
        if tree.kind[tree.children_of(node)[0]] == DECISION:
            pairs = reach[0].astype(np.float64) @ unblocked_weight(_HANDS, reach[1])
            yield betting, float(pairs), ranges
        return
    if tree.kind[node] != DECISION:
        return
    rows = np.asarray(blueprint.rows(node)[:, HAND_CLASS] / np.float32(FULL), dtype=np.float32)
    for code, child, row in zip(tree.actions_of(node), tree.children_of(node).tolist(), rows, strict=True):
        if code == FOLD_ACTION:
            continue
        reached, kept, actor = reach.copy(), ranges.copy(), betting.actor
        reached[actor] *= row
        kept[actor] = narrowed_range(kept[actor], row)
        yield from _lines(blueprint, child, betting.apply(coded_action(code)), reached, kept)
