"""The daemon's configuration: one frozen tree, read once at the start (`server.config_reader` says how)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from server.config_reader import ConfigError, read_config, required, setting
from server.hand_tables import default_store_path
from server.keys import default_keys_path

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Where the daemon listens."""

    host: str = setting(LOOPBACK, "address to listen on")
    port: int = setting(8080, "port to listen on; 0: any free one", least=0, most=65535)
    drain_seconds: float = setting(
        6.0, "how long decisions in flight may still take after SIGTERM", least=0, most=600
    )


@dataclass(frozen=True, slots=True)
class WorkersConfig:
    """The processes that solve."""

    count: int = setting(4, "worker processes", least=1, most=256)
    threads: int = setting(
        0, "most threads of one decision; 0: as many as there are cores, shared by load", least=0, most=256
    )
    memory_mb: int = setting(4096, "a worker that holds more of its own is replaced; 0: never", least=0)
    queue: int = setting(256, "decisions that may wait; beyond that the blueprint answers", least=0)
    late_seconds: float = setting(
        0.5, "how long after its deadline an answer is still waited for", least=0, most=60
    )
    hang_seconds: float = setting(
        3.0, "how long after a deadline a worker that says nothing is killed", least=0.1, most=600
    )
    start_seconds: float = setting(
        600.0, "how long a worker may take to be ready; kernels may have to be compiled", least=1
    )
    nice: int = setting(5, "niceness of workers: the event loop goes first", least=0, most=19)


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """How the agent plays."""

    blueprint: str = setting("", "file, packed or not; empty: FATHOM_BLUEPRINT or the one with Fathom")
    budget: float = setting(7.0, "seconds per hand, on average over a match", least=0.01, most=3600)


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """A dealer to connect to: [[match]] in the file."""

    host: str = required("where the dealer runs")
    port: int = required("the port it printed for this seat", least=1, most=65535)
    name: str = setting("", "of the opponent, in metrics and lists; empty: HOST:PORT")
    game: str = setting("hunl", "a preset or an ACPC .game file; must be the blueprint's game")
    hands: int = setting(0, "leave after so many hands; 0: when the dealer ends the match", least=0)
    budget: float = setting(0.0, "seconds per hand; 0: as [agent] says", least=0, most=3600)
    wait_seconds: float = setting(10.0, "how long to wait for the dealer to listen", least=0, most=86400)


@dataclass(frozen=True, slots=True)
class LogConfig:
    """What the daemon tells on stderr."""

    format: Literal["human", "json"] = setting("human", "lines for people, or one JSON object per line")
    level: Literal["debug", "info", "warning", "error"] = setting("info", "the least that is told")


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """Where hands are kept."""

    path: str = setting("", "SQLite file; empty: in the user's folder for data")


@dataclass(frozen=True, slots=True)
class SecurityConfig:
    """Who may ask for what, and how often. Keys: `fathom keys`."""

    require_keys: Literal["auto", "always"] = setting("auto", "auto: unless we listen on loopback")
    keys_file: str = setting("", "where `fathom keys` keeps them; empty: in the user's folder for settings")
    keys: tuple[str, ...] = setting((), "more keys, as `fathom keys list --toml` prints them")
    requests_per_second: float = setting(100.0, "of one key; 0: as many as it likes", least=0)
    burst: float = setting(200.0, "requests of one key that may come at once", least=1)
    requests_at_once: int = setting(400, "of one key under way; 0: as many as it likes", least=0)


@dataclass(frozen=True, slots=True)
class SolveConfig:
    """Solves that are asked for over HTTP; each is a process of its own."""

    at_once: int = setting(2, "solves under way; more are refused", least=0, most=64)
    seconds: float = setting(120.0, "the most that one may take", least=0.1, most=600)
    memory_mb: int = setting(2048, "the most that one may take", least=16)
    threads: int = setting(1, "of one solve", least=1, most=256)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything the daemon can be told."""

    server: ServerConfig = field(default_factory=ServerConfig)
    workers: WorkersConfig = field(default_factory=WorkersConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    log: LogConfig = field(default_factory=LogConfig)
    store: StoreConfig = field(default_factory=StoreConfig)
    security: SecurityConfig = field(default_factory=SecurityConfig)
    solve: SolveConfig = field(default_factory=SolveConfig)
    match: tuple[MatchConfig, ...] = ()


def load_config(
    path: Path | None = None,
    flags: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    flag_names: Mapping[str, str] | None = None,
) -> Config:
    """The configuration of file, environment and flags; raises `ConfigError`.

    environment  None: the process's own
    flag_names   options of keys that have one of their own: `--port` of `server.port`
    """
    variables = os.environ if environment is None else environment
    config = read_config(Config, path, variables, flags, flag_names)
    if config.workers.hang_seconds < config.workers.late_seconds:
        raise ConfigError(
            f"workers.hang_seconds = {config.workers.hang_seconds:g} is less than workers.late_seconds ="
            f" {config.workers.late_seconds:g}: a worker must be given up after its answer is, not before"
        )
    return config


def store_path(config: Config) -> Path:
    """Where hands are kept."""
    return Path(config.store.path).expanduser() if config.store.path else default_store_path()


def keys_path(config: Config) -> Path:
    """Where `fathom keys` keeps keys."""
    return Path(config.security.keys_file).expanduser() if config.security.keys_file else default_keys_path()
