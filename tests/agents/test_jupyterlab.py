"""`memscape.show` in JupyterLab: the page is displayed, draws, and takes a click; the saved notebook opens again."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import DRAWN, Browser, wait_for
from conftest import ROOT

# JupyterLab shows files in a sandbox, which has an origin and a process of its own.
FRAME = "memscape-pages/out-of-memory.pickle.gz-"


@pytest.fixture
def lab(tmp_path: Path, page: str, samples: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    """JupyterLab with a notebook that shows a sample: its address, and the notebook."""
    code = "import memscape\nmemscape.show('out-of-memory.pickle.gz', at='oom', height=600)"
    cell = {"cell_type": "code", "id": "show", "metadata": {}, "source": code, "outputs": [], "execution_count": None}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = tmp_path / "look.ipynb"
    notebook.write_text(json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}))
    shutil.copy(samples / "out-of-memory.pickle.gz", tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path / ".home"
    environment = {
        **os.environ,
        "MEMSCAPE_BINARY": page,
        "PYTHONPATH": str(ROOT / "src" / "python"),
        **{
            name: str(home / name)
            for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        },
    }
    options = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--notebook-dir={tmp_path}",
    ]
    closed = ["--IdentityProvider.token=", "--ServerApp.password="]
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options, *closed],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        assert process.poll() is None, "JupyterLab ended"
        try:
            return bool(urllib.request.urlopen(f"{address}/api/status", timeout=5).status == 200)
        except OSError:
            return False

    wait_for("JupyterLab", answers)
    yield address, notebook
    process.terminate()
    process.wait(timeout=30)


def opened(browser: Browser, address: str) -> None:
    """The notebook in a workspace of its own, that nothing of another one is restored in."""
    browser.go(f"{address}/lab/workspaces/w{time.monotonic_ns()}/tree/look.ipynb")
    browser.wait("the notebook", "!!document.querySelector('.jp-Notebook .jp-CodeCell')")


def into_the_cell(browser: Browser) -> None:
    where = """(() => {
        const line = document.querySelector('.jp-CodeCell .cm-line');
        line.scrollIntoView({block: 'center'});
        const box = line.getBoundingClientRect();
        return [box.left + 30, box.top + box.height / 2];
    })()"""
    browser.click(*browser.evaluate(where))
    browser.wait("the cell", "!!document.activeElement?.closest('.jp-CodeCell')")


def picture(browser: Browser, name: str) -> None:
    folder = ROOT / "target" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.png").write_bytes(browser.picture())


def clicked(browser: Browser) -> Any:
    """Click near the bottom of the timeline, where the allocations are that are never freed."""
    box = "(it => {const box = it.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]})"
    frame = "document.querySelector('.jp-OutputArea-output iframe')"
    browser.wait("the idle page", "document.body.hasAttribute('data-idle')", FRAME)
    selected = "!document.querySelector('#details').hidden && document.querySelector('#details-title').innerText"

    def click() -> Any:
        """Click, and return the selection. JupyterLab may scroll between the measurement and the click."""
        left, top, *_ = browser.evaluate(f"{frame}.scrollIntoView({{block: 'center'}}), {box}({frame})")
        inner = browser.evaluate(f"{box}(document.querySelector('canvas#timeline'))", FRAME)
        browser.click(left + inner[0] + inner[2] * 0.6, top + inner[1] + inner[3] * 0.9)
        return browser.evaluate(selected, FRAME)

    return wait_for("a selection", click)


def test_show_displays_the_page_and_the_saved_notebook_opens_again(browser: Browser, lab: tuple[str, Path]) -> None:
    address, notebook = lab
    opened(browser, address)
    idle = "document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'"
    browser.wait("the kernel", idle)
    into_the_cell(browser)
    # Shift and Enter run it.
    browser.press("Enter", 13, 8, text="\r")
    # It may ask for the kernel first, although the notebook names it.
    asked = "document.querySelector('.jp-Dialog .jp-mod-accept')?.click()"
    browser.wait("the page's frame", f"({asked}, !!document.querySelector('.jp-OutputArea-output iframe'))")
    browser.wait("the page", DRAWN, FRAME)
    # Numbers are bound to their units with no-break spaces.
    browser.wait("the peak", "document.body.innerText.includes('Peak\\n6.02\\u00a0GiB')", FRAME)
    assert clicked(browser)
    picture(browser, "jupyterlab")

    into_the_cell(browser)
    browser.press("s", 83, 2)
    wait_for("the saved notebook", lambda: "iframe" in notebook.read_text())
    assert [page.name[:24] for page in (notebook.parent / "memscape-pages").iterdir()] == ["out-of-memory.pickle.gz-"]
    assert len(notebook.read_text()) < 20_000, "the page stands beside the notebook"

    # Another tab of JupyterLab, in which nothing ran: the page comes from the notebook.
    opened(browser, address)
    browser.wait("the page of the saved notebook", DRAWN, FRAME)
    assert clicked(browser)
