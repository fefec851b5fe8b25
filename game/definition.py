"""Game definitions: blinds, stacks, rounds and deck of a two-player game, as in ACPC `.game` files.

Players are identified by position: position 0 posts `blinds[0]`. In heads-up hold'em position 0 is the big
blind and position 1 is the small blind on the button, which acts first before the flop and last after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, Card
from game.errors import DefinitionError

NUM_PLAYERS = 2
MAX_ROUNDS = 4
MAX_HOLE_CARDS = 3
MAX_BOARD_CARDS = 7
UNLIMITED_STACK = 2**31 - 1  # the reference dealer's "no stack given"
UNLIMITED_RAISES = 255  # and its "no cap given"

_KEYWORDS = (
    "stack", "blind", "raiseSize", "numPlayers", "numRounds", "firstPlayer", "maxRaises",
    "numSuits", "numRanks", "numHoleCards", "numBoardCards",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GameDefinition:
    """A two-player game. Chips are integers; per-round tuples have one entry per betting round."""

    no_limit: bool
    stacks: tuple[int, int]
    blinds: tuple[int, int]
    first_player: tuple[int, ...]
    """Position that acts first in each round."""
    board_cards: tuple[int, ...]
    """Public cards dealt at the start of each round."""
    num_hole_cards: int = 2
    num_suits: int = NUM_SUITS
    num_ranks: int = NUM_RANKS
    raise_sizes: tuple[int, ...] = ()
    """Limit games: the fixed raise of each round."""
    max_raises: tuple[int, ...] = ()
    """Raises allowed in each round; empty means no cap."""
    num_rounds: int = field(init=False)
    big_blind: int = field(init=False)
    deck: frozenset[Card] = field(init=False, repr=False, compare=False)
    """The cards in play: the highest ranks of the last suits."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_rounds", len(self.board_cards))
        object.__setattr__(self, "big_blind", max(self.blinds))
        if not self.max_raises:
            object.__setattr__(self, "max_raises", (UNLIMITED_RAISES,) * self.num_rounds)
        self._verify()
        lowest_rank, lowest_suit = NUM_RANKS - self.num_ranks, NUM_SUITS - self.num_suits
        deck = [card for card in range(NUM_CARDS) if card // 4 >= lowest_rank and card % 4 >= lowest_suit]
        object.__setattr__(self, "deck", frozenset(deck))

    def _verify(self) -> None:
        rounds = self.num_rounds
        if not 1 <= rounds <= MAX_ROUNDS:
            raise DefinitionError(f"{rounds} betting rounds: give 1 to {MAX_ROUNDS}")
        per_round = {"firstPlayer": self.first_player, "maxRaises": self.max_raises}
        if not self.no_limit:
            per_round["raiseSize"] = self.raise_sizes
        for name, values in per_round.items():
            if len(values) != rounds:
                raise DefinitionError(
                    f"{name} has {len(values)} entries: give one for each of {rounds} rounds"
                )
        for position in range(NUM_PLAYERS):
            stack, blind = self.stacks[position], self.blinds[position]
            if blind < 0 or not 0 < stack <= UNLIMITED_STACK:
                raise DefinitionError(
                    f"position {position}: blind {blind} must not be negative,"
                    f" stack {stack} must be 1 to {UNLIMITED_STACK}"
                )
            if blind > stack:
                raise DefinitionError(f"position {position}: blind {blind} is greater than the stack {stack}")
        if all(blind == stack for blind, stack in zip(self.blinds, self.stacks, strict=True)):
            raise DefinitionError("both players are all-in from the blinds: give one a larger stack")
        if any(not 0 <= player < NUM_PLAYERS for player in self.first_player):
            raise DefinitionError(f"firstPlayer {self.first_player}: each must be position 0 or 1")
        if any(not 0 <= cap <= UNLIMITED_RAISES for cap in self.max_raises):
            raise DefinitionError(
                f"maxRaises {self.max_raises}: each must be 0 to {UNLIMITED_RAISES}, which means no cap"
            )
        if any(size <= 0 for size in self.raise_sizes):
            raise DefinitionError(f"raise sizes {self.raise_sizes}: each must be positive")
        if not 1 <= self.num_suits <= NUM_SUITS or not 1 <= self.num_ranks <= NUM_RANKS:
            raise DefinitionError(
                f"a deck of {self.num_ranks} ranks in {self.num_suits} suits: give 1..13 ranks in 1..4 suits"
            )
        if not 1 <= self.num_hole_cards <= MAX_HOLE_CARDS:
            raise DefinitionError(f"{self.num_hole_cards} hole cards: give 1 to {MAX_HOLE_CARDS}")
        if any(count < 0 for count in self.board_cards) or sum(self.board_cards) > MAX_BOARD_CARDS:
            raise DefinitionError(
                f"board cards {self.board_cards}: give at most {MAX_BOARD_CARDS} in total, none negative"
            )
        needed = NUM_PLAYERS * self.num_hole_cards + sum(self.board_cards)
        if needed > self.num_suits * self.num_ranks:
            raise DefinitionError(
                f"the deck has {self.num_suits * self.num_ranks} cards but a hand needs {needed}"
            )

    def board_size(self, round_index: int) -> int:
        """Public cards visible in a round."""
        return sum(self.board_cards[: round_index + 1])


HUNL = GameDefinition(
    no_limit=True,
    stacks=(20000, 20000),
    blinds=(100, 50),
    first_player=(1, 0, 0, 0),
    board_cards=(0, 3, 1, 1),
)
"""Heads-up no-limit hold'em as played in the ACPC: 200 big blinds, stacks reset every hand."""

NLFH = GameDefinition(
    no_limit=True, stacks=(20000, 20000), blinds=(100, 50), first_player=(1, 0), board_cards=(0, 3)
)
"""No-limit flop hold'em (Brown, Sandholm, Amos 2018): the first two rounds of HUNL."""

LIMIT_HOLDEM = GameDefinition(
    no_limit=False,
    stacks=(UNLIMITED_STACK, UNLIMITED_STACK),
    blinds=(10, 5),
    raise_sizes=(10, 10, 20, 20),
    first_player=(1, 0, 0, 0),
    max_raises=(3, 4, 4, 4),
    board_cards=(0, 3, 1, 1),
)
"""Heads-up limit hold'em with reverse blinds."""

KUHN = GameDefinition(
    no_limit=False,
    stacks=(UNLIMITED_STACK, UNLIMITED_STACK),
    blinds=(1, 1),
    raise_sizes=(1,),
    first_player=(0,),
    max_raises=(1,),
    board_cards=(0,),
    num_hole_cards=1,
    num_suits=1,
    num_ranks=3,
)
"""Kuhn poker: three cards, one bet."""

LEDUC = GameDefinition(
    no_limit=False,
    stacks=(UNLIMITED_STACK, UNLIMITED_STACK),
    blinds=(1, 1),
    raise_sizes=(2, 4),
    first_player=(0, 0),
    max_raises=(2, 2),
    board_cards=(0, 1),
    num_hole_cards=1,
    num_suits=2,
    num_ranks=3,
)
"""Leduc hold'em: six cards, two rounds, two raises each."""

PRESETS = {"hunl": HUNL, "nlfh": NLFH, "limit": LIMIT_HOLDEM, "kuhn": KUHN, "leduc": LEDUC}


def parse_definition(text: str) -> GameDefinition:
    """Read the text of an ACPC `.game` file.

    Accepts what the reference dealer accepts, but raises `DefinitionError` for an unknown line, which that
    dealer silently skips, and for an invalid number, at which it stops reading.
    """
    no_limit = False
    values: dict[str, list[int]] = {}
    for raw_line in text.splitlines():
        line = raw_line.partition("#")[0].strip()
        lower = line.lower()
        if not line:
            continue
        if lower.startswith("end gamedef"):
            break
        if lower.startswith("gamedef"):
            continue
        if lower.startswith(("limit", "nolimit")):
            no_limit = lower.startswith("nolimit")
            continue
        keyword = next((word for word in _KEYWORDS if lower.startswith(word.lower())), None)
        if keyword is None:
            raise DefinitionError(
                f"unknown line {line!r}: a game definition says limit or nolimit, and {', '.join(_KEYWORDS)}"
            )
        values[keyword] = _parse_numbers(line[len(keyword) :], line)
    if not values:
        raise DefinitionError("no game definition: write it in the format of the ACPC's .game files")
    return _assemble(no_limit, values)


def definition_text(definition: GameDefinition) -> str:
    """The `.game` file of a definition, laid out as the reference dealer prints it."""
    lines = ["GAMEDEF", "nolimit" if definition.no_limit else "limit"]
    lines += [f"numPlayers = {NUM_PLAYERS}", f"numRounds = {definition.num_rounds}"]
    if any(stack < UNLIMITED_STACK for stack in definition.stacks):
        lines.append(_assignment("stack", definition.stacks))
    lines.append(_assignment("blind", definition.blinds))
    if not definition.no_limit:
        lines.append(_assignment("raiseSize", definition.raise_sizes))
    if any(definition.first_player):
        lines.append(_assignment("firstPlayer", tuple(player + 1 for player in definition.first_player)))
    if any(cap != UNLIMITED_RAISES for cap in definition.max_raises):
        lines.append(_assignment("maxRaises", definition.max_raises))
    lines += [f"numSuits = {definition.num_suits}", f"numRanks = {definition.num_ranks}"]
    lines.append(f"numHoleCards = {definition.num_hole_cards}")
    lines.append(_assignment("numBoardCards", definition.board_cards))
    lines.append("END GAMEDEF")
    return "\n".join(lines) + "\n"


def _assignment(name: str, values: tuple[int, ...]) -> str:
    return f"{name} = {' '.join(map(str, values))}"


def _parse_numbers(text: str, line: str) -> list[int]:
    words = text.replace("=", " ").replace(",", " ").split()
    try:
        return [int(word) for word in words]
    except ValueError:
        raise DefinitionError(f"{line!r}: expected whole numbers after the '='") from None


def _assemble(no_limit: bool, values: dict[str, list[int]]) -> GameDefinition:
    def needed(keyword: str, count: int) -> tuple[int, ...]:
        numbers = values.get(keyword, [])
        if len(numbers) < count:
            raise DefinitionError(f"{keyword} has {len(numbers)} numbers, needs {count}")
        return tuple(numbers[:count])

    def optional(keyword: str, count: int, default: int) -> tuple[int, ...]:
        numbers = values.get(keyword, [])[:count]
        return tuple(numbers + [default] * (count - len(numbers)))

    (num_players,) = needed("numPlayers", 1)
    if num_players != NUM_PLAYERS:
        raise DefinitionError(f"the game has {num_players} players: Fathom plays two-player games only")
    (num_rounds,) = needed("numRounds", 1)
    if not 1 <= num_rounds <= MAX_ROUNDS:
        raise DefinitionError(f"{num_rounds} betting rounds: give 1 to {MAX_ROUNDS}")
    blinds = needed("blind", NUM_PLAYERS)
    stacks = needed("stack", NUM_PLAYERS) if "stack" in values else (UNLIMITED_STACK,) * NUM_PLAYERS
    first = optional("firstPlayer", num_rounds, 1)
    return GameDefinition(
        no_limit=no_limit,
        stacks=(stacks[0], stacks[1]),
        blinds=(blinds[0], blinds[1]),
        raise_sizes=() if no_limit else needed("raiseSize", num_rounds),
        first_player=tuple(player - 1 for player in first),
        max_raises=optional("maxRaises", num_rounds, UNLIMITED_RAISES),
        board_cards=needed("numBoardCards", num_rounds),
        num_hole_cards=needed("numHoleCards", 1)[0],
        num_suits=needed("numSuits", 1)[0],
        num_ranks=needed("numRanks", 1)[0],
    )
