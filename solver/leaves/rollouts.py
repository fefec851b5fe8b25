"""Leaf values at the end of the flop by rollouts of the blueprint over turn and river, with whole ranges.

1. The chooser continues with the blueprint, or with the blueprint biased tenfold towards folding, calling or
   raising. We continue with the blueprint (Brown, Sandholm and Amos, 2018), or choose in the same way (Brown
   and Sandholm, 2019).
2. Each iteration uses one run-out of turn and river, on which both whole ranges are evaluated exactly (public
   chance sampling; Johanson et al., 2012). Run-outs are drawn without replacement, and every turn card comes
   once before any comes again.
3. Run-outs are drawn from all n, of which q are possible given both hands. So values on a run-out have the
   importance weight n/q, and hands that it blocks get 0.
4. The variance from the run-out is reduced (`solver.leaves.kernels.steady`): the mean showdown value over all
   run-outs is known exactly and serves as a control variate.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from abstraction.buckets import BLOCKED
from game.cards import NUM_CARDS, Cards
from game.hands import HAND_CARDS, unblocked
from numeric.arrays import F32, I32, I64, U8, U32
from solver.blueprint.file import Blueprint
from solver.blueprint.thinning import Thinning, every_action
from solver.exact.kernels.terminal import SHOWDOWNS
from solver.exact.program import CompiledTree, compile_tree
from solver.games.game import Game, compact_hands, make_game
from solver.games.layout import LANES, Program, Scratch, Shape, Step, aligned
from solver.games.rivers import lay_out_rivers, new_rivers
from solver.games.tree import DECISION, FOLD_ACTION, Tree
from solver.leaves.flop_end import FlopEnd
from solver.leaves.kernels.rollout import MAX_ACTIONS, Planes, Playbook, Runout, pack_words, play_out_leaves
from solver.leaves.kernels.steady import TILE, check_down, mean_wins, take_luck_out
from solver.leaves.match import SHOWDOWN_ONLY

BIAS = 10.0
FOUR_STRATEGIES: F32 = np.array([[1, 1, 1], [BIAS, 1, 1], [1, BIAS, 1], [1, 1, BIAS]], dtype=np.float32)
"""Factors on fold, call and raise probabilities: the blueprint, and the blueprint biased towards each."""
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

_LUCK = 1.2
"""Coefficient of the control variate, per chip at stake. It is above 1 because bets follow, and lucky hands
win more of them. On two flops (`fathom bench flop`) 60 and 200 iterations lost 2.7 and 1.6 % of pot without
it, 2.3 and 1.2 with 0.7, 2.1 and 1.0 with 1 or 1.3."""


_RENEWAL_FACTOR = 1.125
"""The control variate's ranges are renewed when the number of passes has grown by this factor."""


class BlueprintRollouts:
    """Leaf values by rollouts. Make one per subgame; not for concurrent calls."""

    def __init__(self, end: FlopEnd, bias: F32 = FOUR_STRATEGIES, both: bool = False) -> None:
        """Prepare the rollouts of a game's leaves.

        bias  float32[K, 3]: continuations, as factors on fold, call and raise probabilities
        both  whether the chooser's opponent chooses, too
        """
        game, leaves = end.game, end.leaves
        self._end, self._both = end, both
        self._shape = Shape(game.stride, game.num_cards, 1)
        left = NUM_CARDS - len(end.flop)
        held = left - _HELD_CARDS
        weight = left * (left - 1) / (held * (held - 1))
        going_on = [i for i, x in enumerate(leaves) if x.blueprint_node != SHOWDOWN_ONLY]
        self._open = np.array(going_on, dtype=np.int64)
        thinning = self._thinning()
        kept = None if thinning is None else thinning.kept
        parts = []
        for i in going_on:
            tree, origin = leaves[i].subtree(end.blueprint.tree, kept)
            parts.append(_Part(i, compile_tree(tree, (weight, weight)), origin))
        self._book = _assemble(end, parts, bias, thinning)
        shut = [i for i, x in enumerate(leaves) if x.blueprint_node == SHOWDOWN_ONLY]
        self._shut = np.zeros(len(leaves), dtype=np.uint8)
        self._shut[shut] = 1
        self._stakes = np.array([leaf.stake for leaf in leaves], dtype=np.float32)
        self._ends = _showdown_lanes(len(leaves), 1 + len(bias), weight)
        self._wins = np.zeros((len(leaves), game.stride), dtype=np.float32)
        """Showdown values of hands on the current run-out."""
        self._controls = (
            None if end.wins is None else [_ControlRanges(len(leaves), game.stride, weight) for _ in range(2)]
        )
        """For the chooser's opponent and for the chooser."""
        self._tiles = None if end.wins is None else _tile(end.wins, game.stride)
        compiled = [part.compiled for part in parts]
        sizes = [x.reach_rows + x.value_rows for x in compiled]
        self._order = self._open[np.argsort(sizes)[::-1]].astype(np.int32)
        rows = [
            max([x.reach_rows for x in compiled], default=1),
            max([x.value_rows for x in compiled], default=1),
        ]
        self._memory = [_new_memory(game, len(bias), *rows) for _ in range(end.threads)]
        self._pool = ThreadPoolExecutor(end.threads - 1, "rollouts") if end.threads > 1 else None
        self._counter = np.zeros(2, dtype=np.int64)
        """Numbers of leaves and tiles that threads have taken so far."""
        self._spread = ((game.hands[:, 1] - game.hands[:, 0]) * NUM_CARDS + game.hands[:, 0]).argsort()
        self._runout = Runout(
            new_rivers(1, game.num_hands, game.stride), np.zeros((2, game.stride), dtype=np.uint16)
        )
        self._cards = run_outs(end.flop, end.seed)
        self._live = np.zeros(game.num_hands, dtype=np.bool_)
        """Hands that the current run-out does not block."""

    @property
    def num_choices(self) -> int:
        """Number of strategies to choose from."""
        return len(self._book.bias)

    @property
    def both_choose(self) -> bool:
        """Whether the chooser's opponent chooses, too."""
        return self._both

    def next_sample(self) -> None:
        """Draw the next run-out."""
        game, runout = self._end.game, self._runout
        board = (*self._end.flop, *next(self._cards))
        lay_out_rivers(
            np.array([board], dtype=np.uint8), game.hands, game.labels, self._spread, runout.boards, 0
        )
        for street, length in enumerate((4, 5)):
            buckets = self._end.blueprint.cards.buckets(board[:length])[game.labels]
            runout.buckets[street, : game.num_hands] = np.where(buckets == BLOCKED, 0, buckets)
        self._live = buckets != BLOCKED

    def evaluate(self, for_chooser: bool, reach: F32, value: F32, step: Step | None = None) -> None:
        """See `depth_limited.solver.LeafValues`."""
        self._counter[:] = 0
        control = None if self._controls is None else self._controls[for_chooser]
        renewed = control is not None and control.renew(reach, always=step is None)

        def work(thread: int) -> None:
            self._value_open(thread, for_chooser, reach, value, step)
            if renewed and control is not None and self._tiles is not None:
                mean_wins(self._tiles, self._counter[1:], control.reach, control.means)

        others = (
            [] if self._pool is None else [self._pool.submit(work, t) for t in range(1, len(self._memory))]
        )
        work(0)
        boards, scratch = self._runout.boards, self._memory[0][1]
        if self._shut.any():
            check_down(self._ends, self._shape, boards, scratch, reach, self._wins)
        if control is not None:
            check_down(control.ends, self._shape, boards, scratch, control.reach, control.wins)
        for other in others:
            other.result()
        first, end = (1, value.shape[1]) if for_chooser or self._both else (0, 1)
        luck, wins, means = (
            (0.0, self._wins, self._wins) if control is None else (_LUCK, control.wins, control.means)
        )
        take_luck_out(self._stakes, self._shut, luck, first, end, wins, means, self._wins, value)

    def _thinning(self) -> Thinning | None:
        """A thinned tree below the leaves, with separate strategies for each leaf.

        None: the whole tree; leaves with the same blueprint node share its strategies.
        """
        return None

    def _value_open(
        self,
        thread: int,
        for_chooser: bool,
        reach: F32,
        value: F32,
        step: Step | None,  # noqa: ARG002
    ) -> None:
        """Value leaves that still have betting, as many as this thread takes."""
        traverser = self._end.chooser if for_chooser else 1 - self._end.chooser
        planes, scratch = self._memory[thread]
        chooses, is_met_by_choices = for_chooser or self._both, not for_chooser or self._both
        play_out_leaves(
            self._order, self._counter, traverser, chooses, is_met_by_choices, self._shape, self._runout,
            self._book, planes, scratch, reach, value,
        )  # fmt: skip


class _ControlRanges:
    """Ranges of the control variate: the opponent's reach at the leaves some iterations ago."""

    def __init__(self, num_leaves: int, stride: int, weight: float) -> None:
        self.ends = _showdown_lanes(num_leaves, 1, weight)
        self.reach = aligned(num_leaves * stride).reshape(num_leaves, 1, stride)
        self.wins = np.zeros((num_leaves, stride), dtype=np.float32)
        self.means = np.zeros((num_leaves, stride), dtype=np.float32)
        """Showdown values against these ranges: `wins` on the current run-out, `means` over all run-outs."""
        self._passes = 0
        self._next = 1.0

    def renew(self, reach: F32, always: bool) -> bool:
        """Take the current ranges if the old ones are too old; return whether that was done.

        reach   float32[L, 1 + K, stride]
        always  for evaluations of strategies other than the current ones
        """
        if not always:
            self._passes += 1
            if self._passes < self._next:
                return False
            self._next = max(_RENEWAL_FACTOR * self._passes, self._passes + 1)
        else:
            if self._next == 0 and np.array_equal(self.reach[:, 0], reach[:, 0]):
                return False  # another sample of the same strategies
            self._next = 0.0  # the next learning pass has other ranges
        self.reach[:, 0] = reach[:, 0]
        return True


def one_round_game(board: Cards, tree: Tree, ranges: F32) -> Game:
    """A game that ends with the round, for a tree made with `max_rounds=1`.

    ranges  float32[2, 1326]: weights of both players' hands; hands that hold a board card are ignored
    """
    labels = compact_hands(ranges, unblocked(board))
    hands = HAND_CARDS[labels].astype(np.int64)
    return make_game(tree, hands, labels, ranges[:, labels], board, lambda _: 0 * labels)


def run_outs(flop: Cards, seed: int) -> Iterator[tuple[int, int]]:
    """Endless run-outs: all pairs of cards in random order, each turn card once per cycle."""
    rng = np.random.default_rng(seed)
    deck = np.array([card for card in range(NUM_CARDS) if card not in flop])
    for _ in count():
        rivers = [rng.permutation(deck[deck != turn]) for turn in deck]
        for round_index in range(len(deck) - 1):
            for i in rng.permutation(len(deck)):
                yield int(deck[i]), int(rivers[i][round_index])


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The blueprint's tree below a leaf."""

    leaf: int
    compiled: CompiledTree
    origin: I64
    """The blueprint's number of each node."""


def _assemble(end: FlopEnd, parts: list[_Part], bias: F32, thinning: Thinning | None) -> Playbook:
    """Join the programs of all leaves into one, renumbering what segments point to.

    With a thinning nodes are numbered leaf by leaf, else they keep the blueprint's numbers.
    """
    blueprint, leaves = end.blueprint, end.leaves
    segments = np.zeros((len(leaves), 2, 3), dtype=np.int32)
    pieces: dict[str, list[Any]] = {name: [] for name in Program._fields}
    begins, num_segments = np.zeros(4, dtype=np.int32), 0
    origin, becomes = np.arange(blueprint.tree.num_nodes), every_action(blueprint.tree)
    if thinning is not None:
        origin, becomes = np.concatenate([[0], *[part.origin for part in parts]]), thinning.becomes
    num_nodes = 1
    for part in parts:
        program, count = part.compiled.program, int(part.compiled.program.round_segments[-1])
        for traverser in range(2):
            first = num_segments + traverser * count
            segments[part.leaf, traverser] = first, first + 1, first + count
        num_segments += 2 * count
        offset = leaves[part.leaf].blueprint_node if thinning is None else num_nodes
        num_nodes += len(part.origin)
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
    words, base = _pack(blueprint, np.union1d(program.down[:, 4], program.up[:, 5]), origin, becomes)
    has_fold = _offers_fold(blueprint.tree)[origin]
    return Playbook(program, segments, words, base, has_fold, np.ascontiguousarray(bias, dtype=np.float32))


def _pack(blueprint: Blueprint, nodes: I32, origin: I64, becomes: U8) -> tuple[U32, I64]:
    """Packed strategy words of some decision nodes, and where each node's words start.

    origin  the blueprint's number of each node
    """
    tree, twins = blueprint.tree, origin[nodes]
    num_actions = np.diff(tree.first_child)[twins]
    if len(nodes) and num_actions.max() > MAX_ACTIONS:
        raise ValueError(
            f"rollouts need a blueprint with at most {MAX_ACTIONS} actions per decision after the flop, "
            f"got {num_actions.max()}"
        )
    num_buckets = np.array(blueprint.num_buckets, dtype=np.int64)[tree.round[twins]]
    width = padded(num_buckets)
    base = np.full(len(origin), -1, dtype=np.int64)
    base[nodes] = np.cumsum(width) - width
    words = np.zeros(int(width.sum()), dtype=np.uint32)
    for node, twin, actions, buckets in zip(
        nodes.tolist(), twins.tolist(), num_actions.tolist(), num_buckets.tolist(), strict=True
    ):
        start = int(blueprint.base[twin])
        pack_words(blueprint.bytes, start, actions, buckets, becomes[twin], words, int(base[node]))
    return words, base


def padded(num_buckets: Any) -> Any:
    """Round a number of buckets, or an array of them, up to a multiple of LANES."""
    return (num_buckets + LANES - 1) // LANES * LANES


def _offers_fold(tree: Tree) -> U8:
    """uint8[N]: 1 for decision nodes whose first action is a fold."""
    first = tree.children[np.minimum(tree.first_child[:-1], len(tree.children) - 1)]
    return np.asarray((tree.kind == DECISION) & (tree.action[first] == FOLD_ACTION), dtype=np.uint8)


def _showdown_lanes(num_leaves: int, rows: int, weight: float) -> Program:
    """A program of showdowns for one chip each, from the first row of every leaf."""
    count = -(-num_leaves // LANES)
    # Lanes beyond the last leaf repeat leaves; they write the same values again.
    lanes = np.resize(np.arange(max(num_leaves, 1), dtype=np.int32), (count, LANES))
    zeros = np.zeros(lanes.shape, dtype=np.float32)
    return _NO_PROGRAM._replace(
        lane_kind=np.tile(np.array([[SHOWDOWNS, 0]], dtype=np.int32), (count, 1)),
        lane_showdown=lanes * rows,
        lane_fold=lanes * rows,
        lane_out=lanes,
        lane_win=np.full(lanes.shape, weight, dtype=np.float32),
        lane_gain=zeros,
        lane_keep=zeros,
    )


def _tile(wins: F32, stride: int) -> F32:
    """float32[stride / TILE, H, TILE] from float32[H, H]: h against j is at [h // TILE, j, h % TILE]."""
    num_hands = len(wins)
    padded_wins = np.zeros((num_hands, stride), dtype=np.float32)
    padded_wins[:, :num_hands] = wins.T
    tiles: F32 = padded_wins.reshape(num_hands, stride // TILE, TILE).transpose(1, 0, 2).copy()
    return tiles


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
