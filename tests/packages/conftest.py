from __future__ import annotations

import os
from pathlib import Path

import pytest

from browser import chromium

ROOT = Path(__file__).parent.parent.parent
# The packed files, and VS Code for the browser: tests/packages.sh makes both.
PACKAGES = Path(os.environ["MEMSCAPE_PACKAGES"])
VSCODE = Path(os.environ["MEMSCAPE_VSCODE"])
SAMPLE = ROOT / "www" / "out-of-memory.pickle.gz"

browser = pytest.fixture(chromium)
