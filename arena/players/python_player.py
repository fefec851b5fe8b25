"""Players from Python files of the user: `python:FILE.py:NAME`.

NAME is a function `(state, position, rng) -> Action`, which is a policy without state, or a class, which is
called with the options of the specification (all strings) and makes a `Player` (`arena.players.base`). The
file is executed once in every process, without a sandbox: name only files you trust.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from arena.errors import PlayerError
from arena.players.base import Player, PolicyPlayer

PYTHON = "python"


def load_player(text: str, argument: str, options: dict[str, str]) -> Player:
    """Load the player of `python:FILE.py:NAME,option=value`; raises `PlayerError`."""
    path, name = _split(text, argument)
    module = _load(path)
    found = getattr(module, name, None)
    if not callable(found):
        raise PlayerError(
            f"{text!r}: {path} has no {name!r}: it defines {', '.join(_own(module)) or 'nothing'}"
        )
    if inspect.isclass(found):
        return _make(text, found, options)
    if options:
        raise PlayerError(f"{text!r}: a function takes no options: write a class, or leave them out")
    return PolicyPlayer(text, found)


def file_digest(text: str, argument: str) -> str:
    """A digest of the player's file, so that a changed file cannot continue an older journal."""
    return hashlib.sha256(_split(text, argument)[0].read_bytes()).hexdigest()[:12]


def _split(text: str, argument: str) -> tuple[Path, str]:
    file, _, name = argument.rpartition(":")
    if not file or not name:
        raise PlayerError(f"{text!r}: write {PYTHON}:FILE.py:NAME, with a function or class of FILE.py")
    if not Path(file).is_file():
        raise PlayerError(f"{text!r}: {file}: there is no such file")
    return Path(file), name


def _make(text: str, made_by: type[Any], options: dict[str, str]) -> Player:
    try:
        player = made_by(**options)
        if not hasattr(player, "name"):
            player.name = text
    except Exception as error:
        raise PlayerError(f"{text!r}: {type(error).__name__}: {error}") from error
    if not callable(getattr(player, "start_hand", None)):
        raise PlayerError(
            f"{text!r}: the class has no method start_hand(seed): see the example in docs/arena.md"
        )
    return cast("Player", player)


@cache
def _load(path: Path) -> ModuleType:
    """Run a file as a module, once per process as an import does: its players share what the module keeps.

    It may import modules from its own folder. Tests that change a file call `_load.cache_clear()`.
    """
    spec = importlib.util.spec_from_file_location(f"fathom_player_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise PlayerError(f"{path} is not a Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look there
    sys.path.append(str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise PlayerError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _own(module: ModuleType) -> list[str]:
    """The functions and classes a file defines itself, without its imports."""
    return [
        name
        for name, value in vars(module).items()
        if (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == module.__name__
    ]
