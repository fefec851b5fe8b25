"""Blueprints by name: which game, which bets, how many buckets, how to train; and what that will cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from abstraction.menu import parse_menu_book
from abstraction.presets import CARD_PRESETS
from game.definition import HUNL, GameDefinition
from solver.betting_tree import build_hand_tree
from solver.mccfr import TrainingError, TrainingSettings
from solver.training_game import TrainingGame, make_training_game

TABLE_BYTES = 410_000_000
"""Of the whole-board bucket tables, for any number of buckets."""


@dataclass(frozen=True, slots=True)
class BlueprintPreset:
    """What `fathom train --preset` knows."""

    name: str
    menus: str
    cards: str
    """Name of the card abstraction's preset."""
    iterations: int
    """Enough for a blueprint worth having."""
    definition: GameDefinition = HUNL
    settings: TrainingSettings = field(default_factory=TrainingSettings)

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Of each round."""
        return CARD_PRESETS[self.cards].num_buckets

    def game(self, num_buckets: tuple[int, ...] | None = None) -> TrainingGame:
        """The betting tree laid out for the trainer.

        num_buckets  of each round; those of the preset unless given
        """
        tree = build_hand_tree(self.definition, parse_menu_book(self.menus))
        return make_training_game(tree, num_buckets or self.num_buckets, float(self.definition.big_blind))


_FEW_VISITS = TrainingSettings(discount_share=1.0)
"""Where infosets are many and seen seldom, recent iterations should count for more to the end."""

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
"""`tiny` for tests, `default` for what is shipped (it went on with more: `solver.regrouping`), `paper`
with the 30,000 buckets of Modicum for a big machine."""


def named_preset(name: str) -> BlueprintPreset:
    """The preset of a name; refuses others with the list."""
    if name not in BLUEPRINT_PRESETS:
        raise TrainingError(f"no preset {name!r}: choose one of {', '.join(BLUEPRINT_PRESETS)}")
    return BLUEPRINT_PRESETS[name]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a training needs, known before it starts."""

    decision_nodes: tuple[int, ...]
    """Of each round."""
    infosets: int
    actions: int
    """Infosets × their actions: entries of a table."""
    memory_bytes: int
    """Both tables of the trainer, the blueprint made of them, and the bucket tables."""
    checkpoint_bytes: int
    artifact_bytes: int
    """Mapped, without carried training and first-round table; at rest it is compressed to about a quarter."""
    nodes_per_traversal: float
    """While strategies are uniform; later it is more."""


def estimate_cost(game: TrainingGame) -> Cost:
    """Count, without allocating anything large."""
    return Cost(
        decision_nodes=tuple([nodes for nodes, _ in game.tree.decision_counts()]),
        infosets=game.num_infosets,
        actions=game.table_size,
        memory_bytes=9 * game.table_size + TABLE_BYTES,
        checkpoint_bytes=8 * game.table_size,
        artifact_bytes=game.table_size,
        nodes_per_traversal=game.expected_visits(),
    )
