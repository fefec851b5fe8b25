"""Load a game by name: a preset or an ACPC `.game` file."""

from __future__ import annotations

from pathlib import Path

from game.definition import PRESETS, GameDefinition, parse_definition
from game.errors import DefinitionError


def load_definition(name: str) -> GameDefinition:
    """The preset of that name, or the definition in the file of that name."""
    preset = PRESETS.get(name)
    if preset is not None:
        return preset
    path = Path(name)
    if not path.is_file():
        raise DefinitionError(f"{name!r} is neither a file nor one of the presets {', '.join(PRESETS)}")
    try:
        return parse_definition(path.read_text(encoding="ascii"))
    except (UnicodeDecodeError, DefinitionError) as error:
        raise DefinitionError(f"{name}: {error}") from error
