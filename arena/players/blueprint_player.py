"""A player that follows a blueprint and translates bets that are not in its tree.

Off the tree (`solver.blueprint.walk`) it checks and calls. Buckets are looked up in whole-board tables if
these have been built, which takes microseconds; otherwise they are computed, which takes up to tens of
milliseconds for a new flop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from abstraction.tables import BucketTables, board_buckets, open_tables, tables_are_built
from arena.players.play_style import PlayStyle, StyleNumbers, fill_probabilities, style_weights
from arena.players.public_blueprint import PublicBlueprint
from game.actions import CALL, Action
from game.betting import BettingState
from game.cards import Cards
from game.hands import NUM_HANDS, hand_index, unblocked
from game.state import HandState
from numeric.arrays import I32, U16
from numeric.draws import unit_at
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import CHOICE_KEY, KEYS_PER_ACTION, OFF_TREE, BlueprintWalk
from solver.decisions.range_strategy import RangeStrategy, merge_actions

_SEED_MASK = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class BlueprintPlayer:
    """Plays a blueprint. Safe to share between threads."""

    name: str
    blueprint: Blueprint
    style: PlayStyle = field(default_factory=PlayStyle)

    def start_hand(self, seed: int) -> BlueprintHand:
        """Start a hand: return an object that plays it, from either position."""
        return BlueprintHand(self, seed & _SEED_MASK)

    def in_public(self) -> PublicBlueprint:
        """The strategy averaged over random translations."""
        return PublicBlueprint(self.blueprint, self.numbers, self.walk, self.buckets)

    @property
    def identity(self) -> str:
        """A digest of the blueprint's content."""
        return self.blueprint.identity

    @cached_property
    def walk(self) -> BlueprintWalk:
        """Maps real betting to nodes of the blueprint's tree."""
        return BlueprintWalk(self.blueprint.tree, self.blueprint.definition)

    @cached_property
    def tables(self) -> BucketTables | None:
        """The whole-board bucket tables, if they have been built."""
        cards = self.blueprint.cards
        return open_tables(cards) if tables_are_built(cards) else None

    def buckets(self, board: Cards) -> U16:
        """uint16[1326]: the bucket of every hand; BLOCKED for hands that share a card with the board."""
        if self.tables is not None:
            return board_buckets(self.tables, board)
        return self.blueprint.cards.buckets(board)

    @cached_property
    def numbers(self) -> StyleNumbers:
        """The style in the form kernels take."""
        return self.style.numbers()


class BlueprintHand:
    """Plays one hand; remembers only the tree nodes it has visited."""

    def __init__(self, player: BlueprintPlayer, seed: int) -> None:
        self._player = player
        self._seed = seed
        self._nodes: dict[str, int] = {}

    @property
    def blueprint(self) -> Blueprint:
        """The blueprint that is played."""
        return self._player.blueprint

    def act(self, state: HandState, position: int) -> Action:
        """Sample from the strategy of the hand held; the random number depends on seed and action index."""
        betting, walk = state.betting, self._player.walk
        node = self.node(betting)
        if node == OFF_TREE:
            return CALL
        hole = state.hole[position]
        bucket = int(self._player.buckets(state.visible_board)[hand_index(hole[0], hole[1])])
        weights = self._player.blueprint.rows(node)[:, bucket].astype(np.int64)
        total = style_weights(self._player.numbers, self._codes(node), weights)
        index = sum(map(len, betting.actions))
        drawn = unit_at(np.uint64(self._seed), KEYS_PER_ACTION * index + CHOICE_KEY) * float(total)
        choice = int(np.searchsorted(np.cumsum(weights), drawn, side="right"))
        return walk.real_action(node, int(self._children(node)[choice]), betting)

    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        """The strategy of the player to act; sizes that map to the same real bet are merged."""
        node = self.node(betting)
        if node == OFF_TREE:
            return RangeStrategy((CALL,), unblocked(board).astype(np.float32)[None, :])
        player, children = self._player, self._children(node)
        actions = [player.walk.real_action(node, int(child), betting) for child in children]
        rows = np.zeros((len(children), NUM_HANDS), dtype=np.float32)
        fill_probabilities(
            player.numbers, self._codes(node), player.blueprint.rows(node), player.buckets(board), rows
        )
        return merge_actions(actions, rows)

    def node(self, betting: BettingState) -> int:
        """The blueprint's node for a running hand, or OFF_TREE."""
        node = self._nodes.get(betting.text)
        if node is None:
            if betting.definition != self._player.blueprint.definition:
                raise ValueError(
                    f"{self._player.name} was trained for another game: use a blueprint of the game played"
                )
            node = self._nodes[betting.text] = self._player.walk.find(betting, self._seed)
        return node

    def _children(self, node: int) -> I32:
        return self._player.blueprint.tree.children_of(node)

    def _codes(self, node: int) -> I32:
        return np.ascontiguousarray(self._player.blueprint.tree.action[self._children(node)])
