"""Games that begin at a public state, with a gadget for the opponent on top.

Player 0 keeps all information sets: fixed where solved, so that its reach is right. Player 1 keeps those of
the subgame. Above them are the gadget's, in a public state of their own, the last one. Values are
counterfactual and not normalised, as in Milec, Kubicek and Lisy, figure 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.flat.game import FlatGame, PublicTree, Side, by_rows
from lab.flat.kernels import evaluate, respond
from lab.flat.plans import plan_of, product
from lab.flat.saddle import Saddle
from numeric.arrays import F64, I32, I64
from responses.methods import Gadget, Method
from responses.partition import Part


@dataclass(frozen=True, slots=True, eq=False)
class Subgame:
    """A game below a gadget."""

    game: FlatGame
    entries: I64
    """int64[E]: sequences of player 1 in the whole game with which the public state is reached."""
    doors: I64
    """int64[E]: sequences of the gadget that enter with each."""
    origin: I64
    """int64[sequences of 1]: the sequence in the whole game; -1 for the gadget's."""


def gadget_problem(game: FlatGame, part: Part, before: F64, model: F64, method: Method) -> Saddle:
    """The problem of one step with a gadget.

    before  float64[sequences of 0]: the answer of the step before, with how it goes on
    model   float64[sequences of 1]: the model's reaches
    """
    assert part.root is not None, "gadgets are for single subgames"
    plan = plan_of(game.sides[0], before)
    subgame = cut(game, part.root, method.gadget)
    alternative = alternatives(subgame, plan)
    if method.gadget is Gadget.REACH_MAX_MARGIN:
        alternative = alternative - gifts(game, subgame, plan)
    reach = model[np.maximum(subgame.origin, 0)] * (subgame.origin >= 0)
    reach[subgame.doors] = model[subgame.entries]
    seen = np.append(part.seen, True)
    if not method.model_acts:
        reach /= max(reach[subgame.doors].sum(), 1e-300)
        seen[:-1] = False
    return Saddle(
        with_alternatives(subgame, alternative, method.gadget),
        before,
        np.append(part.solved, False),
        reach,
        seen,
        method.p,
    )


def cut(game: FlatGame, root: int, gadget: Gadget) -> Subgame:
    """The subgame of a public state below a gadget, whose alternatives are still 0."""
    inside = game.public.below(root)
    side = game.sides[1]
    kept = np.flatnonzero(inside[side.public])
    # The sequence with which the subgame was entered; its own number for those that do not act in it.
    entry = np.arange(side.num_sequences)
    for i in kept.tolist():
        entry[side.first[i] : side.first[i] + side.count[i]] = entry[side.parent[i]]
    own = inside[game.at]
    entries = np.unique(np.concatenate([entry[game.column[own]], entry[side.parent[kept]]]))
    resolving = gadget is Gadget.RESOLVING
    top = np.full(len(entries), 2) if resolving else np.array([len(entries)])
    doors = 1 + np.arange(len(entries)) * (2 if resolving else 1)
    count = np.concatenate([top, side.count[kept]])
    first = 1 + np.concatenate([[0], np.cumsum(count)[:-1]])
    renamed = np.zeros(side.num_sequences, dtype=np.int64)
    renamed[entries] = doors
    origin = np.full(1 + int(count.sum()), -1, dtype=np.int64)
    for new, old in zip(first[len(top) :].tolist(), kept.tolist(), strict=True):
        actions = np.arange(side.count[old])
        renamed[side.first[old] + actions] = new + actions
        origin[new + actions] = side.first[old] + actions
    parent = np.concatenate([np.zeros(len(top)), renamed[side.parent[kept]]])
    public = np.concatenate([np.full(len(top), len(game.public.parent)), side.public[kept]])
    keys = (*[("gadget", i) for i in range(len(top))], *[side.keys[i] for i in kept])
    action = np.where(origin >= 0, side.action[origin], -1)
    below = Side(_i32(parent), _i32(first), _i32(count), _i32(public), _i32(action), keys)
    tree = PublicTree(
        _i32(np.append(game.public.parent, -1)),
        _i32(np.append(game.public.actor, 1)),
        _i32(np.append(game.public.level, -1)),
        (*game.public.keys, "gadget"),
    )
    cut_game = FlatGame(
        game.name,
        (game.sides[0], below),
        tree,
        game.row[own],
        _i32(renamed[game.column[own]]),
        game.at[own],
        game.chance[own],
        game.payoff[own],
    )
    return Subgame(cut_game, entries, doors, origin)


def alternatives(subgame: Subgame, plan: F64) -> F64:
    """float64[E]: what player 0's plan gets from each entry against the best response."""
    side = subgame.game.sides[1]
    values = -product(subgame.game.by_column, plan)
    respond(side.parent, side.first, side.count, values, np.ones_like(values))
    return -values[subgame.doors]


def with_alternatives(subgame: Subgame, alternative: F64, gadget: Gadget) -> FlatGame:
    """The subgame's game with the alternatives paid.

    The resolving gadget pays them instead of the subgame, the others subtract them from it.
    """
    game = subgame.game
    resolving = gadget is Gadget.RESOLVING
    number = len(alternative)
    return FlatGame(
        game.name,
        game.sides,
        game.public,
        np.concatenate([game.row, np.zeros(number, dtype=np.int32)]),
        np.concatenate([game.column, _i32(subgame.doors + resolving)]),
        np.concatenate([game.at, np.full(number, len(game.public.parent) - 1, dtype=np.int32)]),
        np.concatenate([game.chance, np.zeros(number)]),
        np.concatenate([game.payoff, alternative if resolving else -alternative]),
    )


def gifts(game: FlatGame, subgame: Subgame, plan: F64) -> F64:
    """float64[E]: what player 1 gave up on the way to each entry, by the plan's best response.

    A gift is measured per unit of the reach of player 0 and chance, and counts in the subgame as much as the
    subgame is reached.
    """
    side = game.sides[1]
    value = -product(game.by_column, plan)
    respond(side.parent, side.first, side.count, value, np.ones_like(value))
    reach, below = _others_reach(game, plan), _others_reach(subgame.game, plan)
    given = np.zeros(side.num_sequences)
    for i in range(side.num_infosets):
        actions = slice(side.first[i], side.first[i] + side.count[i])
        lost = value[actions].max() - value[actions]
        weight = reach[side.first[i]]
        given[actions] = given[side.parent[i]] + (lost / weight if weight > 0 else 0.0)
    return given[subgame.entries] * below[subgame.doors]


def _others_reach(game: FlatGame, plan: F64) -> F64:
    """float64[sequences of 1]: probability that player 0 and chance let each sequence happen."""
    side = game.sides[1]
    reach = product(by_rows(game.column, game.row, game.chance, side.num_sequences), plan)
    evaluate(side.parent, side.first, side.count, side.uniform(), reach)
    return reach


def _i32(numbers: object) -> I32:
    return np.asarray(numbers, dtype=np.int32)
