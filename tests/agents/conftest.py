from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def binary() -> str:
    """The program that was built here."""
    return os.environ["MEMSCAPE_BINARY"]


@pytest.fixture(scope="session")
def samples() -> Path:
    """Generated snapshots: that of an out-of-memory error among them."""
    return ROOT / "www"
