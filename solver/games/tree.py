"""The public betting tree as flat arrays.

Nodes are numbered depth-first, parents first. Chip amounts are totals over the hand. Payoffs are net of half
of the dead money in the pot, so the game is zero-sum: a player who folds loses what they have put in, and a
showdown is played for the smaller of both stakes. After an all-in and a call, chance nodes follow each other
up to the showdown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from abstraction.menu import BetLimits, MenuBook, raise_targets
from game.betting import MAX_ACTIONS_PER_ROUND
from numeric.arrays import F64, I32

DECISION, FOLD, SHOWDOWN, CHANCE = range(4)

FOLD_ACTION = -1
CALL_ACTION = 0  # a check when there is nothing to call
NO_ACTION = -2  # leads to the root and to what follows a chance node

RIVER = 3


class TreeError(ValueError):
    """A tree that cannot be built."""


@dataclass(frozen=True, slots=True)
class BettingRoot:
    """Where the betting of a subgame starts. Player 0 acts first after the flop, player 1 has the button."""

    street: int
    """1 flop, 2 turn, 3 river."""
    spent: tuple[int, int]
    """Chips each player has put in over the hand."""
    stack: int
    """The smaller of both stacks at the start of the hand: nobody can lose more."""
    big_blind: int = 1
    dead: float = 0.0
    """Chips in the pot that count towards neither player's total."""
    actor: int = 0
    last_raise: int = 0
    """Size of the last raise of this round, 0 if there was none."""
    opened: bool = False
    """Whether a player has acted in this round before the root."""
    round_start: int | None = None
    """What each player had put in before this round; by default the smaller of `spent`."""
    raises: int = 0
    """Bets and raises of this round before the root; a bet the actor faces counts even if not given here."""


def even_root(street: int, pot: int, behind: int, big_blind: int = 1) -> BettingRoot:
    """The start of a street: a pot built in equal parts, and equal stacks behind."""
    half = pot // 2
    return BettingRoot(street, (half, half), half + behind, big_blind, float(pot - 2 * half))


def root_after(root: BettingRoot, history: tuple[int, ...]) -> BettingRoot:
    """The root of the subgame after some actions from a root; chance nodes are passed."""
    betting = _first_round(root)
    for action in history:
        if action == CALL_ACTION and betting.call_ends_it:
            if root.street + betting.index == RIVER or betting.faced >= root.stack:
                raise TreeError(f"no decision follows {history}: the hand is over")
            betting = betting.next_round(root.big_blind)
        elif action == CALL_ACTION:
            betting = betting.checked()
        elif min(betting.min_raise_to, root.stack) <= action <= root.stack:
            betting = betting.raised(action)
        else:
            raise TreeError(f"action {action} of {history} does not continue the hand from {betting.spent}")
    return replace(
        root,
        street=root.street + betting.index,
        spent=betting.spent,
        actor=betting.actor,
        last_raise=max(0, betting.min_raise_to - max(betting.spent)),
        opened=bool(betting.acted),
        round_start=betting.start,
        raises=betting.raises,
    )


@dataclass(frozen=True, slots=True)
class _Round:
    """The betting of a round so far."""

    index: int
    """Rounds since the root's."""
    actor: int
    spent: tuple[int, int]
    min_raise_to: int
    start: int
    """What each player had put in before the round."""
    acted: int
    """Number of actions."""
    raises: int

    @property
    def faced(self) -> int:
        """What the actor must have put in to call."""
        return self.spent[1 - self.actor]

    @property
    def call_ends_it(self) -> bool:
        """Whether a check or call ends the round."""
        return self.acted > 0 or self.faced > self.spent[self.actor]

    def checked(self) -> _Round:
        called = self.faced, self.faced
        return replace(self, actor=1 - self.actor, spent=called, acted=self.acted + 1)

    def raised(self, total: int) -> _Round:
        spent = (total, self.faced) if self.actor == 0 else (self.faced, total)
        return replace(
            self,
            actor=1 - self.actor,
            spent=spent,
            min_raise_to=max(self.min_raise_to, 2 * total - self.faced),
            acted=self.acted + 1,
            raises=self.raises + 1,
        )

    def next_round(self, big_blind: int) -> _Round:
        stake = self.faced
        return _Round(self.index + 1, 0, (stake, stake), stake + max(big_blind, 1), stake, 0, 0)


def _first_round(root: BettingRoot) -> _Round:
    return _Round(
        0,
        root.actor,
        root.spent,
        min_raise_to=max(root.spent) + max(root.big_blind, root.last_raise, 1),
        start=min(root.spent) if root.round_start is None else root.round_start,
        acted=int(root.opened),
        raises=max(root.raises, int(root.spent[0] != root.spent[1])),
    )


@dataclass(frozen=True, slots=True)
class Tree:
    """Arrays over nodes. Build with `build_tree` or, for other games, `TreeBuilder`."""

    kind: I32
    player: I32
    """int32[N]: the player who decides, or who folded; -1 otherwise."""
    round: I32
    parent: I32
    action: I32
    """int32[N]: action that leads to the node: FOLD_ACTION, CALL_ACTION, a raise-to total, or NO_ACTION."""
    amount: F64
    """float64[N]: chips at stake for each player at a terminal."""
    first_child: I32
    """int32[N + 1]: offsets into `children`."""
    children: I32
    action_row: I32
    """int32[N]: first row of a decision node among its round's rows, -1 otherwise."""
    round_rows: tuple[int, ...]
    """Number of rows (actions of decision nodes) of each round."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes of all kinds."""
        return len(self.kind)

    @property
    def num_rounds(self) -> int:
        """Number of betting rounds, from the root's on."""
        return len(self.round_rows)

    def children_of(self, node: int) -> I32:
        """Children in the order of the actions: fold, call, raises ascending."""
        return self.children[self.first_child[node] : self.first_child[node + 1]]

    def actions_of(self, node: int) -> tuple[int, ...]:
        """Action codes of a decision node."""
        return tuple([int(self.action[child]) for child in self.children_of(node)])

    def find(self, history: tuple[int, ...]) -> int:
        """The node after some actions from the root; chance nodes are passed."""
        node = 0
        for action in history:
            matches = [child for child in self.children_of(node) if self.action[child] == action]
            if not matches:
                raise KeyError(f"no action {action} after {history}: the tree has {self.actions_of(node)}")
            node = int(matches[0])
            while self.kind[node] == CHANCE:
                node = int(self.children_of(node)[0])
        return node

    def history_of(self, node: int) -> tuple[int, ...]:
        """Actions from the root to a node: the inverse of `find`."""
        actions: list[int] = []
        while node > 0:
            if self.action[node] != NO_ACTION:
                actions.append(int(self.action[node]))
            node = int(self.parent[node])
        return tuple(reversed(actions))

    def decision_counts(self) -> tuple[tuple[int, int], ...]:
        """(decision nodes, actions) of each round, counted on one board."""
        decisions = self.round[self.kind == DECISION]
        return tuple([(int((decisions == r).sum()), rows) for r, rows in enumerate(self.round_rows)])


@dataclass(slots=True)
class TreeBuilder:
    """Collects nodes, parents first; `finish` makes the arrays."""

    max_nodes: int = 1_000_000
    nodes: list[tuple[int, int, int, int, int, float]] = field(default_factory=list)

    def add(
        self, kind: int, round_index: int, parent: int, action: int, player: int = -1, amount: float = 0.0
    ) -> int:
        """Append a node and return its number. Children are ordered as they are added."""
        if len(self.nodes) >= self.max_nodes:
            raise TreeError(f"the tree has more than {self.max_nodes} nodes: offer fewer sizes")
        self.nodes.append((kind, player, round_index, parent, action, amount))
        return len(self.nodes) - 1

    def finish(self) -> Tree:
        """The tree of the nodes added so far."""
        kind, player, round_index, parent, action = np.array([n[:5] for n in self.nodes], dtype=np.int32).T
        amount = np.array([n[5] for n in self.nodes])
        num_children = np.bincount(parent[1:], minlength=len(kind))
        first_child = np.concatenate([[0], np.cumsum(num_children)]).astype(np.int32)
        children = (1 + np.argsort(parent[1:], kind="stable")).astype(np.int32)
        action_row = np.full(len(kind), -1, dtype=np.int32)
        rows = [0] * (int(round_index.max()) + 1)
        for n in np.flatnonzero(kind == DECISION):
            action_row[n] = rows[round_index[n]]
            rows[round_index[n]] += int(num_children[n])
        return Tree(
            kind, player, round_index, parent, action, amount, first_child, children, action_row, tuple(rows)
        )


def build_tree(
    root: BettingRoot,
    menus: MenuBook,
    extra: Mapping[tuple[int, ...], tuple[int, ...]] | None = None,
    max_nodes: int = 1_000_000,
    max_rounds: int = RIVER,
) -> Tree:
    """Build the tree of a hold'em subgame to the end of the hand.

    extra      raise-to totals to offer besides the menu, by the history of actions from the root; totals that
               the rules forbid are ignored
    max_nodes  raise `TreeError` if the tree grows larger
    max_rounds cut the tree off after this many rounds: chance nodes at the cut have no children, and their
               `amount` is what each player has put in
    """
    builder = TreeBuilder(max_nodes)
    _Growth(builder, root, menus, extra or {}, max_rounds).grow_root()
    return builder.finish()


@dataclass(slots=True)
class _Growth:
    """Constants of the recursion of one build."""

    builder: TreeBuilder
    root: BettingRoot
    menus: MenuBook
    extra: Mapping[tuple[int, ...], tuple[int, ...]]
    max_rounds: int

    def grow_root(self) -> None:
        self._decide(-1, NO_ACTION, _first_round(self.root), ())

    def _decide(self, parent: int, action: int, betting: _Round, history: tuple[int, ...]) -> None:
        """Add a decision node and what follows it.

        history  actions from the root on
        """
        index, actor = betting.index, betting.actor
        node = self.builder.add(DECISION, index, parent, action, player=actor)
        own = betting.spent[actor]
        if betting.faced > own:
            lost = self.root.dead / 2 + own
            self.builder.add(FOLD, index, node, FOLD_ACTION, player=actor, amount=lost)
        if betting.call_ends_it:
            self._close(node, betting, (*history, CALL_ACTION))
        else:
            self._decide(node, CALL_ACTION, betting.checked(), (*history, CALL_ACTION))
        for total in self._raises(betting, history):
            self._decide(node, total, betting.raised(total), (*history, total))

    def _raises(self, betting: _Round, history: tuple[int, ...]) -> tuple[int, ...]:
        root, faced = self.root, betting.faced
        if faced >= root.stack or betting.acted + 2 > MAX_ACTIONS_PER_ROUND:
            return ()
        menu = self.menus.menu(root.street + betting.index, betting.actor)
        pot = int(2 * faced + root.dead)
        limits = BetLimits(pot, faced, betting.start, betting.min_raise_to, root.stack)
        totals = set(raise_targets(menu.sizes(betting.raises), limits))
        least = min(betting.min_raise_to, root.stack)
        totals |= {total for total in self.extra.get(history, ()) if least <= total <= root.stack}
        return tuple(sorted(totals))

    def _close(self, parent: int, betting: _Round, history: tuple[int, ...]) -> None:
        """Add what follows the call that ends a round: cards, up to the next decision or the showdown."""
        add, root = self.builder.add, self.root
        stake, action = root.dead / 2 + betting.faced, CALL_ACTION
        last_round = RIVER - root.street
        for index in range(betting.index, last_round):
            if index + 1 == self.max_rounds:
                add(CHANCE, index, parent, action, amount=stake)
                return
            parent, action = add(CHANCE, index, parent, action), NO_ACTION
            if betting.faced < root.stack:
                self._decide(parent, action, betting.next_round(root.big_blind), history)
                return
        add(SHOWDOWN, last_round, parent, action, amount=stake)
