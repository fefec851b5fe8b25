"""`fathom keys`: create, list and revoke the daemon's API keys."""

from __future__ import annotations

import argparse
from pathlib import Path

_EPILOG = """\
A daemon on a loopback address needs no keys. On any other address it refuses to start without at least one,
and every request must carry one: `Authorization: Bearer KEY`. Only a digest of a key is stored, so `add`
prints it once and it cannot be shown again. A running daemon picks up changes within a second.

scopes:
  play    hands, decisions, the Slumbot API
  solve   solving spots
  admin   everything, including matches, status and all users' hands

examples:
  fathom keys add alice                   a key with the scopes play and solve
  fathom keys add monitor --scopes admin
  fathom keys list
  fathom keys list --toml                 lines to paste into [security] keys = [ … ]
  fathom keys revoke alice"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    from server.config.keys import Scope

    parser.epilog = _EPILOG
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    add = verbs.add_parser("add", help="create a key and print it; it is shown only once")
    listing = verbs.add_parser("list", help="list the keys' names, scopes and dates")
    revoke = verbs.add_parser("revoke", help="delete a key")
    for verb in (add, listing, revoke):
        place = verb.add_mutually_exclusive_group()
        place.add_argument(
            "--file",
            type=Path,
            metavar="FILE",
            help="key file (default: $FATHOM_SECURITY__KEYS_FILE, or the daemon's default)",
        )
        place.add_argument(
            "--config", type=Path, metavar="FILE", help="use the key file of this daemon configuration"
        )
    for verb in (add, revoke):
        verb.add_argument("name", help="name of the key's holder")
    add.add_argument(
        "--scopes",
        nargs="+",
        choices=[str(scope) for scope in Scope],
        default=[str(Scope.PLAY), str(Scope.SOLVE)],
        help="what the key allows (default: play solve)",
    )
    listing.add_argument("--toml", action="store_true", help="print the keys as configuration lines")


def run(args: argparse.Namespace) -> int:
    """Run the chosen verb."""
    from datetime import datetime

    from server.config.config import keys_path, load_config
    from server.config.keys import add_key, key_line, read_keys, revoke_key

    path = args.file or keys_path(load_config(args.config))
    if args.verb == "add":
        print(add_key(path, args.name, args.scopes))
        return 0
    if args.verb == "revoke":
        revoke_key(path, args.name)
        print(f"the key of {args.name} is revoked")
        return 0
    keys = read_keys(path)
    for key in keys:
        day = datetime.fromtimestamp(key.created_at).astimezone().strftime("%Y-%m-%d")
        line = f"{key.name:<24}{'+'.join(key.scopes):<20}since {day}"
        print(f'"{key_line(key)}",' if args.toml else line)
    if not keys and not args.toml:
        print(f"no keys in {path}: create one with `fathom keys add NAME`")
    return 0
