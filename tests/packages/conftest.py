from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser

ROOT = Path(__file__).parent.parent.parent
# The packed files, and VS Code for the browser: tests/packages.sh makes both.
PACKAGES = Path(os.environ["MEMSCAPE_PACKAGES"])
VSCODE = Path(os.environ["MEMSCAPE_VSCODE"])
SAMPLE = ROOT / "www" / "out-of-memory.pickle.gz"


@pytest.fixture
def browser() -> Iterator[Browser]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("the packages: no Chromium")
    browser = Browser(program)
    yield browser
    browser.close()
