"""Modules found by name, and their summaries without importing them."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from pathlib import Path


def modules_of(package: str) -> Iterator[pkgutil.ModuleInfo]:
    """The modules and packages in a package."""
    return pkgutil.iter_modules(importlib.import_module(package).__path__)


def summary(module: str) -> str:
    """The first line of a module's docstring, read without importing it, which would load all of Fathom."""
    spec = importlib.util.find_spec(module)
    assert spec is not None, "it was listed"
    assert spec.origin is not None, "it is a file"
    words = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return words.partition("\n")[0]
