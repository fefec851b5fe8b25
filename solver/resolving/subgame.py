"""Subgame solving from a node of a solved game: unsafe, safe and Reach.

1. An *unsafe* subgame starts from both players' ranges by Bayes' rule. Its solution is valid only against an
   opponent who reaches the node as the solved strategies say.
2. A *safe* subgame adds a gadget (Burch, Johanson and Bowling, 2014): with each hand the opponent first
   chooses between entering and an alternative payoff. The opponent is dealt every hand of the solved game's
   root, whether or not it reaches the node. If the alternative is the opponent's best response value against
   the solved strategies, then solving the subgame cannot raise what the opponent can win in the whole game.
3. *Reach* subgame solving (Brown and Sandholm, 2017) adds gifts to the alternatives: what each of the
   opponent's actions on the path gave up against their best response. If the subgames after an action are
   worth that much more to the opponent, still no decision node is worth more than before: at each of the
   opponent's nodes the best action plus its gift equals the old best value, and at our nodes and chance nodes
   gifts are only averaged. So adding the sum of all gifts on the path is safe in every subgame at once. Gifts
   are in chips per pair of hands that gets there; counterfactual values multiply them by our reach.
4. Values are counterfactual, as in the engine: chips × our weight, net of half the pot, without the
   probability of the public cards before the subgame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import numpy.typing as npt

from game.errors import RangeError
from game.hands import NUM_HANDS
from numeric.arrays import F32, F64, I64
from solver.exact.cut import cut
from solver.exact.engine import EVALUATE, RESPOND, Engine, make_gadget
from solver.exact.schedules import DEFAULT_SCHEDULE, Schedule
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.holdem import LEAST_WEIGHT, holdem_game
from solver.games.tree import CHANCE, DECISION, Tree

_DUST = 1e-6
"""Share of a range below which sums of float32 weights are rounding errors."""


class Payoff(Enum):
    """How the opponent's alternative payoff is computed."""

    BEST_RESPONSE = RESPOND
    """The opponent's best response to the solved strategy: the guarantee is exact."""
    EXPECTED = EVALUATE
    """The opponent's solved strategy: closer to the true value near equilibrium, but without a guarantee."""


@dataclass(frozen=True, slots=True)
class Subgame:
    """What a solve from a node needs, over the hands of the solved game."""

    board: tuple[int, ...]
    labels: I64
    """int64[H]: number of each hand in the caller's terms."""
    ranges: F32
    """float32[2, H]: weights at the node; in a safe subgame the opponent's are those at the solved root."""
    opponent: int = -1
    """The player who has the gadget's choice, or -1 if there is no gadget (unsafe)."""
    alternative: F32 | None = None
    """float32[H]: the opponent's value of not entering."""

    def holdem_game(self, tree: Tree) -> Game:
        """This subgame with any tree, for instance one with an off-tree action."""
        ranges = np.zeros((2, NUM_HANDS), dtype=np.float32)
        ranges[:, self.labels] = self.ranges
        return holdem_game(self.board, tree, ranges)

    def same_game(self, solution: Solution, node: int, board: int = 0) -> Game:
        """This subgame with the solved game's own tree, so that `put_back` can merge the answer."""
        return replace(cut(solution, node, board).game, ranges=self.ranges)

    def solver(
        self, game: Game, schedule: Schedule = DEFAULT_SCHEDULE, threads: int = 1, forced: float = 0.0
    ) -> Solver:
        """A solver for a game made by `holdem_game` or `same_game`, with the gadget if the subgame is safe.

        forced  share of the opponent's range that enters without a choice
        """
        if self.alternative is None:
            return Solver(game, schedule, threads)
        alternative = self.alternative_of(game)
        return Solver(
            game, schedule, threads, lambda engine: make_gadget(engine, self.opponent, alternative, forced)
        )

    def alternative_of(self, game: Game) -> F32:
        """The alternatives in the hand order of a game made for this subgame."""
        assert self.alternative is not None, "an unsafe subgame has no alternatives"
        return self.alternative[_places(self.labels, game.labels)]


def unsafe_subgame(solution: Solution, node: int, board: int = 0) -> Subgame:
    """The subgame of both ranges as they reach a node under the solved strategies."""
    game = solution.game
    ranges = np.stack([_reach(solution, player, node, board) for player in range(2)])
    return _checked(Subgame(game.board_cards[board], game.labels, ranges), game)


def safe_subgame(
    solution: Solution,
    node: int,
    board: int,
    player: int,
    payoff: Payoff = Payoff.BEST_RESPONSE,
    gifts: F64 | None = None,
) -> Subgame:
    """The subgame in which `player` looks for a strategy that lets the opponent win no more than before.

    gifts  float64[H]: chips to add to the alternatives, per pair of hands; None: the plain resolving gadget

    The opponent's strategy in the answer does not model the opponent; take their range from the solved game.
    """
    game, opponent = solution.game, 1 - player
    possible = ~_blocked(game, board)
    ranges = np.empty((2, game.num_hands), dtype=np.float32)
    ranges[player] = _reach(solution, player, node, board)
    ranges[opponent] = np.where(possible, game.ranges[opponent], 0)
    below = cut(solution, node, board)
    values = Engine(below.game).root_values(below.average, opponent, payoff.value)
    assert values is not None, "this evaluation is never stopped"
    if gifts is not None:
        values = values + (_weight_met(game, ranges[player]) * gifts).astype(np.float32)
    alternative = np.where(possible, values, np.float32(0))
    return _checked(Subgame(game.board_cards[board], game.labels, ranges, opponent, alternative), game)


def reach_subgame(
    solution: Solution,
    node: int,
    board: int,
    player: int,
    payoff: Payoff = Payoff.BEST_RESPONSE,
    engine: Engine | None = None,
) -> Subgame:
    """A safe subgame whose alternatives include what the opponent gave up on the path (rule 3).

    engine  engine of the solved game, to reuse if there is one
    """
    gifts = path_gifts(solution, node, board, 1 - player, payoff, engine)
    return safe_subgame(solution, node, board, player, payoff, gifts)


def path_gifts(
    solution: Solution,
    node: int,
    board: int,
    player: int,
    payoff: Payoff = Payoff.BEST_RESPONSE,
    engine: Engine | None = None,
) -> F64:
    """float64[H]: chips that a player's actions on the path to a node gave up, per pair of hands.

    The gift of an action is the node's value minus the action's, both against the solved strategies. Negative
    gifts, which are possible with `EXPECTED`, count as 0.
    """
    game, tree = solution.game, solution.game.tree
    total = np.zeros(game.num_hands)
    for root, root_board, steps in _rounds_on_path(game, node, board):
        own_steps = [(n, a) for n, a in steps if tree.player[n] == player]
        if not own_steps:
            continue
        below = cut(solution, root, root_board)
        runner = engine if engine is not None and root == 0 else Engine(below.game)
        runner.root_values(below.average, player, payoff.value)
        of_nodes = runner.action_values(player)
        for n, a in own_steps:
            values = of_nodes[n - root].astype(np.float64)
            if payoff is Payoff.BEST_RESPONSE:
                value = values.max(axis=0)
            else:
                value = (values * below.strategy(n - root)).sum(axis=0)
            weight = _weight_met(game, _reach(solution, 1 - player, n, root_board))
            given = np.maximum(value - values[a], 0.0)
            total += np.divide(given, weight, out=np.zeros_like(given), where=weight > 0)
    return total


def margins(subgame: Subgame, solver: Solver) -> F32:
    """float32[H]: how much less the opponent gets by entering, against our answer, than by not entering.

    In counterfactual values. Once a safe subgame is solved, no hand with weight has a negative margin.
    """
    values = solver.engine.root_values(solver.average, subgame.opponent, RESPOND)
    assert values is not None, "this evaluation is never stopped"
    return subgame.alternative_of(solver.game) - values


def put_back(solution: Solution, node: int, answer: Solution, player: int) -> None:
    """Overwrite one player's average strategies below a node with those of a solved subgame.

    solution  modified in place
    answer    solution of a game made by `same_game`
    """
    game, part = solution.game, answer.game
    tree, stride = part.tree, game.stride
    own = [int(n) for n in np.flatnonzero((tree.kind == DECISION) & (tree.player == player))]
    for n in own:
        size = len(tree.children_of(n)) * stride
        for b in part.boards_of_round(int(tree.round[n])):
            there = solution.board_index(part.board_cards[b])
            source = int(part.boards.table[b]) + int(tree.action_row[n]) * stride
            target = int(game.boards.table[there]) + int(game.tree.action_row[node + n]) * stride
            solution.average[target : target + size] = answer.average[source : source + size]


def _blocked(game: Game, board: int) -> npt.NDArray[np.bool_]:
    return np.asarray(game.boards.position[board, : game.num_hands] == game.stride)


def _reach(solution: Solution, player: int, node: int, board: int) -> F32:
    reach = solution.reach(player, node, board)
    return np.where(_blocked(solution.game, board), np.float32(0), reach)


def _weight_met(game: Game, reach: F32) -> F64:
    """float64[H]: weight of a range float32[H] that shares no card with each hand; rounding errors are 0."""
    weight = replace(game, ranges=np.stack([reach, reach])).unblocked_weight(0)
    return np.where(weight > _DUST * reach.sum(), weight, 0.0)


def _checked(subgame: Subgame, game: Game) -> Subgame:
    lost = subgame.ranges.max(axis=1).min() < LEAST_WEIGHT
    if lost or replace(game, ranges=subgame.ranges).pairings() <= 0:
        raise RangeError("no subgame starts here: the solved strategies never reach this node")
    return subgame


def _rounds_on_path(game: Game, node: int, board: int) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """For each round up to a node: its first node, its board, and the (decision, action) steps in it."""
    tree = game.tree
    rounds: list[tuple[int, int, list[tuple[int, int]]]] = []
    steps: list[tuple[int, int]] = []
    while node > 0:
        parent = int(tree.parent[node])
        if tree.kind[parent] == DECISION:
            steps.append((parent, int(np.flatnonzero(tree.children_of(parent) == node)[0])))
        elif tree.kind[parent] == CHANCE:
            rounds.append((node, board, steps))
            board = int(np.searchsorted(game.boards.first_child, board, side="right")) - 1
            steps = []
        node = parent
    return [*rounds, (0, board, steps)]


def _places(labels: I64, wanted: I64) -> I64:
    """Index of each wanted label in `labels`, which may be in any order."""
    order = np.argsort(labels)
    return np.asarray(order[np.searchsorted(labels, wanted, sorter=order)])
