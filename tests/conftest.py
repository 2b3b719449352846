"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TOLLBOOK_SHARED", ROOT.parent / "shared"))


@pytest.fixture
def shared() -> Path:
    """The folder of shared data, or a skip that says why."""
    if not SHARED.is_dir():
        pytest.skip(f"shared data is not here: {SHARED.name}")
    return SHARED
