"""Read and check the options of `fathom solve`. Errors name the option and suggest a fix."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from abstraction.menu import parse_menu_book
from game.cards import Cards, cards_text, parse_cards
from game.ranges import parse_range, without_blocked
from numeric.arrays import F32
from server.config.machine import available_memory_bytes, usable_cores
from solver.games.spot import Spot, estimate_memory, street_spot
from solver.games.tree import Tree

DEFAULT_MENU = "50%, 100%, a | 100%, a"
DEFAULT_TARGET = "0.5%"
SPOT_OPTIONS = ("board", "pot", "stack", "oop", "ip", "menu", "big_blind", "variant")

_STREETS = {3: "flop", 4: "turn", 5: "river"}
_MOST_NUMBER = 1_000_000_000  # chips are int32 in trees
_MOST_THREADS = 256
_MOST_MEMORY = 0.9  # share of the available memory: leave some for other programs


class OptionError(ValueError):
    """An invalid option; the message begins with its name."""


@contextmanager
def option(name: str) -> Iterator[None]:
    """Attribute ValueErrors and OSErrors raised inside to this option."""
    try:
        yield
    except OptionError:
        raise
    except ValueError as error:
        raise OptionError(f"{name}: {error}") from error
    except OSError as error:
        raise OptionError(f"{name}: cannot read {error.filename}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Limits:
    """Stopping criteria: whichever of those set is reached first."""

    iterations: int | None
    target: float | None
    """Exploitability as a fraction of the pot."""
    seconds: float | None


def read_spot(args: argparse.Namespace) -> Spot:
    """The spot described on the command line."""
    missing = [f"--{name}" for name in ("board", "pot", "stack") if getattr(args, name) is None]
    if missing:
        names = ", ".join([*missing[:-2], " and ".join(missing[-2:])])
        raise OptionError(
            f"{names} {'is' if len(missing) == 1 else 'are'} missing:"
            " write e.g. --board AsKd7h4c2s --pot 1000 --stack 9500"
        )
    with option("--board"):
        board = read_board(args.board)
    with option("--pot"):
        pot = whole_number(args.pot, "chips", 1000)
    with option("--stack"):
        stacks = [whole_number(part, "chips", 9500) for part in args.stack.split(",")]
        if len(stacks) > 2:
            raise ValueError(f"{args.stack!r} has {len(stacks)} stacks: give one for both players, or two")
        behind = min(stacks)
    with option("--big-blind"):
        big_blind = 1 if args.big_blind is None else whole_number(args.big_blind, "chips", 100)
    ranges = np.stack([_read_range(f"--{seat}", getattr(args, seat), board) for seat in ("oop", "ip")])
    menu = DEFAULT_MENU if args.menu is None else args.menu
    with option("--menu"):
        parse_menu_book(menu)
    return street_spot(board, pot, behind, menu, ranges, big_blind)


def read_tree(spot: Spot) -> Tree:
    """The spot's betting tree; rejects menus that offer no bet or far too many."""
    with option("--menu"):
        tree = spot.tree()
        if not (tree.action > 0).any():
            street = _STREETS[len(spot.board)]
            raise ValueError(
                f"{spot.menu!r} offers no bet on the {street} or later: write sizes, e.g. '50%, 100%, a'"
            )
    return tree


def check_memory(spot: Spot, tree: Tree, threads: int) -> int:
    """The bytes a solve needs; raises `OptionError` if this machine has too little memory."""
    needed = estimate_memory(spot, tree, threads)
    if not fits_memory(needed):
        raise OptionError(
            f"this solve needs {bytes_text(needed)} of memory and "
            f"{bytes_text(available_memory_bytes() or 0)} are free: "
            "offer fewer sizes with --menu, narrow --oop and --ip, or start on a later street"
        )
    return needed


def fits_memory(needed: int) -> bool:
    """Whether this many bytes may be allocated; True if the available memory is unknown."""
    available = available_memory_bytes()
    return available is None or needed <= _MOST_MEMORY * available


def read_limits(args: argparse.Namespace) -> Limits:
    """The stopping criteria; by default the exploitability DEFAULT_TARGET."""
    iterations = target = seconds = None
    if args.iterations is not None:
        with option("--iterations"):
            iterations = whole_number(args.iterations, "iterations", 1000)
    if args.seconds is not None:
        with option("--seconds"):
            seconds = _positive(args.seconds, "a number of seconds", "10")
    wanted = args.target
    if wanted is None and iterations is None and seconds is None:
        wanted = DEFAULT_TARGET
    if wanted is not None:
        with option("--target"):
            target = _positive(wanted.removesuffix("%"), "a percentage", DEFAULT_TARGET) / 100
            if target >= 1:
                raise ValueError(f"{wanted!r} is more than the pot: write e.g. {DEFAULT_TARGET}")
    return Limits(iterations, target, seconds)


def read_threads(text: str | None) -> int:
    """The number of threads; by default one per core."""
    with option("--threads"):
        threads = usable_cores() if text is None else whole_number(text, "threads", usable_cores())
        if threads > _MOST_THREADS:
            raise ValueError(
                f"{text!r} is more than {_MOST_THREADS}: this machine has {usable_cores()} cores"
            )
        return threads


def read_board(text: str) -> Cards:
    """Three to five cards, in upper or lower case."""
    squeezed = text.replace(" ", "").replace(",", "")
    if "10" in squeezed:
        raise ValueError(f"{text!r}: each card is two characters: write T for ten, e.g. Ts")
    if len(squeezed) % 2:
        raise ValueError(f"{text!r} is not a list of cards: each card is two characters, e.g. AsKd7h")
    tidy = "".join([char.lower() if i % 2 else char.upper() for i, char in enumerate(squeezed)])
    cards = parse_cards(tidy)
    if len(cards) not in _STREETS:
        raise ValueError(f"{text!r} has {len(cards)} cards: give 3 (flop), 4 (turn) or 5 (river)")
    return cards


def whole_number(text: str, what: str, example: int) -> int:
    """A whole number above 0."""
    number = int(text) if text.strip().lstrip("+-").isdecimal() else 0
    if number <= 0:
        raise ValueError(f"{text!r} is not a number of {what}: write a whole number above 0, e.g. {example}")
    if number > _MOST_NUMBER:
        raise ValueError(f"{text!r} is too large: the most is {_MOST_NUMBER}")
    return number


def bytes_text(count: float) -> str:
    """Bytes for people: '1.5 GB'."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit != "MB" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _positive(text: str, what: str, example: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValueError(f"{text!r} is not {what}: write a number above 0, e.g. {example}")
    return number


def _read_range(name: str, given: str | None, board: Cards) -> F32:
    text = "random" if given is None else given
    with option(name):
        if text.startswith("@"):
            text = Path(text[1:]).read_text(encoding="utf-8")
        weights = parse_range(text)
        if not weights.any():
            raise ValueError(f"{text!r} contains no hand: write e.g. 'QQ+,AKs' or 'random'")
        possible = without_blocked(weights, board)
        if not possible.any():
            raise ValueError(f"no hand of {text!r} is possible: all share a card with {cards_text(board)}")
    return possible
