"""Values of a blueprint's nodes: mean payoffs by bucket, over deals of self-play.

Values are player 0's, in big blinds. The value of a place for a pair of buckets is estimated additively:
value of player 0's bucket + value of player 1's bucket - mean of the place. That ignores how the two hands
interact, and needs only one number per bucket and player.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.aivat.self_play import Branches, Places, Sums, play_deals, smooth_values
from numeric.arrays import F32, I64, U8
from numeric.folders import cached
from numeric.table_file import FileKind, map_file, write_tables
from solver.blueprint.abstract_game import Dealer, TrainingGame, new_deals
from solver.training.trainer import batch_seed

SELF_PLAY_DEALS = 2_000_000
LEAST_WEIGHT = 0.02
GROUPS = 64
PRIOR = 20.0
_BATCH = 4096


class NodeValuesError(ValueError):
    """A file of node values cannot be read."""


_KIND = FileKind(b"FATHOMV\n", 1, "table of node values", NodeValuesError)


@dataclass(frozen=True, slots=True, eq=False)
class NodeValues:
    """Values of places by bucket."""

    places: Places
    values: F32
    """float32[2, table]: by place and bucket of either player."""
    means: F32
    """float32[P]"""


def make_places(game: TrainingGame) -> tuple[Places, I64]:
    """Places of all decision nodes and of all actions that end a round but not the hand; and their ends.

    Nodes of the last round are left out except the first of each line: from there an exact walk is fast.
    """
    betting, last = game.betting, game.num_rounds - 1
    rounds = betting.column % game.num_rounds
    entry_round = np.repeat(rounds, betting.num_actions)
    ends_round = (betting.child >= 0) & (rounds[betting.child] > entry_round)
    starts = np.zeros(len(rounds), dtype=np.bool_)
    starts[betting.child[ends_round]] = True
    kept_nodes = np.flatnonzero((rounds < last) | starts)
    kept_entries = np.flatnonzero(ends_round | ((betting.stake > 0) & (entry_round < last)))
    of_node, of_entry = np.full(len(rounds), -1, np.int32), np.full(len(entry_round), -1, np.int32)
    of_node[kept_nodes] = np.arange(len(kept_nodes))
    of_entry[kept_entries] = len(kept_nodes) + np.arange(len(kept_entries))
    place_round = np.concatenate([rounds[kept_nodes], entry_round[kept_entries]]).astype(np.int32)
    ends = np.cumsum(np.array(game.num_buckets, dtype=np.int64)[place_round])
    base = ends - np.array(game.num_buckets, dtype=np.int64)[place_round]
    return Places(of_node, of_entry, place_round, base), ends


def compute_node_values(
    game: TrainingGame,
    strategy: U8,
    dealer: Dealer,
    deals: int = SELF_PLAY_DEALS,
    seed: int = 1,
    threads: int = 1,
) -> NodeValues:
    """Play deals and average. Blocks for about a minute for two million deals.

    strategy  uint8[node][action][bucket]: each player plays their nodes
    """
    places, ends = make_places(game)
    shape = (2, int(ends[-1]))
    parts = [Sums(np.zeros(shape, np.float32), np.zeros(shape, np.float32)) for _ in range(threads)]
    batches = iter(range(-(-deals // _BATCH)))

    def work(sums: Sums) -> None:
        walk, batch_deals = new_branches(game), new_deals(_BATCH, game.num_rounds)
        for batch in batches:
            walk.random[0] = batch_seed(seed, batch)
            dealer.fill(walk.random, batch_deals)
            play_deals(game.betting, places, batch_deals, strategy, LEAST_WEIGHT, sums, walk)

    with ThreadPoolExecutor(threads, "self-play") as pool:
        list(pool.map(work, parts))
    for part in parts[1:]:
        parts[0].weight[:] += part.weight
        parts[0].value[:] += part.value
    values, means = np.empty(shape, np.float32), np.empty(len(ends), np.float32)
    smooth_values(places, ends, parts[0], GROUPS, PRIOR, values, means)
    return NodeValues(places, values, means)


def cached_node_values(
    game: TrainingGame, strategy: U8, dealer: Dealer, deals: int = SELF_PLAY_DEALS, threads: int = 1
) -> NodeValues:
    """The values of a profile from Fathom's cache, computed first if they are missing."""
    digest = hashlib.sha256(f"{game.num_buckets} {deals} {LEAST_WEIGHT} {GROUPS} {PRIOR}".encode())
    digest.update(game.betting.child.tobytes() + game.betting.stake.tobytes() + game.betting.fixed.tobytes())
    digest.update(strategy.data)
    path = cached("node-values", f"{digest.hexdigest()[:16]}.values")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        values = compute_node_values(game, strategy, dealer, deals, threads=threads)
        write_tables(path, _KIND, {}, {"values": values.values, "means": values.means})
        return values
    return _open(path, game)


def _open(path: Path, game: TrainingGame) -> NodeValues:
    _, tables = map_file(path, _KIND, verify=False)
    return NodeValues(make_places(game)[0], tables["values"], tables["means"])


def new_branches(game: TrainingGame) -> Branches:
    """Working memory of `play_deals`."""
    slots = len(game.betting.base)
    return Branches(
        node=np.zeros(slots, dtype=np.int32),
        parent=np.zeros(slots, dtype=np.int32),
        entry=np.zeros(slots, dtype=np.int32),
        weight=np.zeros(slots, dtype=np.float32),
        share=np.zeros(slots, dtype=np.float32),
        value=np.zeros(slots, dtype=np.float32),
        random=np.ones(1, dtype=np.uint64),
    )
