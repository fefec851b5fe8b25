"""`fathom config check|show`: check or print the daemon's configuration."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from server.config.config import Config

_EPILOG = """\
Values come from the file, then the environment (FATHOM_SECTION__KEY), then flags; later ones win. `show`
prints the effective configuration as a file for `--config`, with a comment on every key.

examples:
  fathom config show > fathom.toml                    a file to start from
  fathom config check --config fathom.toml            exit status 2 and one line if invalid
  FATHOM_WORKERS__COUNT=2 fathom config show --set log.format=json"""

_FLAGS = {
    "host": ("server.host", "address to listen on"),
    "port": ("server.port", "port to listen on"),
    "workers": ("workers.count", "worker processes"),
    "blueprint": ("agent.blueprint", "blueprint file"),
    "budget": ("agent.budget", "seconds per hand"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument(
        "what",
        choices=("check", "show"),
        metavar="check|show",
        help="check that `fathom serve` accepts the configuration, or print it",
    )
    add_config_arguments(parser)
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Check or print the configuration; an invalid one raises an error that says why."""
    from server.config.reader import config_text

    config = read_arguments(args)
    if args.what == "show":
        print(config_text(config), end="")
        return 0
    from server.daemon.preflight import verify_config

    verify_config(config)
    print("the configuration is valid")
    return 0


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
