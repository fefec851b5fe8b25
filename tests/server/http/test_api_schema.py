"""The OpenAPI document matches the daemon: schemathesis sends valid and invalid requests for all of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.config.keys import add_key
from server.http.openapi import openapi
from server.http.web_routes import PAGES
from tests.server.programs import DAEMON, ROOT, start_python

# Left out: poker rules reject requests that a schema cannot exclude, and stopped resources stay listed.
LEFT_OUT = "positive_data_acceptance,use_after_free"


@pytest.mark.slow
@pytest.mark.parametrize("keys", ["none needed", "right", "missing"])
def test_no_server_error_and_no_undocumented_answer(tmp_path: Path, keys: str) -> None:
    folder = tmp_path / "daemon"
    folder.mkdir()
    key = add_key(folder / "keys.json", "tester", ["admin"])
    with start_python(DAEMON, folder, "auto" if keys == "none needed" else "always") as daemon:
        assert daemon.stdout is not None
        port = int(daemon.stdout.readline())
        command = [
            sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{port}/openapi.json",
            "--exclude-checks", LEFT_OUT,
            "--phases", "coverage" if keys == "none needed" else "fuzzing",
            "--exclude-path", "/v1/events",  # never ends
            "--max-examples", "4",
            "--seed", "1",
            "--generation-deterministic",
            "--suppress-health-check", "all",
        ]  # fmt: skip
        if keys == "right":
            command += ["-H", f"Authorization: Bearer {key}"]
        if keys != "none needed":
            command += ["--exclude-checks", f"{LEFT_OUT},ignored_auth,negative_data_rejection"]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=900,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "SCHEMATHESIS_HOOKS": "tests.server.schema_hooks",
            },
        )
        daemon.kill()
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_every_route_is_described(tmp_path: Path) -> None:
    from server.daemon.app import make_app
    from tests.server.api_setups import StandIn, config_for

    app = make_app(config_for(tmp_path), StandIn())
    described = {
        (method.upper(), path)
        for path, item in openapi()["paths"].items()
        for method in item
        if method != "parameters"
    }
    served = {
        (route.method, route.resource.canonical)
        for route in app.router.routes()
        if route.resource is not None and route.method != "HEAD"
    }
    served = {(method, path) for method, path in served if path not in PAGES and not path.startswith("/web/")}
    assert served == described
