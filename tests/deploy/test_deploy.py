"""The deployment files that ship with Fathom match the program."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from server import healthcheck
from server.cli import main
from server.config.config import load_config
from server.daemon.preflight import verify_config
from server.telemetry.metrics import Metrics

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
DASHBOARD = DEPLOY / "grafana/provisioning/dashboards/fathom.json"


def metric_names() -> set[str]:
    names = set(re.findall(r"^# TYPE (\S+)", Metrics().text().decode(), re.MULTILINE))
    return names | {f"{name}_{part}" for name in names for part in ("bucket", "count", "sum")}


def expressions() -> list[str]:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def test_the_example_configuration_is_valid() -> None:
    config = load_config(DEPLOY / "fathom.toml", {}, {})
    assert config.log.format == "json"
    verify_config(config)


def test_the_documented_commands_start_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The service refuses to start without a key, and starts after the documented command creates one."""
    command = json.loads(re.findall(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[-1])
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    check = ["config", "check", *command[1:]]
    assert command[0] == "serve"
    assert main(check) == 2
    assert "there are no keys" in capsys.readouterr().err
    text = (ROOT / "docs/operations.md").read_text()
    made = re.findall(r"fathom (keys add \S+ --scopes \S+)$", text, re.MULTILINE)
    assert made[1:] == made[:1]  # Docker and Compose
    assert main(made[0].split()) == 0
    assert main(check) == 0


def test_rules_and_dashboard_use_existing_metrics() -> None:
    rules = (DEPLOY / "prometheus/rules.yml").read_text()
    recorded = set(re.findall(r"record: (\S+)", rules))
    for text in (rules, *expressions()):
        asked = set(re.findall(r"\bfathom_[a-z_]+", text))
        assert asked <= metric_names(), asked - metric_names()
        assert set(re.findall(r"\bfathom:[a-z0-9_:]+", text)) <= recorded


def test_every_alert_has_a_runbook() -> None:
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs/operations.md").read_text(), re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    rules = (DEPLOY / "prometheus/rules.yml").read_text()
    named = re.findall(r"operations\.md#([a-z-]+)", rules)
    assert len(named) == rules.count("- alert:")
    assert set(named) <= anchors


def test_the_dashboard_matches_grafanas_schema() -> None:
    """Parsing it by Grafana's own schema and writing it again changes nothing."""
    register_default_plugins()
    dashboard = json.loads(DASHBOARD.read_text())
    again = json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))
    assert list(_lost(dashboard, again)) == []


def _lost(given: Any, understood: Any, where: str = "") -> Iterator[str]:
    if isinstance(given, dict) and isinstance(understood, dict):
        for key, value in given.items():
            yield from _lost(value, understood.get(key), f"{where}/{key}")
    elif isinstance(given, list) and isinstance(understood, list) and len(given) == len(understood):
        for index, (one, other) in enumerate(zip(given, understood, strict=True)):
            yield from _lost(one, other, f"{where}/{index}")
    elif given != understood:
        yield f"{where}: {given!r}, understood as {understood!r}"


def test_the_dockerfile_is_clean() -> None:
    done = subprocess.run(
        [Path(sysconfig.get_path("scripts")) / "hadolint", ROOT / "Dockerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_panels_do_not_overlap() -> None:
    cells: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        at = panel["gridPos"]
        own = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
        assert not own & cells
        assert at["x"] + at["w"] <= 24
        cells |= own


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool: apt-get install prometheus")
@pytest.mark.parametrize("verb", [("check", "config", "prometheus.yml"), ("test", "rules", "rules.test.yml")])
def test_promtool_accepts_configuration_and_rules(verb: tuple[str, ...]) -> None:
    done = subprocess.run(
        ["promtool", *verb], cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool: apt-get install prometheus")
def test_promtool_accepts_the_metrics() -> None:
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=Metrics().text(), capture_output=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


def test_a_missing_daemon_is_unhealthy(capsys: pytest.CaptureFixture[str]) -> None:
    assert healthcheck.main(["http://127.0.0.1:9/readyz"]) == 1
    assert "not ready" in capsys.readouterr().err
    assert healthcheck.main(["file:///etc/passwd"]) == 2
