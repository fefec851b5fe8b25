"""Dealer matches in the daemon: real sockets, a scripted dealer, a decider that calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from protocol.acpc import MatchState
from server.config.config import MatchConfig
from server.decisions import DecisionAnswer, DecisionRequest
from server.matches.acpc_match import DEALER_GONE, FAILED, FINISHED, STOPPED, OurSide
from server.matches.manager import MatchManager
from server.telemetry.metrics import Metrics
from tests.server.stand_ins import StandInDecider, run, until

VERSION = b"VERSION:2.0.0\r\n"

Script = list[tuple[bytes, bytes | None]]

# Lines and the replies due: we win an all-in, then lose the 200 we call on the flop.
SCRIPT: Script = [
    (b"MATCHSTATE:0:0::TdAs|\r\n", None),
    (b"MATCHSTATE:0:0:r20000:TdAs|\r\n", b"MATCHSTATE:0:0:r20000:TdAs|:c\r\n"),
    (b"MATCHSTATE:0:0:r20000c///:TdAs|2c3s/8cQc4c/Ah/Ad\r\n", None),
    (b"MATCHSTATE:1:1::|6h5d\r\n", b"MATCHSTATE:1:1::|6h5d:c\r\n"),
    (b"MATCHSTATE:1:1:c:|6h5d\r\n", None),
    (b"MATCHSTATE:1:1:cc/:|6h5d/7h8h9h\r\n", None),
    (b"MATCHSTATE:1:1:cc/r200:|6h5d/7h8h9h\r\n", b"MATCHSTATE:1:1:cc/r200:|6h5d/7h8h9h:c\r\n"),
    (b"MATCHSTATE:1:1:cc/r200c/:|6h5d/7h8h9h/2c\r\n", None),
    (b"MATCHSTATE:1:1:cc/r200c/c:|6h5d/7h8h9h/2c\r\n",
     b"MATCHSTATE:1:1:cc/r200c/c:|6h5d/7h8h9h/2c:c\r\n"),
    (b"MATCHSTATE:1:1:cc/r200c/cc/r20000f:|6h5d/7h8h9h/2c/2d\r\n", None),
]  # fmt: skip


class ScriptedDealer:
    """A dealer that sends scripted lines and records the replies."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.replies: list[bytes] = []
        self.port = 0
        self.connected = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.connected.set()
            self.replies.append(await reader.readline())
            for line, reply in self.script:
                writer.write(line)
                if reply is not None:
                    self.replies.append(await reader.readline())
        finally:
            writer.close()

    def expected(self) -> list[bytes]:
        return [VERSION, *(reply for _, reply in self.script if reply is not None)]


class Recorder:
    """A `MatchObserver` that records its calls."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    async def on_decision(
        self, match: str, opponent: str, state: MatchState, request: DecisionRequest, answer: DecisionAnswer
    ) -> None:
        self.seen.append((f"{match} {opponent}", request.betting + ":" + answer.action))

    async def on_hand(self, match: str, opponent: str, state: MatchState) -> None:
        self.seen.append((f"{match} {opponent}", f"hand {state.hand_id}"))


@asynccontextmanager
async def listening(script: Script) -> AsyncIterator[ScriptedDealer]:
    dealer = ScriptedDealer(script)
    server = await asyncio.start_server(dealer.serve, "127.0.0.1", 0)
    dealer.port = server.sockets[0].getsockname()[1]
    try:
        yield dealer
    finally:
        server.close()
        await server.wait_closed()


def manager(
    decider: StandInDecider, metrics: Metrics | None = None, recorder: Recorder | None = None
) -> MatchManager:
    observers = () if recorder is None else (recorder,)
    return MatchManager(OurSide(decider, metrics or Metrics(), 7.0, observers))


def test_a_match_is_played_to_its_end() -> None:
    async def check() -> None:
        metrics, recorder, decider = Metrics(), Recorder(), StandInDecider()
        matches = manager(decider, metrics, recorder)
        async with listening(SCRIPT) as dealer:
            started = matches.start(MatchConfig("127.0.0.1", dealer.port, name="Bob"))
            status = await matches.wait(started.match)
            assert dealer.replies == dealer.expected()
        assert (status.state, status.hands, status.chips, status.error) == (FINISHED, 2, 19800, "")
        assert status.decisions == 4
        assert status.unfinished_hand is None
        assert status.mbb_per_hand == pytest.approx(99000.0)
        assert status.mbb_interval == pytest.approx(197960.0), "two hands: +20,000 and -200"
        assert recorder.seen == [
            ("m1 Bob", "r20000:c"),
            ("m1 Bob", "hand 0"),
            ("m1 Bob", ":c"),
            ("m1 Bob", "cc/r200:c"),
            ("m1 Bob", "cc/r200c/c:c"),
            ("m1 Bob", "hand 1"),
        ]
        value = metrics.registry.get_sample_value
        assert value("fathom_hands_total", {"channel": "acpc"}) == 2
        assert value("fathom_winnings_chips", {"opponent": "Bob"}) == 19800
        assert value("fathom_match_ends_total", {"state": "finished"}) == 1
        assert value("fathom_matches", {"state": "playing"}) == 0

    run(check())


def test_decisions_of_a_hand_share_a_seed_and_pass_on_the_context() -> None:
    async def check() -> None:
        decider = StandInDecider()
        matches = manager(decider)
        async with listening(SCRIPT) as dealer:
            await matches.wait(matches.start(MatchConfig("127.0.0.1", dealer.port)).match)
        first, *second = decider.requests
        assert first.context is None
        assert [request.context for request in second] == [None, b"after ", b"after cc/r200"]
        assert len({request.seed for request in second}) == 1
        assert first.seed != second[0].seed
        assert all(0 < request.seconds < 7 for request in decider.requests)
        assert [len(request.board) for request in second] == [0, 3, 4]

    run(check())


def test_malformed_lines_are_counted_and_the_match_continues() -> None:
    async def check() -> None:
        metrics = Metrics()
        matches = manager(StandInDecider(), metrics)
        junk: Script = [(b"nonsense\r\n# hello\r\nMATCHSTATE:0:0:x:\r\n\xff\xfe\r\n", None)]
        async with listening([*junk, *SCRIPT]) as dealer:
            status = await matches.wait(matches.start(MatchConfig("127.0.0.1", dealer.port)).match)
            assert dealer.replies == dealer.expected()
        assert (status.state, status.hands, status.malformed_lines) == (FINISHED, 2, 3)
        assert metrics.registry.get_sample_value("fathom_malformed_lines_total") == 3

    run(check())


def test_a_disconnect_keeps_the_hands_played_so_far() -> None:
    async def check() -> None:
        matches = manager(StandInDecider())
        async with listening([*SCRIPT[:7], (b"MATCHSTATE:1:1:cc/r2", None)]) as dealer:
            status = await matches.wait(matches.start(MatchConfig("127.0.0.1", dealer.port)).match)
        assert (status.state, status.hands, status.chips) == (DEALER_GONE, 1, 20000)
        assert status.unfinished_hand == 1
        assert status.malformed_lines == 1

    run(check())


def test_connection_errors_are_reported() -> None:
    async def check() -> None:
        matches = manager(StandInDecider())
        status = await matches.wait(matches.start(MatchConfig("127.0.0.1", 1, wait_seconds=0)).match)
        assert status.state == FAILED
        assert "no dealer at 127.0.0.1:1" in status.error
        status = await matches.wait(matches.start(MatchConfig("no host", 1, wait_seconds=0)).match)
        assert status.state == FAILED

    run(check())


def test_another_game_is_refused() -> None:
    async def check() -> None:
        with pytest.raises(ValueError, match="is not for the game"):
            manager(StandInDecider()).start(MatchConfig("127.0.0.1", 1, game="kuhn"))

    run(check())


def test_a_match_can_be_limited_to_some_hands() -> None:
    async def check() -> None:
        matches = manager(StandInDecider())
        async with listening(SCRIPT[:3] + SCRIPT) as dealer:
            status = await matches.wait(matches.start(MatchConfig("127.0.0.1", dealer.port, hands=1)).match)
        assert (status.state, status.hands) == (STOPPED, 1)

    run(check())


def test_leaving_answers_the_current_decision_first() -> None:
    async def check() -> None:
        decider = StandInDecider()
        decider.may_answer.clear()
        matches = manager(decider)
        async with listening(SCRIPT) as dealer:
            name = matches.start(MatchConfig("127.0.0.1", dealer.port)).match
            await until(lambda: len(decider.requests) == 1)
            stopping = asyncio.ensure_future(matches.stop(name))
            await asyncio.sleep(0)
            assert not stopping.done()
            decider.may_answer.set()
            status = await stopping
            await until(lambda: len(dealer.replies) >= 2)
            assert dealer.replies[:2] == dealer.expected()[:2]
        assert status.state == STOPPED
        with pytest.raises(KeyError):
            await matches.stop("m99")

    run(check())


def test_leaving_on_the_opponents_turn_is_immediate() -> None:
    async def check() -> None:
        matches = manager(StandInDecider())
        waits_for_ever: Script = [(SCRIPT[0][0], b"")]
        async with listening(waits_for_ever) as dealer:
            name = matches.start(MatchConfig("127.0.0.1", dealer.port)).match
            await dealer.connected.wait()
            await until(lambda: matches.status(name).state == "playing")
            assert (await matches.stop(name)).state == STOPPED

    run(check())


def test_closing_cancels_matches_that_exceed_the_drain_time() -> None:
    async def check() -> None:
        decider = StandInDecider()
        decider.may_answer.clear()
        matches = manager(decider)
        async with listening(SCRIPT) as dealer:
            name = matches.start(MatchConfig("127.0.0.1", dealer.port)).match
            await until(lambda: len(decider.requests) == 1)
            await matches.close(drain_seconds=0.05)
        assert matches.status(name).state == STOPPED

    run(check())


def test_a_decision_stopped_at_the_end_of_the_drain_is_still_sent() -> None:
    async def check() -> None:
        decider = StandInDecider()
        decider.may_answer.clear()
        matches = manager(decider)
        async with listening(SCRIPT) as dealer:
            matches.start(MatchConfig("127.0.0.1", dealer.port))
            await until(lambda: len(decider.requests) == 1)
            asyncio.get_running_loop().call_later(0.1, decider.may_answer.set)
            await matches.close(drain_seconds=0.1)
            await until(lambda: len(dealer.replies) >= 2)
            assert dealer.replies[:2] == dealer.expected()[:2]

    run(check())


def test_matches_run_concurrently() -> None:
    async def check() -> None:
        matches = manager(StandInDecider())
        async with listening(SCRIPT) as one, listening(SCRIPT) as two, listening(SCRIPT) as three:
            names = [matches.start(MatchConfig("127.0.0.1", d.port)).match for d in (one, two, three)]
            assert [(await matches.wait(name)).hands for name in names] == [2, 2, 2]
            assert [status.match for status in matches.statuses()] == names

    run(check())


def test_the_version_line_is_sent_only_when_ready() -> None:
    async def check() -> None:
        ready = asyncio.Event()

        async def wait() -> None:
            await ready.wait()

        matches = MatchManager(OurSide(StandInDecider(), Metrics(), 7.0, ready=wait))
        async with listening(SCRIPT) as dealer:
            name = matches.start(MatchConfig("127.0.0.1", dealer.port)).match
            await dealer.connected.wait()
            await until(lambda: matches.status(name).state == "warming_up")
            assert dealer.replies == []
            ready.set()
            assert (await matches.wait(name)).hands == 2

    run(check())
