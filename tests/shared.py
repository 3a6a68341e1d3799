"""Where the tests find inputs that others wrote; a test whose inputs are missing skips and says so."""

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("RAYCRAWL_SHARED", _ROOT.parent / "shared"))
CONFORMANCE = SHARED / "conformance"


def need(name: str) -> Path:
    """The path of one conformance file; skips the calling test (or module, at import) where it is missing."""
    path = CONFORMANCE / name
    if not path.exists():
        pytest.skip(f"no {name} beside the project (set RAYCRAWL_SHARED)", allow_module_level=True)
    return path
