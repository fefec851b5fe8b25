"""API keys: who may use a daemon that is reachable from other machines, and for what.

A key is 256 random bits, shown once. Only its SHA-256 is stored. A slow hash such as scrypt is meant for
passwords chosen by people, where guesses must be expensive; 256 random bits cannot be guessed, and a slow
hash would delay every request. Key files are replaced atomically and readable by their owner only; a daemon
sees changes within a second.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from numeric.folders import config_home

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,39}")
_KEY_PREFIX = "fathom_"
_LOOK_SECONDS = 1.0


class Scope(StrEnum):
    """What a key allows."""

    PLAY = "play"
    """Hands, decisions, the Slumbot API."""
    SOLVE = "solve"
    """Solving spots."""
    ADMIN = "admin"
    """Everything, including matches, status and all users' hands."""


class KeyFileError(ValueError):
    """Keys cannot be read or created; the message says what to do."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key's holder and scopes; the key itself is not stored."""

    name: str
    scopes: tuple[Scope, ...]
    digest: str
    """SHA-256 of the key, in hex."""
    created_at: float = 0.0

    def may(self, scope: Scope) -> bool:
        """Whether the key has this scope."""
        return scope in self.scopes or Scope.ADMIN in self.scopes


def default_keys_path() -> Path:
    """The default path of the key file."""
    return config_home() / "keys.json"


def key_digest(key: str) -> str:
    """The stored digest of a key."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def parse_key_line(text: str) -> ApiKey:
    """Parse a key in configuration notation: `NAME:SCOPE+SCOPE:DIGEST`."""
    parts = text.split(":")
    if len(parts) != 3:
        raise KeyFileError(
            f"{text[:40]!r} is not a key: write NAME:SCOPES:DIGEST, as `fathom keys list --toml` does"
        )
    return _checked(parts[0], parts[1].split("+"), parts[2])


def key_line(key: ApiKey) -> str:
    """The key in configuration notation."""
    return f"{key.name}:{'+'.join(key.scopes)}:{key.digest}"


def read_keys(path: Path) -> list[ApiKey]:
    """The keys in a file; none if the file does not exist."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        return [_checked(r["name"], r["scopes"], r["digest"], float(r["created_at"])) for r in records]
    except FileNotFoundError:
        return []
    except KeyFileError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise KeyFileError(f"{path} is not a key file ({type(error).__name__}): give another one") from error


def add_key(path: Path, name: str, scopes: Iterable[str]) -> str:
    """Create a key, store its digest and return the key, which cannot be recovered later."""
    keys = read_keys(path)
    if any(key.name == name for key in keys):
        raise KeyFileError(f"a key named {name!r} already exists: revoke it first, or choose another name")
    secret = _KEY_PREFIX + secrets.token_urlsafe(32)
    _write(path, [*keys, _checked(name, scopes, key_digest(secret), time.time())])
    return secret


def revoke_key(path: Path, name: str) -> None:
    """Delete a key."""
    keys = read_keys(path)
    kept = [key for key in keys if key.name != name]
    if len(kept) == len(keys):
        names = ", ".join(key.name for key in keys) or "no keys"
        raise KeyFileError(f"no key is named {name!r}: there are {names}")
    _write(path, kept)


class KeyRing:
    """The keys a daemon accepts: those of its configuration and of a file, reloaded when it changes."""

    def __init__(self, path: Path | None, fixed: Iterable[ApiKey] = ()) -> None:
        self._path = path
        self._fixed = {key.digest: key for key in fixed}
        self._keys = dict(self._fixed)
        self._stamp: tuple[int, int] | None = None
        self._looked = -_LOOK_SECONDS
        self._look()

    def __len__(self) -> int:
        self._look()
        return len(self._keys)

    def find(self, key: str) -> ApiKey | None:
        """Find a key's record. The look-up is by digest, so its timing reveals nothing about keys."""
        self._look()
        return self._keys.get(key_digest(key))

    def _look(self) -> None:
        """Reload the file if it has changed; an unreadable file is ignored after the first load."""
        now = time.monotonic()
        if self._path is None or now < self._looked + _LOOK_SECONDS:
            return
        first, self._looked = self._looked < 0, now
        try:
            info = self._path.stat()
            stamp = info.st_mtime_ns, info.st_ino
        except OSError:
            stamp = None
        if stamp == self._stamp and self._keys:
            return
        try:
            keys = read_keys(self._path)
        except KeyFileError:
            if not first:
                return
            raise
        self._stamp = stamp
        self._keys = self._fixed | {key.digest: key for key in keys}


def _checked(name: object, scopes: Iterable[object], digest: object, created_at: float = 0.0) -> ApiKey:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise KeyFileError(f"{name!r} is not a valid key name: write up to 40 letters, digits and _.@-")
    known = [str(scope) for scope in Scope]
    wanted = [str(scope) for scope in scopes]
    if not wanted or any(scope not in known for scope in wanted):
        raise KeyFileError(f"the scopes of {name} are {wanted}: choose from {', '.join(known)}")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise KeyFileError(f"the digest of {name} is not 64 hex digits: create the key again")
    return ApiKey(name, tuple([Scope(scope) for scope in dict.fromkeys(wanted)]), digest, created_at)


def _write(path: Path, keys: list[ApiKey]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump([asdict(key) for key in keys], file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
