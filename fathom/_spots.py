"""Spots: solving, saving, and looking at nodes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from abstraction.menu import SEATS
from game.cards import cards_text, parse_cards
from game.hands import NUM_HANDS, parse_hand
from game.ranges import parse_range, range_text, without_blocked
from numeric.arrays import F32, F64
from server.config.machine import usable_cores
from server.solves.input import DEFAULT_MENU, bytes_text, fits_memory
from server.solves.result import Outcome, View, look_at, result_record
from solver.exact.archive import load, save
from solver.exact.engine import Engine
from solver.exact.exploitability import measure
from solver.exact.schedules import named_schedule
from solver.exact.solver import Solver
from solver.exact.symmetry import merged, unmerged
from solver.games.game import Game
from solver.games.locks import parse_lock
from solver.games.paths import find_place, place_of
from solver.games.spot import estimate_memory, street_spot

_Float = TypeVar("_Float", np.float32, np.float64)

_VARIANT = "default"
_TARGET = 0.005
_WITHOUT_LIMIT = 1_000_000_000


@dataclass(frozen=True, eq=False)
class SpotNode:
    """A decision node of a solved spot. The last axis of every array is the hand, `parse_hand("AsKd")`.

    Player 0 is out of position, player 1 in position.
    """

    path: str
    """Actions and cards from the root, as in `fathom solve --node`."""
    board: str
    pot: float
    player: int
    """The player to act."""
    actions: tuple[str, ...]
    """As written in paths: `x`, `c`, `f`, `b50`."""
    frequencies: dict[str, float]
    """Frequency of each action over the whole range."""
    strategy: F32
    """float32[A, 1326]: probability of each action for every hand of the player to act."""
    action_ev: F64
    """float64[A, 1326]: value of each action in chips, from this node on; NaN for impossible hands."""
    reach: F32
    """float32[2, 1326]: weights of both players' hands at this node."""
    ev: F64
    """float64[2, 1326]: value of each hand in chips, from this node on; a fold has value 0."""
    equity: F64
    """float64[2, 1326]: share of the pot at a showdown without further betting."""
    mean_ev: tuple[float, float]
    """Mean value of both players' ranges. They add up to the pot."""

    def of(self, hand: str) -> dict[str, float]:
        """The strategy of one hand, such as `AsKd`."""
        return dict(zip(self.actions, self.strategy[:, parse_hand(hand)].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class SolvedSpot:
    """A solved spot, returned by `solve_spot` and `open_spot`."""

    _outcome: Outcome
    _solver: Solver | None

    @property
    def exploitability(self) -> float:
        """What a best response gains on average over both seats, as a fraction of the pot."""
        return self._outcome.exploitability_share

    @property
    def iterations(self) -> int:
        """Iterations of the solve."""
        return self._outcome.solution.iterations

    @property
    def seconds(self) -> float:
        """Time spent iterating."""
        return self._outcome.seconds

    @property
    def ev(self) -> tuple[float, float]:
        """Expected share of the pot in chips: player out of position, player in position."""
        return self._outcome.root_evs()

    def look(self, path: str = "root") -> SpotNode:
        """The decision node at a path of actions and cards: `x/b50%/c/Td`. Computes values; blocks."""
        view = self._view(path)
        values, labels = view.values, self._outcome.solution.game.labels
        strategy, reach = (_widened(array, labels, 0.0) for array in (values.strategy, values.reach))
        action_ev, ev, equity = (
            _widened(array, labels, np.nan) for array in (values.action_ev, values.ev, values.equity)
        )
        return SpotNode(
            path=view.place.path,
            board=cards_text(view.place.cards),
            pot=view.pot,
            player=values.actor,
            actions=view.words,
            frequencies=dict(zip(view.words, values.frequencies().tolist(), strict=True)),
            strategy=strategy,
            action_ev=action_ev,
            reach=reach,
            ev=ev,
            equity=equity,
            mean_ev=(values.mean(0, values.ev[0]), values.mean(1, values.ev[1])),
        )

    def to_json(self, path: str = "root") -> dict[str, Any]:
        """The spot and one decision node as plain values: the record that `fathom solve --json` prints."""
        return result_record(self._outcome, self._view(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file that `open_spot` and `fathom solve --load` can read."""
        if self._solver is None:
            raise ValueError("this spot was opened from a file: copy that file")
        save(Path(path), self._outcome.spot, self._solver, _VARIANT, 0, self._outcome.seconds)

    def _view(self, path: str) -> View:
        place = find_place(self._outcome.spot, self._outcome.solution.game, path)
        if place.any_card:
            raise ValueError(f"{path!r} leaves a card open: name it, e.g. Td in place of *")
        return look_at(self._outcome, place)


def solve_spot(
    board: str,
    pot: int,
    stack: int,
    oop: str | npt.ArrayLike = "random",
    ip: str | npt.ArrayLike = "random",
    *,
    menu: str = DEFAULT_MENU,
    big_blind: int = 1,
    locks: Iterable[str] = (),
    target: float | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    threads: int | None = None,
) -> SolvedSpot:
    """Solve a flop, turn or river spot exactly, to the end of the hand. Blocks.

    The solve stops when the first of `target`, `iterations` and `seconds` is reached. If none is given, the
    target is 0.5 % of the pot.

    Args:
        board: 3, 4 or 5 cards: `AsKd7h`
        pot: chips in the pot
        stack: chips behind, the same for both players
        oop: range of the player out of position, who acts first: text such as `QQ+,AKs,KQo:0.5`, or 1326
            weights
        ip: range of the player in position
        menu: bet sizes; by default `50%, 100%, a | 100%, a`. docs/solve.md describes the language
        big_blind: smallest bet and raise
        locks: fixed strategies at nodes: `b50% = f random:0.7; c rest`
        target: exploitability as a fraction of the pot
        iterations: limit of iterations
        seconds: limit of time
        threads: all cores by default
    """
    cards = parse_cards(board)
    ranges = np.stack([without_blocked(_weights(given), cards) for given in (oop, ip)])
    for seat, weights in zip(SEATS, ranges, strict=True):
        if not weights.any():
            raise ValueError(f"{seat}: no hand of the range is possible on {board}")
    spot = street_spot(cards, pot, stack, menu, ranges, big_blind)
    tree, threads = spot.tree(), threads or usable_cores()
    needed = estimate_memory(spot, tree, threads)
    if not fits_memory(needed):
        raise ValueError(
            f"this solve takes {bytes_text(needed)} of memory, which is more than there is:"
            " offer fewer sizes, narrow the ranges, or begin on a later street"
        )
    game = spot.game(tree)
    parsed = [parse_lock(spot, game, text) for text in locks]
    solved = game if parsed else _merged(game, needed)  # a lock may treat suits differently
    solver = Solver(solved, named_schedule(_VARIANT), threads)
    for lock in parsed:
        solver.lock(lock.place.node, lock.strategy)
    if target is None and iterations is None and seconds is None:
        target = _TARGET
    solver.run(0)  # loads the kernels, off the clock
    progress = solver.solve(
        _WITHOUT_LIMIT if iterations is None else iterations,
        None if target is None else target * spot.pot,
        None if seconds is None else time.monotonic() + seconds,
    )
    solver = unmerged(solver, game)
    locked = tuple([lock.place.path for lock in parsed])
    outcome = Outcome(
        spot, solver.solution(), solver.quality(), progress.seconds, solver.memory_bytes, threads, _VARIANT,
        locked,
    )  # fmt: skip
    return SolvedSpot(outcome, solver)


def open_spot(path: str | PathLike[str], threads: int | None = None) -> SolvedSpot:
    """Open a saved solve, of `SolvedSpot.save` or `fathom solve --save`."""
    archive = load(Path(path))
    threads = threads or usable_cores()
    solution, engine = archive.solution(), Engine(archive.game, threads)
    locked = tuple(
        [place_of(archive.spot, archive.game, int(node)).path for node in archive.frozen.nonzero()[0]]
    )
    outcome = Outcome(
        archive.spot, solution, measure(engine, solution.average, archive.frozen), archive.seconds,
        solution.average.nbytes + engine.memory_bytes, threads, archive.variant, locked,
    )  # fmt: skip
    return SolvedSpot(outcome, None)


def _weights(given: str | npt.ArrayLike) -> F32:
    return parse_range(given if isinstance(given, str) else range_text(given))


def _merged(game: Game, needed: int) -> Game:
    """The game with one river card of each kind, if there is room: in the end both games' tables exist."""
    small = merged(game)
    tables = 2 * np.dtype(np.float32).itemsize * small.table_size  # regrets and strategy sums
    return small if fits_memory(needed + tables) else game


def _widened(
    array: npt.NDArray[_Float], labels: npt.NDArray[np.int64], elsewhere: float
) -> npt.NDArray[_Float]:
    """From the hands of the solved game to all hands."""
    wide = np.full((len(array), NUM_HANDS), elsewhere, dtype=array.dtype)
    wide[:, labels] = array
    return wide
