"""Values at the end of the flop: play-outs of the blueprint over turn and river, with whole ranges.

1. The chooser goes on with the blueprint, or with it biased ten times towards folding, calling or raising;
   we go on with the blueprint (Brown, Sandholm and Amos, 2018).
2. Each iteration sees one run-out of turn and river, on which every hand of both ranges is played out exactly
   (public chance sampling; Johanson et al., 2012). Run-outs come without repetition, every turn card once
   before any comes again.
3. A run-out given to q of all n is worth n/q, times its chance given both hands; hands it blocks get 0.
4. All-ins swing by whole stacks, and their showdowns are cheap: they get the mean over many run-outs, of all
   that were dealt so far and of a first one for every turn card.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np

from abstraction.buckets import BLOCKED
from game.cards import NUM_CARDS, Cards
from game.hands import HAND_CARDS, unblocked
from solver.blueprint import Blueprint
from solver.game import Game, compact_hands, make_game
from solver.kernels.rollout import (
    MAX_ACTIONS,
    Planes,
    Playbook,
    Runouts,
    pack_words,
    play_out_leaves,
    show_down,
)
from solver.kernels.terminal import SHOWDOWNS
from solver.layout import F32, I32, I64, LANES, U8, U32, Program, Scratch, Shape, Step, aligned
from solver.leaf_match import SHOWDOWN_ONLY, Leaf
from solver.program import CompiledTree, compile_tree
from solver.rivers import lay_out_rivers, new_rivers
from solver.tree import DECISION, FOLD_ACTION, Tree

BIAS = 10.0
FOUR_STRATEGIES: F32 = np.array([[1, 1, 1], [BIAS, 1, 1], [1, BIAS, 1], [1, 1, BIAS]], dtype=np.float32)
"""Factors of folds, calls and raises: the blueprint, and biased towards each."""
ONE_STRATEGY: F32 = FOUR_STRATEGIES[:1]

_NO_PROGRAM = Program(
    round_segments=np.zeros(0, dtype=np.int32),
    segments=np.zeros((0, 8), dtype=np.int32),
    down=np.zeros((0, 5), dtype=np.int32),
    up=np.zeros((0, 6), dtype=np.int32),
    clear=np.zeros(0, dtype=np.int32),
    lane_kind=np.zeros((0, 2), dtype=np.int32),
    lane_showdown=np.zeros((0, LANES), dtype=np.int32),
    lane_fold=np.zeros((0, LANES), dtype=np.int32),
    lane_out=np.zeros((0, LANES), dtype=np.int32),
    lane_win=np.zeros((0, LANES), dtype=np.float32),
    lane_gain=np.zeros((0, LANES), dtype=np.float32),
    lane_keep=np.zeros((0, LANES), dtype=np.float32),
)
_HELD_CARDS = 4

ALL_IN_RUN_OUTS = 16
"""For the all-ins of each iteration."""
_MOST_KEPT = 1_024
"""Run-outs; older ones are forgotten."""


class BlueprintRollouts:
    """Leaf values by play-outs. Make one per subgame; not for concurrent calls."""

    _apart = False
    """Whether every leaf has strategies of its own, even if the same part of the blueprint stands for two."""

    def __init__(
        self,
        blueprint: Blueprint,
        game: Game,
        flop: Cards,
        leaves: list[Leaf],
        chooser: int,
        bias: F32 = FOUR_STRATEGIES,
        seed: int = 0,
        threads: int = 1,
        all_in_run_outs: int = ALL_IN_RUN_OUTS,
    ) -> None:
        """Play-outs of the leaves of a game.

        all_in_run_outs  to take the mean over where nobody can bet any more; 1: the run-out at hand alone
        """
        self._blueprint, self._game, self._flop, self._chooser = blueprint, game, flop, chooser
        self._shape = Shape(game.stride, game.num_cards, 1)
        left = NUM_CARDS - len(flop)
        held = left - _HELD_CARDS
        weight = left * (left - 1) / (held * (held - 1))
        going_on = [i for i, x in enumerate(leaves) if x.blueprint_node != SHOWDOWN_ONLY]
        self._open = np.array(going_on, dtype=np.int64)
        parts = [compile_tree(leaves[i].subtree(blueprint.tree), (weight, weight)) for i in self._open]
        self._book = _assemble(blueprint, leaves, self._open, parts, bias, self._apart)
        shut = [i for i, x in enumerate(leaves) if x.blueprint_node == SHOWDOWN_ONLY]
        self._shut = np.array(shut, dtype=np.int32)
        self._ends = _showdown_lanes(leaves, shut, 1 + len(bias), weight)
        sizes = [part.reach_rows + part.value_rows for part in parts]
        self._order = self._open[np.argsort(sizes)[::-1]].astype(np.int32)
        rows = [max([x.reach_rows for x in parts], default=1), max([x.value_rows for x in parts], default=1)]
        self._memory = [_new_memory(game, len(bias), *rows) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads - 1, "rollouts") if threads > 1 else None
        self._counter = np.zeros(1, dtype=np.int64)
        self._spread = ((game.hands[:, 1] - game.hands[:, 0]) * NUM_CARDS + game.hands[:, 0]).argsort()
        kept = _MOST_KEPT if all_in_run_outs > 1 else 1
        self._runouts = Runouts(
            new_rivers(kept, game.num_hands, game.stride),
            np.zeros((kept, 2, game.stride), dtype=np.uint16),
        )
        self._sums = aligned(max(len(shut), 1) * game.stride).reshape(-1, game.stride)
        self._cards = run_outs(flop, seed)
        self._dealt = 0
        """Run-outs laid out so far."""
        self._here = 0
        """Where the one at hand lies,"""
        self._live = np.zeros(game.num_hands, dtype=np.bool_)
        """the hands it does not block,"""
        self._chosen = np.zeros(all_in_run_outs, dtype=np.int32)
        """and the places of those for all-ins."""
        if all_in_run_outs > 1 and shut:
            others = run_outs(flop, seed + 1)
            for _ in range(left):
                self._lay_out(next(others))

    @property
    def num_choices(self) -> int:
        """K."""
        return len(self._book.bias)

    def next_sample(self) -> None:
        """Turn to another run-out."""
        cards = next(self._cards)
        self._here = self._lay_out(cards)
        board = (*self._flop, *cards)
        for street, length in enumerate((4, 5)):
            buckets = self._blueprint.cards.buckets(board[:length])[self._game.labels]
            self._runouts.buckets[self._here, street, : self._game.num_hands] = np.where(
                buckets == BLOCKED, 0, buckets
            )
        self._live = buckets != BLOCKED
        count, kept = len(self._chosen), min(self._dealt, len(self._runouts.buckets))
        # A new piece of the circle each time.
        self._chosen[:] = (self._chosen[-1] + 1 + np.arange(count)) % kept if count > 1 else self._here

    def evaluate(self, for_chooser: bool, reach: F32, value: F32, step: Step | None = None) -> None:
        """See `depth_limited.LeafValues`."""
        self._counter[0] = 0

        def work(thread: int) -> None:
            self._value_open(thread, for_chooser, reach, value, step)

        others = (
            [] if self._pool is None else [self._pool.submit(work, t) for t in range(1, len(self._memory))]
        )
        work(0)
        for other in others:
            other.result()
        show_down(
            self._ends, self._shut, for_chooser, self._chosen, self._shape, self._runouts,
            self._memory[0][1], self._sums, reach, value,
        )  # fmt: skip

    def _value_open(
        self,
        thread: int,
        for_chooser: bool,
        reach: F32,
        value: F32,
        step: Step | None,  # noqa: ARG002
    ) -> None:
        """Leaves at which somebody can still bet, as many as a thread gets hold of."""
        traverser = self._chooser if for_chooser else 1 - self._chooser
        planes, scratch = self._memory[thread]
        play_out_leaves(
            self._order, self._counter, traverser, for_chooser, self._here, self._shape, self._runouts,
            self._book, planes, scratch, reach, value,
        )  # fmt: skip

    def _lay_out(self, cards: tuple[int, int]) -> int:
        """Sort the hands of a river and return its place."""
        game, place = self._game, self._dealt % len(self._runouts.buckets)
        board = np.array([(*self._flop, *cards)], dtype=np.uint8)
        lay_out_rivers(board, game.hands, game.labels, self._spread, self._runouts.boards, place)
        self._dealt += 1
        return place


def one_round_game(board: Cards, tree: Tree, ranges: F32) -> Game:
    """A game that ends with the round, for a tree made with `max_rounds=1`.

    ranges  float32[2, 1326]: weights of both players' hands; hands that hold a board card are ignored
    """
    labels = compact_hands(ranges, unblocked(board))
    hands = HAND_CARDS[labels].astype(np.int64)
    return make_game(
        tree, hands, labels, ranges[:, labels], NUM_CARDS, board, range(NUM_CARDS), lambda _: 0 * labels
    )


def run_outs(flop: Cards, seed: int) -> Iterator[tuple[int, int]]:
    """Turn and river again and again: a random order of all pairs, each turn card once per round."""
    rng = np.random.default_rng(seed)
    deck = np.array([card for card in range(NUM_CARDS) if card not in flop])
    for _ in count():
        rivers = [rng.permutation(deck[deck != turn]) for turn in deck]
        for round_index in range(len(deck) - 1):
            for i in rng.permutation(len(deck)):
                yield int(deck[i]), int(rivers[i][round_index])


def _assemble(
    blueprint: Blueprint,
    leaves: list[Leaf],
    chosen: I64,
    parts: list[CompiledTree],
    bias: F32,
    apart: bool,
) -> Playbook:
    """One program for all leaves: what segments point to is numbered through.

    apart  number nodes through, too, leaf by leaf; otherwise they are numbered as in the blueprint
    """
    segments = np.zeros((len(leaves), 2, 3), dtype=np.int32)
    pieces: dict[str, list[Any]] = {name: [] for name in Program._fields}
    begins, num_segments = np.zeros(4, dtype=np.int32), 0
    origin = np.arange(0 if apart else blueprint.tree.num_nodes)
    for i, part in zip(chosen, parts, strict=True):
        program, count = part.program, int(part.program.round_segments[-1])
        for traverser in range(2):
            first = num_segments + traverser * count
            segments[i, traverser] = first, first + 1, first + count
        num_segments += 2 * count
        root = leaves[i].blueprint_node
        offset = len(origin) if apart else root
        if apart:
            size = 1 + max(int(program.down[:, 4].max(initial=0)), int(program.up[:, 5].max(initial=0)))
            origin = np.concatenate([origin, root + np.arange(size)])
        moved = {
            "round_segments": _NO_PROGRAM.round_segments,
            "segments": program.segments + np.repeat(begins, 2),
            "down": program.down + np.array([0, 0, 0, 0, offset], dtype=np.int32),
            "up": program.up + np.array([0, 0, 0, 0, 0, offset], dtype=np.int32),
        }
        for name in Program._fields:
            pieces[name].append(moved.get(name, getattr(program, name)))
        begins += [len(program.down), len(program.lane_kind), len(program.up), len(program.clear)]
    joined = {name: np.concatenate([getattr(_NO_PROGRAM, name), *pieces[name]]) for name in Program._fields}
    program = Program(**joined)
    words, base = _pack(blueprint, np.union1d(program.down[:, 4], program.up[:, 5]), origin)
    has_fold = _offers_fold(blueprint.tree)[origin]
    return Playbook(program, segments, words, base, has_fold, np.ascontiguousarray(bias, dtype=np.float32))


def _pack(blueprint: Blueprint, nodes: I32, origin: I64) -> tuple[U32, I64]:
    """Words of some decision nodes, and where each node's words start.

    origin  the blueprint's number of each node
    """
    tree, twins = blueprint.tree, origin[nodes]
    num_actions = np.diff(tree.first_child)[twins]
    if len(nodes) and num_actions.max() > MAX_ACTIONS:
        raise ValueError(f"play-outs need blueprints of at most {MAX_ACTIONS} actions after the flop")
    num_buckets = np.array(blueprint.num_buckets, dtype=np.int64)[tree.round[twins]]
    width = padded(num_buckets)
    base = np.full(len(origin), -1, dtype=np.int64)
    base[nodes] = np.cumsum(width) - width
    words = np.zeros(int(width.sum()), dtype=np.uint32)
    for node, twin, actions, buckets in zip(
        nodes.tolist(), twins.tolist(), num_actions.tolist(), num_buckets.tolist(), strict=True
    ):
        pack_words(blueprint.bytes, int(blueprint.base[twin]), actions, buckets, words, int(base[node]))
    return words, base


def padded(num_buckets: Any) -> Any:
    """Room for a node's buckets (one number or many): multiples of LANES."""
    return (num_buckets + LANES - 1) // LANES * LANES


def _offers_fold(tree: Tree) -> U8:
    """uint8[N]: 1 for decisions whose first action is a fold."""
    first = tree.children[np.minimum(tree.first_child[:-1], len(tree.children) - 1)]
    return np.asarray((tree.kind == DECISION) & (tree.action[first] == FOLD_ACTION), dtype=np.uint8)


def _showdown_lanes(leaves: list[Leaf], chosen: list[int], rows: int, weight: float) -> Program:
    """Lanes of the leaves that go straight to the showdown: from the first row of a leaf to the same."""
    padded = np.resize(np.array(chosen or [0], dtype=np.int32), -(-len(chosen) // LANES) * LANES)
    lanes = padded.reshape(-1, LANES)
    # Places beyond the last leaf repeat leaves: they write the same values again.
    win = np.array([leaf.stake * weight for leaf in leaves], dtype=np.float32)[lanes]
    zeros = np.zeros(lanes.shape, dtype=np.float32)
    return _NO_PROGRAM._replace(
        lane_kind=np.tile(np.array([[SHOWDOWNS, 0]], dtype=np.int32), (len(lanes), 1)),
        lane_showdown=lanes * rows,
        lane_fold=lanes * rows,
        lane_out=lanes * rows,
        lane_win=win,
        lane_gain=zeros,
        lane_keep=zeros,
    )


def _new_memory(game: Game, num_choices: int, reach_rows: int, value_rows: int) -> tuple[Planes, Scratch]:
    stride, places = game.stride, (game.stride + 1) * LANES
    planes = Planes(
        aligned(num_choices * reach_rows * stride),
        aligned(num_choices * value_rows * stride),
    )
    return planes, Scratch(
        aligned(reach_rows * stride),
        aligned(value_rows * stride),
        aligned(places),
        aligned(places),
        aligned(places),
        aligned((NUM_CARDS + 1) * LANES),
    )
