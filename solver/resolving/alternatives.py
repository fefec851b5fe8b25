"""Values promised to the opponent by the last solve: the next solve must not give them more.

1. After a first subgame on the turn every solve is safe: in its gadget the opponent may take, with each hand,
   the value promised by the last solution (Reach subgame solving with the expected values of the previously
   solved subgame as alternatives: Brown, Sandholm and Amos, 2018, appendix A).
2. A promise is stored in chips per pair of hands, so that it holds for any scale of our range.
3. If the round goes on, the promise is for the opponent's next decision. If the opponent's call or ours may
   end it, there is also one for every card that may come.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from game.cards import Cards
from game.errors import RangeError
from game.hands import HAND_CARDS, NUM_HANDS
from numeric.arrays import F32, F64
from solver.exact.engine import Engine
from solver.exact.solution import Solution
from solver.games.game import unblocked_weight
from solver.games.tree import CALL_ACTION, CHANCE, DECISION
from solver.resolving.subgame import Payoff, Subgame, path_gifts, safe_subgame

_DUST = 1e-6
"""Share of a range below which the part that a hand can meet is a rounding error."""


@dataclass(frozen=True, slots=True, eq=False)
class Alternatives:
    """Promised values after one of our actions, float32[1326] each."""

    here: F32 | None = None
    """At the opponent's next decision in this round."""
    by_card: dict[int, F32] = field(default_factory=dict)
    """At the start of the next round, by its card."""


def promise(
    solution: Solution,
    child: int,
    player: int,
    payoff: Payoff = Payoff.EXPECTED,
    engine: Engine | None = None,
) -> Alternatives:
    """Values promised to the opponent of `player` at a child of our decision, on the turn or river.

    engine  engine of the solution's game, to reuse if there is one
    """
    tree = solution.game.tree
    if tree.kind[child] == CHANCE:
        return Alternatives(None, _by_card(solution, child, player, payoff, engine))
    if tree.kind[child] != DECISION:
        return Alternatives()
    call = int(tree.children_of(child)[tree.actions_of(child).index(CALL_ACTION)])
    later = _by_card(solution, call, player, payoff, engine) if tree.kind[call] == CHANCE else {}
    gifts = path_gifts(solution, child, 0, 1 - player, payoff, engine)
    return Alternatives(_per_pair(solution, child, 0, player, payoff, gifts), later)


def safe_root(board: Cards, ranges: F32, opponent: int, promised: F32) -> Subgame:
    """The safe subgame for a root with promised values.

    ranges  float32[2, 1326]: our range, and the opponent's before the gadget; 0 for blocked hands
    """
    labels = np.flatnonzero(ranges.max(axis=0) > 0)
    ours = ranges[1 - opponent]
    alternative = (promised * unblocked_weight(HAND_CARDS.astype(np.int64), ours)).astype(np.float32)
    return Subgame(tuple(board), labels, ranges[:, labels], opponent, alternative[labels])


def _by_card(
    solution: Solution, chance: int, player: int, payoff: Payoff, engine: Engine | None
) -> dict[int, F32]:
    """Promises for every card after a chance node; none if there is no more betting."""
    game, tree = solution.game, solution.game.tree
    first = int(tree.children_of(chance)[0]) if len(tree.children_of(chance)) else -1
    if first < 0 or tree.kind[first] != DECISION:
        return {}
    boards = list(game.boards_of_round(1))
    gifts = path_gifts(solution, first, boards[0], 1 - player, payoff, engine)
    found = {}
    for board in boards:
        promised = _per_pair(solution, first, board, player, payoff, gifts)
        if promised is not None:
            found[int(game.board_cards[board][-1])] = promised
    return found


def _per_pair(
    solution: Solution, node: int, board: int, player: int, payoff: Payoff, gifts: F64
) -> F32 | None:
    """float32[1326]: the opponent's expected chips with each hand, per pair with our hands it can meet."""
    game = solution.game
    try:
        subgame = safe_subgame(solution, node, board, player, payoff, gifts)
    except RangeError:
        return None
    assert subgame.alternative is not None, "a safe subgame has alternatives"
    ours = np.zeros(NUM_HANDS, dtype=np.float32)
    ours[game.labels] = subgame.ranges[player]
    met = unblocked_weight(HAND_CARDS.astype(np.int64), ours)[game.labels]
    promised = np.zeros(NUM_HANDS, dtype=np.float32)
    known = met > _DUST * ours.sum()
    promised[game.labels[known]] = subgame.alternative[known] / met[known]
    return promised
