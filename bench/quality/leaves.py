"""Correctness of leaf values: exact rollouts of whole ranges against the paper's sampled rollouts.

Uses random flops, lines to the flop, pots, menus, leaves and ranges (every other range is the blueprint's at
the leaf). For each leaf and each of the four continuations, `solver.leaves.rollouts` over all 2,352 run-outs
gives the value; rollouts with sampled hands, run-out and actions give an estimate with a standard error. Both
are compared for the chooser's whole range and for one of its hands.

mean_z2, max_z     z = (value - estimate) / standard error: mean of squares (about 1) and largest
hand_mean_z2, ...  the same for one hand of the chooser
error_pct          mean standard error, % of pot
both_ways          largest difference between the chooser's values and the opponent's, in pots
raised             share of leaves at which the continuation biased to fold, call or raise does so more often
                   than the blueprint, where possible
highest            share of leaves at which it does so most often of all four

Exit status 1 if exact values and estimates contradict each other.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from abstraction.menu import parse_menu_book
from bench.figures import figure_parser, print_figures
from bench.quality._sampled_play_outs import NUM_KINDS, PlayOuts, Sampled
from game.cards import NUM_CARDS, Cards, cards_text
from game.hands import HAND_CARDS, HAND_CLASS, NUM_HANDS, unblocked
from numeric.arrays import F32, F64, I64
from server.cli.parts.numbers import whole_number
from solver.blueprint.default import default_blueprint_path
from solver.blueprint.file import FULL, Blueprint, open_blueprint
from solver.blueprint.walk import make_walk_tree
from solver.games.game import unblocked_weight
from solver.games.tree import CHANCE, DECISION, FOLD_ACTION, NO_ACTION, BettingRoot, Tree, build_tree
from solver.leaves.flop_end import FlopEnd
from solver.leaves.match import SHOWDOWN_ONLY, Leaf, match_leaves
from solver.leaves.rollouts import FOUR_STRATEGIES, BlueprintRollouts, one_round_game

QUICK = ("--leaves", "5", "--samples", "50000")

MENUS = ("50%, 100%, a | 100%, a | a", "33%, 75%, a | 75%, a | a", "120%, a | 60%, a | a")
"""The first menu is the blueprint's own, so its leaves match exactly."""

_RUN_OUTS = 49 * 48
_KINDS = ("fold", "call", "raise")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A leaf and the ranges that reach it."""

    flop: Cards
    tree: Tree
    leaf: Leaf
    ranges: F32
    chooser: int
    hand: int
    """Of the chooser."""
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The comparison on one leaf."""

    z: F64
    """float64[4]"""
    hand_z: F64
    error: F64
    """float64[4]: standard errors in pots."""
    both_ways: float
    offered: I64
    """int64[4, 3]"""
    taken: I64

    def frequencies(self) -> F64:
        """float64[4, 3]: frequencies of the chooser's folds, calls and raises; NaN if never possible."""
        with np.errstate(invalid="ignore"):
            shares: F64 = self.taken / self.offered
        return shares


def main(argv: list[str]) -> int:
    """Measure and print; exit status 1 if values and estimates contradict each other."""
    parser = figure_parser("leaves", __doc__)
    parser.add_argument("--blueprint", type=Path, help="blueprint file (default: the default blueprint)")
    parser.add_argument("--leaves", type=whole_number(), default=50, help="leaves (default: %(default)s)")
    parser.add_argument(
        "--samples",
        type=whole_number(2),
        default=200_000,
        help="sampled rollouts per value (default: %(default)s)",
    )
    parser.add_argument("--seed", type=whole_number(0), default=1, help="seed (default: %(default)s)")
    args = parser.parse_args(argv)
    blueprint = open_blueprint(args.blueprint or default_blueprint_path())
    started = time.perf_counter()
    rng = np.random.default_rng(args.seed)
    verdicts = []
    for index in range(args.leaves):
        case = draw_case(blueprint, rng, from_blueprint=index % 2 == 0)
        verdicts.append(compare(blueprint, case, args.samples))
        shown = " ".join(f"{z:+.1f}" for z in verdicts[-1].z)
        print(f"{cards_text(case.flop)} {case.leaf.stake:6.0f} chips: z {shown}", file=sys.stderr, flush=True)
    figures = summary(verdicts)
    figures |= {
        "samples": args.samples,
        "blueprint": blueprint.identity,
        "seconds": round(time.perf_counter() - started, 1),
    }
    print_figures(figures, args.json)
    return int(not figures["agree"])


def summary(verdicts: list[Verdict]) -> dict[str, object]:
    """The figures over all leaves."""
    z, hand_z = np.concatenate([x.z for x in verdicts]), np.concatenate([x.hand_z for x in verdicts])
    both_ways = max(x.both_ways for x in verdicts)
    frequencies = np.stack([x.frequencies() for x in verdicts])
    raised, highest = {}, {}
    for kind in range(NUM_KINDS):
        counted = frequencies[np.isfinite(frequencies[:, :, kind]).all(axis=1)][:, :, kind]
        name = _KINDS[kind]
        if len(counted):
            raised[name] = round(float((counted[:, 1 + kind] > counted[:, 0]).mean()), 3)
            highest[name] = round(float((counted.argmax(axis=1) == 1 + kind).mean()), 3)
    agree = all(_consistent(values) for values in (z, hand_z)) and both_ways < 1e-3
    return {
        "agree": agree,
        "mean_z2": round(float((z**2).mean()), 3),
        "max_z": round(float(np.abs(z).max()), 2),
        "hand_mean_z2": round(float((hand_z**2).mean()), 3),
        "hand_max_z": round(float(np.abs(hand_z).max()), 2),
        "error_pct": round(100 * float(np.mean([x.error.mean() for x in verdicts])), 2),
        "both_ways": float(f"{both_ways:.1e}"),
        "raised": raised,
        "highest": highest,
        "leaves": len(verdicts),
    }


def draw_case(blueprint: Blueprint, rng: np.random.Generator, from_blueprint: bool) -> Case:
    """Draw a random leaf after which bets are still possible."""
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    stack = min(blueprint.definition.stacks)
    while True:
        node = _random_flop_node(blueprint.tree, rng)
        spent = int(np.clip(walk.faced[node] * rng.uniform(0.7, 1.4), 100, stack))
        root = BettingRoot(1, (spent, spent), stack, blueprint.definition.big_blind)
        tree = build_tree(root, parse_menu_book(MENUS[rng.integers(len(MENUS))]), max_rounds=1)
        leaves = match_leaves(tree, root, walk, node)
        going_on = [leaf for leaf in leaves if leaf.blueprint_node != SHOWDOWN_ONLY]
        if not going_on:
            continue
        leaf = going_on[rng.integers(len(going_on))]
        flop = tuple([int(card) for card in rng.choice(NUM_CARDS, 3, replace=False)])
        ranges = _blueprint_ranges(blueprint, leaf, flop) if from_blueprint else _random_ranges(rng)
        ranges *= unblocked(flop)
        chooser = int(rng.integers(2))
        # Use only hands that are compatible with some hand of the other player.
        met = unblocked_weight(HAND_CARDS.astype(np.int64), ranges[1 - chooser]) * ranges[chooser]
        if met.sum() <= 0:
            continue
        hand = int(rng.choice(NUM_HANDS, p=met / met.sum(dtype=np.float64)))
        return Case(flop, tree, leaf, ranges, chooser, hand, int(rng.integers(1 << 62)))


def compare(blueprint: Blueprint, case: Case, samples: int) -> Verdict:
    """Value a leaf with both methods."""
    values, pairings, both_ways = _exact_values(blueprint, case)
    play_outs, chooser = PlayOuts(blueprint, case.flop), case.chooser
    one_hand = case.ranges.copy()
    one_hand[chooser] = 0
    one_hand[chooser, case.hand] = 1
    sign = 1 if chooser == 0 else -1

    def sample(ranges: F32, key: int) -> list[Sampled]:
        return [
            play_outs.sample(case.leaf, ranges, chooser, bias, samples, case.seed + 8 * key + k)
            for k, bias in enumerate(FOUR_STRATEGIES)
        ]

    found, of_hand = sample(case.ranges, 0), sample(one_hand, 1)
    exact = (values * pairings) @ case.ranges[chooser] / (pairings @ case.ranges[chooser])
    pot = 2 * case.leaf.stake
    return Verdict(
        _z(exact, found, sign),
        _z(values[:, case.hand], of_hand, sign),
        np.array([x.error for x in found]) / pot,
        both_ways / pot,
        np.stack([x.offered for x in found]),
        np.stack([x.taken for x in found]),
    )


def _exact_values(blueprint: Blueprint, case: Case) -> tuple[F64, F64, float]:
    """The chooser's values over all run-outs, the weight each hand faces, and both players' difference.

    Returns float64[4, 1326] chips (0 for hands without opponent), float64[1326] and chips.
    """
    game = one_round_game(case.flop, case.tree, case.ranges)
    rollouts = BlueprintRollouts(FlopEnd(blueprint, game, [case.leaf], case.chooser, wins=None))
    labels, count, num_choices = game.labels, game.num_hands, len(FOUR_STRATEGIES)
    reach = np.zeros((1, 1 + num_choices, game.stride), dtype=np.float32)
    value = np.zeros_like(reach)
    chooser, other = case.ranges[case.chooser], case.ranges[1 - case.chooser]
    reach[0, 0, :count] = other[labels]
    reach[0, 1:, :count] = chooser[labels] / num_choices
    total = np.zeros((num_choices, NUM_HANDS))
    others = 0.0
    for _ in range(_RUN_OUTS):
        rollouts.next_sample()
        rollouts.evaluate(True, reach, value)
        total[:, labels] += value[0, 1:, :count]
        rollouts.evaluate(False, reach, value)
        others += float(value[0, 0, :count] @ other[labels].astype(np.float64))
    total /= _RUN_OUTS
    others /= _RUN_OUTS
    pairings = unblocked_weight(HAND_CARDS.astype(np.int64), other).astype(np.float64)
    pairings[pairings < 1e-6 * other.sum()] = 0
    pairs = float(pairings @ chooser)
    both_ways = abs(float((total @ chooser).mean()) + others) / pairs
    values = np.divide(total, pairings, out=np.zeros_like(total), where=pairings > 0)
    return values, pairings, both_ways


def _z(exact: F64, found: list[Sampled], sign: int) -> F64:
    """(value - estimate) / error; without variance, 0 if both are equal and infinite otherwise."""
    result = np.zeros(len(found))
    for k, sampled in enumerate(found):
        apart = float(exact[k]) - sign * sampled.mean
        noise = max(abs(sampled.mean), 1.0) * 1e-4
        if abs(apart) > noise or sampled.error > noise:
            result[k] = apart / sampled.error if sampled.error > 0 else math.inf
    return result


def _consistent(z: F64) -> bool:
    """Whether values can be standard normal, by mean square and maximum; false alarms 1 in 10,000."""
    spread = 1 + 3.9 * math.sqrt(2 / len(z)) + 10 / len(z)
    return bool((z**2).mean() < spread and np.abs(z).max() < math.sqrt(2 * math.log(1e4 * len(z))))


def _random_flop_node(tree: Tree, rng: np.random.Generator) -> int:
    """The first decision on the flop of a random line."""
    node = 0
    while True:
        if tree.kind[node] == DECISION:
            if tree.round[node] == 1:
                return node
            children = [child for child in tree.children_of(node) if tree.action[child] != FOLD_ACTION]
            node = int(children[rng.integers(len(children))])
        elif tree.kind[node] == CHANCE:
            node = int(tree.children_of(node)[0])
        else:
            node = 0  # all-in before the flop


def _blueprint_ranges(blueprint: Blueprint, leaf: Leaf, flop: Cards) -> F32:
    """float32[2, 1326]: both players' ranges at a leaf by the blueprint's strategy."""
    tree, ranges = blueprint.tree, np.ones((2, NUM_HANDS), dtype=np.float32)
    buckets = (HAND_CLASS.astype(np.int64), blueprint.cards.buckets(flop).astype(np.int64))
    live = unblocked(flop)
    node = leaf.blueprint_node
    while node > 0:
        parent = int(tree.parent[node])
        if tree.action[node] != NO_ACTION:
            row = blueprint.rows(parent)[tree.children_of(parent).tolist().index(node)]
            bucket = np.where(live, buckets[int(tree.round[parent])], 0)
            ranges[tree.player[parent]] *= row[bucket] / np.float32(FULL)
        node = parent
    return ranges


def _random_ranges(rng: np.random.Generator) -> F32:
    """Random weights for a random subset of all hands."""
    weights = rng.uniform(0, 1, (2, NUM_HANDS)) * (rng.uniform(0, 1, (2, NUM_HANDS)) < rng.uniform(0.05, 1))
    return weights.astype(np.float32)
