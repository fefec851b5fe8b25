"""How good flop strategies are, without luck: what they lose when both sides play exactly afterwards.

Twelve flops in re-raised pots (2,700 each of 20,000: 3.2 pots behind) are solved to the end of the hand. Then
one player's strategy on the flop is replaced by another, and the opponent may respond as well as he can on
the flop, while turn and river stay as solved. The loss is what that wins him beyond the solved game.

loss_pct     % of pot, mean over spots and both players, for the agent with one, two and four continuations
             of the opponent, and for the blueprint itself
worst_pct    of one spot and player, likewise
exact_pct    exploitability of the exact solutions, % of pot, mean
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from abstraction.menu import parse_menu_book
from game.cards import Cards, parse_cards
from game.ranges import parse_range
from solver.blueprint import FULL, Blueprint, open_blueprint
from solver.blueprint_walk import make_walk_tree
from solver.cfr import Solver
from solver.default_blueprint import default_blueprint_path
from solver.depth_limited import DepthLimitedSolver
from solver.engine import RESPOND
from solver.holdem import holdem_game
from solver.layout import F32
from solver.leaf_match import match_leaves
from solver.rollouts import FOUR_STRATEGIES, BlueprintRollouts, one_round_game
from solver.street_solves import SAMPLED_SCHEDULE
from solver.tree import DECISION, BettingRoot, Tree, build_tree

QUICK = ("--spots", "1", "--iterations", "50", "--exact-iterations", "20")

LINE = (300, 900, 2700, 0)
"""Raise, re-raise, re-raise, call."""
ROOT = BettingRoot(1, (2700, 2700), 20_000, 100)
POT = 5400
MENU = "flop: 50%, 100%, a | 100%, a | a; 100%, a | a"
BOARDS = (
    "AsKd7h", "Qh9h4c", "8s7s6d", "KcKd5h", "Js6d2c", "Th9c3s",
    "5d4d3d", "AcQs8c", "7h7d2s", "KhTs4h", "QdJc9s", "6c3h2d",
)  # fmt: skip
RANGES = (
    "TT+,99:0.5,AQs+,AJs:0.5,AKo,AQo:0.5,KQs,KJs:0.3,A5s-A2s:0.7,QJs:0.5,JTs:0.5,T9s:0.3,98s:0.3,76s:0.4",
    "QQ+,JJ:0.7,TT:0.5,99-77:0.5,AK,AQs,AJs-ATs:0.6,AQo:0.4,KQs:0.7,KJs-KTs:0.4,A5s:0.5,QJs,JTs,T9s:0.6,87s:0.4",
)
"""Of the player first to act and of the other: what such pots are played with."""

_CHOICES = {"1": [0], "2": [0, 2], "4": [0, 1, 2, 3]}


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """A spot solved to its end."""

    board: Cards
    solver: Solver
    ranges: F32

    def loss(self, player: int, rows: dict[int, F32]) -> float:
        """What the opponent gains by responding on the flop to other strategies than the solved ones.

        rows  float32[A, H] for each of the player's nodes on the flop
        """
        return self._response(player, self._with(rows)) - self._response(player, self.solver.average)

    def _with(self, rows: dict[int, F32]) -> F32:
        game, table = self.solver.game, self.solver.average.copy()
        for node, strategy in rows.items():
            start = int(game.tree.action_row[node]) * game.stride
            part = table[start : start + len(strategy) * game.stride].reshape(len(strategy), game.stride)
            part[:, : game.num_hands] = strategy
        return table

    def _response(self, player: int, table: F32) -> float:
        game = self.solver.game
        later = (game.tree.round > 0).astype(np.uint8)
        values = self.solver.engine.root_values(table, 1 - player, RESPOND, frozen=later)
        assert values is not None, "nobody stops this evaluation"
        return float(values @ game.ranges[1 - player]) / game.pairings()


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = argparse.ArgumentParser(prog="fathom bench flop", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    parser.add_argument("--blueprint", type=Path, help="default: the one that comes with Fathom")
    parser.add_argument("--spots", type=int, default=len(BOARDS), help="default: %(default)s")
    parser.add_argument("--iterations", type=int, default=500, help="of the agent (default: %(default)s)")
    parser.add_argument("--exact-iterations", type=int, default=150, help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    args = parser.parse_args(argv)
    blueprint = open_blueprint(args.blueprint or default_blueprint_path())
    losses: dict[str, list[float]] = {name: [] for name in (*_CHOICES, "blueprint")}
    exact: list[float] = []
    started = time.perf_counter()
    for text in BOARDS[: args.spots]:
        spot = solve_exactly(tuple(parse_cards(text)), args.exact_iterations, args.threads)
        exact.append(100 * spot.solver.exploitability() / POT)
        for name, found in losses.items():
            for player in range(2):
                if name == "blueprint":
                    rows = blueprint_rows(blueprint, spot, player)
                else:
                    bias = FOUR_STRATEGIES[_CHOICES[name]]
                    rows = agent_rows(blueprint, spot, player, bias, args.iterations, args.threads)
                found.append(100 * spot.loss(player, rows) / POT)
        shown = ", ".join(f"{name} {np.mean(found[-2:]):.2f}" for name, found in losses.items())
        print(f"{text}: {shown} % of pot (exact {exact[-1]:.2f})", file=sys.stderr, flush=True)
    figures = {
        "loss_pct": {name: round(float(np.mean(found)), 3) for name, found in losses.items()},
        "worst_pct": {name: round(float(np.max(found)), 3) for name, found in losses.items()},
        "exact_pct": round(float(np.mean(exact)), 3),
        "spots": args.spots,
        "iterations": args.iterations,
        "seconds": round(time.perf_counter() - started, 1),
    }
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:<12}{value}")
    return 0


def solve_exactly(board: Cards, iterations: int, threads: int) -> Exact:
    """Solve a flop to the end of the hand."""
    ranges = np.stack([parse_range(text) for text in RANGES]).astype(np.float32)
    tree = build_tree(ROOT, parse_menu_book(MENU))
    solver = Solver(holdem_game(board, tree, ranges), threads=threads)
    solver.run(iterations)
    return Exact(board, solver, ranges)


def agent_rows(
    blueprint: Blueprint, spot: Exact, player: int, bias: F32, iterations: int, threads: int
) -> dict[int, F32]:
    """The strategy of the depth-limited solution at a player's nodes, by the exact tree's numbers."""
    tree = build_tree(ROOT, parse_menu_book(MENU), max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    leaves = match_leaves(tree, ROOT, walk, blueprint.tree.find(LINE))
    game = one_round_game(spot.board, tree, spot.ranges)
    values = BlueprintRollouts(blueprint, game, spot.board, leaves, 1 - player, bias, threads=threads)
    solver = DepthLimitedSolver(game, values, 1 - player, SAMPLED_SCHEDULE)
    solver.solve(iterations)
    solution, exact_tree = solver.solution(), spot.solver.game.tree
    return {exact_tree.find(tree.history_of(n)): solution.strategy(n) for n in _own_nodes(tree, player)}


def blueprint_rows(blueprint: Blueprint, spot: Exact, player: int) -> dict[int, F32]:
    """The blueprint's strategy at a player's nodes: its tree has the same bets on the flop."""
    game = spot.solver.game
    buckets = blueprint.cards.buckets(spot.board)[game.labels]
    rows = {}
    for node in _own_nodes(game.tree, player):
        twin = blueprint.tree.find(LINE + game.tree.history_of(node))
        rows[node] = np.asarray(blueprint.rows(twin)[:, buckets] / np.float32(FULL), dtype=np.float32)
    return rows


def _own_nodes(tree: Tree, player: int) -> list[int]:
    own = (tree.kind == DECISION) & (tree.round == 0) & (tree.player == player)
    return [int(node) for node in np.flatnonzero(own)]
