"""Games small enough to be drawn: those of the papers' figures, and one of our own.

How many actions were made is public, and else only what is said to be.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from lab.games.interface import CHANCE, TERMINAL


@dataclass(frozen=True, slots=True)
class Choice:
    """A node that is not terminal; its children are nodes or the utility of player 0."""

    actor: int
    knows: Hashable
    """The information set."""
    after: tuple[Choice | float, ...]
    odds: tuple[float, ...] = ()
    """Probabilities, if chance acts."""
    shown: Hashable = None
    """What both players know, besides the number of actions."""


Drawn = tuple[Choice | float, int]
"""A node and the number of actions before it."""


class DrawnGame:
    """A game given by its first node."""

    def __init__(self, name: str, root: Choice) -> None:
        self.name, self._root = name, root

    def start(self) -> Drawn:
        """The first node."""
        return self._root, 0

    def actor(self, state: Drawn) -> int:
        """Whose turn it is."""
        return _choice(state).actor if isinstance(state[0], Choice) else TERMINAL

    def actions(self, state: Drawn) -> Sequence[int]:
        """The children."""
        return range(len(_choice(state).after))

    def chance(self, state: Drawn) -> Sequence[float]:
        """Probabilities of the children."""
        return _choice(state).odds

    def next(self, state: Drawn, action: int) -> Drawn:
        """A child."""
        return _choice(state).after[action], state[1] + 1

    def private(self, state: Drawn, player: int) -> Hashable:  # noqa: ARG002
        """The information set of who acts."""
        return _choice(state).knows

    def public(self, state: Drawn) -> Hashable:
        """The level, and what is shown."""
        return state[1], _choice(state).shown

    def utility(self, state: Drawn) -> float:
        """Of player 0."""
        assert not isinstance(state[0], Choice), "only terminal nodes have a utility"
        return state[0]


def coin() -> DrawnGame:
    """The game of figure 3 (Milec, Kubicek and Lisy).

    A coin is red or green; player 1 sees it and shows heads or tails; player 0 sees nothing and plays (P)
    or quits (Q, worth 0). The picture's utilities of P follow from the text: heads costs player 0 three on
    average, the worst of them 4; with tails on red it is 3.5 × 2 in the resolving gadget. Not determined:
    which colour costs 4, and that tails on green is worth 8, so that it is worth playing against who shows
    it.
    """
    red = Choice(1, "red", (Choice(0, "us", (-4.0, 0.0)), Choice(0, "us", (-1.0, 0.0))))
    green = Choice(1, "green", (Choice(0, "us", (-2.0, 0.0)), Choice(0, "us", (8.0, 0.0))))
    return DrawnGame("coin", Choice(CHANCE, "deal", (red, green), (0.5, 0.5)))


GAINS = (0.0, 4.0, 7.0, 9.0, 10.0)
"""What the five actions of the games of figure 8 win against the model."""
LOSSES = (0.0, 1.0, 3.0, 6.0, 10.0)
"""What they lose to a best response. All five are corners of the Pareto curve."""


def breaks_max_margin() -> DrawnGame:
    """A game with the property of figure 8, left: max-margin finds two of five actions (our construction).

    Ten private states of player 1, each with a right action and a mistake, which the model makes. What the
    first four actions lose, they lose in one private state; the fifth loses as much, a tenth in each. The
    max-margin gadget, which looks at the worst private state only, takes it to be as safe as the second.
    """
    deals = 10
    nodes = []
    for deal in range(deals):
        # Counterfactual values are a tenth of the utility.
        lost = [-deals * loss if deal == 0 else 0.0 for loss in LOSSES[:4]]
        right = Choice(0, "us", (*lost, -LOSSES[4]))
        nodes.append(Choice(1, deal, (right, Choice(0, "us", GAINS))))
    return DrawnGame("breaks-max-margin", Choice(CHANCE, "deal", tuple(nodes), (1 / deals,) * deals))


def breaks_resolving() -> DrawnGame:
    """A game with the property of figure 8, right: resolving finds two of five actions (our construction).

    Player 1 has five ways to punish and a mistake. Only one way can be taken, but the resolving gadget adds
    up all of them, and the three actions in the middle can be punished in many ways.
    """
    ways = [[-loss for loss in LOSSES], *[[0.0] * 5 for _ in range(4)]]
    for action, number in ((1, 5), (2, 3), (3, 2)):
        for way in range(number):
            ways[way][action] = -LOSSES[action]
    nodes = [Choice(0, "us", tuple(way)) for way in (*ways, list(GAINS))]
    return DrawnGame("breaks-resolving", Choice(1, "start", tuple(nodes)))


def two_boards() -> DrawnGame:
    """A game in which subgames that are each solved on their own way give away too much (our own).

    Player 1 takes 1, or goes on to one of two boards, which both see. There player 0 takes 0, or is greedy:
    then player 1 wins 2, or by mistake loses 1, as the model does. Greed on one board costs nothing,
    because going on is worth 1 then, too. Greed on both costs 1.
    """
    boards = []
    for board in ("left", "right"):
        reply = Choice(1, (board, "greedy"), (-2.0, 1.0), shown=(board, "greedy"))
        boards.append(Choice(0, board, (0.0, reply), shown=board))
    return DrawnGame(
        "two-boards", Choice(1, "start", (-1.0, Choice(CHANCE, "board", tuple(boards), (0.5, 0.5))))
    )


def pennies() -> DrawnGame:
    """Matching pennies with a twist (figure 10): after two tails player 1 may pay 10 instead of 1."""
    tails = Choice(1, "two tails", (10.0, 1.0))
    return DrawnGame(
        "pennies", Choice(0, "us", (Choice(1, "them", (1.0, 0.0)), Choice(1, "them", (0.0, tails))))
    )


def rps_plus() -> DrawnGame:
    """Rock, paper, scissors (Brown, Sandholm and Amos, 2018, "Depth-limited solving", figure 1).

    Games with scissors count twice.
    """
    return DrawnGame("rps-plus", _shapes(((0.0, -1.0, 2.0), (1.0, 0.0, -2.0), (-2.0, 2.0, 0.0))))


def _shapes(payoffs: tuple[tuple[float, ...], ...]) -> Choice:
    return Choice(0, "us", tuple(Choice(1, "them", row) for row in payoffs))


def _choice(state: Drawn) -> Choice:
    assert isinstance(state[0], Choice), "a terminal node has nothing to choose"
    return state[0]
