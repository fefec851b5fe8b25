"""The journal of a match: a header line with the terms, then one line per pair of hands, appended as played.

If the process is killed, the file keeps every pair written so far and perhaps half a line, which is cut off
when the match continues. Pairs may be in any order.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.errors import JournalError, MatchAborted

_MAGIC = "# fathom match 1 "


class Journal:
    """An open journal. Without a path the lines are kept in memory only.

    magic  text before the JSON terms in the header line; may be empty, so that the whole journal is JSON
    """

    def __init__(self, path: Path | None, terms: Mapping[str, Any], magic: str = _MAGIC) -> None:
        self._path, self._magic = path, magic
        self._file: int | None = None
        self.lines: list[str] = []
        """Lines of the pairs played, in the order written."""
        if path is None:
            return
        header = magic + json.dumps(terms, sort_keys=True) + "\n"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released whenever the process ends
            if path.stat().st_size:
                self._read(path, header)
            if not path.stat().st_size:
                self._write(header)
        except BlockingIOError:
            self.close()
            raise MatchAborted(
                f"another process is playing the match in {path}: wait for it to end, or name another file"
            ) from None
        except MatchAborted:
            self.close()
            raise

    def add(self, text: str) -> None:
        """Append whole lines and write them at once."""
        if self._file is not None:
            self._write(text)
        self.lines += text.splitlines()

    def close(self) -> None:
        """Close the file; may be called again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, text: str) -> None:
        assert self._file is not None
        rest = memoryview(text.encode())
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def _read(self, path: Path, header: str) -> None:
        whole = path.read_bytes()
        end = whole.rfind(b"\n") + 1
        first, _, rest = whole[:end].decode("utf-8", "replace").partition("\n")
        found = _terms(first, self._magic)
        if found is None and not header.encode().startswith(whole):
            raise JournalError(f"{path} is not the journal of a match: name another file")
        if found is not None and first + "\n" != header:
            raise JournalError(_difference(path, found, json.loads(header.removeprefix(self._magic))))
        os.truncate(path, end)
        self.lines = rest.splitlines()


def _terms(line: str, magic: str) -> dict[str, Any] | None:
    """The terms in a journal's header line; None if the line is not a header."""
    if not line.startswith(magic):
        return None
    try:
        found = json.loads(line.removeprefix(magic))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _difference(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    names = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
    facts = "; ".join(f"{name} {found.get(name)!r}, not {wanted.get(name)!r}" for name in names)
    return f"{path} is the journal of another match ({facts}): name another file, or delete it"
