"""Quality of flop strategies, without sampling noise: their losses when later rounds are played exactly.

Twelve flops in re-raised pots (2,700 each of 20,000: 3.2 pots behind) are solved to the end of the hand. Then
one player's strategy on the flop is replaced by another.

loss_pct            % of pot, mean over spots and both players: the player's flop strategy is fixed, the rest
                    of the game (the opponent's flop, both sides' turn and river) is solved again starting
                    from the exact solution, and the loss is the decrease of the player's value. Measured for
                    the agent with one, two and four continuations that both players choose from, adapted to
                    the ranges in a third as many iterations before; with those of the blueprint unchanged
                    ("rollouts"), also with four for the opponent only ("paper"); with learned leaves (and
                    with the value network); and for the blueprint itself
worst_pct           the largest loss_pct of a spot and player
against_exact_pct   loss against an opponent who keeps playing the exact solution and so does not exploit the
                    player's mistakes
itself_pct          loss_pct of the exact solution's own flop strategy: 0 if it were exact
settled_pct         mean exploitability of the re-solved games: the possible error of loss_pct
exact_pct           mean exploitability of the exact solutions
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np

from abstraction.menu import parse_menu_book
from bench.figures import figure_parser, print_figures
from game.cards import Cards, cards_text, parse_cards
from game.ranges import parse_range
from numeric.arrays import F32
from server.cli.parts.numbers import whole_number
from solver.agent.leaf_values import ADAPTING, LeafMethod
from solver.blueprint.default import default_blueprint_path
from solver.blueprint.file import FULL, Blueprint, open_blueprint
from solver.blueprint.walk import make_walk_tree
from solver.decisions.range_strategy import drop_rare
from solver.decisions.settings import ADAPTED, CHOICES, LEARNED, NET, ROLLOUTS, AgentSettings
from solver.depth_limited.solver import SAMPLED_SCHEDULE, DepthLimitedSolver
from solver.equity.all_in import flop_wins
from solver.exact.archive import load, save
from solver.exact.engine import EVALUATE
from solver.exact.exploitability import player_value
from solver.exact.solver import Solver
from solver.games.spot import Spot
from solver.games.tree import DECISION, BettingRoot, Tree, build_tree
from solver.leaves.flop_end import FlopEnd
from solver.leaves.match import match_leaves
from solver.leaves.rollouts import FOUR_STRATEGIES, ONE_STRATEGY, one_round_game
from solver.leaves.value_net import load_net, net_path

QUICK = ("--spots", "1", "--iterations", "50", "--exact-iterations", "20", "--settling-iterations", "5")

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
"""Typical ranges in such pots, of the player first to act and of the other."""

_VARIANTS = {
    **{str(count): LeafMethod(ADAPTED, FOUR_STRATEGIES[CHOICES[count]]) for count in CHOICES},
    **{f"rollouts {count}": LeafMethod(ROLLOUTS, FOUR_STRATEGIES[CHOICES[count]]) for count in CHOICES},
    "paper": LeafMethod(ROLLOUTS, FOUR_STRATEGIES, both=False),
    "learned": LeafMethod(LEARNED, ONE_STRATEGY),
}

_SETTLING = 40
"""Iterations of the rest of the game around a fixed strategy; the start, the exact solution, is close."""


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """The losses of a flop strategy, in chips."""

    settled: float
    """Loss when the rest of the game is solved again around it."""
    against_exact: float
    """Loss when the opponent keeps playing the exact solution."""
    doubt: float
    """Exploitability of the re-solved game."""


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """A spot solved to the end of the hand."""

    board: Cards
    solver: Solver
    ranges: F32

    def loss(self, player: int, rows: dict[int, F32], iterations: int = _SETTLING) -> Loss:
        """The losses of a player with other flop strategies than the solved ones.

        rows  float32[A, H] for each of the player's nodes on the flop
        """
        exact = self.solver
        engine = exact.engine
        value = player_value(engine, exact.average, player, EVALUATE)
        alone = player_value(engine, self._with(rows), player, EVALUATE)
        held = Solver(exact.game, exact.schedule, engine.threads)
        held.regret[:] = exact.regret
        # Start counting at half of the iterations: later iterations weigh more in the average, which is new.
        held.iterations = exact.iterations // 2
        for node, strategy in rows.items():
            held.lock(node, strategy)
        held.run(iterations)
        settled = player_value(held.engine, held.average, player, EVALUATE)
        return Loss(value - settled, value - alone, held.exploitability())

    def rows(self, player: int) -> dict[int, F32]:
        """The solved strategy at the player's nodes on the flop."""
        solution = self.solver.solution()
        return {node: solution.strategy(node) for node in _own_nodes(self.solver.game.tree, player)}

    def _with(self, rows: dict[int, F32]) -> F32:
        game, table = self.solver.game, self.solver.average.copy()
        for node, strategy in rows.items():
            start = int(game.tree.action_row[node]) * game.stride
            part = table[start : start + len(strategy) * game.stride].reshape(len(strategy), game.stride)
            part[:, : game.num_hands] = strategy
        return table


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("flop", __doc__)
    parser.add_argument("--blueprint", type=Path, help="blueprint file (default: the default blueprint)")
    parser.add_argument(
        "--spots", type=whole_number(), default=len(BOARDS), help="number of spots (default: %(default)s)"
    )
    parser.add_argument(
        "--iterations",
        type=whole_number(),
        default=1000,
        help="iterations of the agent (default: %(default)s)",
    )
    parser.add_argument(
        "--exact-iterations",
        type=whole_number(),
        default=150,
        help="iterations of the exact solutions (default: %(default)s)",
    )
    parser.add_argument(
        "--settling-iterations",
        type=int,
        default=_SETTLING,
        help="iterations of the rest of the game around a fixed strategy (default: %(default)s)",
    )
    parser.add_argument("--threads", type=whole_number(), default=2, help="threads (default: %(default)s)")
    parser.add_argument(
        "--net",
        action="store_true",
        help="also measure the agent with the blueprint's value network",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="folder to cache exact solutions in, about 350 MB each",
    )
    args = parser.parse_args(argv)
    blueprint = open_blueprint(args.blueprint or default_blueprint_path())
    variants = dict(_VARIANTS)
    if args.net:
        variants["net"] = LeafMethod(NET, FOUR_STRATEGIES, net=load_net(net_path(blueprint)))
    names = (*variants, "blueprint", "itself")
    losses: dict[str, list[Loss]] = {name: [] for name in names}
    exact: list[float] = []
    started = time.perf_counter()
    for text in BOARDS[: args.spots]:
        spot = solve_exactly(tuple(parse_cards(text)), args.exact_iterations, args.threads, args.cache)
        exact.append(_percent(spot.solver.exploitability()))
        for name, found in losses.items():
            for player in range(2):
                if name == "blueprint":
                    rows = blueprint_rows(blueprint, spot, player)
                elif name == "itself":
                    rows = spot.rows(player)
                else:
                    method = variants[name]
                    rows = agent_rows(blueprint, spot, player, method, args.iterations, args.threads)
                found.append(spot.loss(player, rows, args.settling_iterations))
        shown = ", ".join(f"{n} {_percent(np.mean([x.settled for x in f[-2:]]))}" for n, f in losses.items())
        print(f"{text}: {shown} % of pot (exact {exact[-1]})", file=sys.stderr, flush=True)
    itself = losses.pop("itself")
    figures = {
        "loss_pct": {n: _percent(np.mean([x.settled for x in f])) for n, f in losses.items()},
        "worst_pct": {n: _percent(np.max([x.settled for x in f])) for n, f in losses.items()},
        "against_exact_pct": {n: _percent(np.mean([x.against_exact for x in f])) for n, f in losses.items()},
        "itself_pct": _percent(np.mean([x.settled for x in itself])),
        "settled_pct": _percent(np.mean([x.doubt for f in losses.values() for x in f])),
        "exact_pct": round(float(np.mean(exact)), 3),
        "spots": len(exact),
        "iterations": args.iterations,
        "blueprint": blueprint.identity,
        "seconds": round(time.perf_counter() - started, 1),
    }
    print_figures(figures, args.json)
    return 0


def solve_exactly(board: Cards, iterations: int, threads: int, cache: Path | None = None) -> Exact:
    """Solve a flop to the end of the hand, or load the solution from the cache."""
    ranges = np.stack([parse_range(text) for text in RANGES]).astype(np.float32)
    spot = Spot(board, ROOT, MENU, ranges)
    kept = None if cache is None else cache / f"flop-{cards_text(board)}-{iterations}.solve"
    if kept is not None and kept.exists():
        archive = load(kept)
        known = archive.spot
        if (known.root, known.menu) == (ROOT, MENU) and np.array_equal(known.ranges, ranges):
            return Exact(board, archive.solver(threads), ranges)
    solver = Solver(spot.game(), threads=threads)
    solver.run(iterations)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        save(kept, spot, solver)
    return Exact(board, solver, ranges)


def agent_rows(
    blueprint: Blueprint, spot: Exact, player: int, method: LeafMethod, iterations: int, threads: int
) -> dict[int, F32]:
    """The depth-limited solution's strategy at a player's nodes, with the exact tree's node numbers."""
    tree = build_tree(ROOT, parse_menu_book(MENU), max_rounds=1)
    walk = make_walk_tree(blueprint.tree, blueprint.definition)
    leaves = match_leaves(tree, ROOT, walk, blueprint.tree.find(LINE))
    game = one_round_game(spot.board, tree, spot.ranges)
    wins = flop_wins(spot.board, game.labels, threads)
    end = FlopEnd(blueprint, game, leaves, 1 - player, wins, threads=threads)
    values = method.values(end, lambda adapting: adapting.solve(ceil(ADAPTING * iterations)))
    solver = DepthLimitedSolver(game, values, 1 - player, SAMPLED_SCHEDULE)
    solver.solve(iterations)
    solution, exact_tree = solver.solution(), spot.solver.game.tree
    rare = AgentSettings().flop.rare
    return {
        exact_tree.find(tree.history_of(n)): drop_rare(solution.strategy(n), rare)
        for n in _own_nodes(tree, player)
    }


def blueprint_rows(blueprint: Blueprint, spot: Exact, player: int) -> dict[int, F32]:
    """The blueprint's strategy at a player's nodes; its tree has the same bets on the flop."""
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


def _percent(chips: float | np.floating) -> float:
    return round(100 * float(chips) / POT, 3)
