from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser

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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("JupyterLab and pages in frames: no Chromium")
    browser = Browser(program)
    yield browser
    browser.close()
