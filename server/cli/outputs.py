"""Files that a command will write at its end, checked before it begins: nothing long is done for nothing."""

from __future__ import annotations

from pathlib import Path


def check_output(option: str, path: Path | None) -> None:
    """Refuse a file that cannot be written; the message names the option. A new file is made and removed."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{option} {path}: is a folder: name a file in it")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: there is no folder {folder}: make it, or name another place")
    is_new = not path.exists()
    if not is_new and not path.is_file():
        return  # a pipe or a terminal: looking would take what is meant for its reader
    try:
        path.open("ab").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise ValueError(
            f"{option} {path}: cannot be written ({error.strerror}): name another place"
        ) from None
