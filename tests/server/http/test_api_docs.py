"""The examples in the documentation run against a real daemon with a stand-in decider."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocol.phh import parse_history
from server.client import FathomClient, FathomError
from server.http.problems import CODES, Problem, problem_body
from tests.server.programs import DAEMON, ROOT, start_python

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("daemon")
    with start_python(DAEMON, folder, XDG_DATA_HOME=str(folder)) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.kill()


def blocks(page: str, language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found


def commands(page: str) -> list[str]:
    """All curl commands, with continuation lines joined."""
    text = "\n".join(blocks(page, "sh")).replace("\\\n", " ")
    return [line for line in text.splitlines() if line.startswith("curl")]


def test_every_problem_code_has_an_anchor_in_the_docs_page(port: int) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/docs", timeout=600) as response:
        page = response.read().decode()
    for code in CODES:
        assert page.count(f"<tr id={code}>") == 1
    assert f"curl -s 127.0.0.1:{port}/v1/decide" in page, "examples can be pasted"
    assert "localhost:8080" not in page


def test_every_raised_problem_code_is_documented() -> None:
    sources = sorted((ROOT / "server" / "http").glob("*.py"))
    text = "".join([path.read_text(encoding="utf-8") for path in sources])
    calls = re.findall(r"(?:Problem|bad_request)\((?:[^()]|\([^()]*\))*\)", text)
    raised = {found for call in calls for found in re.findall(r'"([a-z]+(?:-[a-z]+)+)"', call)}
    assert len(raised) > 15
    assert raised <= set(CODES)
    problem = problem_body(Problem(418, "short and stout"))
    assert problem["type"] == "about:blank"


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_examples_of_the_api_run(port: int) -> None:
    names = {"OVER": finished(port)}
    for command in commands("http-api.md") + commands("slumbot.md"):
        if "$HAND/actions" in command:
            names["HAND"] = unfinished(port)
        shell = command.replace("localhost:8080", f"127.0.0.1:{port}") + " --fail-with-body"
        done = subprocess.run(
            ["sh", "-c", shell], capture_output=True, text=True, env={**os.environ, **names}, timeout=600
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        if "text/event-stream" in command:
            assert f"event: {'hand' if '/v1/hands' in command else 'result'}" in done.stdout
        elif "format=" in command:
            assert done.stdout.startswith(("variant", "[1]", "STATE:")) or not done.stdout.strip()
        else:
            answer = json.loads(done.stdout)
            assert "error_msg" not in answer or "incr" in command
            if command.endswith('-d \'{"opponent": "me", "budget": 2}\''):
                names["HAND"] = answer["id"]
            if "token" in answer:
                names["TOKEN"] = answer["token"]


def finished(port: int) -> str:
    with FathomClient(f"http://127.0.0.1:{port}") as fathom:
        hand = fathom.new_hand()
        while not hand.finished:
            hand = fathom.act(hand, "c")
        return hand.id


def unfinished(port: int) -> str:
    with FathomClient(f"http://127.0.0.1:{port}") as fathom:
        while (hand := fathom.new_hand()).finished:
            pass
        return hand.id


def test_the_python_example_runs(port: int) -> None:
    (code,) = blocks("http-api.md", "python")
    done = subprocess.run(
        [sys.executable, "-c", code.replace("8080", str(port))],
        capture_output=True, text=True, cwd=ROOT, timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2


def test_the_client_covers_the_whole_api(port: int) -> None:
    with FathomClient(f"http://127.0.0.1:{port}/") as fathom:
        assert fathom.is_ready()
        assert fathom.status()["ready"]
        decision = fathom.decide("MATCHSTATE:1:0::|AsKd", budget=1.0, seed=3, whole_range=True)
        assert decision.strategy[decision.action] == 1.0
        assert decision.range is not None
        hand = fathom.new_hand(opponent="somebody")
        assert not fathom.thinking(hand.id).thinking
        while not hand.finished:
            before = hand
            hand = fathom.act(hand, "c", on_thinking=lambda thinking: None)
            with pytest.raises(FathomError) as error:
                fathom.act(before, "c")
            assert error.value.status == 409
        assert fathom.hand(hand.id).chips == hand.chips
        following = fathom.new_hand(session=hand.session)
        assert following.position != hand.position
        assert parse_history(fathom.export(hand.id)).state.betting.text == hand.betting
        assert hand.id in {one.id for one in fathom.hands(limit=2)}
        assert all(one.finished for one in fathom.hands(finished=True))
        with pytest.raises(FathomError, match="no such hand"):
            fathom.hand("no/such hand?")
        solve = fathom.start_solve(
            "AsKd7h4c2s", 1000, 2000, oop="QQ+", ip="TT+", menu="a", target_pct=1, seconds=60
        )
        events = list(fathom.follow_solve(solve.id))
        assert events[-1].name == "result"
        assert fathom.solve(solve.id).result == events[-1].content["result"]
        assert fathom.cancel_solve(solve.id).state == "done"


def test_a_client_without_a_daemon_raises() -> None:
    with FathomClient("http://127.0.0.1:9") as fathom:
        assert not fathom.is_ready()
        with pytest.raises(OSError, match="refused"):
            fathom.status()
    with pytest.raises(ValueError, match="daemon's URL"):
        FathomClient("127.0.0.1:8080")


def test_each_thread_can_use_its_own_client(port: int) -> None:
    chips: list[int | None] = []

    def play() -> None:
        with FathomClient(f"http://127.0.0.1:{port}") as fathom:
            hand = fathom.new_hand()
            while not hand.finished:
                hand = fathom.act(hand, "c")
            chips.append(hand.chips)

    threads = [threading.Thread(target=play) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(chips) == 8
    assert None not in chips


def test_the_docs_folder_is_complete() -> None:
    for page in ("http-api.md", "slumbot.md", "hands.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([a-z-]+\.md)\)", text):
            assert (DOCS / link).exists(), (page, link)
    assert Path(DOCS).is_dir()
