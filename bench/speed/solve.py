"""Time of the exact solver to reach a given exploitability, on fixed spots with all hands in both ranges.

cpu_s_to_X          CPU seconds of all threads until exploitability (half of NashConv) is X of the pot
wall_s_to_0_5pct    wall seconds to 0.5 %
iterations          to 0.1 % (or the last target reached); iterations_to_X likewise
ms_per_iteration    CPU time of all threads, mean over the best run; one iteration updates each player once;
                    wall_ms_per_iteration likewise
speedup             with several threads: wall time of one thread over theirs, same iterations in alternation;
                    the median over rounds, and its quartiles as speedup_spread
memory_mb           tables and working memory of the solve
value               value of the game to the first player, chips net of half the pot, and its exact bracket
start_s             building game, tree and programs; compile_s: compiling or loading kernels

The first run checks exploitability and fixes the iteration counts, which are deterministic; the others run
the same iterations without checks. Times are the best over the runs, without checks and compilation.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from abstraction.menu import parse_menu_book
from bench.figures import figure_parser, print_figures
from game.cards import parse_cards
from game.hands import NUM_HANDS
from server.cli.parts.numbers import positive_number, whole_number
from solver.exact.schedules import VARIANTS
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.holdem import holdem_game
from solver.games.tree import build_tree, even_root

TARGETS = (("1pct", 0.01), ("0_5pct", 0.005), ("0_1pct", 0.001))


@dataclass(frozen=True, slots=True)
class Spot:
    """Board, pot, chips behind and menu."""

    board: str
    pot: int
    behind: int
    menu: str
    check_every: int
    repeats: int
    rounds: int
    """Rounds of alternation between one thread and several."""
    round_iterations: int
    """Iterations per round."""


SPOTS = {
    "river": Spot("AsKd7h4c2s", 1000, 9500, "50%, 100%, a | 100%, a", 1, 7, 31, 330),
    "turn-small": Spot("AsKd7h4c", 4000, 8000, "100%, a | a", 1, 4, 11, 20),
    "turn": Spot("AsKd7h4c", 1000, 9500, "50%, 100%, a | 100%, a", 5, 2, 7, 10),
    "flop": Spot("AsKd7h", 400, 2000, "100%, a | a", 10, 1, 1, 2),
}


def spot_game(name: str) -> Game:
    """The game of a spot, all hands of weight 1."""
    spot = SPOTS[name]
    board = parse_cards(spot.board)
    tree = build_tree(even_root(len(board) - 2, spot.pot, spot.behind), parse_menu_book(spot.menu))
    return holdem_game(board, tree, np.ones((2, NUM_HANDS), dtype=np.float32))


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("solve", __doc__)
    parser.add_argument("--spot", choices=SPOTS, default="river", help="spot to solve (default: %(default)s)")
    parser.add_argument("--threads", type=whole_number(), default=1, help="threads (default: %(default)s)")
    parser.add_argument(
        "--variant", choices=VARIANTS, default="default", help="CFR variant (default: %(default)s)"
    )
    parser.add_argument(
        "--repeats", type=whole_number(0), default=0, help="runs, of which the best counts (default: by spot)"
    )
    parser.add_argument(
        "--max-iterations", type=whole_number(), default=5000, help="most iterations (default: %(default)s)"
    )
    parser.add_argument(
        "--target",
        type=positive_number,
        default=0.1,
        help="exploitability to stop at, in %% of the pot (default: 0.1)",
    )
    args = parser.parse_args(argv)
    figures = measure(args.spot, args.threads, args.variant, args.repeats, args.max_iterations, args.target)
    print_figures(figures, args.json)
    return 0


def measure(
    name: str, threads: int, variant: str, repeats: int, max_iterations: int, target_percent: float
) -> dict[str, object]:
    """All figures of one spot."""
    spot, schedule = SPOTS[name], VARIANTS[variant](max_iterations)
    compile_s = _warm_up(threads)
    started = time.perf_counter()
    game = spot_game(name)
    solver = Solver(game, schedule, threads)
    start_s = time.perf_counter() - started
    targets = [(label, share) for label, share in TARGETS if share * 100 >= target_percent - 1e-9]
    counts, runs = _first_run(solver, spot, targets, max_iterations)
    quality = solver.quality()
    memory = solver.memory_bytes
    for _ in range((repeats or spot.repeats) - 1):
        runs.append(_timed_run(Solver(game, schedule, threads), counts))
    figures: dict[str, object] = {
        "bench": "solve",
        "spot": name,
        "threads": threads,
        "variant": schedule.name if variant == "default" else variant,
        "iterations": solver.iterations,
    }
    for i, (label, _) in enumerate(TARGETS):
        reached = i < len(counts)
        figures[f"iterations_to_{label}"] = counts[i] if reached else None
        figures[f"cpu_s_to_{label}"] = round(min(run[i][0] for run in runs), 4) if reached else None
    walls = [run[1][1] for run in runs if len(run) > 1]
    cpu, wall = (min(run[-1][k] for run in runs) if counts else 0.0 for k in range(2))
    if threads > 1:
        figures |= _turn_about(spot, game, threads)
    return figures | {
        "wall_s_to_0_5pct": round(min(walls), 4) if walls else None,
        "ms_per_iteration": round(cpu / counts[-1] * 1e3, 4) if counts else None,
        "wall_ms_per_iteration": round(wall / counts[-1] * 1e3, 4) if counts else None,
        "memory_mb": round(memory / 2**20, 2),
        "value": round(quality.values[0], 4),
        "value_low": round(-quality.best_responses[1], 4),
        "value_high": round(quality.best_responses[0], 4),
        "exploitability_pct": round(quality.exploitability / spot.pot * 100, 5),
        "compile_s": round(compile_s, 3),
        "start_s": round(start_s, 3),
    }


def _warm_up(threads: int) -> float:
    started = time.perf_counter()
    solver = Solver(spot_game("river"), threads=threads)
    solver.run(1)
    solver.exploitability()
    return time.perf_counter() - started


def _turn_about(spot: Spot, game: Game, threads: int) -> dict[str, object]:
    """Alternate one thread and several, so that other load affects both."""
    solvers = Solver(game), Solver(game, threads=threads)
    ratios = []
    for _ in range(spot.rounds):
        alone, together = (_run(solver, spot.round_iterations)[1] for solver in solvers)
        ratios.append(alone / together)
    low, middle, high = np.percentile(ratios, [25, 50, 75]).round(3).tolist()
    return {"speedup": middle, "speedup_spread": [low, high]}


def _first_run(
    solver: Solver, spot: Spot, targets: list[tuple[str, float]], max_iterations: int
) -> tuple[list[int], list[list[tuple[float, float]]]]:
    """Iterations to each target, and (CPU, wall) seconds to each."""
    counts: list[int] = []
    times: list[tuple[float, float]] = []
    cpu = wall = 0.0
    while len(counts) < len(targets) and solver.iterations < max_iterations:
        spent = _run(solver, spot.check_every)
        cpu, wall = cpu + spent[0], wall + spent[1]
        share = solver.exploitability() / spot.pot
        while len(counts) < len(targets) and share <= targets[len(counts)][1]:
            counts.append(solver.iterations)
            times.append((cpu, wall))
    return counts, [times]


def _timed_run(solver: Solver, counts: list[int]) -> list[tuple[float, float]]:
    times: list[tuple[float, float]] = []
    cpu = wall = 0.0
    for count in counts:
        spent = _run(solver, count - solver.iterations)
        cpu, wall = cpu + spent[0], wall + spent[1]
        times.append((cpu, wall))
    return times


def _run(solver: Solver, iterations: int) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    solver.run(iterations)
    return time.process_time() - cpu, time.perf_counter() - wall
