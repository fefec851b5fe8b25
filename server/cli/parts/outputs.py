"""Check a command's output files before it starts, so that no long run ends in a write error."""

from __future__ import annotations

from pathlib import Path


def check_output(option: str, path: Path | None) -> None:
    """Raise ValueError if the file cannot be written. A new file is created and removed again."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{option} {path}: is a folder: give a file name")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: there is no folder {folder}: create it, or choose another place")
    is_new = not path.exists()
    if not is_new and not path.is_file():
        return  # a pipe or a terminal: opening it could disturb its reader
    try:
        path.open("ab").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise ValueError(
            f"{option} {path}: cannot be written ({error.strerror}): choose another place"
        ) from None
