from __future__ import annotations

import contextlib
import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.actions import CALL, FOLD, Action, raise_to
from game.cards import parse_cards
from game.definition import HUNL, KUHN, LEDUC, LIMIT_HOLDEM, NLFH, GameDefinition
from protocol.acpc import (
    MAX_LINE_BYTES,
    ClientConnection,
    Event,
    MalformedLine,
    MatchState,
    StateReceived,
    parse_betting,
    parse_match_state,
)
from protocol.errors import LocalProtocolError, ProtocolError, RemoteProtocolError

# A match as the reference dealer sends it to one seat: two hands, our actions echoed, an all-in at the end.
TRANSCRIPT = b"".join(
    line + b"\r\n"
    for line in [
        b"MATCHSTATE:0:0::TdAs|",
        b"# a comment",
        b"MATCHSTATE:0:0:r300:TdAs|",
        b"MATCHSTATE:0:0:r300r900:TdAs|",
        b"MATCHSTATE:0:0:r300r900c/:TdAs|/8cQc4c",
        b"not a match state",
        b"MATCHSTATE:0:0:r300r900c/r1800:TdAs|/8cQc4c",
        b"MATCHSTATE:0:0:r300r900c/r1800f:TdAs|/8cQc4c",
        b"MATCHSTATE:1:1::|6h5d",
        b"; another comment",
        b"MATCHSTATE:1:1:r20000:|6h5d",
        b"MATCHSTATE:1:1:r20000c///:7c2s|6h5d/8h4h7h/6s/Kd",
    ]
)


def states(events: list[Event]) -> list[MatchState]:
    return [event.match_state for event in events if isinstance(event, StateReceived)]


def test_a_transcript_becomes_events() -> None:
    events = ClientConnection(HUNL).receive(TRANSCRIPT)
    assert [type(event).__name__[0] for event in events] == list("SCSSSMSSSCSS")
    seen = states(events)
    assert [index for index, state in enumerate(seen) if state.is_our_turn] == [1, 3, 6]
    assert seen[3].state.hole == (parse_cards("TdAs"), ())
    assert seen[3].state.visible_board == parse_cards("8cQc4c")
    assert seen[5].state.values() == (900, -900)
    assert seen[8].state.values() == (-20000, 20000)
    assert seen[8].text == "MATCHSTATE:1:1:r20000c///:7c2s|6h5d/8h4h7h/6s/Kd"


def test_every_state_equals_the_one_rebuilt_from_its_line_alone() -> None:
    for match_state in states(ClientConnection(HUNL).receive(TRANSCRIPT)):
        assert parse_match_state(match_state.text, HUNL) == match_state


def test_every_split_into_two_chunks_gives_the_same_events() -> None:
    whole = ClientConnection(HUNL).receive(TRANSCRIPT)
    one_by_one = ClientConnection(HUNL)
    assert [e for i in range(len(TRANSCRIPT)) for e in one_by_one.receive(TRANSCRIPT[i : i + 1])] == whole
    for cut in range(len(TRANSCRIPT) + 1):
        connection = ClientConnection(HUNL)
        assert connection.receive(TRANSCRIPT[:cut]) + connection.receive(TRANSCRIPT[cut:]) == whole


@given(st.lists(st.integers(0, len(TRANSCRIPT)), max_size=12))
def test_any_chunks_give_the_same_events(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(TRANSCRIPT)]
    connection = ClientConnection(HUNL)
    events: list[Event] = []
    for begin, end in itertools.pairwise(edges):
        events += connection.receive(TRANSCRIPT[begin:end])
    assert events == ClientConnection(HUNL).receive(TRANSCRIPT)


@pytest.mark.parametrize("length", [MAX_LINE_BYTES, MAX_LINE_BYTES + 1, 10 * MAX_LINE_BYTES])
def test_an_endless_line_is_one_error_in_bounded_memory(length: int) -> None:
    data = b"x" * length + b"\nMATCHSTATE:0:0::TdAs|\n"
    whole = ClientConnection(HUNL).receive(data)
    assert [type(event) for event in whole] == [MalformedLine, StateReceived]
    for step in (1, 7, 1000):
        connection = ClientConnection(HUNL)
        events: list[Event] = []
        for begin in range(0, len(data), step):
            events += connection.receive(data[begin : begin + step])
        assert events == whole


def test_an_incomplete_last_line_is_malformed() -> None:
    connection = ClientConnection(HUNL)
    assert connection.receive(b"MATCHSTATE:0:0::Td") == []
    (event,) = connection.close()
    assert isinstance(event, MalformedLine)
    assert "middle of a line" in str(event.error)
    assert connection.close() == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "does not begin with"),
        ("MATCHSTATE", "5 fields"),
        ("STATE:0:0::TdAs|", "does not begin with"),
        ("MATCHSTATE:2:0::TdAs|", "position '2'"),
        ("MATCHSTATE::0::TdAs|", "position ''"),
        ("MATCHSTATE:0:-1::TdAs|", "hand '-1'"),
        ("MATCHSTATE:0:01::TdAs|", "hand '01'"),
        ("MATCHSTATE:0:4294967296::TdAs|", "hand '4294967296'"),
        ("MATCHSTATE:0:0:r300c/:TdAs|/8cQc4c:c", "5 fields"),
        ("MATCHSTATE:0:0:x:TdAs|", "'x' is not an action"),
        ("MATCHSTATE:0:0:r:TdAs|", "needs a number"),
        ("MATCHSTATE:0:0:r0300:TdAs|", "needs a number"),
        ("MATCHSTATE:0:0:r199:TdAs|", "raise to 200..20000"),
        ("MATCHSTATE:0:0:r20001:TdAs|", "raise to 200..20000"),
        ("MATCHSTATE:0:0:r99999999999:TdAs|", "out of range"),
        ("MATCHSTATE:0:0:r20000r20000:TdAs|", "all-in"),
        ("MATCHSTATE:0:0:ff:TdAs|", "the hand is over"),
        ("MATCHSTATE:0:0:cf:TdAs|", "check instead"),
        ("MATCHSTATE:0:0:cc:TdAs|/8cQc4c", "must begin with 'cc/'"),
        ("MATCHSTATE:0:0:c/c:TdAs|", "no round ends here"),
        ("MATCHSTATE:0:0:cc//:TdAs|/8cQc4c/2s", "no round ends here"),
        ("MATCHSTATE:0:0:r20000c/:TdAs|2c2s/8cQc4c/3h/4h", "must begin with 'r20000c///'"),
        ("MATCHSTATE:0:0:cc/:TdAs|", "1 times '/'"),
        ("MATCHSTATE:0:0:cc/:TdAs|/8cQc4c/2s", "1 times '/'"),
        ("MATCHSTATE:0:0:cc/:TdAs|/8cQc", "deals 3 board cards"),
        ("MATCHSTATE:0:0:cc/:TdAs|/8cQc4c4d", "deals 3 board cards"),
        ("MATCHSTATE:0:0:cc/:TdAs|/8cQcTd", "appears twice"),
        ("MATCHSTATE:0:0::TdAs", "separated by '|'"),
        ("MATCHSTATE:0:0::TdAs||", "expected 0 hole cards of position 1"),
        ("MATCHSTATE:0:0::|TdAs", "expected 2 hole cards of position 0"),
        ("MATCHSTATE:0:0::TdAs|2c2s", "expected 0 hole cards of position 1"),
        ("MATCHSTATE:0:0:f:TdAs|2c2s", "expected 0 hole cards of position 1"),
        ("MATCHSTATE:0:0:r20000c///:TdAs|/8cQc4c/3h/4h", "expected 2 hole cards of position 1"),
        ("MATCHSTATE:0:0::TdTd|", "appears twice"),
        ("MATCHSTATE:0:0::TdaS|", "'aS' is not a card"),
        ("MATCHSTATE:0:0::T,As|", "spaces and commas are not allowed"),
        ("MATCHSTATE:0:0::Td\u00c0s|", "is not a card"),
        (" MATCHSTATE:0:0::TdAs|", "does not begin with"),
        ("MATCHSTATE:0:0::TdAs| ", "expected 0 hole cards of position 1"),
    ],
)
def test_a_malformed_line_is_rejected_with_a_reason(line: str, reason: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        parse_match_state(line, HUNL)
    assert reason in str(caught.value)
    # And is no better after a good one, whose knowledge must not help it through.
    connection = ClientConnection(HUNL)
    connection.receive(b"MATCHSTATE:0:0::TdAs|\r\n")
    (event,) = connection.receive(line.encode("latin-1") + b"\r\n")
    assert isinstance(event, MalformedLine)


def test_a_longer_number_is_not_a_continuation() -> None:
    connection = ClientConnection(HUNL)
    connection.receive(b"MATCHSTATE:0:0:r200:TdAs|\r\n")
    (event,) = connection.receive(b"MATCHSTATE:0:0:r2000:TdAs|\r\n")
    assert isinstance(event, StateReceived)
    assert event.match_state.state.betting.spent == (100, 2000)


@pytest.mark.parametrize(
    ("definition", "line"),
    [
        (NLFH, "MATCHSTATE:1:7:r20000c/:7c2s|6h5d/8h4h7h"),
        (LIMIT_HOLDEM, "MATCHSTATE:0:7:rrc/crrc/cc/r:7c2s|/8h4h7h/6s/Kd"),
        (KUHN, "MATCHSTATE:0:7:cr:Qs|"),
        (LEDUC, "MATCHSTATE:1:7:crrc/c:|Kh/Ks"),
    ],
)
def test_other_games(definition: GameDefinition, line: str) -> None:
    assert parse_match_state(line, definition).text == line


def test_a_limit_raise_has_no_size() -> None:
    with pytest.raises(RemoteProtocolError, match="'2' is not an action"):
        parse_betting(LIMIT_HOLDEM, "r20")


def test_parse_betting_gives_the_text_back() -> None:
    state = parse_betting(HUNL, "cr300c/cr400r800c/r1600c/")
    assert state.text == "cr300c/cr400r800c/r1600c/"
    assert state.spent == (1600, 1600)
    assert state.actor == 0


def test_a_reply_repeats_the_line() -> None:
    connection = ClientConnection(HUNL)
    assert connection.version() == b"VERSION:2.0.0\r\n"
    (match_state,) = states(connection.receive(b"MATCHSTATE:0:0:r300:TdAs|\r\n"))
    assert connection.awaiting == match_state
    assert connection.reply(match_state, raise_to(900)) == b"MATCHSTATE:0:0:r300:TdAs|:r900\r\n"
    assert connection.awaiting is None


@pytest.mark.parametrize(
    ("line", "action", "reason"),
    [
        (b"MATCHSTATE:0:0:c:TdAs|\r\n", FOLD, "check instead"),
        (b"MATCHSTATE:0:0:r300:TdAs|\r\n", raise_to(499), "raise to 500..20000"),
        (b"MATCHSTATE:0:0:r20000:TdAs|\r\n", raise_to(20000), "all-in"),
        (b"MATCHSTATE:1:0:r300:|TdAs\r\n", CALL, "is not waiting"),
        (b"MATCHSTATE:0:0:r300f:TdAs|\r\n", CALL, "is not waiting"),
    ],
)
def test_illegal_replies_are_never_sent(line: bytes, action: Action, reason: str) -> None:
    connection = ClientConnection(HUNL)
    (match_state,) = states(connection.receive(line))
    with pytest.raises(LocalProtocolError, match=reason):
        connection.reply(match_state, action)


def test_stale_and_repeated_replies_are_never_sent() -> None:
    connection = ClientConnection(HUNL)
    stale, latest = states(connection.receive(b"MATCHSTATE:0:0:r300:TdAs|\r\nMATCHSTATE:0:0:r400:TdAs|\r\n"))
    with pytest.raises(LocalProtocolError, match="is not waiting"):
        connection.reply(stale, CALL)
    connection.reply(latest, CALL)
    with pytest.raises(LocalProtocolError, match="is not waiting"):
        connection.reply(latest, CALL)


@given(st.binary(max_size=200))
def test_any_bytes_are_events(data: bytes) -> None:
    ClientConnection(HUNL).receive(data)


@given(st.text(alphabet="MATCHSTE:0123456789fcr/|23TJQKAdhs ", max_size=120))
def test_any_text_is_a_state_or_a_protocol_error(line: str) -> None:
    with contextlib.suppress(ProtocolError):
        parse_match_state(line, HUNL)


@given(st.integers(0, 2**32 - 1))
def test_mutated_lines_are_states_or_protocol_errors(seed: int) -> None:
    rng = Random(seed)
    lines = [line for line in TRANSCRIPT.decode().split("\r\n") if line.startswith("MATCHSTATE")]
    line = rng.choice(lines)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(line) + 1)
        line = line[:at] + rng.choice("fcr/|:0123456789TJQKAcdhs\x00é") * rng.randint(0, 3) + line[at + 1 :]
    with contextlib.suppress(ProtocolError):
        assert parse_match_state(line, HUNL).text == line
