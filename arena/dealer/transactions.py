"""The transaction file of a match: records every action at once, so that the match can be resumed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from arena.errors import MatchAborted
from protocol.acpc_log import Transaction, parse_transaction
from protocol.errors import RecordError


class TransactionFile:
    """A transaction file that is appended to and read back. Writes are not buffered."""

    def __init__(self, path: Path, append: bool) -> None:
        self._resumes = append
        try:
            self._file = path.open("a+b" if append else "wb", buffering=0)
        except OSError as error:
            raise MatchAborted(f"could not open transaction file {path}: {error.strerror}") from error

    def __enter__(self) -> TransactionFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def recorded(self, no_limit: bool) -> Iterator[Transaction]:
        """Yield the transactions the file had when it was opened for appending; none for a new file."""
        if not self._resumes:
            return
        self._file.seek(0)
        for line in self._file.read().splitlines():
            try:
                yield parse_transaction(line, no_limit)
            except RecordError as error:
                raise MatchAborted(str(error)) from error

    def write(self, transaction: Transaction) -> None:
        """Add one action."""
        self._file.write(str(transaction).encode())
