"""Write the hands of a match as ACPC logs and PHH histories."""

from __future__ import annotations

from pathlib import Path

from arena.duplicate.results import MatchResult
from protocol.acpc_dealer import HandLines
from protocol.acpc_log import LogHeader, score_line
from protocol.phh import history_text


def write_log(path: Path, result: MatchResult, game_name: str, seed: int) -> None:
    """Write an ACPC log. The times in its header are 0, since there were no time limits."""
    header = LogHeader(path.stem, game_name, result.num_hands, seed, 0, 0, 0)
    totals = int(result.chips.sum())
    with path.open("w", encoding="utf-8") as file:
        file.write(str(header))
        for index in range(result.num_hands):
            record = result.record(index)
            state = record.state
            board = state.board
            lines = HandLines(result.definition, index, state.hole, board)
            file.write(lines.record(state.betting, state.values(), record.players))
        file.write(score_line((totals, -totals), result.names))


def write_histories(path: Path, result: MatchResult) -> None:
    """Write a `.phhs` file."""
    with path.open("w", encoding="utf-8") as file:
        for index in range(result.num_hands):
            file.write(f"[{index + 1}]\n{history_text(result.record(index))}\n")
