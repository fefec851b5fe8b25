"""A daemon to measure from outside: `fathom serve` in its own process, queried over HTTP."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from prometheus_client.parser import text_string_to_metric_families

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 600.0
_SERVING = re.compile(r"serving on http://127\.0\.0\.1:(\d+)")


class Daemon:
    """A running daemon. Calls block."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.port = 0
        self.said: list[str] = []
        assert process.stderr is not None
        self._listener = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
        self._listener.start()

    def get(self, path: str) -> Any:
        """GET a route and return its JSON."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as response:
            return json.load(response)

    def post(self, path: str, body: dict[str, object]) -> Any:
        """POST a JSON body to a route and return its JSON."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def metrics(self) -> Metrics:
        """The current metrics."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as response:
            return Metrics(response.read().decode())

    def worker_pids(self, *states: str) -> list[int]:
        """Process ids of the workers in one of these states."""
        return [
            worker["pid"]
            for worker in self.get("/v1/status")["pool"]["workers"]
            if worker["pid"] and worker["state"] in states
        ]

    def wait_until(self, condition: Callable[[], object], seconds: float = _START_SECONDS) -> None:
        """Wait until a condition is true; raises `RuntimeError` if the daemon ends or time runs out."""
        deadline = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the daemon ended or did not react in time:\n" + "".join(self.said[-20:]))
            time.sleep(0.05)

    def end(self) -> tuple[int, float]:
        """Send SIGTERM and wait; returns the exit status and the seconds it took."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        return status, time.monotonic() - started

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()
        self._listener.join()

    def _listen(self, stderr: IO[str]) -> None:
        with stderr:
            for line in stderr:
                self.said.append(line)
                del self.said[:-1000]
                found = _SERVING.search(line)
                if found is not None:
                    self.port = int(found[1])


class Metrics:
    """The samples of one reading of /metrics."""

    def __init__(self, text: str) -> None:
        self._samples = [
            sample for family in text_string_to_metric_families(text) for sample in family.samples
        ]

    def total(self, name: str, **labels: str) -> float:
        """The sum of a metric over all samples with the given labels."""
        return sum(
            sample.value
            for sample in self._samples
            if sample.name == f"fathom_{name}" and labels.items() <= sample.labels.items()
        )

    def by(self, name: str, *labels: str) -> dict[str, int]:
        """A counter by the values of some labels, joined by slashes, without zeros."""
        found: dict[str, int] = {}
        for sample in self._samples:
            if sample.name == f"fathom_{name}" and sample.value:
                key = "/".join(sample.labels[label] for label in labels)
                found[key] = found.get(key, 0) + int(sample.value)
        return dict(sorted(found.items()))


@contextmanager
def running_daemon(*words: str) -> Iterator[Daemon]:
    """Start a daemon on a free port and wait until it is ready; kills it at the end if it still runs."""
    command = [sys.executable, "-m", "server.cli", "serve", "--port", "0", *words]
    daemon = Daemon(subprocess.Popen(command, cwd=_ROOT, stderr=subprocess.PIPE, text=True))
    try:
        daemon.wait_until(lambda: daemon.port)
        daemon.wait_until(lambda: daemon.get("/v1/status")["ready"])
        yield daemon
    finally:
        daemon.kill()
