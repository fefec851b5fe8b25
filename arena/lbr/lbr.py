"""Local best response: a lower bound on a strategy's exploitability (Lisý and Bowling, 2017).

"Equilibrium Approximation Quality of Current No-Limit Poker Bots", AAAI workshop on computer poker. LBR knows
the player's strategy and so, by Bayes' rule, its exact range. At each decision it compares its actions, in
chips relative to folding now, assuming that both players check or call to the end afterwards:

    fold     0
    call     wp · pot − (1 − wp) · asked
    bet x    fp · pot + (1 − fp) · (wp' · (pot + x) − (1 − wp') · (asked + x))

where `asked` is the amount to call, `x` the chips added on top, `wp` LBR's equity against the range, `fp` the
share of the range that folds to the bet, and `wp'` LBR's equity against the rest. LBR takes the action with
the highest value. A best response wins at least as much as LBR; against strong players LBR may lose.

1. This module does not depend on hold'em: hands are indices, and `CardRules` knows their cards and showdowns.
2. LBR decides for all its hands at once: utilities are rows over hands. They are not divided by the weight of
   the range that a hand leaves possible, which is a common factor of all actions of a hand.
3. The player's strategy is queried once per betting state and board: for a player that re-solves, every bet
   that LBR considers costs a solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from abstraction.menu import BetLimits, MenuError, Size, SizeKind, parse_menu, raise_targets
from arena.players.base import StrategySource
from game.actions import CALL, FOLD, LIMIT_RAISE, Action, raise_to
from game.betting import BettingState
from game.cards import Cards
from game.definition import GameDefinition
from numeric.arrays import F64, Mask
from solver.decisions.range_strategy import RangeStrategy

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
"""The paper's sets of bets, in addition to folding and calling. The paper does not list its 56 sizes; here
they are 55 from a tenth of the pot to a hundred pots, each 14 % above the last, and all-in."""


class CardRules(Protocol):
    """The cards of a game, as LBR needs them. Weights are float64[H]."""

    @property
    def definition(self) -> GameDefinition:
        """The game: betting rules, deck and public cards."""

    @property
    def num_hands(self) -> int:
        """Hands are 0..num_hands - 1."""

    def unblocked(self, cards: Cards) -> F64:
        """1 for hands that hold none of the cards, 0 for the others."""

    def disjoint_sums(self, weights: F64) -> F64:
        """For each hand, the total weight of the hands that share no card with it."""

    def showdown_sums(self, weights: F64, board: Cards) -> F64:
        """As `disjoint_sums`, each weight multiplied by the equity against it, over all run-outs."""

    def showdown_size(self, size: int) -> int:
        """Number of public cards to deal before run-outs are enumerated; dealing more saves time."""


@dataclass(frozen=True, slots=True)
class LbrSettings:
    """Which bets LBR considers and in which rounds; in the other rounds it checks or calls."""

    actions: str = "fcpa"
    """A name in ACTION_SETS, or a menu such as "50%, 100%, a"."""
    first_round: int = 2
    """Counted from 0: 2 is the turn."""
    last_round: int = 3

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Bet sizes, as fractions of the pot."""
        if self.actions in ACTION_SETS:
            return ACTION_SETS[self.actions]
        sizes = parse_menu(self.actions).bets
        if any(size.kind in (SizeKind.BET, SizeKind.CHIPS) for size in sizes):
            raise MenuError(f"{self.actions!r}: write bets as fractions of the pot (50%), min or a")
        return sizes

    @property
    def rounds(self) -> str:
        """The rounds counted from 1, e.g. "3-4" for turn and river."""
        return f"{self.first_round + 1}-{self.last_round + 1}"


def parse_settings(actions: str, rounds: str, num_rounds: int = 4) -> LbrSettings:
    """Parse settings: actions are a name in ACTION_SETS or a menu, rounds are "3-4" or "4"."""
    first, _, last = rounds.partition("-")
    last = last or first
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= num_rounds):
        raise ValueError(
            f"{rounds!r} is not a span of rounds: write 1-{num_rounds}, or e.g. 3-4 for turn and river"
        )
    settings = LbrSettings(actions, int(first) - 1, int(last) - 1)
    try:
        _ = settings.sizes
    except MenuError as error:
        names = ", ".join(ACTION_SETS)
        raise ValueError(
            f"actions {actions!r}: write one of {names}, or bets such as '50%, 100%, a' ({error})"
        ) from None
    return settings


class LocalResponse:
    """LBR against a player with a fixed strategy; remembers the strategies it queried until `forget`."""

    def __init__(self, rules: CardRules, settings: LbrSettings, player: StrategySource) -> None:
        self.rules = rules
        self._settings = settings
        self._sizes = settings.sizes
        self._player = player
        self._strategies: dict[tuple[str, Cards], RangeStrategy] = {}
        self.questions = 0
        """Number of queries to the player."""

    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        """The player's strategy, queried at most once per betting state and board."""
        key = betting.text, board
        found = self._strategies.get(key)
        if found is None:
            self.questions += 1
            found = self._strategies[key] = self._player.strategy(betting, board)
        return found

    def forget(self) -> None:
        """Forget strategies with public cards, since the same board is unlikely to come again."""
        self._strategies = {key: kept for key, kept in self._strategies.items() if not key[1]}

    def decide(self, betting: BettingState, board: Cards, weights: F64) -> list[tuple[Action, Mask]]:
        """LBR's decision against a range: actions, and for each bool[H] of the hands that take it."""
        everybody = np.ones(self.rules.num_hands, dtype=np.bool_)
        if not self._settings.first_round <= betting.round_index <= self._settings.last_round:
            return [(CALL, everybody)]
        actions, rows = self.utilities(betting, board, weights)
        best = rows.argmax(axis=0)  # the first of equals: prefer folding and calling to betting
        return [(action, best == a) for a, action in enumerate(actions)]

    def utilities(self, betting: BettingState, board: Cards, weights: F64) -> tuple[list[Action], F64]:
        """Actions, and float64[A, H] their utilities relative to folding, in chips × weight of the range."""
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
    """Chips the actor can win by calling: the pot, without what exceeds the actor's stack."""
    actor = betting.actor
    return betting.spent[actor] + min(betting.spent[1 - actor], betting.definition.stacks[actor])
