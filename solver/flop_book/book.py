"""The flop book: flop solutions made in advance, looked up where all bets are in the book's tree.

1. A book is a folder with one file per pre-flop line (`solver.flop_book.file`). It may be incomplete: flops
   that it lacks are solved as without a book.
2. It was solved with the blueprint's ranges on the flop and only answers for these ranges. So it does not
   answer after an off-tree bet for which the agent solved the first round, nor after a decision on the flop
   that was not from the book.
3. It does not answer after an action that no hand takes in it, because no reply has been learned there.
4. Suits are relabelled: a flop and its canonical flop share an entry.
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
from game.hands import NUM_HANDS, unblocked
from numeric.arrays import F32
from numeric.folders import data_home
from solver.blueprint.file import FULL, Blueprint
from solver.decisions.decision import Decision, Method
from solver.decisions.look_up import StrategyTable, look_up
from solver.decisions.settings import DEFAULT_BOOK, AgentSettings
from solver.flop_book.file import SUFFIX, BookError, BookFile, flop_hands, locate, open_book_file
from solver.flop_book.lines import flop_lines, line_text
from solver.games.history import betting_states, step_code
from solver.games.tree import Tree
from solver.resolving.context import Context
from solver.resolving.ranges import NEVER, living_range
from solver.resolving.root import SubgameRoot

_SAME = 2e-3
"""Ranges, scaled to a largest weight of 1, that differ by less are the same: contexts may be rounded."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """The solution of a line on one flop."""

    tree: Tree
    iterations: int
    ranges: F32
    """float32[2, 1326]: ranges at the start of the flop, as solved."""
    table: F32
    """float32[rows, 1326]: strategies on the actual flop (not the canonical one), the rows of one node after
    the other; 0 for blocked hands."""

    def strategy(self, node: int) -> F32:
        """float32[A, 1326]: action probabilities at a decision node of the tree."""
        first = int(self.tree.action_row[node])
        return self.table[first : first + len(self.tree.children_of(node))]


class FlopBook:
    """An open book. Safe to share between threads."""

    def __init__(self, folder: Path, blueprint: Blueprint, menu: str) -> None:
        """Open a book made for this blueprint and menu. Raises if it was made for others or is damaged."""
        paths = sorted(folder.glob(f"[!.]*{SUFFIX}"))
        if not paths:
            raise BookError(f"{folder} holds no flop book: make one with `fathom blueprint flops`")
        lines = {line.text: line for line in flop_lines(blueprint)}
        opened = [open_book_file(path, lines, blueprint, menu) for path in paths]
        self.files: dict[str, BookFile] = {file.line.text: file for file in opened}
        """Files by line."""

    @property
    def identity(self) -> str:
        """Distinguishes books with different lines, entries or iterations."""
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
        ranges = np.stack([living_range(weights, live) for weights in file.line.ranges])
        return Entry(file.tree, file.iterations, ranges, canonical[:, HAND_UNDER[relabelling]])

    def decide(
        self, betting: BettingState, board: Cards, context: Context, root: SubgameRoot
    ) -> Decision | None:
        """The strategy of every hand on the flop, both ranges and the replies; None if not in the book.

        context  from our last decision, or from the end of the first round
        root     root of the decision's subgame
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
        # A context from before the flop does not include the opponent's call yet; the root does.
        is_here = context.text in texts
        place = texts.index(context.text if is_here else root.betting.text)
        known = context.ranges if is_here else root.ranges
        if not _are_same(known, ranges[place], unblocked(board)):
            return None
        table = StrategyTable(entry.tree, entry.strategy, Method.BOOK, entry.iterations)
        return look_up(table, nodes[-1], betting, board, ranges[-1], started)


def book_folder(blueprint: Blueprint, menu: str) -> Path:
    """Default folder of the book of a blueprint and a flop menu."""
    digest = hashlib.sha256(menu.encode()).hexdigest()[:8]
    return data_home() / "flop-books" / f"{blueprint.identity}-{digest}"


def book_menu(settings: AgentSettings) -> str:
    """The menu of books: the largest one, as there is time for it."""
    return settings.flop.rich_menu or settings.flop.menu


def open_book(blueprint: Blueprint, settings: AgentSettings) -> FlopBook | None:
    """The book of the settings; None if they want none, or if they want the default and there is none."""
    if settings.book is None:
        return None
    menu, folder = book_menu(settings), settings.book
    if folder == DEFAULT_BOOK:
        folder = book_folder(blueprint, menu)
        if not any(folder.glob(f"[!.]*{SUFFIX}")):
            return None
    return FlopBook(folder, blueprint, menu)


def _nodes(tree: Tree, states: list[BettingState]) -> list[int] | None:
    """The tree's nodes for the states of a flop; None if a bet is not in the tree."""
    nodes = [0]
    for step in pairwise(states):
        codes, code = tree.actions_of(nodes[-1]), step_code(*step)
        if code not in codes:
            return None
        nodes.append(int(tree.children_of(nodes[-1])[codes.index(code)]))
    return nodes


def _ranges(entry: Entry, states: list[BettingState], nodes: list[int]) -> list[F32] | None:
    """Both ranges at every state of the flop, by Bayes' rule; None after an action that no hand takes."""
    found = [entry.ranges]
    for node, (before, after) in zip(nodes, pairwise(states), strict=False):
        ranges, actor = found[-1].copy(), before.actor
        ranges[actor] *= entry.strategy(node)[entry.tree.actions_of(node).index(step_code(before, after))]
        if ranges[actor].sum() < NEVER * found[-1][actor].sum():
            return None
        found.append(ranges)
    return found


def _are_same(ranges: F32, others: F32, live: np.ndarray) -> bool:
    """Whether two pairs of ranges float32[2, 1326] are the same up to their scale."""
    scaled = [[living_range(weights, live) for weights in pair] for pair in (ranges, others)]
    return bool(np.abs(np.subtract(*np.array(scaled))).max() <= _SAME)
