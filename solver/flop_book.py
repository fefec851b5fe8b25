"""The flop book: flops solved long before they come, looked up where all bets are on the book's tree.

1. A book is a folder with a file for each line before the flop (`solver.flop_book_file`). It may hold as few
   flops as it likes: what it does not have is solved, as without a book.
2. It was solved with the ranges that the blueprint brings to the flop, and answers only where the hand has
   come there with them: not after a bet that made the agent solve the first round, nor after a decision on
   the flop that was found otherwise.
3. Nor does it answer what no hand ever does in it: nobody has learned what to do then.
4. Suits are relabelled: a flop and its canonical twin have the same entry.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from abstraction.isomorphism import HAND_UNDER
from game.betting import BettingState
from game.cards import Cards
from game.folders import data_home
from game.hands import NUM_HANDS, unblocked
from solver.agent_settings import DEFAULT_BOOK, AgentSettings
from solver.blueprint import FULL, Blueprint
from solver.decision import Decision, Method
from solver.flop_book_file import SUFFIX, BookError, BookFile, flop_hands, locate, open_book_file
from solver.flop_lines import flop_lines, line_text
from solver.layout import F32
from solver.look_up import look_up
from solver.nested import NEVER, Context, SubgameRoot, betting_states, keep_alive, step_code
from solver.tree import Tree

_SAME = 2e-3
"""Ranges, scaled to a largest weight of 1, that differ by less are the same: contexts may be rounded."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A line on a flop."""

    tree: Tree
    iterations: int
    ranges: F32
    """float32[2, 1326]: at the start of the flop, as solved."""
    table: F32
    """float32[rows, 1326]: strategies of the flop as it lies on the table, a node's rows one after the other;
    0 for hands that it blocks."""

    def strategy(self, node: int) -> F32:
        """float32[A, 1326]: of a decision of the tree."""
        first = int(self.tree.action_row[node])
        return self.table[first : first + len(self.tree.children_of(node))]


class FlopBook:
    """An open book. Safe to share between threads."""

    def __init__(self, folder: Path, blueprint: Blueprint, menu: str) -> None:
        """Open a book that was made for a blueprint with a menu; refuses others, and what is damaged."""
        paths = sorted(folder.glob(f"[!.]*{SUFFIX}"))
        if not paths:
            raise BookError(f"{folder} holds no flop book: make one with `fathom blueprint flops`")
        lines = {line.text: line for line in flop_lines(blueprint)}
        opened = [open_book_file(path, lines, blueprint, menu) for path in paths]
        self.files: dict[str, BookFile] = {file.line.text: file for file in opened}
        """By line."""

    @property
    def identity(self) -> str:
        """Tells apart books of other lines, entries or iterations."""
        made = [(line, file.iterations, file.rows_made()) for line, file in sorted(self.files.items())]
        return hashlib.sha256(repr(made).encode()).hexdigest()[:8]

    def entry(self, line: str, board: Cards) -> Entry | None:
        """Strategies of every decision on a flop after a line such as r300c, or None."""
        file = self.files.get(line)
        if file is None:
            return None
        row, relabelling = locate(board)
        stored = file.entry(row)
        if stored is None:
            return None
        canonical = np.zeros((len(stored), NUM_HANDS), dtype=np.float32)
        canonical[:, flop_hands(row)] = stored / np.float32(FULL)
        live = unblocked(board)
        ranges = np.stack([keep_alive(weights, live) for weights in file.line.ranges])
        return Entry(file.tree, file.iterations, ranges, canonical[:, HAND_UNDER[relabelling]])

    def decide(
        self, betting: BettingState, board: Cards, context: Context, root: SubgameRoot
    ) -> Decision | None:
        """What every hand does on the flop, both ranges, and how often he calls; None: not in the book.

        context  of our last decision, or of the end of the round before the flop
        root     where a solve of the decision would begin
        """
        started = time.monotonic()
        entry = self.entry(line_text(betting), board)
        if entry is None:
            return None
        states = [state for state in betting_states(betting) if state.round_index == betting.round_index]
        nodes = _nodes(entry.tree, states)
        ranges = None if nodes is None else _ranges(entry, states, nodes)
        if nodes is None or ranges is None:
            return None
        texts = [state.text for state in states]
        # A context from before the flop has yet to see the opponent's call: the root has it.
        is_here = context.text in texts
        place = texts.index(context.text if is_here else root.betting.text)
        known = context.ranges if is_here else root.ranges
        if not _are_same(known, ranges[place], unblocked(board)):
            return None
        return look_up(
            betting,
            board,
            entry.tree,
            nodes[-1],
            entry.strategy,
            ranges[-1],
            Method.BOOK,
            started,
            entry.iterations,
        )


def book_folder(blueprint: Blueprint, menu: str) -> Path:
    """Where agents look for the book of a blueprint and a menu of the flop."""
    digest = hashlib.sha256(menu.encode()).hexdigest()[:8]
    return data_home() / "flop-books" / f"{blueprint.identity}-{digest}"


def book_menu(settings: AgentSettings) -> str:
    """What flops of a book are solved with: there is time for the largest menu."""
    return settings.flop.rich_menu or settings.flop.menu


def open_book(blueprint: Blueprint, settings: AgentSettings) -> FlopBook | None:
    """The book that settings ask for; None if they ask for none, or for the usual one and there is none."""
    if settings.book is None:
        return None
    menu, folder = book_menu(settings), settings.book
    if folder == DEFAULT_BOOK:
        folder = book_folder(blueprint, menu)
        if not any(folder.glob(f"[!.]*{SUFFIX}")):
            return None
    return FlopBook(folder, blueprint, menu)


def _nodes(tree: Tree, states: list[BettingState]) -> list[int] | None:
    """The tree's nodes that the states of a flop are at; None if one of the bets is not on it."""
    nodes = [0]
    for step in pairwise(states):
        codes, code = tree.actions_of(nodes[-1]), step_code(*step)
        if code not in codes:
            return None
        nodes.append(int(tree.children_of(nodes[-1])[codes.index(code)]))
    return nodes


def _ranges(entry: Entry, states: list[BettingState], nodes: list[int]) -> list[F32] | None:
    """Both ranges at every state of the flop, by Bayes' rule; None if something was done that nobody does."""
    found = [entry.ranges]
    for node, (before, after) in zip(nodes, pairwise(states), strict=False):
        ranges, actor = found[-1].copy(), before.actor
        ranges[actor] *= entry.strategy(node)[entry.tree.actions_of(node).index(step_code(before, after))]
        if ranges[actor].sum() < NEVER * found[-1][actor].sum():
            return None
        found.append(ranges)
    return found


def _are_same(ranges: F32, others: F32, live: np.ndarray) -> bool:
    """Whether ranges float32[2, 1326] are the same up to their scale."""
    scaled = [[keep_alive(weights, live) for weights in pair] for pair in (ranges, others)]
    return bool(np.abs(np.subtract(*np.array(scaled))).max() <= _SAME)
