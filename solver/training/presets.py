"""Named blueprint presets: game, bets, buckets and training settings; and estimates of their cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from abstraction.menu import parse_menu_book
from abstraction.presets import CARD_PRESETS
from game.definition import HUNL, GameDefinition
from solver.blueprint.abstract_game import TrainingGame, make_training_game
from solver.games.betting_tree import build_hand_tree
from solver.training.trainer import TrainingError, TrainingSettings

TABLE_BYTES = 410_000_000
"""Size of the whole-board bucket tables, for any number of buckets."""


@dataclass(frozen=True, slots=True)
class BlueprintPreset:
    """A preset of `fathom train --preset`."""

    name: str
    menus: str
    cards: str
    """Name of the card abstraction's preset."""
    iterations: int
    """Enough for a useful blueprint."""
    definition: GameDefinition = HUNL
    settings: TrainingSettings = field(default_factory=TrainingSettings)

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Buckets of each round."""
        return CARD_PRESETS[self.cards].num_buckets

    def game(self, num_buckets: tuple[int, ...] | None = None) -> TrainingGame:
        """The betting tree in the trainer's layout.

        num_buckets  of each round; by default the preset's
        """
        tree = build_hand_tree(self.definition, parse_menu_book(self.menus))
        return make_training_game(tree, num_buckets or self.num_buckets, float(self.definition.big_blind))


_FEW_VISITS = TrainingSettings(discount_share=1.0)
"""For many infosets with few visits: recent iterations should count for more until the end."""

BLUEPRINT_PRESETS = {
    preset.name: preset
    for preset in (
        BlueprintPreset("tiny", "preflop: 3x | a; 100% | a", "8", 6_000_000),
        BlueprintPreset(
            "default",
            "preflop: 2x, 3x, a | 100%, a | 100%, a | a; 50%, 100%, a | 100%, a | a",
            "500",
            2_000_000_000,
            settings=_FEW_VISITS,
        ),
        BlueprintPreset(
            "paper",
            "preflop: 2x, 2.5x, 3x, a | 75%, 125%, a | 100%, a | a; "
            "flop: 33%, 75%, a | 75%, a | a; 50%, 100%, a | 100%, a | a",
            "30000",
            100_000_000_000,
            settings=_FEW_VISITS,
        ),
    )
}
"""`tiny` is for tests, `default` is the one shipped (continued with more buckets: `training.regrouping`),
`paper` has the 30,000 buckets of Modicum, for a big machine."""


def named_preset(name: str) -> BlueprintPreset:
    """The preset with this name. Raises with the list of names if there is none."""
    if name not in BLUEPRINT_PRESETS:
        raise TrainingError(f"no preset {name!r}: choose one of {', '.join(BLUEPRINT_PRESETS)}")
    return BLUEPRINT_PRESETS[name]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a training needs, estimated before it starts."""

    decision_nodes: tuple[int, ...]
    """Decision nodes of each round."""
    infosets: int
    actions: int
    """Infosets × their actions: the number of elements of a table."""
    memory_bytes: int
    """Both tables of the trainer, the blueprint made from them, and the bucket tables."""
    checkpoint_bytes: int
    artifact_bytes: int
    """Size of the mapped file, without training state and leaf table; packed it takes about a quarter."""
    nodes_per_traversal: float
    """Under uniform strategies; it grows later."""


def estimate_cost(game: TrainingGame) -> Cost:
    """Estimate the cost without allocating anything large."""
    return Cost(
        decision_nodes=tuple([nodes for nodes, _ in game.tree.decision_counts()]),
        infosets=game.num_infosets,
        actions=game.table_size,
        memory_bytes=9 * game.table_size + TABLE_BYTES,
        checkpoint_bytes=8 * game.table_size,
        artifact_bytes=game.table_size,
        nodes_per_traversal=game.expected_visits(),
    )
