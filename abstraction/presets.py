"""Named presets of card abstractions: the number of buckets and the samples used to find them."""

from __future__ import annotations

from dataclasses import dataclass

from rich.progress import Progress

from abstraction.buckets import CardAbstraction
from abstraction.clustering import cluster
from abstraction.errors import AbstractionError
from abstraction.features import ROUND_NAMES, sample_points
from abstraction.opponents import OPPONENT_CLASSES
from game.hands import HAND_CLASS, NUM_CLASSES


@dataclass(frozen=True, slots=True)
class Sample:
    """Sample sizes for clustering: boards and hands. More boards than exist means all of them."""

    boards: int
    hands_per_board: int


@dataclass(frozen=True, slots=True)
class CardPreset:
    """How to make a card abstraction."""

    name: str
    buckets: tuple[int, int, int]  # flop, turn, river
    samples: tuple[Sample, Sample, Sample]

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """The number of buckets of each round, pre-flop included."""
        return (NUM_CLASSES, *self.buckets)


def _preset(name: str, buckets: int, flop: Sample, turn: Sample, river: Sample) -> CardPreset:
    return CardPreset(name, (buckets, buckets, buckets), (flop, turn, river))


CARD_PRESETS = {
    preset.name: preset
    for preset in (
        _preset("8", 8, Sample(50, 400), Sample(400, 50), Sample(2_000, 10)),
        _preset("32", 32, Sample(50, 400), Sample(400, 50), Sample(2_000, 10)),
        _preset("256", 256, Sample(600, 200), Sample(6_000, 40), Sample(20_000, 12)),
        _preset("500", 500, Sample(1_200, 300), Sample(8_000, 50), Sample(40_000, 12)),
        _preset("1000", 1_000, Sample(2_000, 400), Sample(10_000, 60), Sample(60_000, 12)),
        CardPreset(
            "2000-1000-1000",
            (2_000, 1_000, 1_000),
            (Sample(2_000, 600), Sample(10_000, 60), Sample(60_000, 12)),
        ),
        _preset("2000", 2_000, Sample(2_000, 600), Sample(17_000, 60), Sample(90_000, 12)),
        # All canonical flops, turns and rivers: 10 and 13 million points on the last two, some 2 GB each.
        _preset("30000", 30_000, Sample(2_000, 1_176), Sample(17_000, 600), Sample(135_000, 100)),
    )
}
"""Presets by name: the number of buckets per street, or one number each for flop, turn and river."""


def named_card_preset(name: str) -> CardPreset:
    """The preset with this name; raises `AbstractionError` with the list of names otherwise."""
    if name not in CARD_PRESETS:
        raise AbstractionError(f"no card preset {name!r}: choose one of {', '.join(CARD_PRESETS)}")
    return CARD_PRESETS[name]


def make_card_abstraction(preset: str, seed: int, progress: Progress | None = None) -> CardAbstraction:
    """Sample hands and cluster them for each round. The same preset and seed give the same buckets."""
    settings = named_card_preset(preset)
    class_of_hand = OPPONENT_CLASSES[HAND_CLASS]
    centroids = {}
    for (num_cards, name), buckets, sample in zip(
        ROUND_NAMES.items(), settings.buckets, settings.samples, strict=True
    ):
        points = sample_points(
            num_cards, sample.boards, sample.hands_per_board, class_of_hand, seed, progress
        )
        centroids[name] = cluster(points, buckets, seed, progress, f"{name} clusters").centroids
    return CardAbstraction.from_arrays({"opponent_classes": OPPONENT_CLASSES, **centroids})
