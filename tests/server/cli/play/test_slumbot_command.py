"""`fathom slumbot` as a process, with the real agent, against a daemon with Slumbot's API."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from server.cli import main
from server.store.hand_reader import HandQuery, HandReader
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.server.programs import DAEMON, ROOT, start_python


def test_it_plays_and_prints_a_report(tmp_path: Path) -> None:
    blueprint = made_up_blueprint(tmp_path, WIDE).path
    folder = tmp_path / "daemon"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with start_python(DAEMON, folder) as daemon:
        assert daemon.stdout is not None
        url = f"http://127.0.0.1:{int(daemon.stdout.readline())}/slumbot/api"

        def play(hands: int) -> dict[str, object]:
            done = subprocess.run(
                [
                    sys.executable, "-m", "server.cli", "slumbot", "--hands", str(hands), "--url", url,
                    "--budget", "0.05", "--blueprint", str(blueprint), "--store", str(tmp_path / "h.sqlite"),
                    "--journal", str(tmp_path / "journal"), "--report", str(tmp_path / "report.json"),
                    "--json",
                ],
                capture_output=True, text=True, cwd=ROOT, env=environment, timeout=600,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert "warming up the agent" in done.stderr
            record: dict[str, object] = json.loads(done.stdout)
            assert json.loads((tmp_path / "report.json").read_text()) == record
            return record

        record = play(3)
        daemon.kill()
    assert record["hands"] == 3
    assert record["disagreements"] == record["lost_hands"] == record["refusals"] == 0
    for path, channel, sign in (("h.sqlite", "slumbot", 1), ("daemon/hands.sqlite", "slumbot-api", -1)):
        reader = HandReader(tmp_path / path)
        hands = [hand for _, hand in reader.hands(HandQuery(channel=channel, finished=True))]
        reader.close()
        assert len(hands) == 3
        assert sum(sign * (hand.chips or 0) for hand in hands) == record["chips"]


@pytest.mark.parametrize("journal", [False, True])
def test_an_unreachable_server_is_reported_and_a_signal_ends_the_match(tmp_path: Path, journal: bool) -> None:
    blueprint = made_up_blueprint(tmp_path, WIDE).path
    command = [
        sys.executable, "-m", "server.cli", "slumbot", "--hands", "1", "--url", "http://127.0.0.1:1/",
        "--blueprint", str(blueprint), "--store", str(tmp_path / "h.sqlite"),
    ]  # fmt: skip
    if journal:
        command += ["--journal", str(tmp_path / "journal"), "--patience", "0.1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as played:
        assert played.stderr is not None
        assert "retrying in" in next(line for line in played.stderr if "127.0.0.1" in line)
        if not journal:
            played.send_signal(signal.SIGTERM)
        _, rest = played.communicate(timeout=600)
    assert played.returncode == (1 if journal else 0)
    assert ("the results so far are saved" in rest) == journal


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hands", "0"], "argument --hands: write a whole number of at least 1"),
        (["--hands", "1", "--budget", "0"], "argument --budget: write a number above 0"),
        (["--hands", "1", "--url", "slumbot.com"], "is not an HTTP URL"),
        (["--hands", "1", "--report", "/no/folder/x"], "--report /no/folder/x: there is no folder"),
    ],
)
def test_invalid_arguments_are_rejected(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        sys.exit(main(["slumbot", *arguments]))
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
