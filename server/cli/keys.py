"""`fathom keys`: who may use a daemon that others can reach."""

from __future__ import annotations

import argparse
from pathlib import Path

_EPILOG = """\
A daemon on loopback needs no keys. One that listens elsewhere refuses to start without any,
and everybody who asks it for something must send one: `Authorization: Bearer KEY`. Only a digest is kept:
write a new key down at once. A running daemon notices changes within a second.

scopes:
  play    hands, decisions, Slumbot's API
  solve   solving spots
  admin   everything, also matches, status and everybody's hands

examples:
  fathom keys add alice                   a key to play and solve with
  fathom keys add monitor --scopes admin
  fathom keys list
  fathom keys list --toml                 as lines to paste into [security] keys = [ … ]
  fathom keys revoke alice"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    from server.keys import Scope

    parser.epilog = _EPILOG
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    add = verbs.add_parser("add", help="make a key and print it, once")
    listing = verbs.add_parser("list", help="names, scopes and dates")
    revoke = verbs.add_parser("revoke", help="refuse a key from now on")
    for verb in (add, listing, revoke):
        place = verb.add_mutually_exclusive_group()
        place.add_argument(
            "--file", type=Path, metavar="FILE", help="default: $FATHOM_SECURITY__KEYS_FILE, or the usual one"
        )
        place.add_argument(
            "--config", type=Path, metavar="FILE", help="daemon's configuration: its file of keys"
        )
    for verb in (add, revoke):
        verb.add_argument("name", help="of whoever has the key")
    add.add_argument(
        "--scopes",
        nargs="+",
        choices=[str(scope) for scope in Scope],
        default=[str(Scope.PLAY), str(Scope.SOLVE)],
        help="what it is good for (default: play solve)",
    )
    listing.add_argument("--toml", action="store_true", help="print as the configuration writes keys")


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from datetime import datetime

    from server.config import keys_path, load_config
    from server.keys import add_key, key_line, read_keys, revoke_key

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
        print(f"no keys in {path}: make one with `fathom keys add NAME`")
    return 0
