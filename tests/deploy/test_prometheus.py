"""A real Prometheus reads a daemon that plays, with the rules that ship, and answers every panel's query."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession

from tests.deploy.test_deploy import DEPLOY, expressions
from tests.server.daemon.test_app import dispatcher, serving
from tests.server.stand_ins import ask, run, until

PROMETHEUS = shutil.which("prometheus")
_SECONDS = 300.0


def port_in(said: Path) -> int:
    """The port that Prometheus says it listens on; 0 if it has not said so."""
    found = re.search(r"Listening on.*address=127\.0\.0\.1:(\d+)", said.read_text())
    return int(found[1]) if found else 0


def configuration(folder: Path, port: int) -> Path:
    """The shipped configuration, with this daemon's address and shorter intervals."""
    shutil.copy(DEPLOY / "prometheus/rules.yml", folder)
    text = (DEPLOY / "prometheus/prometheus.yml").read_text()
    text = text.replace("fathom:8080", f"127.0.0.1:{port}")
    text = text.replace("scrape_interval: 5s", "scrape_interval: 1s")
    text = text.replace("evaluation_interval: 15s", "evaluation_interval: 1s")
    path = folder / "prometheus.yml"
    path.write_text(text)
    return path


async def ask_prometheus(session: ClientSession, expression: str) -> list[Any] | None:
    """The result of a query; None while Prometheus is not available."""
    try:
        async with session.get("/api/v1/query", params={"query": expression}) as response:
            body = await response.json()
    except ClientError:
        return None
    assert body["status"] == "success", f"{expression}: {body}"
    found: list[Any] = body["data"]["result"]
    return found


@pytest.mark.skipif(PROMETHEUS is None, reason="needs Prometheus: apt-get install prometheus")
def test_a_real_prometheus_reads_everything(tmp_path: Path) -> None:
    async def check() -> None:
        pool = dispatcher()
        async with serving(pool) as client:
            await until(lambda: pool.is_ready)
            await asyncio.gather(*[pool.decide(ask()) for _ in range(3)])
            daemon = int(str(client.session._base_url).rstrip("/").rsplit(":", 1)[1])
            said = tmp_path / "said"
            with said.open("wb") as output:
                process = await asyncio.create_subprocess_exec(
                    str(PROMETHEUS),
                    f"--config.file={configuration(tmp_path, daemon)}",
                    f"--storage.tsdb.path={tmp_path / 'data'}",
                    "--web.listen-address=127.0.0.1:0",
                    stdout=output,
                    stderr=output,
                )
            try:
                await until(lambda: port_in(said) > 0 or process.returncode is not None)
                port = port_in(said)
                assert port, f"Prometheus did not start: {said}"
                async with ClientSession(f"http://127.0.0.1:{port}") as session:
                    await wait_for_answers(session, pool)
            finally:
                process.terminate()
                await process.wait()

    async def wait_for_answers(session: ClientSession, pool: Any) -> None:
        deadline = asyncio.get_running_loop().time() + _SECONDS
        missing = {"fathom_workers", "fathom:solve_seconds:p99_5m", "fathom:decisions:fallback_share_5m"}
        while missing:
            assert asyncio.get_running_loop().time() < deadline, f"no answer: {missing}"
            await pool.decide(ask())
            missing = {name for name in missing if not await ask_prometheus(session, name)}
            await asyncio.sleep(0.2)
        (up,) = await ask_prometheus(session, 'up{job="fathom"}') or [None]
        assert up is not None
        assert up["value"][1] == "1"
        for expression in expressions():
            assert await ask_prometheus(session, expression) is not None

    run(check())
