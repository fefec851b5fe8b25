"""Player specifications: the texts that name players on the command line.

    call                                   a simple policy (arena.players.policies)
    blueprint                              the default blueprint
    blueprint:FILE                         the blueprint in FILE
    blueprint:FILE,bias=call*10,purify=0.2 with options, separated by commas
    agent, agent:FILE,budget=2             re-solves its decisions; budget is in seconds per hand
    agent,iterations=200                   a fixed number of iterations instead of a time: reproducible
    agent,leaf=rollouts,values=1           flop leaves valued by blueprint rollouts instead of learned values,
                                           with a choice of 1, 2 or 4 continuations
    agent,leaf=adapted,values=4            the same, with the blueprint's values adapted to the ranges
    agent,leaf=net                         flop leaves valued by the blueprint's value network
    agent,preflop=solve                    re-solve pre-flop: always (solve), never (lookup), or after a bet
                                           that is not in the blueprint's tree (offtree, the default)
    agent,flop=offtree                     the same for the flop, where the default is solve

    python:FILE.py:NAME,option=value       a function or class in a Python file (arena.players.python_player)
    acpc:COMMAND                           an external program that speaks ACPC; matches only

A specification names the same player in every process; matches send specifications to their workers.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from arena.errors import PlayerError
from arena.players.agent_player import AgentPlayer
from arena.players.base import OpenPolicyPlayer, Player, PolicyPlayer
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.external_player import ExternalPlayer
from arena.players.play_style import PlayStyle
from arena.players.policies import OPEN_POLICIES, POLICIES
from arena.players.python_player import PYTHON, file_digest, load_player
from solver.agent.agent import Agent
from solver.blueprint.default import default_blueprint_path
from solver.blueprint.file import Blueprint, open_blueprint
from solver.decisions.settings import LEARNED, SOLVE, SOLVE_OFF_TREE, make_settings

Options = dict[str, str]
_N = TypeVar("_N", int, float)

EXTERNAL = "acpc"
_ARGUMENTS = {PYTHON: ":FILE.py:NAME", EXTERNAL: ":COMMAND"}
"""Arguments that are required."""

_opened = lru_cache(maxsize=4)(open_blueprint)
"""Opens a blueprint, or returns it if it is one of the last four that players of this process were made from:
the players of a match share its memory. A file that changes meanwhile is not noticed; `_opened.cache_clear()`
forgets all."""

_FACTOR = 10
_SEPARATORS = str.maketrans(dict.fromkeys(" :|/\t", "_"))


def make_player(text: str) -> Player:
    """Make the player a specification names. Raises `PlayerError`, which lists the valid choices."""
    kind, argument, options = split_text(text)
    if kind in POLICIES:
        _refuse_rest(text, argument, options)
        policy_player = OpenPolicyPlayer if kind in OPEN_POLICIES else PolicyPlayer
        return policy_player(text, POLICIES[kind])
    if kind not in KINDS:
        raise PlayerError(f"no player {kind!r}: choose one of {', '.join(player_names())}")
    known = OPTIONS.get(kind)
    unknown = next((name for name in options if known is not None and name not in known), None)
    if known is not None and unknown is not None:
        raise PlayerError(f"{text!r}: {kind} has no option {unknown!r}: its options are {', '.join(known)}")
    return KINDS[kind](text, argument, options)


def make_match_player(text: str) -> Player:
    """Make a player for a match, where external programs are allowed; they start when they first act."""
    command = external_command(text)
    return make_player(text) if command is None else ExternalPlayer(text, command)


def player_names() -> list[str]:
    """What a player specification can start with."""
    return [*POLICIES, *[kind + _ARGUMENTS.get(kind, "") for kind in KINDS]]


def player_identity(text: str) -> str:
    """A digest of what the specification refers to: the content of a blueprint or of a Python file."""
    if external_command(text) is not None:
        return ""
    kind, argument, _ = split_text(text)
    if kind == PYTHON:
        return file_digest(text, argument)
    return str(getattr(make_player(text), "identity", ""))


def player_labels(texts: tuple[str, str]) -> tuple[str, str]:
    """Short, distinct names for two players, without spaces or the ACPC's separators."""
    labels = []
    for text in texts:
        if command := external_command(text):
            parts = [EXTERNAL, Path(command[0]).name.split(".")[0]]
        else:
            kind, argument, options = split_text(text)
            file, _, name = argument.rpartition(":") if kind == PYTHON else (argument, "", "")
            parts = [kind, Path(file).name.split(".")[0], name]
            parts += [f"{key}={value}" for key, value in options.items()]
        labels.append("-".join(filter(None, parts)).translate(_SEPARATORS))
    if labels[0] == labels[1]:
        return labels[0] + "-A", labels[1] + "-B"
    return labels[0], labels[1]


def split_text(text: str) -> tuple[str, str, Options]:
    """Split a specification into its kind, the argument after the colon and the options after the commas."""
    head, *parts = text.split(",")
    kind, _, argument = head.partition(":")
    options = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise PlayerError(f"{part!r} in {text!r} is not an option: write NAME=VALUE, e.g. purify=0.2")
        options[key.strip()] = value.strip()
    return kind.strip(), argument.strip(), options


def _blueprint_player(text: str, argument: str, options: Options) -> Player:
    bias, _, factor = options.get("bias", "").partition("*")
    if factor and not factor.isdecimal():
        raise PlayerError(f"{text!r}: bias={bias}*{factor}: write a whole number after the *, e.g. {bias}*10")
    threshold = _number(text, options, "threshold", float, 0.0)
    purify = _number(text, options, "purify", float, 0.0) if "purify" in options else None
    blueprint = _blueprint(text, argument)
    try:
        style = PlayStyle(bias, int(factor) if factor else _FACTOR if bias else 1, threshold, purify)
    except ValueError as error:
        raise PlayerError(f"{text!r}: {error}") from None
    return BlueprintPlayer(text, blueprint, style)


def _agent_player(text: str, argument: str, options: Options) -> Player:
    numbers = {
        "iterations": _number(text, options, "iterations", int, 0),
        "values": _number(text, options, "values", int, 0),
        "threads": _number(text, options, "threads", int, 1),
    }
    budget = _number(text, options, "budget", float, 0.0)
    blueprint = _blueprint(text, argument)
    try:
        settings = make_settings(
            budget=budget,
            safe=options.get("safe", "1") != "0",
            preflop=options.get("preflop", SOLVE_OFF_TREE),
            flop=options.get("flop", SOLVE),
            leaf=options.get("leaf", LEARNED),
            **numbers,
        )
        return AgentPlayer(text, Agent(blueprint, settings))
    except ValueError as error:
        raise PlayerError(f"{text!r}: {error}") from None


def _number(text: str, options: Options, name: str, kind: type[_N], default: _N) -> _N:
    try:
        return kind(options[name]) if name in options else default
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise PlayerError(f"{text!r}: {name}={options[name]}: write {what}") from None


def _blueprint(text: str, argument: str) -> Blueprint:
    if argument and not Path(argument).is_file():
        raise PlayerError(f"{text!r}: {argument}: there is no such file")
    return _opened(Path(argument) if argument else default_blueprint_path())


def external_command(text: str) -> list[str] | None:
    """The command of `acpc:COMMAND` as a list of words, without host and port; None for other players."""
    kind, colon, command = text.partition(":")
    if kind.strip() != EXTERNAL or not colon:
        return None
    words = shlex.split(command)
    if not words:
        raise PlayerError(f"{text!r} names no program: write acpc:COMMAND, e.g. acpc:./startme.sh")
    return words


def _external_player(text: str, argument: str, options: Options) -> Player:  # noqa: ARG001
    raise PlayerError(f"{text!r} is an external program, which plays matches only: use fathom match")


def _refuse_rest(text: str, argument: str, options: Options) -> None:
    if argument or options:
        raise PlayerError(f"{text!r}: a simple policy takes neither a file nor options: write its name alone")


KINDS: dict[str, Callable[[str, str, Options], Player]] = {
    "blueprint": _blueprint_player,
    "agent": _agent_player,
    PYTHON: load_player,
    EXTERNAL: _external_player,
}
"""How to make the players that are not policies, from the specification, its argument and its options."""

OPTIONS = {
    "blueprint": ("bias", "threshold", "purify"),
    "agent": ("budget", "iterations", "leaf", "values", "preflop", "flop", "safe", "threads"),
}
"""The options of each kind of player."""
