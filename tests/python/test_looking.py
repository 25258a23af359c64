"""Showing the page from Python: served, in notebooks, and as a picture."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import pytest

import memscape
from conftest import SOURCES, STANDIN
from memscape import looking


class Shown:
    """A stand-in for IPython's display classes."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = ModuleType("IPython.display")
    for name in ("HTML", "SVG", "IFrame"):
        setattr(module, name, type(name, (Shown,), {}))
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return module


@pytest.fixture
def snapshot(torch: Any, tmp_path: Path) -> Path:
    with memscape.record(tmp_path / "runs #1") as rec:
        torch.cuda.memory.allocate(1 << 20)
    assert rec.newest is not None
    return rec.newest


def shown_page(shown: Any) -> Path:
    """Return the path of the page that a notebook shows, relative to the current folder."""
    return Path(unquote(shown.arguments[0]))


def test_page_is_saved_beside_notebook(
    display: Any, snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = memscape.show(snapshot, at="peak", folder="pages 1", height=500)
    assert type(shown) is display.IFrame
    address, *size = shown.arguments
    assert re.fullmatch(r"pages%201/rank00000_step000000_exit\.pickle\.gz-[0-9a-f]{16}\.html", address)
    assert size == ["100%", 500]
    assert "part-snapshot" in shown_page(shown).read_text()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, ...]]]:
    """Arguments of the calls that would write pages. Each page contains its own call."""
    calls: list[tuple[str, ...]] = []

    def run(*arguments: str) -> str:
        calls.append(arguments)
        Path(arguments[2]).write_bytes(os.fsencode(" ".join(arguments)))
        return ""

    monkeypatch.setattr(looking, "run", run)
    return calls


def test_snapshots_of_equal_name_and_different_views_get_separate_pages(
    display: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[tuple[str, ...]]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "snapshot.pickle").write_text(name)
    ways: list[dict[str, Any]] = [{}, {"at": "peak"}, {"at": 7}, {"view": "#at=7"}, {"at": "peak", "view": "#tab=why"}]
    shown = [memscape.show(f"{name}/snapshot.pickle", **way) for name in ("a", "b") for way in ways]
    pages = [shown_page(it) for it in shown]
    assert len(set(pages)) == 10
    # Each page still has the contents of its cell.
    assert [page.read_text() for page in pages] == [" ".join(call) for call in written]
    # The same cell writes the same page, also by another path. Other contents under the same name get another page.
    again = memscape.show(tmp_path / "a" / "snapshot.pickle", at="peak")
    assert shown_page(again) == pages[1]
    (tmp_path / "a" / "snapshot.pickle").write_text("other")
    assert shown_page(memscape.show("a/snapshot.pickle")) not in pages


@pytest.mark.parametrize(
    "name", ["a b#c?d%e.pickle", "\u00e4\u00f6.pickle", "n" * 250, "\udcff.pickle", '"><script>.pickle']
)
def test_page_with_special_characters_in_name_has_valid_address(
    display: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[tuple[str, ...]], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("x")
    shown = memscape.show(name)
    address = shown.arguments[0]
    assert re.fullmatch(r"[A-Za-z0-9/._~%-]+", address)
    assert (tmp_path / os.fsdecode(unquote_to_bytes(address))).exists()


def test_page_in_absolute_folder_has_relative_address(
    display: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[tuple[str, ...]]
) -> None:
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    (tmp_path / "a.pickle").write_text("x")
    shown = memscape.show("../a.pickle", folder=tmp_path / "notebooks" / "pages")
    assert shown.arguments[0].startswith("pages/a.pickle-")


@pytest.mark.parametrize("height", [0, -1, "800", 1.5, None])
def test_wrong_height_is_an_error(display: Any, tmp_path: Path, height: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^height="):
        memscape.show(tmp_path, height=height)


def test_inline_page_is_escaped_in_iframe(
    display: Any, snapshot: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setattr(looking, "_MOST_INLINE", 1000)
    with pytest.warns(UserWarning, match="the notebook grows by"):
        shown = memscape.show(snapshot, embed="inline")
    [text] = shown.arguments
    # IPython warns about output that consists of a single frame.
    assert text.startswith('<div><iframe srcdoc="&lt;!') and text.count('"') == 8 and "part-snapshot" in text


def test_picture_is_svg(display: Any, snapshot: Path, program: str) -> None:
    [text] = memscape.show(snapshot, embed="picture").arguments
    assert "<svg" in text[:200]
    with pytest.raises(ValueError, match="expected 'file'"):
        memscape.show(snapshot, embed="png")


def test_folder_is_served_until_view_is_closed(snapshot: Path, page: str) -> None:
    with memscape.view(snapshot.parent, browser=False) as view:
        with urllib.request.urlopen(view.address) as answer:
            assert b"part-wasm" in answer.read()
    with pytest.raises(OSError):
        urllib.request.urlopen(view.address)
    with pytest.raises(memscape.MemscapeError, match="missing"):
        memscape.view(snapshot.parent / "missing", browser=False)


def is_served(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False


VIEW = """
import os, signal, sys, threading, time
import memscape
memscape.view(sys.argv[1], browser=False)
[view] = memscape.looking.View._running
print(view.address, flush=True)
sys.stdin.readline()
"""
ENDS = {
    "at its end": "",
    "by an exception": "raise KeyError",
    "by sys.exit": "sys.exit(3)",
    "by os._exit": "os._exit(0)",
    "by SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "by SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "by an interrupt": "os.kill(os.getpid(), signal.SIGINT); time.sleep(9)",
}


@pytest.mark.parametrize("how", ENDS)
def test_server_ends_with_python(snapshot: Path, page: str, how: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(STANDIN), str(SOURCES)])}
    process = subprocess.Popen(
        [sys.executable, "-c", VIEW + ENDS[how], str(snapshot.parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    assert process.stdin is not None and process.stdout is not None
    with process:
        address = process.stdout.readline().strip()
        # Also without a reference to the View.
        assert is_served(address)
        process.stdin.write("\n")
        process.stdin.close()
        process.wait(timeout=30)
    end = time.monotonic() + 20
    while is_served(address):
        assert time.monotonic() < end, "the server is still running"
        time.sleep(0.05)


def test_interrupt_of_group_and_exit_of_fork_keep_server(snapshot: Path, page: str) -> None:
    code = """
import os, signal, sys, urllib.request
import memscape
view = memscape.view(sys.argv[1], browser=False)
session = memscape.open(view and sys.argv[2])
signal.signal(signal.SIGINT, lambda *_: None)
os.killpg(os.getpgid(0), signal.SIGINT)
child = os.fork()
if not child:
    view.close()
    sys.exit(0)
os.waitpid(child, 0)
print(urllib.request.urlopen(view.address).status, session.summary.devices[0].device)
view.close()
view.close()
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(STANDIN), str(SOURCES)])}
    done = subprocess.run(
        [sys.executable, "-c", code, str(snapshot.parent), str(snapshot)],
        capture_output=True, text=True, check=False, timeout=60, env=environment, start_new_session=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "200 0\n"), done.stderr
