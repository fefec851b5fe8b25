from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.actions import CALL, FOLD, LIMIT_RAISE, Action, raise_to
from game.cards import parse_cards
from game.definition import HUNL, LIMIT_HOLDEM, GameDefinition
from protocol.acpc import parse_betting
from protocol.acpc_dealer import (
    BAD_ACTION,
    BAD_STATE,
    INVALID_ACTION,
    MAX_LINE_BYTES,
    NOT_REQUESTED,
    TOO_MANY_ACTIONS,
    ActionLine,
    CommentLine,
    HandLines,
    IgnoredLine,
    LineBuffer,
    ReplyRequest,
    plain_reply,
    read_plain_reply,
    read_reply,
    read_version,
)
from protocol.acpc_log import Transaction, parse_transaction, score_line
from protocol.errors import RecordError, RemoteProtocolError

HOLE = parse_cards("AsKd"), parse_cards("7h2c")
BOARD = parse_cards("8h9hTh2d3s")


def _lines(definition: GameDefinition = HUNL, hand_id: int = 17) -> HandLines:
    return HandLines(definition, hand_id, HOLE, BOARD)


def _request(betting_text: str = "", definition: GameDefinition = HUNL) -> ReplyRequest:
    betting = parse_betting(definition, betting_text)
    board = BOARD[: definition.board_size(betting.round_index)]
    return ReplyRequest(
        _lines(definition).match_states(betting)[betting.actor], 17, betting, HOLE[betting.actor], board
    )


@pytest.mark.parametrize(
    ("betting", "viewer", "line"),
    [
        ("", 0, b"MATCHSTATE:0:17::AsKd|"),
        ("", 1, b"MATCHSTATE:1:17::|7h2c"),
        ("r300c/", 0, b"MATCHSTATE:0:17:r300c/:AsKd|/8h9hTh"),
        ("r300c/cc/", 1, b"MATCHSTATE:1:17:r300c/cc/:|7h2c/8h9hTh/2d"),
        ("r300f", 1, b"MATCHSTATE:1:17:r300f:|7h2c"),
        ("r20000c///", 1, b"MATCHSTATE:1:17:r20000c///:AsKd|7h2c/8h9hTh/2d/3s"),
    ],
)
def test_match_states(betting: str, viewer: int, line: bytes) -> None:
    assert _lines().match_states(parse_betting(HUNL, betting))[viewer] == line


def test_log_lines() -> None:
    record = _lines().record(parse_betting(HUNL, "r300f"), (-100, 100), ("Bob", "Alice"))
    assert record == "STATE:17:r300f:AsKd|7h2c:-100|100:Bob|Alice\n"
    assert score_line((-150, 150), ("Alice", "Bob")) == "SCORE:-150|150:Alice|Bob\n"


@pytest.mark.parametrize(
    ("reply", "action", "warnings"),
    [
        ("c", CALL, ()),
        ("f", FOLD, ()),
        ("r400", raise_to(400), ()),
        ("R400", raise_to(400), ()),
        ("b 400", raise_to(400), ()),
        ("r+400xyz", raise_to(400), ()),
        ("k", CALL, ()),
        ("callme", CALL, ()),
        ("x", CALL, (INVALID_ACTION,)),
        ("", CALL, (INVALID_ACTION,)),  # the line's end is no letter of an action
        ("r", CALL, (BAD_ACTION,)),
        ("rabc", CALL, (BAD_ACTION,)),
        ("r1", raise_to(200), ("WARNING: raise of 1 increased to 200",)),
        ("r-7", raise_to(200), ("WARNING: raise of -7 increased to 200",)),
        ("r20001", raise_to(20000), ("WARNING: raise of 20001 decreased to 20000",)),
        ("r4294967596", raise_to(300), ()),  # 32 bits
        ("r2147483648", raise_to(200), ("WARNING: raise of -2147483648 increased to 200",)),
        ("r99999999999999999999", raise_to(200), ("WARNING: raise of -1 increased to 200",)),
    ],
)
def test_actions(reply: str, action: Action, warnings: tuple[str, ...]) -> None:
    request = _request()
    line = request.match_state + b":" + reply.encode() + b"\r\n"
    assert read_reply(line, request) == ActionLine(action, warnings)


@pytest.mark.parametrize(
    ("betting", "reply", "action", "warnings"),
    [
        ("c", b":f", CALL, (INVALID_ACTION,)),  # nothing to fold to
        ("r20000", b":r20000", CALL, (INVALID_ACTION,)),
        ("c", b"", CALL, (BAD_ACTION,)),  # no colon
        (
            "r200" + "".join(f"r{100 * n}" for n in range(3, 65)),
            b":r9000",
            CALL,
            (TOO_MANY_ACTIONS, INVALID_ACTION),
        ),
    ],
)
def test_actions_that_become_calls(
    betting: str, reply: bytes, action: Action, warnings: tuple[str, ...]
) -> None:
    request = _request(betting)
    assert read_reply(request.match_state + reply + b"\r\n", request) == ActionLine(action, warnings)


def test_limit_raises_have_no_size() -> None:
    request = _request("", LIMIT_HOLDEM)
    for reply in (b":r\r\n", b":r300\r\n", b":bet\n"):
        assert read_reply(request.match_state + reply, request) == ActionLine(LIMIT_RAISE)


@pytest.mark.parametrize(
    "line",
    [
        b"MATCHSTATE:0:17:r300c/:AsKd|/8h9hTh:c\r\n",
        b"MATCHSTATE: +0:\t17:r300c/:AsKd|/8h9hTh:c\r\n",
        b"MATCHSTATE:256:4294967313:r300c/:AsKd|/8h9hTh:c\r\n",  # 8 and 32 bits
        b"MATCHSTATE:0:17:B300K:aSkD/8H9hth:c\n",
        b"MATCHSTATE:0:17:/r 300//c:AsKd|2c2d8h9hTh:c",
        b"MATCHSTATE:0:17:r300c/:AsKd|7h2c/8h9hTh:c\0rest\n",
    ],
)
def test_other_spellings_of_the_state(line: bytes) -> None:
    assert read_reply(line, _request("r300c/")) == ActionLine(CALL)


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        (b"\r\n", BAD_STATE),
        (b"\0MATCHSTATE:0:17:r300c/:AsKd|/8h9hTh:c\r\n", BAD_STATE),
        (b"matchstate:0:17:r300c/:AsKd|/8h9hTh:c\r\n", BAD_STATE),
        (b"MATCHSTATE:2:17:r300c/:AsKd|/8h9hTh:c\r\n", BAD_STATE),
        (b"MATCHSTATE:0::r300c/:AsKd|/8h9hTh:c\r\n", BAD_STATE),
        (b"MATCHSTATE:0:17;r300c/:AsKd|/8h9hTh:c\r\n", BAD_STATE),
        (b"MATCHSTATE:0:17:r100c/:AsKd|/8h9hTh:c\r\n", BAD_STATE),  # no legal raise
        (b"MATCHSTATE:0:17:rc/:AsKd|/8h9hTh:c\r\n", BAD_STATE),
        (b"MATCHSTATE:0:17:r300c/:As|/8h9hTh:c\r\n", BAD_STATE),
        (b"MATCHSTATE:0:17:r300c/:AsKd|/8h9h:c\r\n", BAD_STATE),
        (b"MATCHSTATE:1:17:r300c/:|7h2c/8h9hTh:c\r\n", NOT_REQUESTED),
        (b"MATCHSTATE:0:16:r300c/:AsKd|/8h9hTh:c\r\n", NOT_REQUESTED),
        (b"MATCHSTATE:0:17:r300:AsKd|:c\r\n", NOT_REQUESTED),
        (b"MATCHSTATE:0:17:r400c/:AsKd|/8h9hTh:c\r\n", NOT_REQUESTED),
        (b"MATCHSTATE:0:17:r300c/:AsKc|/8h9hTh:c\r\n", NOT_REQUESTED),
        (b"MATCHSTATE:0:17:r300c/:AsKd|/8h9hTd:c\r\n", NOT_REQUESTED),
        (b"MATCHSTATE:0:17:r300c/:|/8h9hTh:c\r\n", NOT_REQUESTED),
    ],
)
def test_lines_that_are_not_replies_are_ignored(line: bytes, warning: str) -> None:
    assert read_reply(line, _request("r300c/")) == IgnoredLine((warning,))


def test_comments() -> None:
    assert read_reply(b"# thinking\r\n", _request()) == CommentLine()
    assert read_reply(b";\n", _request()) == CommentLine()


@given(st.binary(max_size=60), st.sampled_from([HUNL, LIMIT_HOLDEM]))
def test_the_fast_path_agrees_with_the_full_parser(tail: bytes, definition: GameDefinition) -> None:
    request = _request("", definition)
    for line in (request.match_state + b":" + tail, request.match_state + b":r4" + tail, tail):
        action = read_plain_reply(line, request.match_state, definition.no_limit)
        if action is not None and request.betting.can(action):
            assert read_reply(line, request) == ActionLine(action)


@given(st.sampled_from([CALL, FOLD, raise_to(200), raise_to(20000)]))
def test_plain_replies_are_read_back(action: Action) -> None:
    request = _request()
    assert read_plain_reply(plain_reply(request.match_state, action), request.match_state, True) == action


@pytest.mark.parametrize("line", [b"VERSION:2.0.0\r\n", b"VERSION:2.0.0", b"VERSION: +2. 0.0 and more\n"])
def test_versions(line: bytes) -> None:
    assert read_version(line) == (2, 0, 0)


@pytest.mark.parametrize(
    "line", [b"", b"VERSION:2.0\n", b"version:2.0.0\n", b"VERSION 2.0.0\n", b"VERSION:2.0.\n"]
)
def test_bad_versions(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="invalid version string"):
        read_version(line)


def _cut(data: bytes, cuts: list[int]) -> list[bytes]:
    buffer, lines, bounds = LineBuffer(), [], [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for i, j in zip(bounds, bounds[1:], strict=False):  # noqa: RUF007 - the chunk may be empty
        line = buffer.feed(data[i:j])
        while line is not None:
            lines.append(line)
            line = buffer.next_line()
    return [*lines, buffer.rest()]


@given(
    st.lists(st.sampled_from([b"\n", b"\r\n", b"x\0y", b"ab", b"z" * 3000])), st.lists(st.integers(0, 10**6))
)
def test_lines_do_not_depend_on_how_bytes_arrive(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    whole = _cut(data, [])
    assert _cut(data, cuts) == whole
    assert b"".join(whole) == data
    assert all(line.endswith(b"\n") or len(line) == MAX_LINE_BYTES for line in whole[:-1])


def test_every_split_of_a_conversation_gives_the_same_lines() -> None:
    request = _request()
    data = b"VERSION:2.0.0\r\n# hi\n\r\n" + request.match_state + b":r300\r\n" + request.match_state + b":c"
    for at in range(len(data) + 1):
        assert _cut(data, [at]) == _cut(data, [])


def test_overlong_lines_are_split() -> None:
    assert [len(line) for line in _cut(b"y" * 9000 + b"\n", [])] == [4095, 4095, 811, 0]


def test_transactions_are_read_back() -> None:
    transaction = Transaction(raise_to(300), 17, 1763262000_123456, 1763262000_000042)
    assert str(transaction) == "r300 17 1763262000.123456 1763262000.000042\n"
    assert parse_transaction(str(transaction).encode(), no_limit=True) == transaction
    assert parse_transaction(b"r 3 1.000000 2.000000\n", no_limit=False).action == LIMIT_RAISE
    for bad in (b"", b"c", b"c 1", b"c 1 1.000000", b"x 1 1.000000 1.000000", b"r 1 1.000000 1.000000"):
        with pytest.raises(RecordError):
            parse_transaction(bad, no_limit=True)
