"""Trains value nets: examples from rollouts of the blueprint, then Adam on the Huber loss.

1. Examples come from random flops, lines to the flop, pots, menus and leaves: one of our hand classes against
   every class of the opponent, valued by `solver.leaves.rollouts`. Values are means over hands and run-outs.
2. Some flops are held out, to measure the net on unseen flops.
3. Deterministic given the seed. Plain numpy: the net is so small that ten thousand batches take a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from abstraction.menu import parse_menu_book
from game.cards import NUM_CARDS
from game.hands import HAND_CARDS, unblocked
from numeric.arrays import F32, I64
from numeric.two_layers import Descent, descend, first_weights, gradients
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import WalkTree, make_walk_tree
from solver.equity.all_in import flop_wins
from solver.games.game import unblocked_weight
from solver.games.tree import CHANCE, DECISION, FOLD_ACTION, BettingRoot, Tree, build_tree
from solver.leaves.features import NUM_BETTING, NUM_FEATURES, NUM_HAND, betting_features, flop_classes
from solver.leaves.flop_end import FlopEnd
from solver.leaves.match import SHOWDOWN_ONLY, Leaf, match_leaves
from solver.leaves.rollouts import BlueprintRollouts, one_round_game
from solver.leaves.value_net import HIDDEN, NUM_VALUES, ValueNet

MENUS = ("50%, 100%, a | 100%, a | a", "33%, 75%, a | 75%, a | a", "120%, a | 60%, a | a")

Tell = Callable[[str, float], None]
"""Called with the current step and its finished share."""


@dataclass(frozen=True, slots=True)
class NetTraining:
    """How to train."""

    flops: int = 400
    leaves: int = 6
    """Leaves per flop."""
    classes: int = 4
    """Classes of ours per leaf."""
    run_outs: int = 25
    epochs: int = 15
    batch: int = 1024
    step: float = 3e-3
    """Initial step size of Adam; it falls to 0 along half a cosine."""
    delta: float = 1.0
    """Errors beyond this count linearly, in pots."""
    kept_apart: float = 0.1
    """Share of the flops to hold out."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class NetQuality:
    """Errors of a net on held-out flops, in pots."""

    huber: float
    mean_error: float
    """Root mean square error."""
    spread: float
    """Standard deviation of the values: the error of a constant prediction of their mean."""
    examples: int
    """Number of training examples."""


def train_net(blueprint: Blueprint, training: NetTraining, tell: Tell) -> tuple[ValueNet, NetQuality]:
    """Make examples and train a net. Blocks for minutes."""
    rng = np.random.default_rng(training.seed)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    parts = []
    for number in range(training.flops):
        parts.append(flop_examples(blueprint, walk, training, rng))
        tell("play-outs", (number + 1) / training.flops)
    apart = max(1, round(training.kept_apart * len(parts))) if len(parts) > 1 else 0
    unseen, seen = parts[:apart] or parts, parts[apart:]
    features, values = _joined(seen)
    net = fit(features, values, training, rng, tell)
    features, values = _joined(unseen)
    errors = net.values(features) - values
    quality = NetQuality(
        float(_huber(errors, training.delta).mean()),
        float(np.sqrt((errors**2).mean())),
        float(values.std()),
        sum(len(part[0]) for part in seen),
    )
    return net, quality


def flop_examples(
    blueprint: Blueprint, walk: WalkTree, training: NetTraining, rng: np.random.Generator
) -> tuple[F32, F32]:
    """float32[N, 34] and float32[N, 4]: states of one random flop, and what we win, in pots."""
    flop = tuple([int(card) for card in rng.choice(NUM_CARDS, 3, replace=False)])
    chooser = int(rng.integers(2))
    tree, drawn = draw_leaves(blueprint, walk, training.leaves, rng)
    game = one_round_game(flop, tree, np.ones((2, len(HAND_CARDS)), dtype=np.float32))
    classes = flop_classes(flop, np.flatnonzero(unblocked(flop)))
    hand_class, count, num_hands = classes.hand_class, classes.num_classes, game.num_hands
    leaves = [leaf for leaf in drawn for _ in range(training.classes)]
    ours = rng.integers(count, size=len(leaves))
    wins = flop_wins(flop, game.labels)
    end = FlopEnd(blueprint, game, leaves, chooser, wins, seed=int(rng.integers(1 << 31)))
    rollouts = BlueprintRollouts(end)
    reach = np.zeros((len(leaves), 1 + NUM_VALUES, game.stride), dtype=np.float32)
    reach[:, 0, :num_hands] = hand_class[None, :] == ours[:, None]
    value, total = np.zeros_like(reach), np.zeros((len(leaves), NUM_VALUES, num_hands))
    for _ in range(training.run_outs):
        rollouts.next_sample()
        rollouts.evaluate(True, reach, value)
        total += value[:, 1:, :num_hands]
    features, values = [], []
    for number, (leaf, own) in enumerate(zip(leaves, ours.tolist(), strict=True)):
        met = unblocked_weight(game.hands, reach[number, 0, :num_hands])
        pairs = np.bincount(hand_class, met, minlength=count)
        known = pairs > 0.5
        won = [np.bincount(hand_class, row, minlength=count)[known] for row in total[number]]
        values.append(-np.stack(won, axis=1) / (pairs[known, None] * training.run_outs * 2 * leaf.stake))
        rows = np.empty((int(known.sum()), NUM_FEATURES), dtype=np.float32)
        big_blind = blueprint.definition.big_blind
        hands = NUM_BETTING + NUM_HAND
        rows[:, :NUM_BETTING] = betting_features(leaf, blueprint.tree, big_blind, flop, chooser)
        rows[:, NUM_BETTING:hands] = classes.hand[own]
        rows[:, hands : hands + NUM_HAND] = classes.hand[known]
        rows[:, hands + NUM_HAND :] = classes.pair[own, known]
        features.append(rows)
    return np.concatenate(features), np.concatenate(values).astype(np.float32)


def draw_leaves(
    blueprint: Blueprint, walk: WalkTree, count: int, rng: np.random.Generator
) -> tuple[Tree, list[Leaf]]:
    """Random leaves with further betting, and the tree of the last of them."""
    stack = min(blueprint.definition.stacks)
    drawn: list[Leaf] = []
    while len(drawn) < count:
        node = _random_flop_node(blueprint.tree, rng)
        spent = int(np.clip(walk.faced[node] * rng.uniform(0.7, 1.4), blueprint.definition.big_blind, stack))
        root = BettingRoot(1, (spent, spent), stack, blueprint.definition.big_blind)
        tree = build_tree(root, parse_menu_book(MENUS[rng.integers(len(MENUS))]), max_rounds=1)
        leaves = match_leaves(tree, root, walk, node)
        going_on = [leaf for leaf in leaves if leaf.blueprint_node != SHOWDOWN_ONLY]
        if going_on:
            drawn.append(going_on[rng.integers(len(going_on))])
    return tree, drawn


def fit(features: F32, values: F32, training: NetTraining, rng: np.random.Generator, tell: Tell) -> ValueNet:
    """Train on the mean Huber loss."""
    centre = features.mean(axis=0)
    scale = (1 / np.maximum(features.std(axis=0), 1e-3)).astype(np.float32)
    inputs = (features - centre) * scale
    sizes = NUM_FEATURES, HIDDEN, HIDDEN, NUM_VALUES
    weights = [array.astype(np.float32) for array in first_weights(sizes, rng)]
    weights[4] *= np.float32(0.1)

    def slopes(chosen: I64) -> list[F32]:
        return _gradients(weights, inputs[chosen], values[chosen], training.delta)

    descent = Descent(training.epochs, training.batch, training.step)
    descend(weights, len(inputs), slopes, descent, rng, lambda share: tell("training", share))
    tell("training", 1.0)
    return ValueNet(centre, scale, *weights)


def _gradients(weights: list[F32], inputs: F32, values: F32, delta: float) -> list[F32]:
    """Gradients of the mean loss by weights."""

    def slope(found: F32) -> F32:
        clipped: F32 = np.clip(found - values, -delta, delta) / np.float32(values.size)
        return clipped

    return gradients(weights, inputs, slope)


def _huber(errors: F32, delta: float) -> F32:
    size = np.abs(errors)
    loss: F32 = np.where(size <= delta, size * size / 2, delta * (size - delta / 2))
    return loss


def _joined(parts: list[tuple[F32, F32]]) -> tuple[F32, F32]:
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _random_flop_node(tree: Tree, rng: np.random.Generator) -> int:
    """The first decision on the flop of a random line."""
    node = 0
    while tree.kind[node] != DECISION or tree.round[node] != 1:
        if tree.kind[node] == DECISION:
            children = [child for child in tree.children_of(node) if tree.action[child] != FOLD_ACTION]
            node = int(children[rng.integers(len(children))])
        else:
            # Pass chance nodes; start again after an all-in before the flop.
            node = int(tree.children_of(node)[0]) if tree.kind[node] == CHANCE else 0
    return node
