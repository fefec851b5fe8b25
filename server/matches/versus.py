"""Any registered player in a seat of a remote dealer's match, the hands it plays, and the result.

The journal holds the last line of every hand as the dealer sent it. If an interrupted match is resumed and
the dealer continues its hand numbers, one report covers both parts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from arena.duplicate.results import MatchResult, recorded_result
from arena.players.base import HandPlayer, Player
from game.actions import Action
from game.cards import Cards
from game.definition import GameDefinition
from numeric.draws import seed_at
from protocol.acpc import MatchState, parse_match_state
from protocol.records import HandRecord

_SEED_MASK = (1 << 64) - 1
_HAND_MASK = (1 << 31) - 1


class SeatPlayer:
    """A player in one seat of a match, with a new `HandPlayer` per hand, seeded by the hand's number."""

    def __init__(self, player: Player, seed: int) -> None:
        self._player, self._seed = player, np.uint64(seed & _SEED_MASK)
        self._hand_id = -1
        self._hand: HandPlayer | None = None

    def __call__(self, match: MatchState) -> Action:
        """The action for a state in which it is our turn."""
        if self._hand is None or match.hand_id != self._hand_id:
            self._hand_id = match.hand_id
            self._hand = self._player.start_hand(int(seed_at(self._seed, match.hand_id & _HAND_MASK)))
        return self._hand.act(match.state, match.position)


class HandLog:
    """Finished hands by number; also appended to a file, if there is one.

    A repeated number with other cards marks the start of another match: only the last match is kept.
    """

    def __init__(self, definition: GameDefinition, path: Path | None = None) -> None:
        self._hands: dict[int, MatchState] = {}
        self._file: int | None = None
        if path is None:
            return
        if path.exists():
            whole = path.read_bytes()
            end = whole.rfind(b"\n") + 1
            for line in whole[:end].decode("ascii").splitlines():
                self._keep(parse_match_state(line, definition))
            os.truncate(path, end)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def add(self, match: MatchState) -> None:
        """Add a finished hand."""
        self._keep(match)
        if self._file is not None:
            os.write(self._file, match.text.encode() + b"\n")

    def states(self) -> list[MatchState]:
        """The hands, ordered by number."""
        return [self._hands[hand_id] for hand_id in sorted(self._hands)]

    def _keep(self, match: MatchState) -> None:
        known = self._hands.get(match.hand_id)
        if known is not None and _own_cards(known) != _own_cards(match):
            self._hands.clear()
        self._hands[match.hand_id] = match

    def close(self) -> None:
        """Close the file. Idempotent."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def versus_result(
    definition: GameDefinition, names: tuple[str, str], states: Sequence[MatchState]
) -> MatchResult:
    """The result of finished hands as one player saw them; `names` are that player's and the opponent's."""
    records = [
        HandRecord(match.hand_id, match.state, names if match.position == 0 else (names[1], names[0]))
        for match in states
    ]
    return recorded_result(definition, names, records)


def _own_cards(match: MatchState) -> tuple[int, Cards]:
    return match.position, match.state.hole[match.position]
