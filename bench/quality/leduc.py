"""Exploitability of the whole agent on Leduc, by the number of strategies the opponent may choose from.

on_tree          chips; the opponent uses only the bets of the blueprint's game
off_tree         chips; the opponent may also bet and raise 3 in the first round, where the blueprint has 2
translation      the same for the blueprint, with off-tree bets translated to the nearest it has
blueprint        exploitability of the blueprint in its own game

The agent's strategy is computed exactly: each of its decisions in the first round is a depth-limited solve
from before the opponent's last action, with ranges by Bayes' rule; after the board card the rest is solved to
the end. All its decisions together are a strategy of the full game. The figure is its exploitability: the
mean over both seats of what a best response wins beyond the value of the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.figures import figure_parser, print_figures
from numeric.arrays import F32
from server.cli.parts.numbers import whole_number
from solver.depth_limited.self_generative import board_values, generate_strategies, mean_over_boards
from solver.depth_limited.solver import DepthLimitedSolver, TableLeaves
from solver.exact.cut import cut_tree
from solver.exact.engine import RESPOND, Engine, make_gadget
from solver.exact.schedules import cfr_plus
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.toys import LimitState, leduc, leduc_strengths, limit_sizes, limit_tree, one_card_game
from solver.games.tree import CALL_ACTION, CHANCE, DECISION, FOLD_ACTION, Tree
from solver.resolving.ranges import LEAST_SHARE

QUICK = ("--strategies", "1,2", "--iterations", "200", "--blueprint", "200")

KNOWN_BETS, ALL_BETS = ((2,), (4,)), ((2, 3), (4,))
MAX_RAISES = 2


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Everything a decision of the agent needs besides the state."""

    known: Game
    """The blueprint's game."""
    real: Game
    player: int
    values: F32
    """float32[L, K, B, H, H]: at the leaves of the known game's first round, by board."""
    iterations: int


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("leduc", __doc__)
    parser.add_argument(
        "--strategies",
        type=_counts,
        default=(1, 2, 4, 8),
        metavar="N,N",
        help="numbers of strategies of the opponent (default: 1,2,4,8)",
    )
    parser.add_argument(
        "--iterations",
        type=whole_number(),
        default=2000,
        help="iterations of each solve (default: %(default)s)",
    )
    parser.add_argument(
        "--blueprint",
        type=whole_number(),
        default=2000,
        help="iterations of the blueprint (default: %(default)s)",
    )
    args = parser.parse_args(argv)
    figures = measure(list(args.strategies), args.iterations, args.blueprint)
    print_figures(figures, args.json)
    return 0


def _counts(text: str) -> tuple[int, ...]:
    read = whole_number()
    return tuple([read(part) for part in text.split(",")])


def measure(counts: list[int], iterations: int, blueprint_iterations: int) -> dict[str, object]:
    """Exploitability in chips, by number of strategies."""
    known, real = leduc(KNOWN_BETS), leduc(ALL_BETS)
    solver = Solver(known)
    solver.run(blueprint_iterations)
    blueprint = solver.average
    values = {"on_tree": game_value(known), "off_tree": game_value(real)}
    on_tree: dict[str, float] = {}
    off_tree: dict[str, float] = {}
    sets = [generate_strategies(known, blueprint, p, max(counts), iterations) for p in range(2)]
    for count in counts:
        for game, name, found in ((known, "on_tree", on_tree), (real, "off_tree", off_tree)):
            tables = []
            for player in range(2):
                leaf_values = board_values(known, blueprint, sets[player][:count], player)
                tables.append(play_everything(Setting(known, game, player, leaf_values, iterations)))
            found[str(count)] = exploitability(game, tables, values[name])
    translated = translate(known, real, blueprint)
    return {
        "on_tree": on_tree,
        "off_tree": off_tree,
        "translation": exploitability(real, [translated, translated], values["off_tree"]),
        "blueprint": exploitability(known, [blueprint, blueprint], values["on_tree"]),
        "iterations": iterations,
        "blueprint_iterations": blueprint_iterations,
    }


def game_value(game: Game) -> float:
    """The value of the game to the first player, in chips."""
    solver = Solver(game)
    solver.run(5_000)
    return solver.quality().values[0]


def exploitability(game: Game, tables: list[F32], value: float) -> float:
    """The mean gain of best responses over the game's value; `tables[p]` holds player p's strategies."""
    engine = Engine(game)
    gains = []
    for player in range(2):
        won = engine.root_values(tables[player], 1 - player, RESPOND)
        assert won is not None, "nobody stops this evaluation"
        fair = value if player == 1 else -value
        gains.append(float(won @ game.ranges[1 - player]) / game.pairings() - fair)
    return round(float(np.mean(gains)), 5)


def play_everything(setting: Setting) -> F32:
    """float32[table size]: the agent's strategy at every decision of the real game, in one seat."""
    table = np.zeros(setting.real.table_size, dtype=np.float32)
    play, start = _Play(setting, table), LimitState()
    ranges = setting.real.ranges.copy()
    if setting.player == start.actor:
        play.our_turn(0, start, start, ranges, None)
    else:
        play.their_turn(0, start, ranges, None, 0)
    return table


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """A solved depth-limited subgame."""

    solution: Solution
    here: int
    """The node of our decision."""
    values: F32
    """float32[L, K, B, H, H]: of its leaves."""

    @property
    def tree(self) -> Tree:
        return self.solution.game.tree

    def alternatives(self, leaf: int, reach: F32) -> F32:
        """float32[B, H]: the chooser's values with each hand on each board after a leaf.

        The chooser continues with its best strategy over all boards against our range float32[H].
        """
        values = self.values[_leaves(self.tree).index(leaf)]
        gets = -np.einsum("kbij,i->kbj", values, reach)
        best = gets.sum(axis=1).argmax(axis=0)
        chosen: F32 = np.take_along_axis(gets, best[None, None, :], axis=0)[0].astype(np.float32)
        return chosen


@dataclass(frozen=True, slots=True, eq=False)
class _Play:
    """Recursion over all public histories of the real game."""

    setting: Setting
    table: F32

    def our_turn(self, node: int, state: LimitState, root: LimitState, ranges: F32, path: int | None) -> None:
        """Make our decision and follow every action with positive probability.

        root, ranges  before the opponent's last action `path`, which is None if we act first
        """
        player, tree = self.setting.player, self.setting.real.tree
        solved = self._solve(node, state, root, ranges, path)
        solution, here = solved.solution, solved.here
        strategy, codes = solution.strategy(here), solved.tree.actions_of(here)
        self._write(node, 0, codes, strategy)
        reached = np.stack([solution.reach(p, here) for p in range(2)])
        for child in tree.children_of(node).tolist():
            action = int(tree.action[child])
            if action == FOLD_ACTION or action not in codes:
                continue
            after = reached.copy()
            after[player] *= strategy[codes.index(action)]
            if after[player].max() <= 0:
                continue
            there = int(solved.tree.children_of(here)[codes.index(action)])
            if tree.kind[child] == CHANCE:
                self._second_round(child, after, solved, there)
            else:
                self.their_turn(child, _step(state, action), after, solved, there)

    def their_turn(
        self, node: int, state: LimitState, ranges: F32, solved: _Solved | None, here: int
    ) -> None:
        """Follow all actions of the opponent; a call continues from node `here` of our last solution."""
        tree = self.setting.real.tree
        for child in tree.children_of(node).tolist():
            action = int(tree.action[child])
            if tree.kind[child] == CHANCE:
                assert solved is not None, "a round is never closed before we have acted"
                called = solved.tree.actions_of(here).index(CALL_ACTION)
                self._second_round(child, ranges, solved, int(solved.tree.children_of(here)[called]))
            elif action != FOLD_ACTION:
                self.our_turn(child, _step(state, action), state, ranges, action)

    def _solve(
        self, node: int, state: LimitState, root: LimitState, ranges: F32, path: int | None
    ) -> _Solved:
        """Solve the depth-limited subgame of a decision."""
        setting, real = self.setting, self.setting.real.tree
        usual = limit_sizes(KNOWN_BETS, MAX_RAISES)
        taken = state.spent[root.actor] - root.spent[1 - root.actor] if path else 0

        def sizes(at: LimitState) -> tuple[int, ...]:
            return tuple(sorted({*usual(at), taken})) if at == root and taken else usual(at)

        tree = limit_tree(root, 2, sizes, max_rounds=1)
        before = _shape(real, node if path is None else int(real.parent[node]))
        known = {_shape(setting.known.tree, leaf): leaf for leaf in _leaves(setting.known.tree)}
        order = list(known.values())
        matrices = []
        for leaf in _leaves(tree):
            twin = known[before + _shape(tree, leaf)]
            ratio = tree.amount[leaf] / _stake(setting.known.tree, twin)
            matrices.append(setting.values[order.index(twin)] * np.float32(ratio))
        values = np.stack(matrices)
        game = one_card_game(tree, 6, lambda _: np.zeros(6, dtype=np.int64), _alive(ranges))
        leaves = TableLeaves(mean_over_boards(setting.known, values))
        solver = DepthLimitedSolver(game, leaves, 1 - setting.player, cfr_plus(2.0))
        solver.solve(setting.iterations)
        return _Solved(solver.solution(), tree.find(() if path is None else (path,)), values)

    def _second_round(self, chance: int, ranges: F32, solved: _Solved, leaf: int) -> None:
        """Solve the second round on every board, safely: the opponent may take its earlier values instead."""
        real, player = self.setting.real, self.setting.player
        first = int(real.tree.children_of(chance)[0])
        tree = cut_tree(real.tree, first)
        alternatives = solved.alternatives(leaf, ranges[player])
        for number, board in enumerate(real.boards_of_round(1)):
            cards = real.board_cards[board]
            weights = np.ones_like(ranges)
            weights[player] = ranges[player]
            weights[:, cards[0]] = 0
            gadget = partial(make_gadget, player=1 - player, alternative=alternatives[number])
            solver = Solver(one_card_game(tree, 6, leduc_strengths, weights, cards), gadget=gadget)
            solver.run(self.setting.iterations)
            for node in np.flatnonzero((tree.kind == DECISION) & (tree.player == player)):
                strategy = solver.solution().strategy(int(node))
                self._write(first + int(node), board, tree.actions_of(int(node)), strategy)

    def _write(self, node: int, board: int, codes: tuple[int, ...], strategy: F32) -> None:
        """Write a strategy into the table; actions the agent does not consider get probability 0."""
        game = self.setting.real
        start = int(game.boards.table[board]) + int(game.tree.action_row[node]) * game.stride
        for row, action in enumerate(game.tree.actions_of(node)):
            at = start + row * game.stride
            if action in codes:
                self.table[at : at + game.num_hands] = strategy[codes.index(action)]


def translate(known: Game, real: Game, blueprint: F32) -> F32:
    """The blueprint in the real game: every raise is translated to the one it has."""
    table = np.zeros(real.table_size, dtype=np.float32)
    nodes = {_shape(known.tree, n): n for n in np.flatnonzero(known.tree.kind == DECISION).tolist()}
    solution = Solution(known, blueprint, 0)
    for node in np.flatnonzero(real.tree.kind == DECISION).tolist():
        twin = nodes[_shape(real.tree, node)]
        kinds = [_letter(code) for code in known.tree.actions_of(twin)]
        for board in real.boards_of_round(int(real.tree.round[node])):
            strategy = solution.strategy(twin, board)
            start = int(real.boards.table[board]) + int(real.tree.action_row[node]) * real.stride
            seen: set[str] = set()
            for row, code in enumerate(real.tree.actions_of(node)):
                letter = _letter(code)
                if letter not in seen:  # of several sizes it uses the first, the one it has
                    at = start + row * real.stride
                    table[at : at + real.num_hands] = strategy[kinds.index(letter)]
                seen.add(letter)
    return table


def _step(state: LimitState, action: int) -> LimitState:
    if action == CALL_ACTION:
        called = state.call()
        assert called is not None, "the round goes on"
        return called
    return state.raise_by(action - state.spent[1 - state.actor])


def _shape(tree: Tree, node: int) -> str:
    """The betting up to a node without its sizes: `rc/cr`."""
    letters: list[str] = []
    while node > 0:
        parent = int(tree.parent[node])
        letters.append("/" if tree.kind[parent] == CHANCE else _letter(int(tree.action[node])))
        node = parent
    return "".join(reversed(letters))


def _letter(code: int) -> str:
    return "f" if code == FOLD_ACTION else "c" if code == CALL_ACTION else "r"


def _leaves(tree: Tree) -> list[int]:
    return [int(node) for node in np.flatnonzero((tree.kind == CHANCE) & (tree.round == 0))]


def _stake(tree: Tree, node: int) -> float:
    """Chips each player has put in at a leaf of the first round."""
    while node > 0:
        if tree.action[node] > CALL_ACTION:
            return float(tree.action[node])
        node = int(tree.parent[node])
    return 1.0


def _alive(ranges: F32) -> F32:
    """Make sure that no range is empty: see `solver.resolving.ranges`."""
    largest = np.maximum(ranges.max(axis=1, keepdims=True), 1e-30)
    alive: F32 = np.maximum(ranges / largest, LEAST_SHARE).astype(np.float32)
    return alive
