"""The matches whose logs are compared with the reference dealer's."""

from __future__ import annotations

from game.definition import HUNL, KUHN, LEDUC, LIMIT_HOLDEM, NLFH, GameDefinition, definition_text
from tests.arena.scripted import Script, Setup, calls, chaotic, raise_war, sensible

_SHORT = GameDefinition(
    no_limit=True, stacks=(730, 1210), blinds=(100, 50), first_player=(1, 0, 0, 0), board_cards=(0, 3, 1, 1)
)
_TINY = GameDefinition(
    no_limit=True, stacks=(100, 20000), blinds=(100, 50), first_player=(1, 0, 0, 0), board_cards=(0, 3, 1, 1)
)
_SHORT_LIMIT = GameDefinition(
    no_limit=False, stacks=(35, 52), blinds=(10, 5), raise_sizes=(10, 10, 20, 20), first_player=(1, 0, 0, 0),
    max_raises=(3, 4, 4, 4), board_cards=(0, 3, 1, 1),
)  # fmt: skip


def setup(definition: GameDefinition, hands: int, seed: int, *flags: str) -> Setup:
    return Setup(definition_text(definition), definition, hands, seed, flags)


SETUPS: dict[str, tuple[Setup, tuple[Script, Script]]] = {
    "hunl, sensible": (setup(HUNL, 200, 1), (sensible(1), sensible(2))),
    "hunl, chaotic": (setup(HUNL, 200, 2), (chaotic(3), chaotic(4))),
    "hunl, chaotic, quiet, fixed seats": (
        setup(HUNL, 100, 4294967295, "-q", "-f"),
        (chaotic(5), sensible(6)),
    ),
    "hunl, raise war": (setup(HUNL, 3, 3), (raise_war(7), raise_war(8))),
    "hunl, check down": (setup(HUNL, 50, 4), (calls, calls)),
    "nlfh, chaotic": (setup(NLFH, 150, 5), (chaotic(9), chaotic(10))),
    "limit, chaotic": (setup(LIMIT_HOLDEM, 200, 6), (chaotic(11), chaotic(12))),
    "limit, sensible": (setup(LIMIT_HOLDEM, 100, 7), (sensible(13), sensible(14))),
    "short stacks, chaotic": (setup(_SHORT, 200, 8), (chaotic(15), chaotic(16))),
    "all-in from the blind": (setup(_TINY, 100, 9), (chaotic(17), chaotic(18))),
    "limit with short stacks": (setup(_SHORT_LIMIT, 200, 10), (chaotic(19), chaotic(20))),
    "kuhn": (setup(KUHN, 200, 11), (sensible(21), chaotic(22))),
    "leduc": (setup(LEDUC, 200, 12), (sensible(23), chaotic(24))),
}
