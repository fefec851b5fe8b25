"""Compiles a tree to the straight-line programs that a pass runs (see `games.layout.Program`).

For a traverser the opponent's nodes only split reach and the traverser's nodes only combine values:

1. A child of the traverser shares its parent's reach row; a child of the opponent gets its own.
2. A child of the opponent shares its parent's value row and adds to it; a child of the traverser gets its
   own. So a fold and a showdown after an opponent's node are one lane, and that node costs nothing on the way
   up.
3. Values of a later round are added to the value row of its chance node. These rows, and rows with several
   contributors, have one first writer, in the order terminals, clears, later rounds, `up`; all others add.
4. The last round is split into segments small enough for the second-level cache, which all use the same
   scratch rows. Earlier rounds are one segment each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from solver.exact.kernels.terminal import FOLDS, MIXED, SHOWDOWNS
from solver.games.layout import LANES, Program
from solver.games.tree import CHANCE, DECISION, FOLD, SHOWDOWN, Tree

SEGMENT_ROWS = 64
"""Maximum scratch rows of a segment of the last round; 64 rows of 1136 floats are 290 kB."""


@dataclass(frozen=True, slots=True)
class CompiledTree:
    """The program, and the size of its scratch."""

    program: Program
    reach_rows: int
    value_rows: int
    leaf_rows: tuple[tuple[tuple[int, int], ...], ...]
    """For each traverser, (reach row, value row) of each chance node of the first round."""


@dataclass(slots=True)
class _Lane:
    showdown: int = 0
    fold: int = 0
    win: float = 0.0
    gain: float = 0.0
    keep: float = 0.0
    out: int = 0
    has_showdown: bool = False
    has_fold: bool = False


@dataclass(slots=True)
class _Segment:
    """Instructions of one segment while they are collected."""

    reach_rows: int
    value_rows: int
    down: list[tuple[int, ...]] = field(default_factory=list)
    up: list[list[int]] = field(default_factory=list)
    lanes: list[_Lane] = field(default_factory=list)
    clear: list[int] = field(default_factory=list)
    leaves: list[tuple[int, int, int]] = field(default_factory=list)
    """(node of the next round, reach row, value row)."""


class _Nodes(NamedTuple):
    """A tree as plain lists, because reading array elements one by one would take most of the time."""

    kind: list[int]
    player: list[int]
    amount: list[float]
    action_row: list[int]
    children: list[list[int]]
    size: list[int]
    """Number of nodes of each subtree, including its root."""


def compile_tree(tree: Tree, chance: tuple[float, ...]) -> CompiledTree:
    """Compile the programs of both traversers.

    chance  float per round: probability of one run-out of public cards up to that round, given the hands
    """
    nodes = _read_nodes(tree)
    parts: list[list[list[_Segment]]] = []
    leaf_rows = []
    reach_rows = value_rows = 1
    for traverser in range(2):
        rounds: list[list[_Segment]] = []
        roots, rows = [(0, 0, 0)], (1, 1)
        for r in range(tree.num_rounds):
            last = r == tree.num_rounds - 1
            packs = _pack(nodes, roots) if last else [roots]
            segments = [_compile_segment(nodes, traverser, pack, rows, r, chance[r]) for pack in packs]
            rounds.append(segments)
            rows = (max(s.reach_rows for s in segments), max(s.value_rows for s in segments))
            if not last:
                roots = segments[0].leaves
            if r == 0:
                leaf_rows.append(tuple([(reach, value) for _, reach, value in segments[0].leaves]))
        reach_rows, value_rows = max(reach_rows, rows[0]), max(value_rows, rows[1])
        parts.append(rounds)
    # One extra value row: unused lanes of a group write there.
    program = _assemble(parts, tree.num_rounds, value_rows)
    return CompiledTree(program, reach_rows, value_rows + 1, tuple(leaf_rows))


def _read_nodes(tree: Tree) -> _Nodes:
    first, children, parent = tree.first_child.tolist(), tree.children.tolist(), tree.parent.tolist()
    size = [1] * tree.num_nodes
    for node in range(tree.num_nodes - 1, 0, -1):
        size[parent[node]] += size[node]
    return _Nodes(
        tree.kind.tolist(),
        tree.player.tolist(),
        tree.amount.tolist(),
        tree.action_row.tolist(),
        [children[first[node] : first[node + 1]] for node in range(tree.num_nodes)],
        size,
    )


def _pack(nodes: _Nodes, roots: list[tuple[int, int, int]]) -> list[list[tuple[int, int, int]]]:
    """Group the roots of the last round into packs of at most SEGMENT_ROWS rows; a larger root is alone."""
    packs: list[list[tuple[int, int, int]]] = []
    room = 0
    for root in sorted(roots, key=lambda root: nodes.size[root[0]], reverse=True):
        size = nodes.size[root[0]]
        if not packs or size > room:
            packs.append([])
            room = SEGMENT_ROWS
        packs[-1].append(root)
        room -= size
    return packs


def _compile_segment(
    nodes: _Nodes,
    traverser: int,
    roots: list[tuple[int, int, int]],
    rows: tuple[int, int],
    round_index: int,
    chance: float,
) -> _Segment:
    segment = _Segment(*rows)
    lane_of_row: dict[int, _Lane] = {}

    def lane(out: int) -> _Lane:
        if out not in lane_of_row:
            lane_of_row[out] = _Lane(out=out)
            segment.lanes.append(lane_of_row[out])
        return lane_of_row[out]

    def walk(node: int, reach: int, value: int) -> None:
        kind, children = nodes.kind[node], nodes.children[node]
        amount = nodes.amount[node] * chance
        if kind == FOLD:
            fold = lane(value)
            assert not fold.has_fold, "two folds share a value row"
            fold.fold, fold.has_fold = reach, True
            fold.gain = -amount if nodes.player[node] == traverser else amount
        elif kind == SHOWDOWN:
            showdown = lane(value)
            assert not showdown.has_showdown, "two showdowns share a value row"
            showdown.showdown, showdown.has_showdown, showdown.win = reach, True, amount
        elif kind == CHANCE:
            # A chance node without children is a leaf of a depth-limited game.
            segment.leaves.append((children[0] if children else node, reach, value))
        elif nodes.player[node] == traverser:
            first = segment.value_rows
            segment.value_rows += len(children)
            for a, child in enumerate(children):
                walk(child, reach, first + a)
            segment.up.append([nodes.action_row[node], len(children), first, value, 0, node])
        else:
            first = segment.reach_rows
            segment.reach_rows += len(children)
            segment.down.append((nodes.action_row[node], len(children), reach, first, node))
            for a, child in enumerate(children):
                walk(child, first + a, value)

    assert nodes.kind[0] == DECISION, "the root must be a decision"
    for node, reach, value in roots:
        walk(node, reach, value)
    # Value rows of a later round's roots belong to the round before, which has cleared them.
    written = {value for _, _, value in roots} if round_index else set()
    for one in segment.lanes:
        one.keep = float(one.out in written)
        written.add(one.out)
    for _, _, value in segment.leaves:
        if value not in written:
            segment.clear.append(value)
            written.add(value)
    for step in segment.up:
        step[4] = int(step[3] in written)
        written.add(step[3])
    return segment


def _group(lanes: list[_Lane]) -> list[list[_Lane]]:
    """Eight to a group; the kinds that need the same work together."""
    both = [lane for lane in lanes if lane.has_showdown and lane.has_fold]
    showdowns = [lane for lane in lanes if lane.has_showdown and not lane.has_fold]
    folds = [lane for lane in lanes if not lane.has_showdown]
    front = both + showdowns
    gap = -len(front) % LANES
    # Spare places beside showdowns take folds only if that saves a group of folds.
    if front and 0 < len(folds) % LANES <= gap:
        spare = len(folds) % LANES
        front, folds = front + folds[:spare], folds[spare:]
    return [part[i : i + LANES] for part in (front, folds) for i in range(0, len(part), LANES)]


def _assemble(parts: list[list[list[_Segment]]], num_rounds: int, spare_row: int) -> Program:
    counts = [len(parts[0][r]) for r in range(num_rounds)]
    assert counts == [len(parts[1][r]) for r in range(num_rounds)], "both traversers cut rounds alike"
    segments: list[tuple[int, ...]] = []
    down: list[tuple[int, ...]] = []
    up: list[list[int]] = []
    clear: list[int] = []
    groups: list[list[_Lane]] = []
    for rounds in parts:
        for segment in (s for part in rounds for s in part):
            begins = (len(down), len(groups), len(up), len(clear))
            down += segment.down
            groups += _group(segment.lanes)
            up += segment.up
            clear += segment.clear
            ends = (len(down), len(groups), len(up), len(clear))
            segments.append(tuple([edge for pair in zip(begins, ends, strict=True) for edge in pair]))
    lanes = np.array(
        [
            [(x.showdown, x.fold, x.out, x.win, x.gain, x.keep) for x in group]
            + [(0, 0, spare_row, 0.0, 0.0, 0.0)] * (LANES - len(group))
            for group in groups
        ]
    ).reshape(len(groups), LANES, 6)
    kinds = [(_kind(group), int(any(lane.keep for lane in group))) for group in groups]
    rows, numbers = lanes[..., :3].astype(np.int32), lanes[..., 3:].astype(np.float32)
    return Program(
        round_segments=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        segments=np.array(segments, dtype=np.int32).reshape(-1, 8),
        down=np.array(down, dtype=np.int32).reshape(-1, 5),
        up=np.array(up, dtype=np.int32).reshape(-1, 6),
        clear=np.array(clear, dtype=np.int32),
        lane_kind=np.array(kinds, dtype=np.int32).reshape(-1, 2),
        lane_showdown=np.ascontiguousarray(rows[..., 0]),
        lane_fold=np.ascontiguousarray(rows[..., 1]),
        lane_out=np.ascontiguousarray(rows[..., 2]),
        lane_win=np.ascontiguousarray(numbers[..., 0]),
        lane_gain=np.ascontiguousarray(numbers[..., 1]),
        lane_keep=np.ascontiguousarray(numbers[..., 2]),
    )


def _kind(group: list[_Lane]) -> int:
    if not any(lane.has_showdown for lane in group):
        return FOLDS
    return MIXED if any(lane.has_fold for lane in group) else SHOWDOWNS
