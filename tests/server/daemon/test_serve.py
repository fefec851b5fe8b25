"""`fathom serve` and the agent's `fathom acpc` as processes, with the real agent and a made-up blueprint."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from server.cli import main
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.server.matches.test_matches import SCRIPT, listening
from tests.server.stand_ins import run, until

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 300.0
"""Kernels may have to be compiled."""


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up_blueprint(tmp_path_factory.mktemp("serve"), WIDE).path


class Daemon:
    """A running `fathom serve` and its output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []
        self.port = 0
        assert process.stderr is not None
        self._reader = threading.Thread(target=self._read, args=(process.stderr,), daemon=True)
        self._reader.start()

    def _read(self, stderr: IO[str]) -> None:
        for line in stderr:
            self.said.append(line)
            found = re.search(r"serving on http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as response:
            return json.load(response)

    def wait_for(self, condition: Any) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert self.process.poll() is None, "".join(self.said)
            assert time.monotonic() < deadline, "".join(self.said)
            time.sleep(0.02)

    def wait_until_ready(self) -> None:
        self.wait_for(lambda: self.port)
        self.wait_for(lambda: self.get("/v1/status")["ready"])

    def end(self) -> int:
        status = self.process.wait(PATIENCE_SECONDS)
        self._reader.join(10)
        return status


@contextmanager
def serving(*words: str) -> Iterator[Daemon]:
    command = [sys.executable, "-m", "server.cli", "serve", "--port", "0", "--set", "log.format=json", *words]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        yield Daemon(process)
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def test_the_daemon_plays_on_a_dealer_and_shuts_down_cleanly_on_sigterm(
    blueprint: Path, tmp_path: Path
) -> None:
    async def check() -> None:
        async with listening(SCRIPT) as dealer:
            config = tmp_path / "fathom.toml"
            config.write_text(
                f"[agent]\nblueprint = {str(blueprint)!r}\nbudget = 1.0\n[workers]\ncount = 2\n"
                f'[[match]]\nhost = "127.0.0.1"\nport = {dealer.port}\n'
            )
            with serving("--config", str(config)) as daemon:
                await asyncio.to_thread(daemon.wait_until_ready)
                await asyncio.wait_for(dealer.connected.wait(), PATIENCE_SECONDS)
                # The script continues whatever we answer: we stop when its lines no longer match the betting.
                await asyncio.to_thread(
                    daemon.wait_for, lambda: daemon.get("/v1/status")["matches"][0]["decisions"] >= 1
                )
                pids = [worker["pid"] for worker in daemon.get("/v1/status")["pool"]["workers"]]
                daemon.process.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(daemon.end) == 0
                said = [json.loads(line) for line in daemon.said]
            assert said[-1]["message"] == "ended"
            assert dealer.replies[0] == b"VERSION:2.0.0\r\n"
            for pid in pids:
                with pytest.raises(ProcessLookupError):
                    os.kill(pid, 0)

    run(check())


def test_workers_exit_when_the_daemon_is_killed(blueprint: Path) -> None:
    with serving("--blueprint", str(blueprint), "--workers", "1") as daemon:
        daemon.wait_until_ready()
        (worker,) = daemon.get("/v1/status")["pool"]["workers"]
        daemon.process.kill()
        daemon.end()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while Path(f"/proc/{worker['pid']}").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not Path(f"/proc/{worker['pid']}").exists()


def test_a_port_in_use_is_a_one_line_error(capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 2
    err = capsys.readouterr().err
    assert "cannot listen on 127.0.0.1" in err
    assert "--port" in err


def test_a_missing_blueprint_is_a_one_line_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", "0", "--blueprint", "/nowhere.blueprint"]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_an_invalid_store_is_a_one_line_error(blueprint: Path, tmp_path: Path) -> None:
    junk = tmp_path / "junk"
    junk.write_text("no database at all, but long enough to be one " * 100)
    with serving("--blueprint", str(blueprint), "--workers", "1", "--set", f"store.path={junk}") as daemon:
        assert daemon.end() == 2
    (said,) = [line for line in daemon.said if not line.startswith("{")]
    assert "cannot open the hand store" in said


def test_fathom_acpc_leaves_on_sigterm(blueprint: Path) -> None:
    async def check() -> None:
        async with listening([(SCRIPT[0][0], b"")]) as dealer:
            command = ["acpc", "127.0.0.1", str(dealer.port), "--blueprint", str(blueprint)]
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "server.cli", *command, cwd=ROOT,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            await asyncio.wait_for(dealer.connected.wait(), PATIENCE_SECONDS)
            await until(lambda: dealer.replies == [b"VERSION:2.0.0\r\n"])
            process.terminate()
            out, err = await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS)
            assert process.returncode == 128 + signal.SIGTERM
            assert out.startswith(b"0 hands")
            assert b"Traceback" not in err

    run(check())


def test_fathom_acpc_plays_without_a_daemon(blueprint: Path) -> None:
    async def check() -> None:
        async with listening(SCRIPT[:3]) as dealer:
            command = [
                "acpc",
                "127.0.0.1",
                str(dealer.port),
                "--budget",
                "20",
                "--blueprint",
                str(blueprint),
            ]
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "server.cli", *command, cwd=ROOT,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            out, err = await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS)
            assert process.returncode == 0, err
            assert out == b"1 hands, +20000 chips, +200000.0 mbb/hand\n"
            assert b"playing agent (20 s per hand)" in err
            assert b"1 solved" in err
            assert len(dealer.replies) == 2

    run(check())
