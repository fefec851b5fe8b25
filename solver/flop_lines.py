"""Lines before the flop: every way in which a blueprint's first round leads to a flop that is played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from game.betting import BettingState, start
from game.hands import HAND_CARDS, HAND_CLASS
from solver.blueprint import FULL, Blueprint
from solver.game import unblocked_weight
from solver.layout import F32
from solver.nested import coded_action, everything, narrowed
from solver.tree import CHANCE, DECISION, FOLD_ACTION

_HANDS = HAND_CARDS.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class FlopLine:
    """One of them."""

    text: str
    """As people write it: r300c."""
    betting: BettingState
    """At the start of the flop."""
    share: float
    """Of the flops that are played with bets to come, as the blueprint plays before them."""
    ranges: F32
    """float32[2, 1326]: what both players bring to the flop, by the blueprint."""


def line_text(betting: BettingState) -> str:
    """The line of a hand that has seen a flop."""
    return betting.text.partition("/")[0]


def flop_lines(blueprint: Blueprint) -> list[FlopLine]:
    """All lines of a blueprint, the most frequent first."""
    found = list(_lines(blueprint, 0, start(blueprint.definition), everything(), everything()))
    total = sum(share for _, share, _ in found)
    lines = [FlopLine(line_text(state), state, share / total, ranges) for state, share, ranges in found]
    return sorted(lines, key=lambda line: (-line.share, line.text))


def _lines(
    blueprint: Blueprint, node: int, betting: BettingState, reach: F32, ranges: F32
) -> Iterator[tuple[BettingState, float, F32]]:
    """Flops below a node, how many pairs of hands come there, and what both players bring.

    reach   float32[2, 1326]: how often each hand comes here
    ranges  float32[2, 1326]: likewise, except that what is never done says nothing (`nested.narrowed`)
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
        kept[actor] = narrowed(kept[actor], row)
        yield from _lines(blueprint, child, betting.apply(coded_action(code)), reached, kept)
