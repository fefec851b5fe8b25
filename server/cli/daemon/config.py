"""`fathom config check|show`: check or print the daemon's configuration."""

from __future__ import annotations

import argparse

from server.cli.parts.configuration import add_config_arguments, read_arguments

_EPILOG = """\
Values come from the file, then the environment (FATHOM_SECTION__KEY), then flags; later ones win. `show`
prints the effective configuration as a file for `--config`, with a comment on every key.

examples:
  fathom config show > fathom.toml                    a file to start from
  fathom config check --config fathom.toml            exit status 2 and one line if invalid
  FATHOM_WORKERS__COUNT=2 fathom config show --set log.format=json"""


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
