"""Play hands from the flop on after a given pre-flop line, with AIVAT applied as they are played.

1. The seed, the line and i determine everything about hand i of a line: the cards, drawn from the beliefs of
   the line, and the players' seeds. It is played in both seats, which are one sample as in
   `arena.duplicate.pairs`.
2. AIVAT uses the strategies that the players remember having played, so time budgets are allowed. The time
   that a clock has saved depends on the whole match: see `MatchTime`.
3. A hand is one line of JSON, in the first player's chips.
"""

from __future__ import annotations

import json
import time
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from arena.aivat.aivat import Deal, step_corrections
from arena.aivat.hand import make_games, strategies_of
from arena.aivat.holdem import played_hand
from arena.aivat.translation import ask_blueprint
from arena.duplicate.flop_lines import FlopLine, FlopLines, find_lines
from arena.duplicate.pairs import HAND_KEY, SEED_MASK, play_hand
from arena.players.agent_player import AgentHand, AgentPlayer
from arena.players.base import HANDS_PER_PAIR, HandPlayer, Player
from arena.players.registry import make_player
from game.actions import Action
from game.cards import cards_text
from game.definition import NUM_PLAYERS, GameDefinition, parse_definition
from game.state import HandState, hand_state
from numeric.draws import seed_at
from solver.agent.time_bank import MatchClock

_KEY_MASK = 0x7FFFFFFF
_HISTORY = 24
_FIRST_SHARE = 0.6
_KNOWN = (True, True)

Task = tuple[int, int]
"""The index of a line and the number of a pair."""


@dataclass(frozen=True, slots=True)
class LineHand:
    """One hand, from the flop on. Chips are the first player's."""

    line: str
    seat: int
    """Position of the first player."""
    number: int
    cards: str
    """Hole cards by position, and the board."""
    betting: str
    chips: int
    value: float
    """AIVAT's estimate: the sum of the parts."""
    parts: dict[str, float]
    """Corrections dealN and actN with N cards on the board, and the payoff over both ranges."""
    think: float
    """Seconds the first player used."""
    decisions: tuple[float, ...]
    """Seconds of each of the first player's decisions."""
    seconds: float
    """Seconds in total, corrections included."""

    def __str__(self) -> str:
        fields = asdict(self)
        fields["parts"] = {name: round(amount, 3) for name, amount in self.parts.items()}
        for name in ("think", "seconds", "value"):
            fields[name] = round(fields[name], 4)
        fields["decisions"] = [round(seconds, 4) for seconds in self.decisions]
        return json.dumps(fields)


def parse_line_hand(text: str) -> LineHand:
    """Parse the text that `str` writes; raises ValueError."""
    try:
        fields = json.loads(text)
        return LineHand(**{**fields, "decisions": tuple(fields["decisions"])})
    except (KeyError, TypeError) as error:
        raise ValueError(f"{text[:80]!r} is not a hand of a line: its JSON fields differ") from error


class LineDuel:
    """Plays pairs of hands after given lines. Blocks while the players think."""

    def __init__(self, definition: GameDefinition, players: tuple[Player, Player], seed: int) -> None:
        self._definition, self._players, self._seed = definition, players, seed
        first = players[0]
        if isinstance(first, AgentPlayer):
            first.agent.warm_up()  # so that kernel loading is not charged to a decision
        self.found: FlopLines = find_lines(definition, players)
        second_first = make_games(definition, (players[1], players[0]))  # guesses: the second's blueprint
        self._games = second_first[1], second_first[0]
        self._time: MatchTime | None = None
        if isinstance(first, AgentPlayer) and first.agent.settings.budget is not None:
            self._time = MatchTime(first.agent.settings.budget, self.found.lines)

    def __call__(self, task: Task) -> str:
        """Play a pair; returns the JSON lines of both hands."""
        index, number = task
        line = self.found.lines[index]
        seed = line_seed(self._seed, line.text, number)
        return "".join(f"{self._hand(line, number, seat, seed)}\n" for seat in range(HANDS_PER_PAIR))

    def _hand(self, line: FlopLine, number: int, seat: int, seed: int) -> LineHand:
        started = time.perf_counter()
        rng = np.random.default_rng(seed)
        hole, board = line.deal(rng)
        seeds = [int(seed_at(np.uint64(seed), HAND_KEY + NUM_PLAYERS * seat + p)) for p in range(2)]
        first = _Timed(self._start_first(seeds[0], rng))
        second = self._players[1].start_hand(seeds[1])
        seats: tuple[HandPlayer, HandPlayer] = (first, second) if seat == 0 else (second, first)
        state = play_hand(hand_state(line.betting, hole, board), seats)
        if self._time is not None:
            self._time.note(line, sum(first.seconds))
        parts = self._parts(line, state, seat, (first.player, second))
        return LineHand(
            line.text,
            seat,
            number,
            " ".join(cards_text(cards) for cards in (*hole, board)),
            state.betting.text,
            state.values()[seat],
            sum(parts.values()),
            parts,
            sum(first.seconds),
            tuple(first.seconds),
            time.perf_counter() - started,
        )

    def _start_first(self, seed: int, rng: np.random.Generator) -> HandPlayer:
        first = self._players[0]
        if self._time is None or not isinstance(first, AgentPlayer):
            return first.start_hand(seed)
        return AgentHand(first.agent, seed, self._time.clock(rng))

    def _parts(
        self, line: FlopLine, state: HandState, seat: int, players: tuple[HandPlayer, HandPlayer]
    ) -> dict[str, float]:
        """The terms of AIVAT's estimate, in the first player's chips."""
        sign = 1 if seat == 0 else -1
        seats = players if seat == 0 else (players[1], players[0])
        game = ask_blueprint(self._games[seat], seats)
        skip = len(line.betting.actions[0])
        strategies = strategies_of(state.betting, state.board, seats, _KNOWN, skip)
        hand = played_hand(game, state, _KNOWN, strategies, self._games[seat].after_line(line.betting))
        corrections, beliefs = step_corrections(game, hand.steps, line.beliefs)
        parts: dict[str, float] = defaultdict(float)
        for step, amount in zip(hand.steps, corrections, strict=True):
            if isinstance(step, Deal):
                parts[f"deal{len(step.after.board)}"] += sign * amount
            else:
                parts[f"act{len(step.following[step.taken].board)}"] += sign * amount
        parts["payoff"] = sign * game.payoff(hand.end, beliefs)
        return dict(parts)


def make_line_duel(definition: str, players: tuple[str, str], seed: int) -> LineDuel:
    """Make a `LineDuel` from texts, in a worker process."""
    return LineDuel(parse_definition(definition), (make_player(players[0]), make_player(players[1])), seed)


def line_seed(seed: int, line: str, number: int) -> int:
    """The seed that determines everything about a pair of hands."""
    of_line = seed_at(np.uint64(seed & SEED_MASK), zlib.crc32(line.encode()) & _KEY_MASK)
    return int(seed_at(np.uint64(of_line), number))


class MatchTime:
    """Simulates an agent's match clock when only some lines of a match are played.

    In a match, quick hands save time for later ones. So each hand gets a clock with a simulated history:
    lines are drawn with their probabilities in a match, each with the time of a hand played on that line, or
    with no time if the hand ended before the flop.
    """

    def __init__(self, budget: float, lines: Sequence[FlopLine]) -> None:
        self._budget, self._lines = budget, lines
        self._reached = np.cumsum([line.probability for line in lines])
        self._seconds: dict[str, list[float]] = defaultdict(list)

    def note(self, line: FlopLine, seconds: float) -> None:
        """Record the seconds used in a hand of this line."""
        self._seconds[line.text].append(seconds)

    def clock(self, rng: np.random.Generator) -> MatchClock:
        """A clock with a simulated history, at the start of a hand."""
        clock = MatchClock(self._budget)
        for _ in range(_HISTORY):
            clock.start_hand()
            index = int(np.searchsorted(self._reached, rng.random(), side="right"))
            if index < len(self._lines):
                known = self._seconds[self._lines[index].text]
                clock.spend(known[int(rng.integers(len(known)))] if known else _FIRST_SHARE * self._budget)
        clock.start_hand()
        return clock


class _Timed:
    """Wraps a hand player and records the seconds of its decisions."""

    def __init__(self, player: HandPlayer) -> None:
        self.player = player
        self.seconds: list[float] = []

    def act(self, state: HandState, position: int) -> Action:
        started = time.perf_counter()
        action = self.player.act(state, position)
        self.seconds.append(time.perf_counter() - started)
        return action
