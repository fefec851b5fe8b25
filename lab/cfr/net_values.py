"""A value function by a neural net (Moravcik et al., 2017, "DeepStack", in small).

1. The net knows the public states of one game, as roots of the subgames below a depth limit. Its inputs are
   the root (one input each) and the ranges of both players there: the reaches of the sequences with which
   they enter the subgame, divided by their sum. Its outputs are the counterfactual values of these entries,
   divided by the sum of the other player's reaches, less their mean and in units of their spread at the root.
2. Examples are random ranges at every root with the values that CFR+ finds (`CfrValues`).
3. What is the same for all ranges is put right after the net: both players' values, weighted by their ranges,
   add up to 0.
4. Training is deterministic given the seed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lab.cfr.net import Fitting, Net, fit
from lab.cfr.values import CfrValues
from lab.flat.game import FlatGame
from numeric.arrays import F64, I64, Mask

_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class NetTraining:
    """Examples and how to train on them."""

    examples: int = 300
    """Per root."""
    iterations: int = 500
    """Of CFR+, for each example."""
    fitting: Fitting = field(default_factory=Fitting)
    seed: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Roots:
    """Subgames and how they are entered."""

    place: I64
    """int64[R]: public states."""
    entries: tuple[I64, I64]
    """int64[R, W]: sequences with which each player enters; -1 where there are fewer than W."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """N examples at every root: float64[N, R, W] for each player."""

    ranges: tuple[F64, F64]
    values: tuple[F64, F64]


@dataclass(frozen=True, slots=True, eq=False)
class RangeNet:
    """A net for one game."""

    game: FlatGame
    roots: Roots
    centre: F64
    """float64[R, 2 W]: mean values."""
    spread: F64
    """float64[R, 1]: their standard deviation."""
    net: Net

    def values(self, which: I64, ranges: tuple[F64, F64]) -> tuple[F64, F64]:
        """float64[N, W] of both players, from their ranges at roots, which are given by number."""
        inputs = _inputs(which, len(self.roots.place), ranges)
        found = self.net.values(inputs) * self.spread[which] + self.centre[which]
        width = ranges[0].shape[1]
        ours, theirs = found[:, :width], found[:, width:]
        surplus = (ranges[0] * ours + ranges[1] * theirs).sum(axis=1, keepdims=True) / 2
        return ours - surplus, theirs - surplus


class NetValues:
    """Values by a net, over sequences; see `ValueFunction`. The first public states have to be seen."""

    def __init__(self, net: RangeNet, seen: Mask) -> None:
        tree = net.game.public
        number = {place: i for i, place in enumerate(net.roots.place.tolist())}
        limit = [place for place in number if not seen[place] and seen[tree.parent[place]]]
        self._net = net
        self._which = np.array([number[place] for place in limit], dtype=np.int64)
        self._entries = net.roots.entries[0][self._which], net.roots.entries[1][self._which]

    def values(self, reaches: tuple[F64, F64]) -> tuple[F64, F64]:
        """See `ValueFunction`."""
        entering = _at(reaches[0], self._entries[0]), _at(reaches[1], self._entries[1])
        sums = entering[0].sum(axis=1, keepdims=True), entering[1].sum(axis=1, keepdims=True)
        ranges = (
            _shares(entering[0], sums[0], self._entries[0]),
            _shares(entering[1], sums[1], self._entries[1]),
        )
        found = self._net.values(self._which, ranges)
        return (
            _spread_out(self._entries[0], found[0] * sums[1], len(reaches[0])),
            _spread_out(self._entries[1], found[1] * sums[0], len(reaches[1])),
        )


def train(game: FlatGame, training: NetTraining) -> RangeNet:
    """Make examples and train a net on them."""
    rng = np.random.default_rng(training.seed)
    roots = roots_of(game)
    seen = make_examples(game, roots, training, rng)
    values = np.concatenate(seen.values, axis=2)
    centre = values.mean(axis=0)
    spread = np.maximum((values - centre).std(axis=(0, 2)), _TINY)[:, None]
    number, count, width = seen.ranges[0].shape
    which = np.tile(np.arange(count), number)
    inputs = _inputs(which, count, (seen.ranges[0].reshape(-1, width), seen.ranges[1].reshape(-1, width)))
    outputs = ((values - centre) / spread).reshape(-1, 2 * width)
    return RangeNet(game, roots, centre, spread, fit(inputs, outputs, training.fitting, rng))


def error(net: RangeNet, training: NetTraining, seed: int) -> float:
    """Root mean square error on new examples, as a share of that of predicting the means at every root."""
    unseen = make_examples(net.game, net.roots, training, np.random.default_rng(seed))
    values = np.concatenate(unseen.values, axis=2)
    count = len(net.roots.place)
    found = [
        np.concatenate(net.values(np.arange(count), (ours, theirs)), axis=1)
        for ours, theirs in zip(*unseen.ranges, strict=True)
    ]
    wrong, spread = (np.stack(found) - values) / net.spread, (values - net.centre) / net.spread
    return float(np.sqrt((wrong**2).mean() / (spread**2).mean()))


def roots_of(game: FlatGame) -> Roots:
    """All public states that follow another one."""
    places = np.flatnonzero(game.public.parent >= 0)
    entries = [[_entries(game, player, place) for place in places.tolist()] for player in range(2)]
    width = max(len(each) for side in entries for each in side)
    padded = [np.full((len(places), width), -1, dtype=np.int64) for _ in range(2)]
    for table, side in zip(padded, entries, strict=True):
        for row, each in zip(table, side, strict=True):
            row[: len(each)] = each
    return Roots(places, (padded[0], padded[1]))


def make_examples(game: FlatGame, roots: Roots, training: NetTraining, rng: np.random.Generator) -> Examples:
    """Random ranges, from even ones to such with one private state, and what they are worth."""
    shape = training.examples, *roots.entries[0].shape
    ranges, values = (np.zeros(shape), np.zeros(shape)), (np.zeros(shape), np.zeros(shape))
    for root, place in enumerate(roots.place.tolist()):
        solver = CfrValues(game, ~game.public.below(place), training.iterations)
        entries = [table[root][table[root] >= 0] for table in roots.entries]
        for example in range(training.examples):
            reaches = []
            for player, side in enumerate(game.sides):
                weights = rng.gamma(10 ** rng.uniform(-1.0, 0.5), size=len(entries[player])) + _TINY
                ranges[player][example, root, : len(weights)] = weights / weights.sum()
                reach = np.zeros(side.num_sequences)
                reach[entries[player]] = weights / weights.sum()
                reaches.append(reach)
            for player, found in enumerate(solver.values((reaches[0], reaches[1]))):
                values[player][example, root, : len(entries[player])] = found[entries[player]]
    return Examples(ranges, values)


def _entries(game: FlatGame, player: int, root: int) -> I64:
    """The last sequences of a player before a subgame."""
    inside, side = game.public.below(root), game.sides[player]
    played = (game.row, game.column)[player][inside[game.at]]
    used = np.concatenate([played, side.parent[inside[side.public]]])
    own = side.sequences_in(inside[side.public])
    return np.unique(used[~own[used]]).astype(np.int64)


def _inputs(which: I64, count: int, ranges: tuple[F64, F64]) -> F64:
    """float64[N, R + 2 W]: inputs of the net."""
    return np.concatenate([np.eye(count)[which], *ranges], axis=1)


def _at(reach: F64, entries: I64) -> F64:
    """The reaches of entries; 0 where there is none."""
    return np.append(reach, 0.0)[entries]


def _shares(entering: F64, sums: F64, entries: I64) -> F64:
    """Reaches as ranges; even ones where nothing is reached."""
    known = entries >= 0
    even = known / known.sum(axis=1, keepdims=True)
    return np.where(sums > _TINY, entering / np.maximum(sums, _TINY), even)


def _spread_out(entries: I64, values: F64, length: int) -> F64:
    """float64[sequences]: the values of all roots added up at their entries."""
    known = entries >= 0
    return np.bincount(entries[known], values[known], length).astype(np.float64)
