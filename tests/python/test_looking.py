"""The page from Python: served, in notebooks, as a picture."""

from __future__ import annotations

import sys
import urllib.request
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import memscape
from memscape import looking


class Shown:
    """Stands in for what IPython displays."""

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


def test_a_page_is_saved_beside_the_notebook(
    display: Any, snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = memscape.show(snapshot, at="peak", folder="pages 1", height=500)
    assert type(shown) is display.IFrame
    assert shown.arguments == ("pages%201/rank00000_step000000_exit.pickle.gz.html", "100%", 500)
    text = (tmp_path / "pages 1" / "rank00000_step000000_exit.pickle.gz.html").read_text()
    assert "part-snapshot" in text


def test_a_page_in_the_notebook_is_text_of_a_frame(
    display: Any, snapshot: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setattr(looking, "_MOST_INLINE", 1000)
    with pytest.warns(UserWarning, match="the notebook grows by"):
        shown = memscape.show(snapshot, embed="inline")
    [text] = shown.arguments
    assert text.startswith('<iframe srcdoc="&lt;!') and text.count('"') == 8 and "part-snapshot" in text


def test_a_picture_is_svg(display: Any, snapshot: Path, program: str) -> None:
    [text] = memscape.show(snapshot, embed="picture").arguments
    assert "<svg" in text[:200]
    with pytest.raises(ValueError, match="expected 'file'"):
        memscape.show(snapshot, embed="png")


def test_a_folder_is_served_until_it_is_closed(snapshot: Path, page: str) -> None:
    with memscape.view(snapshot.parent, browser=False) as view:
        with urllib.request.urlopen(view.address) as answer:
            assert b"part-wasm" in answer.read()
    with pytest.raises(OSError):
        urllib.request.urlopen(view.address)
    with pytest.raises(memscape.MemscapeError, match="missing"):
        memscape.view(snapshot.parent / "missing", browser=False)
