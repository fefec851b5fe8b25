"""Terminal output of `fathom solve`: the spot, progress, and a node's strategy, grid and values."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from abstraction.menu import SEATS
from game.cards import Cards, card_text
from game.hands import hand_text
from numeric.arrays import F32
from server.cli.parts import grid
from server.solves.input import Limits, bytes_text
from server.solves.result import Outcome, View, action_mean
from solver.exact.solver import Progress as SolveProgress
from solver.exact.solver import Solver
from solver.games.spot import Spot
from solver.games.tree import DECISION, Tree

_SUITS = {"c": ("♣", "#5fb878"), "d": ("♦", "#6ca0dc"), "h": ("♥", "#e06c75"), "s": ("♠", "#c8ccd4")}
_SPARKS = "▁▂▃▄▅▆▇█"
_PLAIN_REPORT_SECONDS = 10.0
_SLOW_START_SECONDS = 4.0
_BAR = 24
_RARE = 0.0005  # actions shown as 0.0 % have no mean worth showing
_SEAT_NAMES = tuple(seat.upper() for seat in SEATS)


@dataclass(slots=True)
class _Run:
    """State shared by the solving and the waiting thread. Events instead of joins let Ctrl-C interrupt."""

    checks: list[SolveProgress] = field(default_factory=list)
    warm: threading.Event = field(default_factory=threading.Event)
    finished: threading.Event = field(default_factory=threading.Event)
    result: SolveProgress | None = None
    failure: BaseException | None = None


def show_spot(console: Console, spot: Spot, tree: Tree, memory_bytes: int, threads: int) -> None:
    """Print the spot, its tree size and the memory needed."""
    line = Text()
    line.append_text(_board_text(spot.board))
    line.append(f"   pot {spot.pot:g}   behind {spot.behind}   ")
    line.append(f"stack-to-pot {spot.behind / spot.pot:.3g}", "dim")
    console.print(line)
    decisions = int((tree.kind == DECISION).sum())
    weights = [f"{name} {_combos(spot.ranges[p])} hands" for p, name in enumerate(_SEAT_NAMES)]
    console.print(
        Text(f"{', '.join(weights)}   menu {spot.menu}", "dim"),
        Text(
            f"{decisions:,} decisions in the betting tree, {bytes_text(memory_bytes)} of memory, "
            f"{threads} {'thread' if threads == 1 else 'threads'}",
            "dim",
        ),
        sep="\n",
    )
    console.print()


def solve_with_progress(console: Console, solver: Solver, limits: Limits, pot: float) -> SolveProgress:
    """Solve in a second thread and show progress in this one. Ctrl-C stops early and keeps the result."""
    run = _Run()

    def work() -> None:
        try:
            _warm_up(solver)
            run.warm.set()
            run.result = solver.solve(
                limits.iterations or 1_000_000_000,
                None if limits.target is None else limits.target * pot,
                None if limits.seconds is None else time.monotonic() + limits.seconds,
                run.checks.append,
            )
        except BaseException as error:  # raised again in the caller's thread
            run.failure = error
        finally:
            run.warm.set()
            run.finished.set()

    threading.Thread(target=work, name="solve", daemon=True).start()
    watch = _watch_bar if console.is_terminal else _watch_lines
    try:
        watch(console, run, limits, pot)
    except KeyboardInterrupt:
        console.print("stopping: showing the result so far", style="dim")
        # Repeatedly: the solver clears a stop that arrives between two of its calls.
        while not run.finished.wait(0.05):
            solver.stop()
    if run.failure is not None:
        raise run.failure
    assert run.result is not None, "finished without a failure"
    return run.result


def show_outcome(console: Console, outcome: Outcome) -> None:
    """Print the solution's exploitability, cost and root values."""
    chips, evs = outcome.quality.exploitability, outcome.root_evs()
    share = max(outcome.exploitability_share, 0.0)  # rounding may make it slightly negative
    line = Text(f"Exploitability {share:.3%} of the pot", "bold")
    line.append(f" ({max(chips, 0.0):.4g} chips)", "not bold")
    console.print(line)
    console.print(
        Text(
            f"{outcome.solution.iterations:,} iterations in {_seconds_text(outcome.seconds)}, "
            f"{bytes_text(outcome.memory_bytes)} of memory\n"
            f"At the root OOP expects {evs[0]:.2f} of the pot, IP {evs[1]:.2f}",
            "dim",
        )
    )
    found = outcome.convergence()
    if not found.converged:
        console.print(Text(f"Warning: {found.quality}", "bold yellow"))
    if outcome.locked:
        console.print(
            Text(f"Locked: {', '.join(outcome.locked)}. Best responses keep these locks.", "yellow")
        )
    console.print()


def show_view(console: Console, outcome: Outcome, view: View) -> None:
    """Print a node: the actor, action frequencies, the grid, and both players' values."""
    values = view.values
    actor = _SEAT_NAMES[values.actor]
    title = Text()
    title.append(f"{actor} to act", "bold")
    title.append(
        f" at {view.place.path}, pot {view.pot:g}   " if view.place.steps else f", pot {view.pot:g}   "
    )
    title.append_text(_board_text(view.place.cards))
    console.print(title)
    if not values.reach.any(axis=1).all():
        console.print(Text("This node is never reached: the strategies below may be arbitrary.", "yellow"))
    console.print(_action_table(console, view))
    console.print()
    weight = values.reach[values.actor].astype(np.float64)
    possible = values.matched[values.actor] > 0
    labels = outcome.solution.game.labels
    cells = grid.gather_cells(
        labels[possible], weight[possible], values.strategy[:, possible].astype(np.float64)
    )
    grid.show_grid(console, cells, grid.action_colours(view.words), grid.action_letters(view.words))
    console.print(_player_table(view))


def show_hands(console: Console, outcome: Outcome, view: View, wanted: F32) -> None:
    """Print one line for each wanted hand that reaches the node."""
    values, labels = view.values, outcome.solution.game.labels
    reach = values.reach[values.actor]
    table = _table()
    for heading in ("hand", "weight", "ev", "equity", *view.names):
        table.add_column(heading, justify="left" if heading == "hand" else "right")
    chosen = [h for h in np.argsort(labels)[::-1] if reach[h] > 0 and wanted[labels[h]] > 0]
    for h in chosen:
        shares = [f"{share:.1%}" for share in values.strategy[:, h]]
        ev, equity = values.ev[values.actor, h], values.equity[values.actor, h]
        table.add_row(
            _cards_text(hand_text(int(labels[h]))), f"{reach[h]:.3g}", _chips(ev), f"{equity:.1%}", *shares
        )
    console.print()
    console.print(table if chosen else Text("None of these hands reaches this node.", "yellow"))


def _warm_up(solver: Solver) -> None:
    """Compile or load the kernels before the clock starts; stopped at once, so the solver is unchanged."""
    solver.run(0)
    solver.engine.stop_word[0] = 1
    solver.exploitability()
    solver.engine.stop_word[0] = 0


def _watch_bar(console: Console, run: _Run, limits: Limits, pot: float) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("Warming up", total=None, detail="")
        began = time.monotonic()
        while not run.warm.wait(0.1):
            if time.monotonic() - began > _SLOW_START_SECONDS:
                progress.update(task, detail="compiling for this machine, only once")
        progress.reset(task, description="Solving", total=1.0, detail="")
        began = time.monotonic()
        while not run.finished.wait(0.1):
            share = _completed(run.checks, limits, pot, time.monotonic() - began)
            progress.update(task, completed=share, detail=_progress_text(run.checks, pot))


def _watch_lines(console: Console, run: _Run, _limits: Limits, pot: float) -> None:
    while not run.finished.wait(_PLAIN_REPORT_SECONDS):
        console.print(_progress_text(run.checks, pot) or "warming up")


def _completed(checks: list[SolveProgress], limits: Limits, pot: float, seconds: float) -> float:
    """Progress 0..1 towards the nearest limit; on a log scale for exploitability, which falls by factors."""
    done = 0.0 if limits.seconds is None else seconds / limits.seconds
    if checks:
        if limits.iterations is not None:
            done = max(done, checks[-1].iterations / limits.iterations)
        first, last = checks[0].exploitability, checks[-1].exploitability
        if limits.target is not None and first and last and first > limits.target * pot:
            done = max(done, math.log(first / last) / math.log(first / (limits.target * pot)))
    return min(max(done, 0.0), 1.0)


def _progress_text(checks: list[SolveProgress], pot: float) -> str:
    found = [check.exploitability / pot for check in checks if check.exploitability]
    if not found:
        return ""
    return f"{checks[-1].iterations:,} iterations   {_sparkline(found)} {found[-1]:.2%} of the pot"


def _sparkline(values: list[float], width: int = 16) -> str:
    """The last values as bars on a log scale: a constant rate of convergence is a straight line."""
    logs = [math.log(value) for value in values[-width:]]
    low, high = min(logs), max(logs)
    scale = (len(_SPARKS) - 1) / (high - low) if high > low else 0.0
    return "".join([_SPARKS[round((value - low) * scale)] for value in logs])


def _action_table(console: Console, view: View) -> Table:
    values = view.values
    table = _table()
    marks, colours = grid.action_letters(view.words), grid.action_colours(view.words)
    for heading in ("", "action", "frequency", "", "ev"):
        table.add_column(heading, justify="right" if heading in ("frequency", "ev") else "left")
    for a, share in enumerate(values.frequencies()):
        known = not math.isnan(share)
        bar = grid.share_bar(console, float(share), _BAR, colours[a]) if known else ""
        mark = grid.action_mark(console, colours[a], marks[a])
        ev = _chips(action_mean(values, a), 1) if share >= _RARE else "–"
        table.add_row(mark, view.names[a], f"{share:.1%}" if known else "–", bar, ev)
    return table


def _player_table(view: View) -> Table:
    values = view.values
    table = _table()
    for heading in ("", "ev", "ev of pot", "equity", "hands"):
        table.add_column(heading, justify="right" if heading else "left")
    for player, name in enumerate(_SEAT_NAMES):
        ev, equity = (values.mean(player, rows[player]) for rows in (values.ev, values.equity))
        known = not math.isnan(ev)
        table.add_row(
            name,
            _chips(ev) if known else "–",
            f"{ev / view.pot:.1%}" if known else "–",
            f"{equity:.1%}" if known else "–",
            _combos(values.reach[player]),
        )
    return table


def _table() -> Table:
    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))


def _board_text(cards: Cards) -> Text:
    return _cards_text("".join([card_text(card) for card in cards]), " ")


def _cards_text(text: str, between: str = "") -> Text:
    result = Text()
    for i in range(0, len(text), 2):
        symbol, colour = _SUITS[text[i + 1]]
        result.append((between if i else "") + text[i] + symbol, f"bold {colour}")
    return result


def _combos(weights: F32) -> str:
    total = float(weights.sum())
    return f"{total:,.0f}" if total >= 1000 or total == round(total) else f"{total:.1f}"


def _chips(value: float, digits: int = 2) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: never "-0.0"


def _seconds_text(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
