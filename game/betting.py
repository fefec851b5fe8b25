"""The betting of one hand: who acts, which actions are legal, what each player has put in.

Rules, as the reference ACPC dealer enforces them:

1. A `BettingState` is immutable; `apply` returns the next one.
2. Chips are totals over the hand. Calling is always legal; folding only if there is something to call.
3. A no-limit raise must be at least as large as the last raise of the round, at first the big blind (one chip
   without blinds). A smaller raise is legal only as an all-in, and such an all-in does not lower the minimum
   of the next raise.
4. A raise is not legal when the opponent is all-in, when the round's raises are used up, or as the 64th
   action of a round.
5. A round ends when every player who can still act has matched the bet and had a turn. When at most one
   player can still act, the hand goes straight to the showdown.
"""

from __future__ import annotations

from typing import NamedTuple

from game.actions import FOLD, Action, ActionKind
from game.definition import NUM_PLAYERS, GameDefinition
from game.errors import IllegalAction

MAX_ACTIONS_PER_ROUND = 64
NOBODY = -1

_NOBODY_CAN_ACT = "the hand is over: nobody can act"
_FOLD, _CALL = ActionKind.FOLD, ActionKind.CALL
_new = tuple.__new__  # half the time of calling the named tuple, whose own `__new__` is written in Python


class BettingState(NamedTuple):
    """The betting of a hand so far. Make one with `start`, then `apply` actions.

    A named tuple, because one is made for every action and a frozen dataclass takes five times as long.
    """

    definition: GameDefinition
    round_index: int
    actions: tuple[tuple[Action, ...], ...]
    """Actions of each round so far, the current one last."""
    spent: tuple[int, int]
    """Chips each position has put in over the hand."""
    max_spent: int
    min_raise_to: int
    raises: int
    """Raises made in this round."""
    actor: int
    """Position to act, or NOBODY when the hand is over."""
    folder: int
    """Position that folded, or NOBODY."""
    text: str
    """The betting as the ACPC writes it: `r300c/cr400`."""

    @property
    def is_finished(self) -> bool:
        """Whether the hand is over."""
        return self.actor == NOBODY

    @property
    def is_showdown(self) -> bool:
        """Whether the hand ended in a showdown."""
        return self.actor == NOBODY and self.folder == NOBODY

    @property
    def pot(self) -> int:
        """All chips put in so far."""
        return self.spent[0] + self.spent[1]

    @property
    def to_call(self) -> int:
        """Chips the actor must add to call: no more than the actor has."""
        if self.actor == NOBODY:
            raise IllegalAction(_NOBODY_CAN_ACT)
        return min(self.max_spent, self.definition.stacks[self.actor]) - self.spent[self.actor]

    def raise_bounds(self) -> tuple[int, int] | None:
        """Smallest and largest legal raise-to, or None when no raise is legal. (0, 0) in limit games."""
        if self.raise_refusal() is not None:
            return None
        if not self.definition.no_limit:
            return 0, 0
        stack = self.definition.stacks[self.actor]
        return min(self.min_raise_to, stack), stack

    def raise_refusal(self) -> str | None:
        """Why no raise at all is legal now, or None when one is."""
        definition, actor = self.definition, self.actor
        if actor == NOBODY:
            return "the hand is over"
        if self.raises >= definition.max_raises[self.round_index]:
            return f"the {self.raises} raises of this round are used up"
        if len(self.actions[-1]) + NUM_PLAYERS > MAX_ACTIONS_PER_ROUND:
            return f"a round has at most {MAX_ACTIONS_PER_ROUND} actions and the last must not be a raise"
        if self.spent[1 - actor] >= definition.stacks[1 - actor]:
            return "the opponent is all-in"
        if definition.no_limit and self.max_spent >= definition.stacks[actor]:
            return f"the stack of {definition.stacks[actor]} does not exceed the bet of {self.max_spent}"
        return None

    def verify(self, action: Action) -> None:
        """Raise `IllegalAction` if the action is illegal, with the reason and what would be legal."""
        if self.actor == NOBODY:
            raise IllegalAction(_NOBODY_CAN_ACT)
        kind = action.kind
        if kind is _CALL:
            return
        if kind is _FOLD:
            if self.spent[self.actor] == self.max_spent:
                raise IllegalAction("folding when checking is free is not allowed: check instead")
            return
        reason = self.raise_refusal()
        if reason is not None:
            raise IllegalAction(f"no raise is possible: {reason}; call or fold instead")
        if not self.definition.no_limit:
            if action.raise_to:
                raise IllegalAction(
                    f"the raise of a limit game has a fixed size: leave out the {action.raise_to}"
                )
            return
        stack = self.definition.stacks[self.actor]
        least = min(self.min_raise_to, stack)
        if not least <= action.raise_to <= stack:
            raise IllegalAction(
                f"raise to {action.raise_to} is out of range: raise to {least}..{stack} instead"
            )

    def can(self, action: Action) -> bool:
        """Whether the action is legal."""
        try:
            self.verify(action)
        except IllegalAction:
            return False
        return True

    def can_fold(self) -> bool:
        """Whether folding is legal."""
        return self.can(FOLD)

    def apply(self, action: Action) -> BettingState:
        """The state after a legal action; raises `IllegalAction` as `verify` does."""
        definition, round_index, actions, spent, max_spent, min_raise_to, raises, actor, _, text = self
        kind = action.kind
        if kind is not _CALL or actor == NOBODY:  # any other call is legal
            self.verify(action)
        if kind is _FOLD:
            return self._finish(action, spent, folder=actor)
        stack = definition.stacks[actor]
        if kind is _CALL:
            own = min(max_spent, stack)
            text += "c"
        else:
            if definition.no_limit:
                own = action.raise_to
                min_raise_to = max(min_raise_to, 2 * own - max_spent)
            else:
                own = min(max_spent + definition.raise_sizes[round_index], stack)
            max_spent = own
            raises += 1
            text += str(action)
        other = spent[1 - actor]
        spent = (own, other) if actor == 0 else (other, own)
        if kind is _CALL:
            # Posting a blind is not a turn: the other player had a turn if this round already has an action.
            other_had_turn = bool(actions[-1])
            if other >= definition.stacks[1 - actor] or (own >= stack and other_had_turn):
                return self._finish(action, spent, folder=NOBODY)
            if other_had_turn:
                return self._next_round(action, spent)
        return _new(
            BettingState,
            (
                definition,
                round_index,
                (*actions[:-1], (*actions[-1], action)),
                spent,
                max_spent,
                min_raise_to,
                raises,
                1 - actor,
                NOBODY,
                text,
            ),
        )

    def _next_round(self, action: Action, spent: tuple[int, int]) -> BettingState:
        definition, following = self.definition, self.round_index + 1
        if following == definition.num_rounds:
            return self._finish(action, spent, folder=NOBODY)
        return _new(
            BettingState,
            (
                definition,
                following,
                (*self.actions[:-1], (*self.actions[-1], action), ()),
                spent,
                self.max_spent,
                self.max_spent + max(definition.big_blind, 1),
                0,
                definition.first_player[following],
                NOBODY,
                f"{self.text}{action}/",
            ),
        )

    def _finish(self, action: Action, spent: tuple[int, int], folder: int) -> BettingState:
        # A showdown is always in the last round: skipped rounds are empty.
        last_round = self.round_index if folder != NOBODY else self.definition.num_rounds - 1
        skipped = last_round - self.round_index
        return _new(
            BettingState,
            (
                self.definition,
                last_round,
                (*self.actions[:-1], (*self.actions[-1], action)) + ((),) * skipped,
                spent,
                self.max_spent,
                self.min_raise_to,
                self.raises,
                NOBODY,
                folder,
                self.text + str(action) + "/" * skipped,
            ),
        )


def start(definition: GameDefinition) -> BettingState:
    """The betting of a fresh hand: blinds posted, nobody has acted."""
    first = definition.first_player[0]
    if definition.blinds[first] >= definition.stacks[first]:
        first = 1 - first  # all-in from the blind: nothing left to decide
    return BettingState(
        definition,
        round_index=0,
        actions=((),),
        spent=definition.blinds,
        max_spent=definition.big_blind,
        min_raise_to=max(2 * definition.big_blind, 1),
        raises=0,
        actor=first,
        folder=NOBODY,
        text="",
    )
