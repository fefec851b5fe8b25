"""Saves a solve to one file: the spot, the strategies and, optionally, the regrets to resume from.

Tables: `ranges` float32[2, 1326], `frozen` uint8[nodes], `average` float32[...] and `regret` float32[...] in
the layout of `solver.games.layout`. A file without `regret` holds strategies only: it is half as large and
cannot be resumed. Loading maps the file (`numeric.table_file`), so only what is read takes memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from game.cards import cards_text, parse_cards
from numeric.arrays import F32, U8
from numeric.table_file import FileKind, Header, Table, map_file, write_tables
from numeric.table_file import read_header as read_any_header
from solver.exact.schedules import named_schedule
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.spot import Spot
from solver.games.tree import BettingRoot

MAGIC = b"FATHOMS\n"
VERSION = 2
"""Since version 2 the hands of a river are in order of strength."""


class ArchiveError(ValueError):
    """The file is not a solve, is incomplete or has another version; or the solve cannot be saved."""


_KIND = FileKind(MAGIC, VERSION, "saved solve", ArchiveError)


@dataclass(frozen=True, slots=True)
class Archive:
    """A loaded file. The tables are memory-mapped."""

    spot: Spot
    game: Game
    iterations: int
    seconds: float
    variant: str
    horizon: int
    average: F32
    frozen: U8
    regret: F32 | None

    def solution(self) -> Solution:
        """The saved strategies."""
        return Solution(self.game, self.average, self.iterations)

    def solver(self, threads: int = 1) -> Solver:
        """A solver that continues the saved solve. Copies the tables into memory."""
        if self.regret is None:
            raise ArchiveError("the file holds strategies only, without the regrets to resume a solve")
        solver = Solver(self.game, named_schedule(self.variant, self.horizon), threads)
        solver.regret[:] = self.regret
        solver.average[:] = self.average
        solver.frozen[:] = self.frozen
        solver.iterations = self.iterations
        return solver


def save(
    path: Path,
    spot: Spot,
    solver: Solver,
    variant: str = "default",
    horizon: int = 0,
    seconds: float = 0.0,
    strategy_only: bool = False,
) -> int:
    """Write a solve; return the file's size. An existing file is replaced only when the new one is complete.

    solver  of the whole game: use `symmetry.unmerged` if it was merged
    """
    if len(solver.game.boards.image):
        raise ArchiveError("a merged game does not fit its spot: save `unmerged(solver, spot.game())`")
    tables: dict[str, Table] = {"ranges": spot.ranges, "frozen": solver.frozen, "average": solver.average}
    if not strategy_only:
        tables["regret"] = solver.regret
    solve = {"iterations": solver.iterations, "seconds": seconds, "variant": variant, "horizon": horizon}
    return write_tables(path, _KIND, {"spot": _spot_record(spot), "solve": solve}, tables)


def load(path: Path, verify: bool = True) -> Archive:
    """Open a saved solve.

    verify  read all of the file and check its checksums: about a second per 2 GB
    """
    header, tables = map_file(path, _KIND, verify)
    solve = header["solve"]
    spot = _read_spot(header["spot"], tables["ranges"])
    game = spot.game()
    regret = tables.get("regret")
    sizes = {table.size for name, table in tables.items() if name in ("average", "regret")}
    if sizes != {game.table_size} or len(tables["frozen"]) != game.tree.num_nodes:
        raise ArchiveError(f"{path} was written by a version of Fathom with another layout of tables")
    return Archive(
        spot,
        game,
        int(solve["iterations"]),
        float(solve["seconds"]),
        str(solve["variant"]),
        int(solve["horizon"]),
        tables["average"],
        tables["frozen"],
        regret,
    )


def read_header(path: Path) -> Header:
    """The header of a saved solve. Verifies it and the file's size."""
    return read_any_header(path, _KIND)


def _spot_record(spot: Spot) -> dict[str, object]:
    return {
        "board": cards_text(spot.board),
        "root": asdict(spot.root),
        "menu": spot.menu,
        "extra": [[list(history), list(totals)] for history, totals in spot.extra.items()],
    }


def _read_spot(record: Mapping[str, Any], ranges: F32) -> Spot:
    root = dict(record["root"])
    root["spent"] = tuple(root["spent"])
    extra = {tuple(history): tuple(totals) for history, totals in record["extra"]}
    return Spot(parse_cards(record["board"]), BettingRoot(**root), record["menu"], ranges, extra)
