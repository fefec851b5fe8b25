"""Leaf values at the end of the flop by a small neural net trained on rollouts.

1. Input: 34 features of a state (`solver.leaves.features`). Two hidden layers of 64. Output: four values, our
   winnings as a share of the pot against each of the opponent's four continuations (Brown, Sandholm and Amos,
   2018).
2. All pairs of hand classes are valued at every leaf once, before the solve; iterations look values up.
   Leaves without further betting need no net: they are showdowns, sampled run-out by run-out.
3. This module only evaluates the net, with numpy; `solver.leaves.value_training` trains it. Nets are stored
   in Fathom's cache, by blueprint.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from numeric.arrays import F32, I64
from numeric.folders import cached
from solver.blueprint.file import Blueprint
from solver.games.layout import Step
from solver.leaves.features import (
    NUM_BETTING,
    NUM_FEATURES,
    NUM_HAND,
    FlopClasses,
    betting_features,
    flop_classes,
)
from solver.leaves.flop_end import FlopEnd
from solver.leaves.kernels.class_values import value_by_class
from solver.leaves.match import SHOWDOWN_ONLY
from solver.leaves.rollouts import FOUR_STRATEGIES, BlueprintRollouts

HIDDEN = 64
NUM_VALUES = len(FOUR_STRATEGIES)

_FORMAT = 1
_CHUNK = 4096
"""Rows evaluated at once, so that they stay in the processor's cache."""


class ValueNetError(ValueError):
    """There is no value net for a blueprint, or the file is not one."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueNet:
    """Weights of the net, float32."""

    centre: F32
    """[34]: subtracted from the features"""
    scale: F32
    """[34]: multiplied after that"""
    first: F32
    """[34, 64]"""
    first_bias: F32
    second: F32
    """[64, 64]"""
    second_bias: F32
    last: F32
    """[64, 4]"""
    last_bias: F32

    def values(self, features: F32) -> F32:
        """float32[N, 4]: values as shares of the pot, of states float32[N, 34]."""
        scaled = (features - self.centre) * self.scale
        return self._after_first(np.asarray(scaled @ self.first + self.first_bias, dtype=np.float32))

    def pair_values(self, classes: FlopClasses, leaves: F32) -> F32:
        """float32[M, C, C, 4]: values of all pairs of classes, ours first.

        The first layer is a sum over the parts of a state, so each part is multiplied only once.

        leaves  float32[M, 14]: betting features
        """
        parts = np.split(
            np.arange(NUM_FEATURES), [NUM_BETTING, NUM_BETTING + NUM_HAND, -classes.pair.shape[2]]
        )

        def part(index: int, features: F32) -> F32:
            rows = parts[index]
            scaled = (features - self.centre[rows]) * self.scale[rows]
            return np.asarray(scaled @ self.first[rows], dtype=np.float32)

        num_classes = classes.num_classes
        pairs = part(3, classes.pair) + part(1, classes.hand)[:, None] + part(2, classes.hand)[None, :]
        base, betting = pairs.reshape(-1, HIDDEN), part(0, leaves) + self.first_bias
        result = np.empty((len(leaves), len(base), NUM_VALUES), dtype=np.float32)
        for start in range(0, len(base), _CHUNK):
            rows = base[start : start + _CHUNK]
            for number, own in enumerate(betting):
                result[number, start : start + _CHUNK] = self._after_first(rows + own)
        return result.reshape(len(leaves), num_classes, num_classes, NUM_VALUES)

    def save(self, path: Path) -> None:
        """Write the net, replacing an existing file atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")
        with partial.open("wb") as file:
            arrays = {field.name: getattr(self, field.name) for field in fields(self)}
            np.savez(file, format=np.array(_FORMAT), **arrays)
        partial.replace(path)

    def _after_first(self, sums: F32) -> F32:
        np.maximum(sums, 0, out=sums)
        hidden = sums @ self.second
        hidden += self.second_bias
        np.maximum(hidden, 0, out=hidden)
        return np.asarray(hidden @ self.last + self.last_bias, dtype=np.float32)


def net_path(blueprint: Blueprint) -> Path:
    """Path of a blueprint's net."""
    return cached("value-nets", f"{blueprint.identity}.npz")


def load_net(path: Path) -> ValueNet:
    """Read a net written by `ValueNet.save`."""
    shapes = (NUM_FEATURES,), (NUM_FEATURES, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, NUM_VALUES)
    try:
        with np.load(path) as file:
            if int(file["format"]) != _FORMAT:
                raise ValueNetError(f"{path} was made by another version of Fathom: train it again")
            arrays = [np.ascontiguousarray(file[field.name], dtype=np.float32) for field in fields(ValueNet)]
    except FileNotFoundError:
        raise ValueNetError(
            f"there is no value net at {path}: train one with `fathom blueprint net`"
        ) from None
    except ValueNetError:
        raise
    except (OSError, EOFError, KeyError, ValueError, BadZipFile) as error:
        raise ValueNetError(f"{path} is not a value net: {error}") from None
    net = ValueNet(*arrays)
    if (net.centre.shape, net.first.shape, net.second.shape, net.last.shape) != shapes:
        raise ValueNetError(f"{path} is not a value net of {NUM_FEATURES} features: train it again")
    return net


class NetLeaves:
    """Leaf values by a net. Make one per subgame; not for concurrent calls."""

    def __init__(self, end: FlopEnd, net: ValueNet, bias: F32 = FOUR_STRATEGIES) -> None:
        """Value the leaves of a game. Variance is reduced at leaves without further betting."""
        leaves = end.leaves
        self._hands = np.ascontiguousarray(end.game.hands)
        going_on = [i for i, leaf in enumerate(leaves) if leaf.blueprint_node != SHOWDOWN_ONLY]
        shut = [i for i, leaf in enumerate(leaves) if leaf.blueprint_node == SHOWDOWN_ONLY]
        self._open, self._shut = np.array(going_on, dtype=np.int32), np.array(shut, dtype=np.int64)
        self._num_choices = len(bias)
        classes = flop_classes(end.flop, end.game.labels)
        self._classes = classes.hand_class
        self._values = np.zeros((0, 2, len(bias), classes.num_classes, classes.num_classes), dtype=np.float32)
        if going_on:
            ours = _chips(replace(end, leaves=[leaves[i] for i in going_on]), net, classes, bias)
            self._values = np.stack([-ours.transpose(0, 1, 3, 2), ours], axis=1)
        shown = replace(end, leaves=[leaves[i] for i in shut], wins=end.wins if shut else None, threads=1)
        self._showdowns = BlueprintRollouts(shown, bias)

    @property
    def num_choices(self) -> int:
        """Number of strategies to choose from."""
        return self._num_choices

    @property
    def both_choose(self) -> bool:
        """Only the opponent chooses: the net is trained for that."""
        return False

    def next_sample(self) -> None:
        """Draw the next run-out, for showdowns."""
        if len(self._shut):
            self._showdowns.next_sample()

    def evaluate(self, for_chooser: bool, reach: F32, value: F32, step: Step | None = None) -> None:  # noqa: ARG002
        """See `depth_limited.solver.LeafValues`."""
        value_by_class(self._values, self._hands, self._classes, self._open, for_chooser, reach, value)
        if len(self._shut):
            found = np.zeros((len(self._shut), *value.shape[1:]), dtype=np.float32)
            self._showdowns.evaluate(for_chooser, np.ascontiguousarray(reach[self._shut]), found)
            value[self._shut] = found


def _chips(end: FlopEnd, net: ValueNet, classes: FlopClasses, bias: F32) -> F32:
    """float32[M, K, C, C]: what we win in chips, our class first; limited to the stack."""
    blueprint, leaves = end.blueprint, end.leaves
    big_blind = blueprint.definition.big_blind
    betting = np.stack(
        [betting_features(leaf, blueprint.tree, big_blind, end.flop, end.chooser) for leaf in leaves]
    )
    found = net.pair_values(classes, betting)[..., _columns(bias)]
    pots = np.array([2 * leaf.stake for leaf in leaves], dtype=np.float32)
    most = np.array([leaf.stack for leaf in leaves], dtype=np.float32)
    chips = np.clip(found * pots[:, None, None, None], -most[:, None, None, None], most[:, None, None, None])
    return np.ascontiguousarray(chips.transpose(0, 3, 1, 2), dtype=np.float32)


def _columns(bias: F32) -> I64:
    """The columns of the net's values for some continuations."""
    same = (bias[:, None, :] == FOUR_STRATEGIES[None]).all(axis=2)
    if not same.any(axis=1).all():
        raise ValueNetError("a value net has the four continuations of `solver.leaves.rollouts`, no others")
    return np.asarray(same.argmax(axis=1), dtype=np.int64)
