from __future__ import annotations

import contextlib
from dataclasses import replace
from random import Random

import pokerkit
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.players.policies import POLICIES
from game.actions import CALL, raise_to
from game.cards import parse_cards
from game.definition import HUNL, LIMIT_HOLDEM, NLFH, GameDefinition
from game.state import new_hand
from protocol.errors import RecordError
from protocol.phh import histories_text, history_text, parse_histories, parse_history
from protocol.records import HandRecord

GAMES = {
    "hunl": HUNL,
    "short": replace(HUNL, stacks=(500, 300), blinds=(20, 10)),
    "limit": LIMIT_HOLDEM,
    "limit with stacks": replace(LIMIT_HOLDEM, stacks=(65, 115)),
}

ALL_IN = """\
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [50, 100]
min_bet = 100
starting_stacks = [20000, 20000]
actions = [
  "d dh p1 TdAs",
  "d dh p2 2c3s",
  "p2 cbr 300",
  "p1 cc",
  "d db 8cQc4c",
  "p1 cbr 19700",
  "p2 cc",
  "p1 sm TdAs",
  "p2 sm 2c3s",
  "d db Ah",
  "d db Ad",
]
hand = 7
players = ["Fathom", "O'Neill \\"the rock\\""]
finishing_stacks = [40000, 0]
"""


def random_record(definition: GameDefinition, hand_id: int, rng: Random) -> HandRecord:
    """A finished hand; board cards that were never revealed are unknown."""
    cards = tuple(rng.sample(range(52), 9))
    state = new_hand(definition, (cards[:2], cards[2:4]), cards[4:])
    policies = [rng.choice(list(POLICIES.values())[:-1]) for _ in range(2)]
    while not state.betting.is_finished:
        actor = state.betting.actor
        state = state.apply(policies[actor](state, actor, rng))
    return HandRecord(hand_id, state._replace(board=state.visible_board), ("A", "B"))


def pokerkit_payoffs(history: pokerkit.HandHistory) -> tuple[int, ...]:
    *_, last = history
    assert not last.status
    return tuple(last.payoffs)


def test_an_all_in_is_written_as_expected_and_read_back() -> None:
    state = new_hand(HUNL, (parse_cards("TdAs"), parse_cards("2c3s")), parse_cards("8cQc4cAhAd"))
    for action in (raise_to(300), CALL, raise_to(20000), CALL):
        state = state.apply(action)
    record = HandRecord(7, state, ("Fathom", 'O\'Neill "the rock"'))
    assert history_text(record) == ALL_IN
    assert parse_history(ALL_IN) == record


@pytest.mark.parametrize("name", GAMES)
def test_hands_round_trip_and_pokerkit_pays_the_same(name: str) -> None:
    rng = Random(11)
    records = [random_record(GAMES[name], hand_id, rng) for hand_id in range(40)]
    for record in records:
        assert parse_history(history_text(record)) == record
    text = histories_text(records)
    assert parse_histories(text) == records
    for record, history in zip(records, pokerkit.HandHistory.loads_all(text), strict=True):
        assert pokerkit_payoffs(history) == record.state.values()
        assert history.hand == record.hand_id


def test_a_players_view_of_an_unfinished_hand_round_trips() -> None:
    state = new_hand(HUNL, (parse_cards("TdAs"), ()), parse_cards("8cQc4c"))
    for action in (raise_to(300), CALL):
        state = state.apply(action)
    record = HandRecord(1, state, ("", ""))
    text = history_text(record)
    assert '"d dh p2 ????"' in text
    assert "finishing_stacks" not in text
    assert parse_history(text) == record


def test_what_pokerkit_writes_can_be_read() -> None:
    record = random_record(HUNL, 3, Random(2))
    dumped = pokerkit.HandHistory.loads(history_text(record)).dumps()
    assert parse_history(dumped) == record


def test_floats_and_comments_are_read() -> None:
    text = ALL_IN.replace("[50, 100]", "[50.0, 100.0]").replace('"p1 cc"', '"p1 cc # a call", "# hm", ""')
    assert parse_history(text) == parse_history(ALL_IN)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"NT"', '"PO"', "variant 'PO'"),
        ("antes = [0, 0]", "antes = [5, 5]", "antes"),
        ("antes = [0, 0]", "antes = [0, 0, 0]", "antes"),
        ("[50, 100]", "[50.5, 100]", "whole numbers"),
        ("[50, 100]", "[50, nan]", "whole numbers"),
        ("min_bet = 100", "min_bet = 50", "min_bet 50"),
        ("min_bet = 100\n", "", "min_bet is missing"),
        ("[20000, 20000]", "[20, 20000]", "blind"),
        ("p2 cbr 300", "p2 cbr 150", "raise to 200..20000"),
        ("p2 cbr 300", "p1 cbr 300", "not the turn of p1"),
        ("p2 cbr 300", "p2 bets 300", "not a player's action"),
        ("p2 cbr 300", "p3 cbr 300", "not an action"),
        ('"d db 8cQc4c",\n', "", "board of round 2 is not dealt"),
        ('"d db Ad",\n', "", "board has 4 cards"),
        ("Ad", "Td", "appears twice"),
        ("d dh p1 TdAs", "d dh p1 TdA", "two characters"),
        ("[40000, 0]", "[0, 40000]", "by the rules they must be"),
        ("hand = 7", 'hand = "x"', "expected a number"),
        ("hand = 7", "hand = = 7", "not valid TOML"),
    ],
)
def test_a_bad_history_is_rejected_with_a_reason(old: str, new: str, reason: str) -> None:
    assert old in ALL_IN
    with pytest.raises(RecordError) as caught:
        parse_history(ALL_IN.replace(old, new))
    assert reason in str(caught.value)


def test_games_the_format_cannot_express_are_rejected() -> None:
    with pytest.raises(RecordError, match="four rounds"):
        history_text(HandRecord(0, new_hand(NLFH), ("", "")))


def test_errors_name_the_bad_hand_of_a_file() -> None:
    with pytest.raises(RecordError, match=r"hand \[2\]: variant 'PO'"):
        parse_histories("[1]\n" + ALL_IN + "\n[2]\n" + ALL_IN.replace('"NT"', '"PO"'))
    with pytest.raises(RecordError, match="outside of any hand"):
        parse_histories(ALL_IN)


@given(st.integers(0, 2**32 - 1))
def test_mutated_histories_are_read_or_rejected(seed: int) -> None:
    rng = Random(seed)
    text = ALL_IN
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text))
        words = [
            "",
            "0",
            "1",
            "-",
            "p1",
            "cbr",
            "cc",
            "f",
            "sm",
            "[",
            "]",
            '"',
            ",",
            "\n",
            "As",
            "inf",
            "nan",
            "1e9",
        ]
        text = text[:at] + rng.choice(words) + text[at + rng.randint(0, 6) :]
    with contextlib.suppress(RecordError):
        parse_history(text)
