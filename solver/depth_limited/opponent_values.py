"""The leaf table of pre-flop solves: values at the end of the first round for several opponent strategies.

1. The opponent's strategies come from the self-generative method (Brown, Sandholm and Amos, 2018): start with
   the blueprint; solve the first round with the strategies so far (`solver.depth_limited.preflop`); train the
   opponent's response to that solution followed by our blueprint; add the response; repeat. Once for each
   seat.
2. A response is trained by the blueprint's trainer with one learning player. Where it learns nothing it plays
   the blueprint.
3. Values are means over deals, exact in the betting, with the same deals for all strategies.
4. Values are *weakened*: where a strategy would gain more on our blueprint than the opponent's blueprint does
   (that is, by our blueprint's mistakes), its values are lowered until it gains no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from game.hands import NUM_CLASSES
from numeric.arrays import F32, F64, I32, U8
from solver.blueprint.abstract_game import Dealer, TrainingGame, new_deals
from solver.blueprint.file import Blueprint, quantise
from solver.blueprint.walk import make_walk_tree
from solver.depth_limited.kernels.leaf_tables import Leaves, Strategies, value_leaves
from solver.depth_limited.preflop import LeafTable, preflop_solver, preflop_tree
from solver.equity.class_pairs import class_pairs, class_wins
from solver.exact.solution import Solution
from solver.games.tree import DECISION
from solver.training.kernels.mccfr import average_strategies
from solver.training.trainer import Trainer, TrainingSettings, batch_seed, make_plan

_BATCH = 512
_PRIOR = 0.5
"""Initial regret in big blinds that represents the blueprint's strategy in a response's training."""
_FEW_DEALS = 4.0
"""Weight, in deals, of the prior estimate for a pair of classes; it matters for pairs that are rarely
dealt."""

_ROUGH = 4
_BATCHES_PER_THREAD = 8
"""Batches per thread between two progress reports."""
_DEAL_COST, _STRATEGY_COST = 4.0, 1.6
"""Cost of a deal, and of valuing one strategy on it, in iterations of a response; measured, for the time
left."""

Tell = Callable[[str, float], None]
"""Called with the current step and the finished share of the whole work."""


@dataclass(frozen=True, slots=True)
class ValueSettings:
    """How to make a table."""

    strategies: int = 10
    response_iterations: int = 8_000_000
    deals: int = 400_000
    solve_iterations: int = 400
    seed: int = 1
    threads: int = 1
    """With 1, tables are a function of blueprint and settings."""

    def __post_init__(self) -> None:
        if min(self.strategies, self.response_iterations, self.deals, self.threads) < 1:
            raise ValueError("strategies, response_iterations, deals and threads must be at least 1")


class _Worker:
    """Buffers of one thread for valuing leaves."""

    def __init__(self, game: TrainingGame, num_leaves: int, count: int) -> None:
        self.sums = np.zeros((num_leaves, count, NUM_CLASSES, NUM_CLASSES))
        self.counts = np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64)
        self.work = np.zeros(len(game.betting.base) * count, dtype=np.float32)
        self.listed = np.zeros((2, len(game.betting.base)), dtype=np.int32)
        self.deals, self.random = new_deals(_BATCH, game.num_rounds), np.ones(1, dtype=np.uint64)


class _Maker:
    """Makes both tables; holds what all strategies share."""

    def __init__(self, blueprint: Blueprint, dealer: Dealer, settings: ValueSettings, tell: Tell) -> None:
        self.blueprint, self.dealer, self.settings, self.tell = blueprint, dealer, settings, tell
        self.game = blueprint.training_game
        self.plain = blueprint.table()
        self.walk = make_walk_tree(blueprint.tree, blueprint.definition)
        self.tree = preflop_tree(blueprint.definition, blueprint.menus, {})
        self.leaves, self.leaf_nodes = _leaves(self.game)
        self._done, self._total = 0.0, 2 * _cost(settings)

    def make(self, chooser: int) -> LeafTable:
        """The table of one seat. Intermediate values use fewer deals than the final ones."""
        settings, reach = self.settings, self._leaf_reach(1 - chooser, self.plain)
        strategies = [_bytes(self.game, self.plain)]
        rough: list[F32] = []
        while len(strategies) < settings.strategies:
            rough.append(self._values(chooser, strategies[-1:], settings.deals // _ROUGH))
            table = LeafTable(self.leaf_nodes, weaken(np.concatenate(rough, axis=1), reach))
            response = self._respond(self._solve(table, chooser), chooser, len(strategies))
            strategies.append(_bytes(self.game, response))
        values = self._values(chooser, strategies, settings.deals)
        return LeafTable(self.leaf_nodes, weaken(values, reach))

    def _solve(self, table: LeafTable, chooser: int) -> F32:
        """Our strategy of the whole hand: the solved first round, then the blueprint."""
        solver = preflop_solver(self.blueprint.definition, self.tree, self.walk, table, chooser)
        solver.solve(self.settings.solve_iterations)
        return with_preflop(self.game, self.plain, solver.solution(), 1 - chooser)

    def _respond(self, ours: F32, chooser: int, number: int) -> F32:
        """float32[table size]: all strategies, with the chooser's response to ours."""
        settings, seed = self.settings, self.settings.seed + number
        learning = TrainingSettings(discount_share=0.5, burn_in=1.0)
        plan = make_plan(learning, seed, settings.response_iterations)
        trainer = Trainer(self.game, self.dealer, plan, settings.threads, learner=chooser)
        is_theirs = _element_player(self.game) == chooser
        trainer.regret[:] = np.where(is_theirs, _PRIOR * self.plain, ours)
        while not trainer.is_done:
            trainer.run_slice()
            # Discounting also scales the player who does not learn; only proportions matter there.
            self._tell(
                f"seat {chooser}: learning strategy {number + 1}",
                settings.response_iterations * trainer.progress,
            )
        self._done += settings.response_iterations
        trainer.close()
        strategy = np.empty_like(trainer.regret)
        nothing = np.zeros_like(trainer.regret)
        average_strategies(self.game.betting, self.game.node_buckets, trainer.regret, nothing, strategy)
        return strategy

    def _values(self, chooser: int, theirs: list[U8], num_deals: int) -> F32:
        """float32[L, K, 169, 169] in big blinds: what we win with the blueprint, by pair of classes."""
        game, count = self.game, len(theirs)
        together = np.ascontiguousarray(np.stack(theirs, axis=-1)).reshape(-1)
        strategies = Strategies(chooser, count, game.betting.base, _bytes(self.game, self.plain), together)
        workers = [_Worker(game, len(self.leaf_nodes), count) for _ in range(self.settings.threads)]

        def value(worker: _Worker, batches: Iterator[int]) -> None:
            for batch in batches:  # `next` on the shared iterator gives each batch to one thread
                worker.random[0] = batch_seed(self.settings.seed, batch)
                self.dealer.fill(worker.random, worker.deals)
                value_leaves(
                    game.betting, self.leaves, strategies, worker.deals, worker.work, worker.listed,
                    worker.sums, worker.counts,
                )  # fmt: skip

        num_batches, cost = -(-num_deals // _BATCH), _deals_cost(num_deals, count)
        slice_batches = _BATCHES_PER_THREAD * len(workers)
        with ThreadPoolExecutor(len(workers), "values") as pool:
            for first in range(0, num_batches, slice_batches):
                last = min(first + slice_batches, num_batches)
                batches = iter(range(first, last))
                for done in [pool.submit(value, worker, batches) for worker in workers]:
                    done.result()
                what = f"{count} strategies" if count > 1 else "a strategy"
                self._tell(f"seat {chooser}: valuing {what}", cost * last / num_batches)
        self._done += cost
        sums = sum(worker.sums for worker in workers)
        counts = sum(worker.counts for worker in workers)
        # Pairs of classes that were rarely dealt are shrunk towards their all-in value.
        stakes = self.walk.faced[np.array(self.leaf_nodes)] / game.unit
        guess = stakes[:, None, None, None] * class_wins()
        means: F32 = ((sums + _FEW_DEALS * guess) / (counts + _FEW_DEALS)).astype(np.float32)
        return means

    def _tell(self, text: str, cost: float) -> None:
        """Report the current step and how much of its cost is done."""
        self.tell(text, (self._done + cost) / self._total)

    def _leaf_reach(self, player: int, table: F32) -> F64:
        """float64[L, 169]: reach of a player's classes at each leaf, under a strategy of the whole hand."""
        game, betting = self.game, self.game.betting
        index = {int(n): i for i, n in enumerate(game.tree_node)}
        reach = np.ones((len(self.leaf_nodes), NUM_CLASSES))
        for row, leaf in enumerate(self.leaf_nodes):
            child = leaf
            while child > 0:
                parent = int(game.tree.parent[child])
                if game.tree.kind[parent] == DECISION and game.tree.player[parent] == player:
                    n = index[parent]
                    action = game.tree.children_of(parent).tolist().index(child)
                    width = int(betting.num_actions[n])
                    start = int(betting.base[n])
                    rows = table[start : start + width * NUM_CLASSES].reshape(NUM_CLASSES, width)
                    reach[row] *= rows[:, action]
                child = parent
        return reach


def _deals_cost(num_deals: int, strategies: int) -> float:
    return num_deals * (_DEAL_COST + strategies * _STRATEGY_COST)


def _cost(settings: ValueSettings) -> float:
    """Cost of one seat's table, in iterations of a response."""
    responses = (settings.strategies - 1) * settings.response_iterations
    rough = (settings.strategies - 1) * _deals_cost(settings.deals // _ROUGH, 1)
    return responses + rough + _deals_cost(settings.deals, settings.strategies)


def make_opponent_values(
    blueprint: Blueprint, dealer: Dealer, settings: ValueSettings, tell: Tell
) -> tuple[LeafTable, LeafTable]:
    """Tables for a chooser in seat 0 and in seat 1. Blocks for a long time, about a quarter of an hour."""
    maker = _Maker(blueprint, dealer, settings, tell)
    return maker.make(0), maker.make(1)


def weaken(values: F32, reach: F64) -> F32:
    """Return values raised for us against strategies that would gain more on us than the blueprint does.

    The blueprint is the first of the K strategies.

    values  float32[L, K, 169, 169]
    reach   float64[L, 169]: our blueprint's range at each leaf
    """
    pairs = class_pairs().astype(np.float64)
    met = reach @ pairs
    gets = -np.einsum("lkij,li,ij->lkj", values.astype(np.float64), reach, pairs, optimize=True)
    excess = np.maximum(gets - gets[:, :1], 0)
    shift = np.divide(excess, met[:, None, :], out=np.zeros_like(excess), where=met[:, None, :] > 0)
    weakened: F32 = (values + shift[:, :, None, :]).astype(np.float32)
    return weakened


def with_preflop(game: TrainingGame, table: F32, solution: Solution, player: int) -> F32:
    """A table of the whole hand with a player's first round replaced by a solution of the same tree."""
    result = table.copy()
    tree, betting = solution.game.tree, game.betting
    for n in np.flatnonzero(game.tree.round[game.tree_node] == 0).tolist():
        if betting.player[n] != player:
            continue
        node = tree.find(game.tree.history_of(int(game.tree_node[n])))
        rows = solution.strategy(node).T.reshape(-1)
        result[betting.base[n] : betting.base[n] + len(rows)] = rows
    return result


def _leaves(game: TrainingGame) -> tuple[Leaves, tuple[int, ...]]:
    """Decision nodes that begin the second round, as ranges of the trainer's nodes and as tree nodes."""
    rounds, parents = game.tree.round[game.tree_node], game.tree.parent
    first = [
        n for n in np.flatnonzero(rounds == 1).tolist() if game.tree.round[parents[game.tree_node[n]]] == 0
    ]
    end = np.arange(1, len(rounds) + 1, dtype=np.int32)
    betting = game.betting
    for n in range(len(rounds) - 1, -1, -1):
        entry = int(betting.first_entry[n])
        for child in betting.child[entry : entry + int(betting.num_actions[n])].tolist():
            end[n] = max(end[n], end[child] if child >= 0 else 0)
    leaves = Leaves(np.array(first, dtype=np.int32), end)
    return leaves, tuple([int(game.tree_node[n]) for n in first])


def _element_player(game: TrainingGame) -> I32:
    """int32[table size]: the player whose strategy each element belongs to."""
    sizes = game.node_buckets.astype(np.int64) * game.betting.num_actions
    return np.repeat(game.betting.player, sizes)


def _bytes(game: TrainingGame, strategy: F32) -> U8:
    """Quantise strategies to 255ths that add up, in the trainer's layout."""
    quantised = quantise(game, strategy)
    for n, start in enumerate(game.betting.base.tolist()):  # from a blueprint's order to the trainer's
        shape = int(game.betting.num_actions[n]), int(game.node_buckets[n])
        piece = quantised[start : start + shape[0] * shape[1]]
        piece[:] = piece.reshape(shape).T.ravel()
    return quantised


def pack_values(tables: tuple[LeafTable, LeafTable]) -> dict[str, npt.NDArray[Any]]:
    """Arrays for a blueprint's file: one byte per value, and a scale per row."""
    arrays: dict[str, npt.NDArray[Any]] = {"values.nodes": np.array(tables[0].nodes, dtype=np.int32)}
    for seat, table in enumerate(tables):
        scale = np.abs(table.values).max(axis=-1, keepdims=True) / 127
        scale = np.maximum(scale, np.float32(1e-9)).astype(np.float32)
        arrays[f"values.scale{seat}"] = scale
        arrays[f"values.bytes{seat}"] = np.rint(table.values / scale).astype(np.int8)
    return arrays


def has_values(blueprint: Blueprint) -> bool:
    """Whether a blueprint includes the tables."""
    return "values.nodes" in blueprint.arrays


def read_values(blueprint: Blueprint) -> tuple[LeafTable, LeafTable] | None:
    """A blueprint's tables for a chooser in seat 0 and 1; None if it has none."""
    arrays = blueprint.arrays
    if not has_values(blueprint):
        return None
    nodes = tuple([int(node) for node in arrays["values.nodes"]])

    def table(seat: int) -> LeafTable:
        return LeafTable(nodes, arrays[f"values.bytes{seat}"] * arrays[f"values.scale{seat}"])

    return table(0), table(1)
