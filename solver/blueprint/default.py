"""Finds the blueprint to use when none is named."""

from __future__ import annotations

import os
from pathlib import Path

from solver.blueprint.file import BlueprintError

VARIABLE = "FATHOM_BLUEPRINT"
"""Environment variable with the path of another blueprint, packed or not."""

PACKAGED = Path(__file__).parent.parent / "data" / "default.blueprint.xz"
"""The blueprint that comes with Fathom."""


def default_blueprint_path() -> Path:
    """The existing file that FATHOM_BLUEPRINT names, or the packaged one. For `open_blueprint`."""
    if named := os.environ.get(VARIABLE):
        path = Path(named).expanduser()
        if not path.is_file():
            raise BlueprintError(f"{VARIABLE} names {path}, but there is no such file")
        return path
    if not PACKAGED.is_file():
        raise BlueprintError(
            f"this copy of Fathom comes without a blueprint ({PACKAGED}): train one with"
            f" `fathom train --preset default`, and set {VARIABLE}=training-default/default.blueprint"
        )
    return PACKAGED
