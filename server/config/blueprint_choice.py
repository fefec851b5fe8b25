"""Choose the blueprint to play; trains a small one if this copy of Fathom was shipped without one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from numeric.folders import cached
from solver.blueprint.default import PACKAGED, VARIABLE, default_blueprint_path
from solver.blueprint.file import Blueprint, BlueprintError, open_blueprint

Say = Callable[[str], None]

_PRESET = "tiny"
_HOME = Path(__file__).resolve().parents[2]


def choose_blueprint(named: str, say: Say) -> Blueprint:
    """Open the named blueprint, or the default one, or a small one trained now (blocks for a minute).

    named  a file; empty for the default
    """
    verify_named(named)
    if named:
        return _open(Path(named).expanduser(), say)
    if os.environ.get(VARIABLE) or PACKAGED.is_file():
        return _open(default_blueprint_path(), say)
    return open_blueprint(_small_blueprint(say))


def verify_named(named: str) -> None:
    """Raise `BlueprintError` if the file does not exist.

    named  a file; empty for the default
    """
    if named:
        if not Path(named).expanduser().is_file():
            raise BlueprintError(f"blueprint {named}: there is no such file")
    elif os.environ.get(VARIABLE):
        default_blueprint_path()


def _open(path: Path, say: Say) -> Blueprint:
    said = False

    def tick(_done: int, _total: int) -> None:
        nonlocal said
        if not said:
            say(f"unpacking {path.name} (once)")
            said = True

    return open_blueprint(path, tick=tick)


def _small_blueprint(say: Say) -> Path:
    path = cached("training", _PRESET, f"{_PRESET}.blueprint")
    folder = path.parent
    if path.is_file():
        say(f"this copy of Fathom was shipped without a blueprint: playing the small one in {folder}")
        return path
    say(
        "this copy of Fathom was shipped without a blueprint: training a small one (once, about a minute)."
        f" To play a better one, set {VARIABLE} or agent.blueprint"
    )
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "server.cli", "train", "--preset", _PRESET, "--checkpoint", str(folder)]
    if (folder / "checkpoint.fathom").exists():
        command.append("--resume")
    path_variable = os.pathsep.join(filter(None, [str(_HOME), os.environ.get("PYTHONPATH", "")]))
    ended = subprocess.run(  # noqa: S603 - our own program
        command, check=False, stdout=sys.stderr, env={**os.environ, "PYTHONPATH": path_variable}
    )
    if ended.returncode or not path.is_file():
        raise BlueprintError("the small blueprint could not be trained: train one with `fathom train`")
    return path
