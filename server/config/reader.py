"""Read frozen configuration from a TOML file, then the environment, then flags; later sources win.

1. A configuration is a dataclass of sections, each a frozen dataclass whose fields are made by `setting`. The
   field's type and limits determine the allowed values. Unknown keys are errors.
2. Environment variables are written `FATHOM_SECTION__KEY=value`, flags `section.key=value`. Lists of strings
   are split at commas, and quotes around the parts are dropped. A list of tables (`[[match]]`) can only be
   given in the file.
3. Every error names the key, its source, and what is allowed.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

PREFIX = "FATHOM_"
SEPARATOR = "__"
"""Separates section and key in a variable's name; Fathom's other variables do not contain it."""

_T = TypeVar("_T")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text in quotes"}


class ConfigError(ValueError):
    """An invalid configuration; the message names the key and says what is allowed."""


def setting(default: Any, words: str, least: float | None = None, most: float | None = None) -> Any:
    """A field of a section, with a default.

    words        description, printed by `fathom config show`
    least, most  limits of a number, inclusive
    """
    return field(default=default, metadata={"words": words, "least": least, "most": most})


def required(words: str, least: float | None = None, most: float | None = None) -> Any:
    """A field without a default."""
    return field(metadata={"words": words, "least": least, "most": most})


@dataclass(frozen=True, slots=True)
class _Value:
    """A value and where it was written."""

    value: Any
    source: str
    is_text: bool
    """Whether the value is unparsed text, as in the environment."""
    is_flag: bool = False
    """Whether the source already contains option and value."""


def read_config(
    kind: type[_T],
    path: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
    flag_names: Mapping[str, str] | None = None,
) -> _T:
    """Read a tree of sections; raises `ConfigError`.

    flags       values by `section.key`
    flag_names  by `section.key`, the option of each key that has its own; others use `--set`
    """
    sections = get_type_hints(kind)
    written: dict[str, dict[str, _Value]] = {name: {} for name in sections}
    tables: dict[str, tuple[Any, ...]] = {}
    for name, value in (_load(path) if path is not None else {}).items():
        if name not in sections:
            raise ConfigError(f"{path}: unknown section [{name}]: choose from {_section_names(sections)}")
        if get_origin(sections[name]) is tuple:
            tables[name] = _read_tables(get_args(sections[name])[0], name, value, str(path))
        elif not isinstance(value, dict):
            raise ConfigError(f"{path}: {name} is a section: write [{name}] on a line of its own")
        else:
            written[name] |= {key: _Value(item, str(path), False) for key, item in value.items()}
    for variable, text in sorted((environment or {}).items()):
        section, separator, key = variable.removeprefix(PREFIX).lower().partition(SEPARATOR)
        if variable.startswith(PREFIX) and separator:
            _add(written, sections, section, key, _Value(text, f"environment {variable}", True))
    for name, text in (flags or {}).items():
        section, _, key = name.partition(".")
        flag = (flag_names or {}).get(name)
        source = f"--set {name}={text}" if flag is None else f"{flag} {text}"
        _add(written, sections, section, key, _Value(text, source, True, is_flag=True))
    made: dict[str, Any] = dict(tables)
    for name, section_kind in sections.items():
        if get_origin(section_kind) is not tuple:
            made[name] = _read_section(section_kind, name, written[name])
    return kind(**made)


def read_table(kind: type[_T], name: str, table: Mapping[str, Any], source: str) -> _T:
    """Read one section from another source, such as a request; raises `ConfigError`."""
    read: _T = _read_section(kind, name, {key: _Value(value, source, False) for key, value in table.items()})
    return read


def config_text(config: Any) -> str:
    """The whole configuration as a TOML file that `read_config` accepts, with a comment on every key.

    An empty list of tables is shown as a commented-out table.
    """
    lines: list[str] = []
    kinds = get_type_hints(type(config))
    for part in fields(config):
        value = getattr(config, part.name)
        if value == ():
            lines += ["", f"# [[{part.name}]]", *_key_lines(get_args(kinds[part.name])[0])]
            continue
        heading = f"[{part.name}]" if is_dataclass(value) else f"[[{part.name}]]"
        for table in [value] if is_dataclass(value) else value:
            lines += ["", heading, *_table_lines(table)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _key_lines(kind: Any) -> list[str]:
    """The keys of an absent table, commented out."""
    lines = []
    for item in fields(kind):
        value = "…" if item.default is MISSING else json.dumps(item.default, ensure_ascii=False)
        needed = " (required)" if item.default is MISSING else ""
        lines.append(f"# {item.name} = {value}  # {item.metadata['words']}{needed}")
    return lines


def _table_lines(table: Any) -> list[str]:
    lines = []
    for item in fields(table):
        value = getattr(table, item.name)
        text = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
        words = item.metadata["words"]
        default = "" if item.default is MISSING or item.default == value else f" (default: {item.default!r})"
        lines.append(f"{item.name} = {text}  # {words}{default}")
    return lines


def _load(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise ConfigError(f"--config {path}: no such file") from None
    except IsADirectoryError:
        raise ConfigError(f"--config {path}: is a folder: give a TOML file") from None
    except OSError as error:
        raise ConfigError(f"--config {path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None


def _add(
    written: dict[str, dict[str, _Value]],
    sections: Mapping[str, Any],
    section: str,
    key: str,
    value: _Value,
) -> None:
    if section not in sections:
        raise ConfigError(
            f"{value.source}: unknown section {section!r}: choose from {_section_names(sections)}"
        )
    if get_origin(sections[section]) is tuple:
        raise ConfigError(f"{value.source}: [[{section}]] can only be given in the configuration file")
    written[section][key] = value


def _read_tables(kind: Any, name: str, value: Any, source: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise ConfigError(f"{source}: {name} is a list of tables: write [[{name}]] before each table")
    return tuple(
        [read_table(kind, f"{name} {number}", table, source) for number, table in enumerate(value, 1)]
    )


def _read_section(kind: Any, name: str, written: Mapping[str, _Value]) -> Any:
    known = {item.name: item for item in fields(kind)}
    types = get_type_hints(kind)
    values = {}
    for key, value in written.items():
        if key not in known:
            allowed = ", ".join(known) or "nothing yet"
            raise ConfigError(f"{value.source}: [{name}] has no key {key!r}: choose from {allowed}")
        values[key] = _read_value(types[key], known[key], f"{name}.{key}", value)
    missing = [key for key, item in known.items() if item.default is MISSING and key not in values]
    if missing:
        raise ConfigError(f"[{name}] needs {' and '.join(missing)}")
    return kind(**values)


def _read_value(kind: Any, item: Field[Any], name: str, written: _Value) -> Any:
    allowed = _allowed(kind, item)
    what = "" if written.is_flag else f" {name} = {written.value!r}:"
    refusal = ConfigError(f"{written.source}:{what} write {allowed}")
    value = written.value
    if get_origin(kind) is tuple:
        if written.is_text:
            parts = [part.strip().strip('"') for part in value.split(",")]  # also as TOML writes them
            value = [part for part in parts if part]
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise refusal
        return tuple(value)
    if written.is_text:
        value = _parse(kind, value, refusal)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise refusal
        return value
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise refusal
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        least, most = item.metadata["least"], item.metadata["most"]
        if not math.isfinite(value) or (least is not None and value < least):
            raise refusal
        if most is not None and value > most:
            raise refusal
    return value


def _parse(kind: Any, text: str, refusal: ConfigError) -> Any:
    if kind is bool:
        if text.lower() in _TRUE + _FALSE:
            return text.lower() in _TRUE
        raise refusal
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise refusal from None
    return text


def _allowed(kind: Any, item: Field[Any]) -> str:
    if get_origin(kind) is tuple:
        return 'a list of strings, e.g. ["a", "b"]'
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(f'"{choice}"' for choice in get_args(kind))
    least, most = item.metadata["least"], item.metadata["most"]
    words = cast("dict[Any, str]", _NAMES)[kind]
    if least is not None and most is not None:
        return f"{words} from {least:g} to {most:g}"
    return words if least is None else f"{words} of at least {least:g}"


def _section_names(sections: Mapping[str, Any]) -> str:
    return ", ".join(f"[{name}]" for name in sections)
