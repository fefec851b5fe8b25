"""docs/daemon.md is correct about metrics and configuration."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.metrics import MetricWrapperBase

from server.config.config import load_config
from server.telemetry.metrics import Metrics

DOCS = Path(__file__).resolve().parents[3] / "docs" / "daemon.md"


def test_every_metric_is_listed_with_its_labels() -> None:
    listed = {}
    for name, labels in re.findall(r"^\| `(fathom_\w+)` \| ([^|]*) \|", DOCS.read_text(), re.MULTILINE):
        listed[name] = set(re.findall(r"`(\w+)`", labels))
    known = {}
    for metric in vars(Metrics()).values():
        if isinstance(metric, MetricWrapperBase):
            (family,) = metric.describe()
            ending = {"counter": "_total", "info": "_info"}.get(family.type, "")
            known[family.name + ending] = set(metric._labelnames)
    assert listed == known


def test_the_example_configuration_is_valid(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    path = tmp_path / "fathom.toml"
    path.write_text(example)
    config = load_config(path, environment={})
    assert config.server.port == 9000
    assert config.match[0].name == "Bob"


def test_every_reason_for_a_fallback_is_listed() -> None:
    source = Path(__file__).resolve().parents[3] / "server" / "pool" / "dispatcher.py"
    reasons = set(re.findall(r'(?:_NoAnswerError|_fail)\((?:[\w.()]+, )?"(\w+)"', source.read_text()))
    assert {"queue_full", "queue_wait", "late", "no_time", "illegal"} <= reasons
    for reason in reasons:
        assert f"`{reason}`" in DOCS.read_text()
