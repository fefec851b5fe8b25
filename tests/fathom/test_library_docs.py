"""The examples of docs/library.md run in order and print what the page shows."""

from __future__ import annotations

import re
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path
from typing import Any

import pytest

from tests.server.programs import DAEMON, ROOT, start_python

PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
_CELL = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
CELLS = _CELL.findall(PAGE)


@pytest.mark.slow
def test_examples_print_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(CELLS) == PAGE.count("```python\n")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with start_python(DAEMON, tmp_path) as daemon:
        try:
            assert daemon.stdout is not None
            here = f"127.0.0.1:{daemon.stdout.readline().strip()}"
            for code, shown in CELLS:
                exec(compile(code.replace("127.0.0.1:8080", here), "docs/library.md", "exec"), names)
                printed = capsys.readouterr().out
                assert OutputChecker().check_output(shown, printed, ELLIPSIS), f"{code}\n{printed}"
        finally:
            daemon.kill()
