"""The journal of a match: a line of terms, then lines for every pair of hands, appended as they are played.

After a kill at any moment the file holds every pair that was written down, and perhaps half a line, which is
cut off when the match goes on. Pairs may stand in any order.
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
    """An open journal. Give no path for a match that is not kept.

    magic  how the line of terms starts; terms are JSON, so a journal without it is JSON all through
    """

    def __init__(self, path: Path | None, terms: Mapping[str, Any], magic: str = _MAGIC) -> None:
        self._path, self._magic = path, magic
        self._file: int | None = None
        self.lines: list[str] = []
        """Pairs played, in the order written."""
        if path is None:
            return
        header = magic + json.dumps(terms, sort_keys=True) + "\n"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # gone with the process, however it ends
            if path.stat().st_size:
                self._read(path, header)
            if not path.stat().st_size:
                self._write(header)
        except BlockingIOError:
            self.close()
            raise MatchAborted(f"another process is playing the match of {path}") from None
        except MatchAborted:
            self.close()
            raise

    def add(self, text: str) -> None:
        """Write whole lines down, at once."""
        if self._file is not None:
            self._write(text)
        self.lines += text.splitlines()

    def close(self) -> None:
        """Idempotent."""
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
    """Of a journal's first line, None if it is none."""
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
