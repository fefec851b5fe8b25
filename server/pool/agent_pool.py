"""A worker pool that plays: workers run the agent, and the blueprint is the fallback."""

from __future__ import annotations

from pathlib import Path

from server.config.config import WorkersConfig
from server.pool.dispatcher import Dispatcher
from server.pool.fallback import BlueprintFallback
from server.pool.worker_process import WorkerSpec
from solver.blueprint.file import Blueprint


def make_pool(config: WorkersConfig, blueprint: Blueprint) -> Dispatcher:
    """A dispatcher whose workers play this blueprint. Needs a running event loop."""
    spec = WorkerSpec(arguments={"blueprint": str(Path(blueprint.path).absolute())}, nice=config.nice)
    return Dispatcher(config, spec, BlueprintFallback(blueprint))
