"""Look at snapshots: in the browser, and in notebooks."""

from __future__ import annotations

import html
import os
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ._binary import program, run

_MOST_INLINE = 20 << 20


class View:
    """A server that runs until `close`, or until this process ends."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self.address = address
        """Where the page is; only this machine can reach it."""

    def close(self) -> None:
        """Stop the server."""
        self._process.terminate()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<memscape.View {self.address}>"


def view(*paths: str | os.PathLike[str], port: int | None = None, browser: bool = True) -> View:
    """Serve snapshots, or folders with snapshots, and open the page in the browser.

    Args:
        *paths: Files and folders; the current folder if there are none.
        port: Where it begins to look for a free port.
        browser: Open the browser; False on a node that is reached by `ssh -L`.

    Raises:
        MemscapeError: A path is missing, or there is no free port.

    """
    from ._binary import MemscapeError, said

    options = [*([f"--port={port}"] if port is not None else []), *([] if browser else ["--no-browser"])]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as told:
        process = subprocess.Popen(
            [program(), "serve", *options, "--", *(os.fspath(path) for path in paths)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
            encoding="utf-8",
        )
        assert process.stdout is not None
        for line in process.stdout:
            address = next((word for word in line.split() if word.startswith("http://")), None)
            if address is not None:
                return View(process, address)
        process.wait()
        process.stdout.close()
        told.seek(0)
        raise MemscapeError(said(told.read()) or "memscape serve ended")


def show(
    snapshot: str | os.PathLike[str],
    *,
    at: str | int | None = None,
    view: str | None = None,
    embed: str = "file",
    folder: str | os.PathLike[str] = "memscape-pages",
    height: int = 800,
) -> Any:
    """Show a snapshot in a notebook; returns what IPython displays. It needs no server, so it works in Colab and on JupyterHub.

    Args:
        snapshot: The file.
        at: Moment to open at: "peak", "oom", an event, a time.
        view: Link copied from the page, or the part after its `#`.
        embed: "file": the page is saved in `folder`, beside the notebook, which shows it in a frame. "inline": the page is part of the
            notebook, which grows by its size. "picture": only the timeline, as SVG.
        folder: Where pages are saved, relative to the notebook.
        height: Of the frame, in CSS pixels.

    Raises:
        ImportError: IPython is not installed.
        MemscapeError: The file cannot be read.
        ValueError: `embed` is something else.

    """
    from IPython.display import HTML, SVG, IFrame

    if embed not in ("file", "inline", "picture"):
        raise ValueError(f"embed={embed!r}: expected 'file', 'inline' or 'picture'")
    if embed == "picture":
        return SVG(run("plot", "-o", "-", "--", os.fspath(snapshot)))
    options = [*([f"--at={at}"] if at is not None else []), *([f"--view={view}"] if view is not None else [])]
    if embed == "file":
        path = Path(folder) / f"{Path(snapshot).name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        run("html", "-o", os.fspath(path), *options, "--", os.fspath(snapshot))
        return IFrame(quote(path.as_posix()), "100%", height)
    page = run("html", "-o", "-", *options, "--", os.fspath(snapshot))
    if len(page) > _MOST_INLINE:
        warnings.warn(
            f"the notebook grows by {len(page) >> 20} MiB: embed='file' keeps the page beside it",
            UserWarning,
            stacklevel=2,
        )
    return HTML(_frame(page, height))


def _frame(page: str, height: int) -> str:
    # A frame of its own: the page has styles, keys and a policy that are not the notebook's.
    return f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{height}" style="border:0"></iframe>'


def write_page(snapshot: str | os.PathLike[str], path: str | os.PathLike[str]) -> bool:
    """Write the page with a snapshot inside; False, with a warning, where that cannot be done."""
    from ._binary import MemscapeError

    try:
        run("html", "-o", os.fspath(path), "--", os.fspath(snapshot))
    except MemscapeError as error:
        warnings.warn(f"memscape: no page beside {snapshot}: {error}", RuntimeWarning, stacklevel=3)
        return False
    return True


__all__ = ["View", "show", "view", "write_page"]
