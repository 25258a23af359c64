from __future__ import annotations

import os
from pathlib import Path

import pytest

from browser import chromium

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def binary() -> str:
    """The program that was built here."""
    return os.environ["MEMSCAPE_BINARY"]


@pytest.fixture(scope="session")
def page(binary: str) -> str:
    """The program, if it was built with the page in it."""
    if not (ROOT / "src" / "cli" / "built" / "memscape.html").exists():
        pytest.skip("the program has no page inside: ./run build makes it")
    return binary


@pytest.fixture(scope="session")
def samples() -> Path:
    """Generated snapshots: that of an out-of-memory error among them."""
    return ROOT / "www"


browser = pytest.fixture(scope="module")(chromium)
