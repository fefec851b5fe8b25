from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.players.policies import POLICIES
from game.actions import CALL, FOLD, raise_to
from game.betting import BettingState, start
from game.cards import cards_text
from game.definition import HUNL
from game.state import HandState, new_hand
from protocol.acpc import parse_betting
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.slumbot import (
    ClientSession,
    ServerHand,
    SlumbotError,
    error_body,
    read_act,
    read_login,
    read_new_hand,
)
from protocol.slumbot_actions import (
    SlumbotRefusal,
    increment_text,
    parse_increment,
    parse_slumbot,
    slumbot_text,
)

# Slumbot's text and the ACPC's of the same betting.
PAIRS = [
    ("", ""),
    ("b200", "r200"),
    ("ck/", "cc/"),
    ("b200c/", "r200c/"),
    ("b300c/b400", "r300c/r700"),
    ("ck/kk/b300b900c/", "cc/cc/r400r1000c/"),
    ("b200c/kk/kb200c/kk", "r200c/cc/cr400c/cc"),
    ("b20000c///", "r20000c///"),
    ("b200f", "r200f"),
    ("b200b1250c/kb750b18650b18750", "r200r1250c/cr2000r19900r20000"),
    ("b200c/kk/b19800c/", "r200c/cc/r20000c/"),
]


@pytest.mark.parametrize(("slumbot", "acpc"), PAIRS)
def test_slumbot_and_acpc_notation_of_the_same_betting(slumbot: str, acpc: str) -> None:
    assert parse_slumbot(slumbot).text == acpc
    assert slumbot_text(parse_betting(HUNL, acpc)) == slumbot


def test_slashes_at_the_end_may_be_left_out() -> None:
    assert parse_slumbot("b200c") == parse_slumbot("b200c/")
    assert parse_slumbot("b20000c") == parse_slumbot("b20000c///")


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("k", "Illegal check"),
        ("b200c/kk/c", "Illegal call"),
        ("ck/f", "Illegal fold"),
        ("b200ck", "Missing slash"),
        ("b200b250", "Bet too small"),
        ("b150", "Bet too small"),
        ("b20001", "Bet too big"),
        ("b200c/b19801", "Bet too big"),
        ("b", "Missing bet size"),
        ("bk", "Missing bet size"),
        ("b99999999999", "Bet too big"),
        ("x", "Unexpected character in action"),
        ("/", "Unexpected character in action"),
        ("b200c//", "Unexpected character in action"),
        ("ff", "Unexpected character in action"),
        ("b20000b20000", "Illegal bet"),
        ("b" + "2" * 3000, "Unexpected character in action"),
    ],
)
def test_errors_use_slumbots_phrases(text: str, phrase: str) -> None:
    with pytest.raises(SlumbotRefusal) as refusal:
        parse_slumbot(text)
    assert refusal.value.phrase == phrase


def test_an_increment_is_exactly_one_action() -> None:
    opened = parse_slumbot("b200")
    assert parse_increment(opened, "c") == CALL
    assert parse_increment(opened, "f") == FOLD
    assert parse_increment(opened, "b600") == raise_to(600)
    for text in ("cc", "c/", "", "b600 ", "B600"):
        with pytest.raises(SlumbotRefusal):
            parse_increment(opened, text)
    with pytest.raises(SlumbotRefusal):
        parse_increment(parse_slumbot("b200f"), "k")


def test_all_in_is_the_stack_left_by_earlier_streets() -> None:
    """20,000 minus the chips of earlier streets; the only legal raise if a full raise is too much."""
    state = parse_slumbot("b200b1250c/kb750b18650")
    assert parse_increment(state, "b18750") == raise_to(20000)
    assert increment_text(state, raise_to(20000)) == "b18750"
    with pytest.raises(SlumbotRefusal, match="Bet too big"):
        parse_increment(state, "b18751")


def play_out(state: HandState, rng: Random) -> list[HandState]:
    """A hand between two simple players, state by state."""
    policies = [rng.choice(list(POLICIES.values())[:-1]) for _ in range(2)]
    states = [state]
    while not states[-1].betting.is_finished:
        actor = states[-1].betting.actor
        states.append(states[-1].apply(policies[actor](states[-1], actor, rng)))
    return states


def deal(rng: Random) -> HandState:
    cards = tuple(rng.sample(range(52), 9))
    return new_hand(HUNL, (cards[:2], cards[2:4]), cards[4:])


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_random_hands_round_trip(seed: int) -> None:
    rng = Random(seed)
    states = play_out(deal(rng), rng)
    actions = [action for part in states[-1].betting.actions for action in part]
    for before, action, after in zip(states, actions, states[1:], strict=False):
        assert parse_slumbot(slumbot_text(after.betting)) == after.betting
        token = increment_text(before.betting, action)
        assert parse_increment(before.betting, token) == action
        assert slumbot_text(after.betting).rstrip("/").endswith(token)


@given(st.text(alphabet="kcfb0123456789/x", max_size=24))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    try:
        betting = parse_slumbot(text)
    except SlumbotRefusal:
        return
    assert isinstance(betting, BettingState)
    assert slumbot_text(betting).rstrip("/") == text.rstrip("/") or "b0" in text


NEW = {
    "old_action": "",
    "action": "b200",
    "client_pos": 0,
    "hole_cards": ["As", "7s"],
    "board": [],
    "token": "2a46e747",
}
FLOP = {
    "old_action": "b200",
    "action": "b200c/",
    "client_pos": 0,
    "hole_cards": ["As", "7s"],
    "board": ["8h", "6d", "2s"],
}
SHOWDOWN = {
    "old_action": "b200c/kk/kb200c/",
    "action": "b200c/kk/kb200c/kk",
    "client_pos": 0,
    "hole_cards": ["Ad", "9s"],
    "board": ["Kc", "4c", "3s", "2s", "2d"],
    "bot_hole_cards": ["As", "Ts"],
    "winnings": -400,
    "won_pot": -800,
    "session_num_hands": 1,
    "session_total": -400,
}


def test_a_client_parses_the_first_responses() -> None:
    session = ClientSession()
    assert session.new_hand() == {}
    hand = session.receive(200, NEW)
    assert hand.our_turn
    assert hand.position == 0
    assert hand.result is None
    assert cards_text(hand.state.hole[0]) == "As7s"
    assert session.act(CALL) == {"token": "2a46e747", "incr": "c"}
    hand = session.receive(200, FLOP)
    assert hand.action == "b200c/"
    assert hand.our_turn
    assert cards_text(hand.state.board) == "8h6d2s"
    assert session.act(CALL) == {"token": "2a46e747", "incr": "k"}
    assert session.act(raise_to(600)) == {"token": "2a46e747", "incr": "b400"}


def test_a_hand_is_over_exactly_if_winnings_are_present() -> None:
    session = ClientSession()
    hand = session.receive(200, SHOWDOWN)
    assert hand.result is not None
    assert not hand.our_turn
    assert (hand.result.winnings, hand.result.session_total, hand.result.session_hands) == (-400, -400, 1)
    assert hand.disagreement() is None
    with pytest.raises(LocalProtocolError):
        session.act(CALL)
    session.hand = None
    unfinished = {**SHOWDOWN, "winnings": None}
    with pytest.raises(RemoteProtocolError, match="has no winnings"):
        session.receive(200, unfinished)


def test_winnings_that_contradict_the_rules_are_detected() -> None:
    hand = ClientSession().receive(200, {**SHOWDOWN, "winnings": 400})
    assert hand.disagreement() == "400 chips: the rules say -400"
    hand = ClientSession().receive(200, {**SHOWDOWN, "bot_hole_cards": None, "winnings": 400})
    assert hand.disagreement() is None  # cannot be checked


def test_position_and_token_are_remembered_and_replaced() -> None:
    session = ClientSession()
    session.receive(200, NEW)
    bare = {name: value for name, value in FLOP.items() if name not in {"client_pos", "hole_cards"}}
    hand = session.receive(200, bare)
    assert hand.position == 0
    assert cards_text(hand.state.hole[0]) == "As7s"
    assert session.token == "2a46e747"
    session.receive(200, {**FLOP, "token": "fresh"})
    assert session.new_hand() == {"token": "fresh"}


def test_positions_alternate_if_client_pos_is_missing() -> None:
    session = ClientSession()
    session.receive(200, {**SHOWDOWN})
    hand = session.receive(200, {"action": "", "hole_cards": ["As", "7s"], "board": []})
    assert hand.position == 1


@pytest.mark.parametrize(
    ("status", "body", "lost"),
    [
        (200, {"error_msg": "Illegal bet"}, False),
        (401, {"error_msg": "No session"}, True),
        (401, "nothing", True),
        (500, None, False),
    ],
)
def test_refusals_are_errors_whatever_the_status(status: int, body: object, lost: bool) -> None:
    session = ClientSession()
    session.receive(200, NEW)
    with pytest.raises(SlumbotError) as error:
        session.receive(status, body)
    assert error.value.session_lost is lost
    assert session.hand is not None
    assert session.token == "2a46e747"


@pytest.mark.parametrize(
    "change",
    [
        {"action": 3},
        {"action": "b1"},
        {"client_pos": 2},
        {"client_pos": True},
        {"client_pos": None},
        {"hole_cards": ["As"]},
        {"hole_cards": "As7s"},
        {"hole_cards": ["As", "As"]},
        {"hole_cards": None},
        {"board": ["8h"], "action": "b200c/"},
        {"winnings": "4"},
        {"winnings": 0.5},
        {"winnings": float("nan")},
        {"token": 7},
    ],
)
def test_invalid_responses_are_rejected(change: dict[str, Any]) -> None:
    with pytest.raises(RemoteProtocolError):
        ClientSession().receive(200, {**NEW, **change})


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(sorted(SHOWDOWN)),
    st.integers(200, 599),
)
def test_any_response_is_parsed_or_rejected(junk: object, field: str, status: int) -> None:
    for body in (junk, {**SHOWDOWN, field: junk}):
        try:
            ClientSession().receive(status, body)
        except RemoteProtocolError:
            continue


def test_continues_recognises_the_same_hand() -> None:
    session = ClientSession()
    earlier = session.receive(200, NEW)
    later = session.receive(200, FLOP)
    assert later.continues(earlier)
    assert later.continues(later)
    assert not earlier.continues(later)
    other = ClientSession().receive(200, {**NEW, "hole_cards": ["As", "6s"]})
    assert not other.continues(earlier)
    bigger = ClientSession().receive(200, {**NEW, "action": "b2000"})
    assert not bigger.continues(earlier)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, 1))
def test_client_and_server_agree_on_every_hand(seed: int, position: int) -> None:
    rng = Random(seed)
    session, old = ClientSession(), ""
    for state in play_out(deal(rng), rng):
        betting = state.betting
        if not betting.is_finished and betting.actor != position:
            continue
        body = ServerHand(state, position, old, 1, 7).body("T")
        hidden = cards_text(state.hole[1 - position])
        if not betting.is_finished:
            assert repr(hidden[:2]) not in str(body)
            assert repr(hidden[2:]) not in str(body)
        hand = session.receive(200, body)
        assert hand.state.betting == betting
        assert hand.state.board == state.visible_board
        assert hand.disagreement() is None
        assert (hand.result is not None) == betting.is_finished
        old = hand.action
    assert hand.result is not None
    assert hand.result.winnings == state.values()[position]
    assert body["won_pot"] == 2 * hand.result.winnings


def test_requests_are_read() -> None:
    assert read_new_hand({}).token is None
    assert read_new_hand({"token": "T", "more": 1}).token == "T"
    assert read_act({"token": "T", "incr": "b200"}).increment == "b200"
    assert read_login({"username": "u", "password": "p"}).username == "u"
    assert error_body("Illegal bet") == {"error_msg": "Illegal bet"}
    for bad in (None, [], {"token": 3}, {"token": "x" * 300}):
        with pytest.raises(RemoteProtocolError):
            read_new_hand(bad)
    for bad_act in ({}, {"token": "T"}, {"token": "T", "incr": 5}, {"incr": "c"}, {"token": "T", "incr": ""}):
        with pytest.raises(RemoteProtocolError):
            read_act(bad_act)
    for bad_login in ({}, {"username": "u"}, {"username": "", "password": "p"}, 4):
        with pytest.raises(RemoteProtocolError):
            read_login(bad_login)


def test_login_gives_a_token() -> None:
    session = ClientSession()
    assert session.login("u", "p") == {"username": "u", "password": "p"}
    assert session.receive_login(200, {"token": "T"}) == "T"
    assert session.new_hand() == {"token": "T"}
    with pytest.raises(RemoteProtocolError):
        session.receive_login(200, {})
    with pytest.raises(SlumbotError):
        session.receive_login(200, {"error_msg": "no"})


def test_a_new_hand_has_empty_betting() -> None:
    assert slumbot_text(start(HUNL)) == ""
