"""Fuzzing of the ACPC readers: mutated lines must be parsed or refused with the protocol's own errors.

Real lines of random hands are cut, spliced, repeated and mixed with words of the protocol. Mutated match
states are sent to a client connection, mutated replies to the dealer's reader, mutated log lines to the log
reader. The rules:

1. Only the protocol's own errors are raised.
2. A match state the client accepts is the same when rebuilt from its line alone, however the bytes were
   split, and any legal reply to it can be sent.
3. An action the dealer accepts is legal.

A line that produces a new kind of answer is added to the corpus, so the search reaches deeper states by
itself. Deterministic from the seed.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from arena.players.policies import uniform
from bench.figures import figure_parser
from game.definition import HUNL, LIMIT_HOLDEM, GameDefinition
from game.state import HandState, new_hand
from protocol.acpc import ClientConnection, CommentReceived, MalformedLine, StateReceived, parse_match_state
from protocol.acpc_dealer import (
    ActionLine,
    CommentLine,
    HandLines,
    ReplyRequest,
    read_reply,
    read_version,
)
from protocol.acpc_log_reader import parse_log_score, parse_log_state
from protocol.errors import RecordError, RemoteProtocolError
from server.cli.parts.numbers import whole_number
from server.config.machine import usable_cores

SIDES = ("client", "dealer", "log")
QUICK = ("--lines", "100000")

_WORDS = [
    b"MATCHSTATE:", b"STATE:", b"SCORE:", b"VERSION:2.0.0", b":", b"::", b"|", b"||", b"/", b"//", b"///",
    b"f", b"c", b"r", b"r0", b"r1", b"r100", b"r199", b"r200", b"r20000", b"r20001", b"r-1", b"r+300",
    b"r 300", b"r4294967496", b"r99999999999999999999", b"rr", b"cc/", b"ff", b"cr", b"0", b"1", b"2",
    b"-1", b"00", b"r4294967295", b"4294967295", b"4294967296", b"As", b"as", b"AS", b"Tc2d", b"1s", b"Ax",
    b"#", b";", b"\r", b"\n", b"\r\n", b"\0", b"\xff", b"\xc3\xa9", b" ", b"\t", b"%s%n",
    b"x" * 300, b"r300" * 80, b"c" * 70, b"/" * 4100,
]  # fmt: skip
_DETAIL = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|[0-9]+")
_MAX_CORPUS = 5000


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of answers by kind, and the lines that broke a rule."""

    answers: Counter[str]
    failures: tuple[str, ...]


def main(argv: list[str]) -> int:
    """Fuzz and print; exit status 1 if any line broke a rule."""
    parser = figure_parser("fuzz", __doc__)
    parser.add_argument(
        "--lines",
        type=whole_number(),
        default=1_000_000,
        help="mutated lines for each side (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, help="seed of the mutations (default: %(default)s)"
    )
    parser.add_argument(
        "--processes", type=whole_number(), default=usable_cores(), help="processes (default: %(default)s)"
    )
    args = parser.parse_args(argv)
    began = time.perf_counter()
    result: dict[str, object] = {"bench": "fuzz", "lines": args.lines}
    failures: list[str] = []
    for side in SIDES:
        tally = fuzz(side, args.lines, args.seed, args.processes)
        failures += tally.failures
        kinds: Counter[str] = Counter()
        for answer, count in tally.answers.items():
            kinds[answer.partition(":")[0]] += count
        result[side] = {"answers": dict(sorted(kinds.items())), "distinct": len(tally.answers)}
    result |= {"failures": len(failures), "seconds": round(time.perf_counter() - began, 1)}
    print(json.dumps(result) if args.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    if not args.json:
        print("\n".join(failures[:20]))
    return 1 if failures else 0


def fuzz(side: str, lines: int, seed: int, processes: int = 1) -> Tally:
    """Send `lines` mutated lines to one side; each block has its own seed and its own growing corpus."""
    block = 50_000
    sizes = [min(block, lines - begin) for begin in range(0, lines, block)]
    work = partial(_fuzz_block, side, seed)
    if processes <= 1:
        tallies = [work(job) for job in enumerate(sizes)]
    else:
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            tallies = pool.map(work, enumerate(sizes), chunksize=1)
    answers: Counter[str] = Counter()
    failures: list[str] = []
    for tally in tallies:
        answers.update(tally.answers)
        failures += tally.failures
    return Tally(answers, tuple(failures))


def _fuzz_block(side: str, seed: int, job: tuple[int, int]) -> Tally:
    index, count = job
    rng = Random(f"{seed} {side} {index}")
    definition = LIMIT_HOLDEM if index % 4 == 3 else HUNL
    target, corpus = _TARGETS[side](definition, rng)
    answers: Counter[str] = Counter()
    failures: list[str] = []
    for _ in range(count):
        line = mutate(rng.choice(corpus), corpus, rng)
        try:
            answer = target(line)
        except Exception as error:  # any other exception is a failure
            failures.append(f"{side}: {error!r} on {line!r}")
            answer = f"FAILURE:{type(error).__name__}"
        if answer not in answers and len(corpus) < _MAX_CORPUS:
            corpus.append(line)
        answers[answer] += 1
    return Tally(answers, tuple(failures))


def mutate(line: bytes, corpus: list[bytes], rng: Random) -> bytes:
    """Make one to four random changes; few are more likely than many."""
    for _ in range(1 + int(rng.random() ** 2 * 4)):
        size = len(line)
        begin = int(rng.random() * (size + 1))
        end = min(size, begin + int(rng.random() ** 3 * (size + 1)))
        change = int(rng.random() * 7)
        if change == 0:
            line = line[:begin] + rng.choice(_WORDS) + line[begin:]
        elif change == 1:
            line = line[:begin] + rng.choice(_WORDS) + line[end:]
        elif change == 2:
            line = line[:begin] + line[end:]
        elif change == 3:
            line = line[:end] + line[begin:]
        elif change == 4:
            line = line[:begin] + bytes([int(rng.random() * 256)]) + line[begin + 1 :]
        elif change == 5:
            other = rng.choice(corpus)
            line = line[:begin] + other[min(begin, len(other)) :]
        elif b":" in line:
            fields = line.split(b":")
            others = rng.choice(corpus).split(b":")
            fields[int(rng.random() * len(fields))] = rng.choice(others)
            line = b":".join(fields)
    return line


Target = Callable[[bytes], str]
"""Reads a line, checks the rules, and returns the kind of answer without details."""


def _client_target(definition: GameDefinition, rng: Random) -> tuple[Target, list[bytes]]:
    connection = ClientConnection(definition)

    def target(line: bytes) -> str:
        data = line + b"\r\n"
        cut = int(rng.random() * len(data))
        events = connection.receive(data[:cut]) + connection.receive(data[cut:])
        kind = "nothing"
        for event in events:
            if isinstance(event, StateReceived):
                match_state = event.match_state
                assert parse_match_state(match_state.text, definition) == match_state
                kind = f"state:{match_state.position}{match_state.state.betting.round_index}"
            elif isinstance(event, MalformedLine):
                assert type(event.error) is RemoteProtocolError
                kind = "malformed:" + _DETAIL.sub("", str(event.error))
            else:
                assert isinstance(event, CommentReceived)
                kind = "comment"
        awaiting = connection.awaiting
        if awaiting is not None:
            reply = connection.reply(awaiting, uniform(awaiting.state, awaiting.position, rng))
            assert reply.startswith(awaiting.text.encode("ascii") + b":")
        return kind

    requests = _sample_requests(definition, rng)
    return target, [request.match_state for request in requests]


def _dealer_target(definition: GameDefinition, rng: Random) -> tuple[Target, list[bytes]]:
    requests = _sample_requests(definition, rng)

    def target(line: bytes) -> str:
        # Half of the replies answer the request they were made from, if it can still be identified.
        request = by_state.get(line.rpartition(b":")[0]) or rng.choice(requests)
        read = read_reply(line, request)
        if rng.random() < 0.05:
            with contextlib.suppress(RemoteProtocolError):
                read_version(line)
        if isinstance(read, ActionLine):
            request.betting.verify(read.action)
            return "action:" + read.action.kind.value + _DETAIL.sub("", "".join(read.warnings))
        if isinstance(read, CommentLine):
            return "comment"
        return "ignored:" + _DETAIL.sub("", "".join(read.warnings))

    by_state = {request.match_state: request for request in requests}
    corpus = []
    for request in requests:
        state = HandState(request.betting, ((), ()), ())
        action = uniform(state, request.betting.actor, rng)
        corpus.append(request.match_state + b":" + str(action).encode() + b"\r\n")
    return target, [*corpus, b"VERSION:2.0.0\r\n"]


def _log_target(definition: GameDefinition, rng: Random) -> tuple[Target, list[bytes]]:
    def target(line: bytes) -> str:
        text = line.decode("latin-1")
        try:
            if text.startswith("SCORE"):
                parse_log_score(text)
                return "score"
            parse_log_state(text, definition)
        except RecordError as error:
            return "refused:" + _DETAIL.sub("", str(error))
        return "state"

    corpus = [b"SCORE:6471|-6471:A|B"]
    for hand_id in range(200):
        state, lines = _play_hand(definition, hand_id, rng)
        corpus.append(lines.record(state.betting, state.values(), ("A", "B")).rstrip().encode())
    return target, corpus


_TARGETS = {"client": _client_target, "dealer": _dealer_target, "log": _log_target}


def _sample_requests(definition: GameDefinition, rng: Random) -> list[ReplyRequest]:
    """The requests to the players in some random hands."""
    requests = []
    for hand_id in range(100):
        state, lines = _play_hand(definition, hand_id, rng)
        replay = new_hand(definition, state.hole, state.board)
        for action in (action for actions in state.betting.actions for action in actions):
            actor = replay.betting.actor
            line = lines.match_states(replay.betting)[actor]
            requests.append(
                ReplyRequest(line, hand_id, replay.betting, replay.hole[actor], replay.visible_board)
            )
            replay = replay.apply(action)
    return requests


def _play_hand(definition: GameDefinition, hand_id: int, rng: Random) -> tuple[HandState, HandLines]:
    """Play a random hand to its end; returns it with the dealer's lines."""
    cards = tuple(rng.sample(range(52), 9))
    state = new_hand(definition, (cards[:2], cards[2:4]), cards[4:])
    while not state.betting.is_finished:
        state = state.apply(uniform(state, state.betting.actor, rng))
    return state, HandLines(definition, hand_id, state.hole, state.board)
