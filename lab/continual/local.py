"""Local best response (LBR).

After Lisy and Bowling, 2017, "Equilibrium approximation quality of current no-limit poker bots". At each of
our decisions it takes the action that is best if the opponent, at its next decision, folds as often as the
model does and calls otherwise, and if from there on both only check and call. So it looks at one following
action, as CDBR with depth 1 does; what stands for the rest of the game is not optimal play but calling. It is
not bound to gain anything. It is for poker: a game without folds has none.
"""

from __future__ import annotations

import numpy as np

from lab.flat.game import FlatGame, Side
from lab.flat.kernels import evaluate
from lab.flat.plans import plan_of, product
from numeric.arrays import F64


def local_best_response(game: FlatGame, model: F64, fold: int, call: int, narrow: bool = True) -> F64:
    """The strategy of player 0 that responds locally to a model of player 1.

    model       float64[sequences of 1]: a strategy
    fold, call  these actions, as the rules number them; call also stands for a check
    narrow      whether hands that fold more often are less likely after the opponent did not fold, as Lisy
                and Bowling define it; otherwise all hands fold as often as they do on average, and the range
                stays as it was before
    """
    tree, (ours, theirs) = game.public, game.sides
    passive = _calling(ours, call)
    odds = model if narrow else _average_folds(game, model, fold)
    calls, answers = _calling(theirs, call), _fold_or_call(theirs, odds, fold, call)
    strategy = ours.uniform()
    for place in np.flatnonzero(tree.actor == 0).tolist():
        before = theirs.sequences_in((tree.level < tree.level[place])[theirs.public])
        after = theirs.sequences_in((tree.parent == place)[theirs.public])
        expected = np.where(before, model, np.where(after, answers, calls))
        value = product(game.by_row, plan_of(theirs, expected))
        here = ours.public == place
        evaluate(*ours.only(~here), passive, value)
        for first, count in zip(ours.first[here].tolist(), ours.count[here].tolist(), strict=True):
            strategy[first : first + count] = 0.0
            strategy[first + value[first : first + count].argmax()] = 1.0
    return strategy


def _calling(side: Side, call: int) -> F64:
    """The strategy that only checks and calls."""
    strategy = np.where(side.action == call, 1.0, 0.0)
    strategy[0] = 1.0
    return strategy


def _fold_or_call(side: Side, odds: F64, fold: int, call: int) -> F64:
    """The strategy that folds as often as another one, and calls instead of everything else."""
    strategy = _calling(side, call)
    folds = np.where(side.action == fold, odds, 0.0)
    strategy += folds
    # Every menu has one call.
    strategy[side.action == call] -= np.add.reduceat(folds, side.first)
    return strategy


def _average_folds(game: FlatGame, model: F64, fold: int) -> F64:
    """The model with folds that are equally likely for all hands in a public state."""
    side, folds = game.sides[1], np.flatnonzero(game.sides[1].action == fold)
    infoset = np.repeat(np.arange(side.num_infosets), side.count)[folds - 1]
    public, publics = side.public[infoset], len(game.public.parent)
    chance = np.bincount(game.column, game.chance, side.num_sequences)[folds]
    weight = plan_of(side, model)[side.parent[infoset]] * chance
    total = np.bincount(public, weight, publics)
    folded = np.bincount(public, weight * model[folds], publics)
    odds = model.copy()
    odds[folds] = np.divide(folded, total, out=np.zeros(publics), where=total > 0)[public]
    return odds
