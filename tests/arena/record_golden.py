"""Write tests/golden/acpc_reference_dealer.json: `python -m tests.arena.record_golden DEALER`.

The file holds SHA-256 digests of the output of the University of Alberta's ACPC server 1.0.42 (protocol
2.0.0): the logs and messages of the matches in `setups.py`, and the cards of twenty seeds, 1,000 hands each.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

from game.definition import HUNL
from tests.arena.scripted import MatchOutcome, calls, play_reference
from tests.arena.setups import SETUPS, setup

GOLDEN = Path(__file__).parents[1] / "golden" / "acpc_reference_dealer.json"
CARD_SEEDS = (0, 1, 2, 3, 7, 42, 99, 123, 1000, 5489, 65535, 65536, 123456789, 2**31 - 1, 2**31, 2**31 + 1,
              3141592653, 4000000000, 2**32 - 2, 2**32 - 1)  # fmt: skip
CARD_HANDS = 1000


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def cards_of_log(log: bytes) -> bytes:
    """One line per hand: hole cards by position and the board, as a log shows them after a showdown."""
    records = [line.split(b":") for line in log.splitlines() if line.startswith(b"STATE:")]
    return b"".join(record[3] + b"\n" for record in records)


def outcome_digests(outcome: MatchOutcome) -> dict[str, str]:
    return {"log": digest(outcome.log), "stderr": digest(outcome.timeless_stderr)}


def main(binary: str) -> None:
    golden: dict[str, dict[str, object]] = {"matches": {}, "cards": {}}
    with tempfile.TemporaryDirectory() as directory:
        for name, (match, scripts) in SETUPS.items():
            golden["matches"][name] = outcome_digests(play_reference(binary, match, scripts, Path(directory)))
        for seed in CARD_SEEDS:
            match = setup(HUNL, CARD_HANDS, seed, "-q", "-f")
            log = play_reference(binary, match, (calls, calls), Path(directory)).log
            golden["cards"][str(seed)] = digest(cards_of_log(log))
    GOLDEN.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
