"""The dealer as a program: resuming, time limits, players that misbehave before the first hand."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.dealer.clock import MatchClock, TimeLimits
from arena.dealer.match import HandResult
from game.definition import HUNL, KUHN
from protocol.acpc import MatchState
from tests.arena.scripted import (
    JOIN_SECONDS,
    Script,
    calls,
    chaotic,
    deal_in_thread,
    play_ours,
    player,
    sensible,
    timeless_transactions,
)
from tests.arena.setups import setup

BOTH: tuple[Script, Script] = (sensible(1), sensible(2))
PLAYER_VERSION = b"VERSION:2.0.0\r\n"


def _records(log: bytes) -> list[bytes]:
    return [line for line in log.splitlines() if not line.startswith(b"#")]


class TestResume:
    @pytest.mark.parametrize("kept", [0, 1, 2, 7, 40, 63])
    def test_resumed_match_ends_like_an_uninterrupted_one(self, kept: int, tmp_path: Path) -> None:
        whole = play_ours(setup(HUNL, 20, 5, "-T"), BOTH, tmp_path)
        log, transactions = tmp_path / "match.log", tmp_path / "match.tlog"
        lines = transactions.read_bytes().splitlines(keepends=True)
        hands = [int(line.split()[1]) for line in lines]
        hands_done = hands[kept] if kept < len(lines) else 20
        header, records = log.read_bytes().splitlines(keepends=True)[:4], _records(whole.log)
        transactions.write_bytes(b"".join(lines[:kept]))
        log.write_bytes(b"".join(header) + b"".join(record + b"\n" for record in records[:hands_done]))
        resumed = play_ours(setup(HUNL, 20, 5, "-T", "-a"), BOTH, tmp_path)
        assert resumed.status == 0
        assert _records(resumed.log) == records
        assert timeless_transactions(transactions) == [b" ".join(line.split()[:2]) for line in lines]

    def test_resuming_a_complete_match_only_prints_the_score(self, tmp_path: Path) -> None:
        whole = play_ours(setup(HUNL, 5, 5, "-T"), BOTH, tmp_path)
        again = play_ours(setup(HUNL, 5, 5, "-T", "-a"), BOTH, tmp_path)
        assert again.status == 0
        assert again.stdout == whole.stdout
        assert _records(again.log) == [*_records(whole.log), _records(whole.log)[-1]]

    @pytest.mark.parametrize(
        ("line", "complaint"),
        [
            ("x 0 1.000000 1.000000", "ERROR: invalid action in transaction log"),
            ("rx 0 1.000000 1.000000", "ERROR: could not parse transaction action"),
            ("c 1 1.000000 1.000000", "ERROR: handId mismatch in transaction log"),
            ("c 0 1.000000", "ERROR: could not parse transaction stamp"),
            ("r20001 0 1.000000 1.000000", "ERROR: invalid action in transaction log"),
            ("c 0 1.000000 602.000000", "ERROR: seat 2 ran out of time in transaction file"),
        ],
    )
    def test_invalid_transactions_are_refused(self, line: str, complaint: str, tmp_path: Path) -> None:
        (tmp_path / "match.tlog").write_text(line + "\n")
        outcome = play_ours(setup(HUNL, 5, 5, "-T", "-a"), BOTH, tmp_path)
        assert outcome.status == 1
        assert complaint in outcome.stderr.decode()
        assert outcome.stdout == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("name", ["match.log", "match.tlog"])
def test_a_full_disk_ends_the_match_with_a_reason(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to("/dev/full")
    with deal_in_thread(setup(HUNL, 5, 5, "-T"), tmp_path) as dealer:
        for port in dealer.ports:
            threading.Thread(target=_try_to_play, args=(port,), daemon=True).start()
    assert dealer.status == 1
    stderr = (tmp_path / "stderr").read_text()
    assert "ERROR: could not write the match's files: No space left on device\n" in stderr


def _try_to_play(port: int) -> None:
    with contextlib.suppress(OSError):  # the dealer may be gone already
        player(port, HUNL, calls)


class TestTimeLimits:
    @pytest.mark.parametrize("flag", ["--t_hand", "--t_per_hand"])
    def test_a_limit_of_zero_is_exceeded_by_any_reply(self, flag: str, tmp_path: Path) -> None:
        outcome = play_ours(setup(HUNL, 5, 5, flag, "0"), BOTH, tmp_path)
        assert outcome.status == 1
        assert b"ERROR: seat 2 ran out of time\n" in outcome.stderr
        assert _records(outcome.log) == []

    def test_silent_player_ends_the_match(self, tmp_path: Path) -> None:
        def silent(state: MatchState | None, line: str) -> list[bytes]:
            return []

        outcome = play_ours(setup(HUNL, 5, 5, "--t_response", "20"), (sensible(1), silent), tmp_path)
        assert outcome.status == 1
        assert (
            b"ERROR: could not get action from seat 2\n0.0 seconds spent waiting; timeout 0.0\n"
            in outcome.timeless_stderr
        )

    def test_half_a_line_does_not_extend_the_time_limit(self, tmp_path: Path) -> None:
        def half(state: MatchState | None, line: str) -> list[bytes]:
            return [line.encode()] if state is not None else []

        outcome = play_ours(setup(HUNL, 5, 5, "--t_response", "20"), (sensible(1), half), tmp_path)
        assert outcome.status == 1
        assert b"ERROR: could not get action from seat 2" in outcome.stderr

    def test_negative_limits_mean_no_limit(self, tmp_path: Path) -> None:
        flags = ("--t_response", "-1", "--t_hand", "-1")
        outcome = play_ours(setup(HUNL, 5, 5, *flags), BOTH, tmp_path)
        assert outcome.status == 0
        assert b"#--t_response 18446744073709550\n" in outcome.log  # the reference dealer's number

    def test_response_hand_and_match_budgets(self) -> None:
        clock = MatchClock(TimeLimits(response_ms=10, hand_ms=15, per_hand_ms=9), hands=3)  # 27 ms in all
        assert clock.charge(0, 0, 10_000)
        assert not clock.charge(1, 0, 10_001)
        assert clock.charge(0, 20_000, 25_000)
        assert not clock.charge(0, 30_000, 30_001)
        clock.start_hand()
        assert clock.charge(0, 40_000, 50_000)
        clock.start_hand()
        assert clock.charge(0, 60_000, 50_000)  # a clock set back is not charged
        assert not clock.charge(0, 60_000, 62_000)
        assert clock.used_match_us == [27_001, 10_001]


class TestBeforeTheFirstHand:
    def test_unsupported_version_gives_a_warning(self, tmp_path: Path) -> None:
        outcome = _deal_with(tmp_path, lambda port: player(port, HUNL, calls, b"VERSION:2.5.0\r\n"))
        assert outcome[0] == 0
        assert b"ERROR: this server is currently using version 2.0.0\n" in outcome[1]

    @pytest.mark.parametrize("first_line", [b"HELLO\r\n", b"VERSION:2.0\r\n", b"VERSION:2,0,0\n", b"\n"])
    def test_bad_version_ends_the_match(self, first_line: bytes, tmp_path: Path) -> None:
        outcome = _deal_with(tmp_path, lambda port: player(port, HUNL, calls, first_line))
        assert outcome[0] == 1
        assert b"ERROR: invalid version string" in outcome[1]

    def test_silent_player_does_not_hang_the_dealer(self, tmp_path: Path) -> None:
        outcome = _deal_with(tmp_path, lambda port: player(port, HUNL, calls, b""), version_timeout_ms=20)
        assert outcome[0] == 1
        assert b"ERROR: could not read version string from seat 1\n" in outcome[1]

    def test_disconnect_before_the_first_hand(self, tmp_path: Path) -> None:
        outcome = _deal_with(tmp_path, lambda port: socket.create_connection(("127.0.0.1", port)).close())
        assert outcome[0] == 1
        assert b"ERROR: could not read version string from seat 1\n" in outcome[1]

    def test_start_timeout(self, tmp_path: Path) -> None:
        with deal_in_thread(setup(HUNL, 5, 5), tmp_path, start_timeout_ms=1) as dealer:
            pass
        assert dealer.status == 1
        assert b"ERROR: timed out waiting for seat 1 to connect\n" in (tmp_path / "stderr").read_bytes()


class TestConnections:
    def test_last_reply_needs_no_line_end(self, tmp_path: Path) -> None:
        """A reply ended by the end of the stream counts; here it ends Kuhn's only hand."""

        def last_words(port: int) -> None:
            with socket.create_connection(("127.0.0.1", port), timeout=JOIN_SECONDS) as connection:
                connection.sendall(PLAYER_VERSION)
                line = connection.recv(4096).split(b"\r\n")[0]
                connection.sendall(line + b":c")
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass

        outcome = _deal_with(tmp_path, last_words, game=KUHN)
        assert outcome[0] == 0
        assert (tmp_path / "match.log").read_bytes().count(b"STATE:0:cc:") == 1

    def test_disconnect_ends_the_match(self, tmp_path: Path) -> None:
        def vanish(port: int) -> None:
            with socket.create_connection(("127.0.0.1", port), timeout=JOIN_SECONDS) as connection:
                connection.sendall(PLAYER_VERSION)
                connection.recv(1)

        status, stderr = _deal_with(tmp_path, vanish, game=KUHN)
        assert status == 1
        assert b"ERROR: could not" in stderr

    def test_every_hand_is_observed(self, tmp_path: Path) -> None:
        seen: list[HandResult] = []
        outcome = play_ours(setup(HUNL, 30, 5), (chaotic(1), sensible(2)), tmp_path, seen.append)
        assert [result.hand_id for result in seen] == list(range(30))
        total = sum(result.values[result.first_seat] for result in seen)
        assert outcome.stdout.startswith(b"SCORE:%d|" % total)


def _deal_with(
    directory: Path,
    first_player: Callable[[int], None],
    game: object = HUNL,
    version_timeout_ms: int | None = None,
) -> tuple[int, bytes]:
    """Deal one hand, with seat 1 played by a function of the port; returns exit status and stderr."""
    definition = KUHN if game is KUHN else HUNL
    with deal_in_thread(setup(definition, 1, 5), directory, version_timeout_ms=version_timeout_ms) as dealer:
        other = threading.Thread(target=player, args=(dealer.ports[1], definition, calls), daemon=True)
        other.start()
        first_player(dealer.ports[0])
        other.join(JOIN_SECONDS)
    return dealer.status, (directory / "stderr").read_bytes()
