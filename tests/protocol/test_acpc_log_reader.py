from __future__ import annotations

import pytest

from game.definition import HUNL
from protocol.acpc_log_reader import Score, read_log
from protocol.errors import RecordError

# Written by the reference dealer, seed 1, two random players; the score is of these hands.
LOG = """\
# name/game/hands/seed m_1 holdem.nolimit.2p.reverse_blinds.game 4 1
#--t_response 600000
#--t_hand 600000
#--t_per_hand 7000
STATE:0:r18967c/r19780c/cc/cr19969f:8s2h|Kd5c/7hAdTd/4s/Kc:-19780|19780:A|B
STATE:1:f:JsKs|Qs8d:50|-50:B|A
STATE:2:r6301r13205f:5s6c|2c5d:6301|-6301:A|B
STATE:3:cr11708r20000c///:2c8h|6cAs/9dKsJc/9c/Td:-20000|20000:B|A
SCORE:6471|-6471:A|B
"""


def test_a_log_is_read_and_replayed() -> None:
    log = read_log(LOG.splitlines(keepends=True), HUNL)
    assert [hand.hand_id for hand in log.hands] == [0, 1, 2, 3]
    assert log.hands[3].players == ("B", "A")
    assert log.hands[3].state.values() == (-20000, 20000)
    assert log.score == Score((6471, -6471), ("A", "B"))
    assert len(log.comments) == 4


def test_an_interrupted_match_has_no_score() -> None:
    log = read_log(LOG.splitlines()[:-1], HUNL)
    assert len(log.hands) == 4
    assert log.score is None


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("50|-50", "51|-51", 6, "the log says 51|-51, by the rules it must be 50|-50"),
        ("50|-50", "50", 6, "two whole numbers"),
        ("50|-50", "50.5|-50.5", 6, "two whole numbers"),
        ("STATE:1:f", "STATE:1:c", 6, "does not end the hand"),
        ("STATE:1:f", "STATE:1:x", 6, "'x' is not an action"),
        ("STATE:1:f", "STATE:x:f", 6, "must be a number"),
        ("JsKs|", "|", 6, "expected 2 hole cards of position 0"),
        ("9dKsJc", "9dKs2c", 8, "appears twice"),
        ("STATE:3", "STAT:3", 8, "neither a comment nor"),
        ("B|A\nSTATE:2", "B\nSTATE:2", 6, "two names"),
        ("B|A\nSTATE:2", "B|C\nSTATE:2", 9, "played by 'C'"),
        ("SCORE:6471|-6471", "SCORE:6470|-6470", 9, "the hands sum to 6471|-6471"),
        ("SCORE:6471|-6471", "SCORE:6471", 9, "two whole numbers"),
        (
            "SCORE:6471|-6471:A|B",
            "SCORE:6471|-6471:A|B\nSTATE:4:f:JsKs|Qs8d:50|-50:A|B",
            10,
            "continues after",
        ),
    ],
)
def test_errors_name_the_bad_line(old: str, new: str, line: int, reason: str) -> None:
    assert LOG.count(old) == 1
    with pytest.raises(RecordError) as caught:
        read_log(LOG.replace(old, new).splitlines(), HUNL)
    assert caught.value.line_number == line
    assert str(caught.value).startswith(f"line {line}: ")
    assert reason in str(caught.value)
