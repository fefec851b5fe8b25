"""Flags shared by commands that read the daemon's configuration or its hand store."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from server.config.config import Config

_FLAGS = {
    "host": ("server.host", "address to listen on"),
    "port": ("server.port", "port to listen on"),
    "workers": ("workers.count", "worker processes"),
    "blueprint": ("agent.blueprint", "blueprint file"),
    "budget": ("agent.budget", "seconds per hand"),
}


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that change the configuration."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="TOML file; `fathom config show` prints one"
    )
    for flag, (key, words) in _FLAGS.items():
        parser.add_argument(f"--{flag}", metavar="VALUE", help=f"{words} ({key})")
    parser.add_argument(
        "--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="any other key; repeatable"
    )


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of commands that use the daemon's hand store: `chosen_store` reads them."""
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--store",
        type=Path,
        metavar="FILE",
        help="hand store (default: $FATHOM_STORE__PATH, or the daemon's default)",
    )
    place.add_argument(
        "--config", type=Path, metavar="FILE", help="use the hand store of this daemon configuration"
    )


def chosen_store(args: argparse.Namespace) -> Path:
    """The hand store's path, from the flags of `add_store_arguments`."""
    from server.config.config import load_config, store_path

    return args.store or store_path(load_config(args.config))


def read_arguments(args: argparse.Namespace) -> Config:
    """The configuration from file, environment and flags; raises `ConfigError`."""
    from server.config.config import load_config
    from server.config.reader import ConfigError

    flags = {}
    for text in args.set:
        name, equals, value = text.partition("=")
        if not equals or "." not in name:
            raise ConfigError(f"--set {text}: write SECTION.KEY=VALUE, e.g. --set workers.count=2")
        flags[name] = value
    flags |= {
        key: getattr(args, flag) for flag, (key, _) in _FLAGS.items() if getattr(args, flag) is not None
    }
    names = {key: f"--{flag}" for flag, (key, _) in _FLAGS.items() if getattr(args, flag) is not None}
    return load_config(args.config, flags, flag_names=names)
