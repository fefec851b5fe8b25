"""The betting tree of a whole hand, from the rules in `game.betting`: any limit or no-limit definition.

It builds the same kind of `Tree` as `solver.games.tree.build_tree` does for hold'em subgames: actions are
fold, call, raises ascending; amounts are chips; chance nodes lie between the rounds and, after an all-in and
a call, follow each other to the showdown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from abstraction.menu import BetLimits, MenuBook, raise_targets
from game.actions import CALL, LIMIT_RAISE, raise_to
from game.betting import BettingState, start
from game.definition import GameDefinition
from solver.games.tree import (
    CALL_ACTION,
    CHANCE,
    DECISION,
    FOLD,
    FOLD_ACTION,
    NO_ACTION,
    SHOWDOWN,
    Tree,
    TreeBuilder,
    TreeError,
)

Extra = Mapping[str, tuple[int, ...]]


def build_hand_tree(
    definition: GameDefinition,
    menus: MenuBook,
    max_nodes: int = 2_000_000,
    extra: Extra | None = None,
    max_rounds: int | None = None,
) -> Tree:
    """Build the tree of a hand from the blinds to its end.

    menus      raises to offer; streets are those of hold'em, seats the positions. Limit games have one size
               and need no menu
    max_nodes  raise `TreeError` if the tree grows larger
    extra      raise-to totals to offer besides the menu, by the betting so far (`BettingState.text`); totals
               that the rules forbid are ignored
    max_rounds cut the tree off after this many rounds: chance nodes at the cut have no children, and their
               `amount` is what each player has put in
    """
    if definition.stacks[0] != definition.stacks[1]:
        raise TreeError(f"a blueprint needs equal stacks, got {definition.stacks}")
    builder = TreeBuilder(max_nodes)
    growth = _Growth(builder, definition, menus, extra or {}, max_rounds or definition.num_rounds)
    growth.decide(start(definition), -1, NO_ACTION, 0)
    return builder.finish()


@dataclass(frozen=True, slots=True)
class _Growth:
    """Constants of the recursion of one build."""

    builder: TreeBuilder
    definition: GameDefinition
    menus: MenuBook
    extra: Extra
    max_rounds: int

    def decide(self, state: BettingState, parent: int, action: int, round_start: int) -> None:
        actor = state.actor
        node = self.builder.add(DECISION, state.round_index, parent, action, player=actor)
        if state.can_fold():
            self.builder.add(
                FOLD, state.round_index, node, FOLD_ACTION, player=actor, amount=float(state.spent[actor])
            )
        self._follow(state, state.apply(CALL), node, CALL_ACTION, round_start)
        for total in self._raises(state, round_start):
            following = state.apply(raise_to(total) if self.definition.no_limit else LIMIT_RAISE)
            self._follow(state, following, node, total, round_start)

    def _follow(
        self, before: BettingState, state: BettingState, parent: int, action: int, round_start: int
    ) -> None:
        """Add what follows an action: a decision, or chance nodes up to the next decision or showdown."""
        for round_index in range(before.round_index, state.round_index):
            if round_index + 1 == self.max_rounds:
                self.builder.add(CHANCE, round_index, parent, action, amount=float(min(state.spent)))
                return
            parent = self.builder.add(CHANCE, round_index, parent, action)
            action = NO_ACTION
        if state.is_showdown:
            stake = float(min(state.spent))
            self.builder.add(SHOWDOWN, state.round_index, parent, action, amount=stake)
        else:
            same_round = state.round_index == before.round_index
            self.decide(state, parent, action, round_start if same_round else state.max_spent)

    def _raises(self, state: BettingState, round_start: int) -> tuple[int, ...]:
        """Raise-to totals, ascending; in limit games only the prescribed one."""
        bounds = state.raise_bounds()
        if bounds is None:
            return ()
        if not self.definition.no_limit:
            return (state.apply(LIMIT_RAISE).max_spent,)
        menu = self.menus.menu(state.round_index, state.actor)
        limits = BetLimits(
            pot=2 * state.max_spent,
            max_spent=state.max_spent,
            round_start=round_start,
            min_raise_to=state.min_raise_to,
            stack=bounds[1],
        )
        totals = set(raise_targets(menu.sizes(state.raises), limits))
        totals |= {total for total in self.extra.get(state.text, ()) if bounds[0] <= total <= bounds[1]}
        return tuple(sorted(totals))
