"""Local best response: a lower bound on what a strategy can lose (Lisý and Bowling, 2017).

"Equilibrium Approximation Quality of Current No-Limit Poker Bots", AAAI workshop on computer poker. LBR knows
the player's strategy and so, by Bayes' rule, his exact range. At each decision it compares its actions under
the assumption that after them both check or call to the end, in chips against folding now:

    fold     0
    call     wp · pot − (1 − wp) · asked
    bet x    fp · pot + (1 − fp) · (wp' · (pot + x) − (1 − wp') · (asked + x))

with asked chips to call, x chips on top; wp the share of the pot LBR wins against the range, fp how much of
the range folds to the bet, wp' the share against what does not fold. It takes the best. Whatever it wins on
average, a best response wins at least as much; against strong players LBR may well lose.

1. Nothing here knows hold'em: hands are indices, `CardRules` says what they win and which cards they hold.
2. LBR decides for all hands it may hold at once: utilities are rows over hands. They are not divided by the
   weight of the range that a hand leaves possible, which is the same factor for all actions of a hand.
3. The player is asked once for each point of the betting on each board: for one who solves, every bet that
   is only considered costs a solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from abstraction.menu import BetLimits, MenuError, Size, SizeKind, parse_menu, raise_targets
from arena.players import StrategySource
from game.actions import CALL, FOLD, LIMIT_RAISE, Action, raise_to
from game.betting import BettingState
from game.cards import Cards
from game.definition import GameDefinition
from solver.layout import F64
from solver.range_strategy import RangeStrategy

Mask = npt.NDArray[np.bool_]

_NUM_SIZES = 56
_LEAST_SIZE, _LARGEST_SIZE = 0.1, 100.0

ACTION_SETS: dict[str, tuple[Size, ...]] = {
    "fc": (),
    "fcpa": parse_menu("100%, a").bets,
    "56bets": (
        *[
            Size(SizeKind.POT, float(fraction))
            for fraction in np.geomspace(_LEAST_SIZE, _LARGEST_SIZE, _NUM_SIZES - 1)
        ],
        Size(SizeKind.ALL_IN),
    ),
}
"""Bets by the paper's names, besides folding and calling. It does not list its 56 sizes: here 55 from a tenth
of the pot to a hundred pots, each 14 % above the last, and all-in."""


class CardRules(Protocol):
    """What LBR needs to know about the cards of a game. Weights are float64[H]."""

    @property
    def definition(self) -> GameDefinition:
        """Betting, deck and public cards."""

    @property
    def num_hands(self) -> int:
        """Hands are 0..num_hands - 1."""

    def unblocked(self, cards: Cards) -> F64:
        """1 for hands that hold none of the cards, 0 for the others."""

    def disjoint_sums(self, weights: F64) -> F64:
        """For each hand, the weight of hands that share no card with it."""

    def showdown_sums(self, weights: F64, board: Cards) -> F64:
        """The same, each weight times the share of the pot won against it, over all boards that may come."""

    def showdown_size(self, size: int) -> int:
        """How many public cards to see before all boards that may come are gone through, for speed."""


@dataclass(frozen=True, slots=True)
class LbrSettings:
    """Which bets LBR considers, and in which rounds; in the others it checks and calls."""

    actions: str = "fcpa"
    """A name in ACTION_SETS, or a menu such as "50%, 100%, a"."""
    first_round: int = 2
    """Counted from 0: 2 is the turn."""
    last_round: int = 3

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Bets, as parts of the pot."""
        if self.actions in ACTION_SETS:
            return ACTION_SETS[self.actions]
        sizes = parse_menu(self.actions).bets
        if any(size.kind in (SizeKind.BET, SizeKind.CHIPS) for size in sizes):
            raise MenuError(f"{self.actions!r}: give bets as parts of the pot (50%), min or a")
        return sizes

    @property
    def rounds(self) -> str:
        """As people count: "3-4"."""
        return f"{self.first_round + 1}-{self.last_round + 1}"


def parse_settings(actions: str, rounds: str, num_rounds: int = 4) -> LbrSettings:
    """Settings from text: actions as in ACTION_SETS or a menu, rounds as "3-4" or "4"."""
    first, _, last = rounds.partition("-")
    last = last or first
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= num_rounds):
        raise ValueError(f"{rounds!r} are no rounds: write 1-{num_rounds}, or e.g. 3-4 to wait for the turn")
    settings = LbrSettings(actions, int(first) - 1, int(last) - 1)
    try:
        _ = settings.sizes
    except MenuError as error:
        names = ", ".join(ACTION_SETS)
        raise ValueError(
            f"actions {actions!r}: give {names}, or bets such as '50%, 100%, a' ({error})"
        ) from None
    return settings


class LocalResponse:
    """LBR against a player whose strategy does not change; remembers what it asked until told to forget."""

    def __init__(self, rules: CardRules, settings: LbrSettings, player: StrategySource) -> None:
        self.rules = rules
        self._settings = settings
        self._sizes = settings.sizes
        self._player = player
        self._strategies: dict[tuple[str, Cards], RangeStrategy] = {}
        self.questions = 0
        """How often the player was asked."""

    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        """What the player does; he is asked if he was not asked before."""
        key = betting.text, board
        found = self._strategies.get(key)
        if found is None:
            self.questions += 1
            found = self._strategies[key] = self._player.strategy(betting, board)
        return found

    def forget(self) -> None:
        """Forget what was asked after the first public cards, which will hardly come again."""
        self._strategies = {key: kept for key, kept in self._strategies.items() if not key[1]}

    def decide(self, betting: BettingState, board: Cards, weights: F64) -> list[tuple[Action, Mask]]:
        """What LBR does against a range: actions, and bool[H] the hands that take them."""
        everybody = np.ones(self.rules.num_hands, dtype=np.bool_)
        if not self._settings.first_round <= betting.round_index <= self._settings.last_round:
            return [(CALL, everybody)]
        actions, rows = self.utilities(betting, board, weights)
        best = rows.argmax(axis=0)  # of equals the first: rather fold or call than bet
        return [(action, best == a) for a, action in enumerate(actions)]

    def utilities(self, betting: BettingState, board: Cards, weights: F64) -> tuple[list[Action], F64]:
        """Actions, and float64[A, H] what each is worth, in chips × weight of the range, against folding."""
        rules, actor, stacks = self.rules, betting.actor, betting.definition.stacks
        pot, asked = _pot(betting), betting.to_call
        total, won = rules.disjoint_sums(weights), rules.showdown_sums(weights, board)
        actions, rows = [CALL], [won * pot - (total - won) * asked]
        if betting.can_fold():
            actions, rows = [FOLD, CALL], [np.zeros(rules.num_hands), *rows]
        for action in self._bets(betting):
            after = betting.apply(action)
            extra = min(after.spent[actor], stacks[1 - actor]) - betting.max_spent
            staying = weights * (1 - self.strategy(after, board).probability(FOLD))
            kept, won = rules.disjoint_sums(staying), rules.showdown_sums(staying, board)
            actions.append(action)
            rows.append((total - kept) * pot + won * (pot + extra) - (kept - won) * (asked + extra))
        return actions, np.stack(rows)

    def _bets(self, betting: BettingState) -> list[Action]:
        bounds = betting.raise_bounds()
        if bounds is None or not self._sizes:
            return []
        if not betting.definition.no_limit:
            return [LIMIT_RAISE]
        limits = BetLimits(
            pot=2 * betting.max_spent,
            max_spent=betting.max_spent,
            round_start=0,
            min_raise_to=betting.min_raise_to,
            stack=bounds[1],
        )
        return [raise_to(target) for target in raise_targets(self._sizes, limits)]


def _pot(betting: BettingState) -> int:
    """Chips that the actor can win by calling, without those the other put in beyond the actor's stack."""
    actor = betting.actor
    return betting.spent[actor] + min(betting.spent[1 - actor], betting.definition.stacks[actor])
