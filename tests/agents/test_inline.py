"""`memscape.show(embed="inline")`: the page as part of a notebook, in a frame without an address."""

from __future__ import annotations

import html
import os
import re
import threading
import warnings
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from browser import DRAWN, Browser
from conftest import ROOT

# Until it has drawn, or says why it does not.
WINDOW = "document.querySelector('iframe')?.contentWindow"
TEXT = f"{WINDOW}?.document?.body?.innerText ?? ''"


def in_frame(script: str) -> str:
    """The expression, in the frame of the notebook's page."""
    return f"(document => document && ({script}))({WINDOW}?.document)"


@pytest.fixture
def cell(page: str, samples: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a notebook shows of a sample."""
    monkeypatch.setenv("MEMSCAPE_BINARY", os.environ.get("MEMSCAPE_BINARY", page))
    monkeypatch.syspath_prepend(str(ROOT / "src" / "python"))
    import memscape

    with warnings.catch_warnings():
        # IPython warns of some frames.
        warnings.simplefilter("error")
        shown = memscape.show(samples / "out-of-memory.pickle.gz", at="oom", embed="inline", height=600)
    return str(shown.data)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The folder over HTTP, as servers of notebooks are."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def notebook(folder: Path, cell: str) -> Path:
    path = folder / "notebook.html"
    path.write_text(f"<!doctype html><title>notebook</title><h1>Notebook</h1><div>{cell}</div>", encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["file", "http"])
def test_inline_page_shows_the_snapshot(browser: Browser, tmp_path: Path, cell: str, address: str, scheme: str) -> None:
    path = notebook(tmp_path, cell)
    browser.go(path.as_uri() if scheme == "file" else f"{address}/notebook.html")
    browser.wait(
        "the page", in_frame(f"({DRAWN}) || document.querySelector('#dead:not([hidden]), #error:not([hidden])')")
    )
    text = browser.evaluate(TEXT)
    assert browser.evaluate(in_frame(DRAWN)), text
    assert "6.02 GiB" in text and "OOM" in text
    # It goes on: what is chosen has an answer, though a frame without an address cannot have a link in it.
    browser.evaluate(in_frame("document.querySelector('#tab-allocations').click()"))
    rows = "document.querySelectorAll('#table [data-allocation], [data-allocation]').length > 0"
    browser.wait("the table", in_frame(rows))
    # No link leads out of the frame, into the notebook's folder.
    browser.evaluate(in_frame("document.querySelector('#home').click()"))
    assert browser.evaluate(in_frame("[...document.querySelectorAll('a[href^=\".\"]')].length")) == 0
    assert browser.evaluate(in_frame(DRAWN))
    assert "Notebook" in browser.evaluate("document.body.innerText")


def test_two_inline_pages_in_one_notebook(browser: Browser, tmp_path: Path, cell: str, address: str) -> None:
    notebook(tmp_path, cell + cell)
    browser.go(f"{address}/notebook.html")
    drawn = DRAWN.replace("document", "frame.contentDocument")
    browser.wait("both pages", f"[...document.querySelectorAll('iframe')].filter(frame => {drawn}).length === 2")


def test_inline_page_in_a_sandbox_shows_the_snapshot(browser: Browser, tmp_path: Path, cell: str, address: str) -> None:
    # Colab and Visual Studio Code show what cells display in frames of another origin.
    inner = cell.replace("<iframe ", '<iframe sandbox="allow-scripts" ', 1)
    notebook(tmp_path, inner)
    browser.go(f"{address}/notebook.html")
    browser.wait("the page", DRAWN, "about:srcdoc")
    assert "6.02 GiB" in browser.evaluate("document.body.innerText", "about:srcdoc")


def test_page_that_cannot_start_says_why_and_blames_no_browser(
    browser: Browser, tmp_path: Path, cell: str, address: str
) -> None:
    [page] = re.findall(r'srcdoc="([^"]*)"', cell)
    page = html.unescape(page)
    # A part that is no base64, of which the policy has no hash.
    broken = re.sub(r'(id="part-wasm">).{100}', r"\1!!!!", page)
    assert broken != page
    notebook(tmp_path, f'<iframe srcdoc="{html.escape(broken)}"></iframe>')
    browser.go(f"{address}/notebook.html")
    dead = "document.querySelector('#dead')"
    browser.wait("the message", in_frame(f"{dead} && !{dead}.hidden"))
    text = browser.evaluate(in_frame(f"{dead}.innerText"))
    assert "InvalidCharacterError" in text and "browser from" not in text
