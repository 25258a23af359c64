"""Showing snapshots in the browser and in notebooks."""

from __future__ import annotations

import atexit
import hashlib
import html
import os
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from ._binary import options, program, run
from ._options import whole

_MOST_INLINE = 20 << 20


class View:
    """A server that runs until `close` is called or this process ends."""

    _running: ClassVar[set[View]] = set()

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self._pid = os.getpid()
        self.address = address
        """Address of the page. Only this machine can reach it."""
        # The server stops when its standard input closes, which would happen if this View were garbage collected.
        self._running.add(self)

    def close(self) -> None:
        """Stop the server. Does nothing on a second call or in a forked process."""
        if self._pid != os.getpid():
            return
        self._running.discard(self)
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<memscape.View {self.address}>"


@atexit.register
def _close_views() -> None:
    for view in list(View._running):
        view.close()


def view(*paths: str | os.PathLike[str], port: int | None = None, browser: bool = True) -> View:
    """Serve snapshots or folders with snapshots, and open the page in the browser.

    Args:
        *paths: Files and folders. Defaults to the current folder.
        port: Port to listen on. Defaults to the first free port from 8765 on.
        browser: Open the browser. Use False on a node that is reached by `ssh -L`.

    Raises:
        MemscapeError: A path does not exist, or no port is free.

    """
    from ._binary import MemscapeError, error_text

    chosen = ["--exit-with-stdin", *options(port=port), *([] if browser else ["--no-browser"])]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [program(), "serve", *chosen, "--", *(os.fspath(path) for path in paths)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            # Notebooks interrupt a cell by a signal to the process group of the kernel, which must not reach it.
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            address = next((word for word in line.split() if word.startswith("http://")), None)
            if address is not None:
                return View(process, address)
        process.wait()
        process.stdin.close()
        process.stdout.close()
        errors.seek(0)
        raise MemscapeError(error_text(errors.read()) or "memscape serve ended")


def show(
    snapshot: str | os.PathLike[str],
    *,
    at: str | int | None = None,
    view: str | None = None,
    embed: str = "file",
    folder: str | os.PathLike[str] = "memscape-pages",
    height: int = 800,
) -> Any:
    """Show a snapshot in a notebook. Needs no server, so it works in Colab and on JupyterHub.

    Args:
        snapshot: Path of the snapshot.
        at: Cursor position: "peak", "oom", an event or a time.
        view: Link copied from the page, or the part after its `#`.
        embed: "file" saves the page in `folder` and shows it in a frame. Its name has a hash of the snapshot and the
            view, so each cell keeps its own page. "inline" puts the page into the notebook, which grows by its size.
            "picture" shows only the timeline, as SVG.
        folder: Folder for pages, relative to the notebook.
        height: Height of the frame in CSS pixels.

    Returns:
        An object that IPython displays.

    Raises:
        ImportError: IPython is not installed.
        MemscapeError: The file cannot be read.
        TypeError: `height` is not an integer.
        ValueError: `embed` is not one of these, or `height` is not positive.

    """
    from IPython.display import HTML, SVG, IFrame

    if embed not in ("file", "inline", "picture"):
        raise ValueError(f"embed={embed!r}: expected 'file', 'inline' or 'picture'")
    height = whole("height", height, "a number of CSS pixels, 1 or more")
    if embed == "picture":
        return SVG(run("plot", "-o", "-", "--", os.fspath(snapshot)))
    chosen = options(at=at, view=view)
    if embed == "file":
        path = Path(folder) / _page_name(snapshot, chosen)
        path.parent.mkdir(parents=True, exist_ok=True)
        run("html", "-o", os.fspath(path), *chosen, "--", os.fspath(snapshot))
        # Notebook servers resolve an absolute path relative to their own root.
        address = Path(os.path.relpath(path)) if path.is_absolute() else path
        return IFrame(quote(os.fsencode(address.as_posix())), "100%", height)
    page = run("html", "-o", "-", *chosen, "--", os.fspath(snapshot))
    if len(page) > _MOST_INLINE:
        warnings.warn(
            f"the notebook grows by {len(page) >> 20} MiB: embed='file' keeps the page beside it",
            UserWarning,
            stacklevel=2,
        )
    return HTML(_frame(page, height))


def _page_name(snapshot: str | os.PathLike[str], options: list[str]) -> str:
    """Return the file name of a page: the name of the snapshot, and a hash of the snapshot and the options.

    Snapshots of the same name and views of the same snapshot get different pages. Running a cell again overwrites its
    page.
    """
    digest = hashlib.blake2b(digest_size=8)
    digest.update("\0".join([*options, ""]).encode("utf-8", "surrogateescape"))
    try:
        with open(snapshot, "rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError:
        # The program will report the error.
        digest.update(os.fsencode(os.path.abspath(snapshot)))
    # File names are limited to 255 bytes.
    name = os.fsdecode(os.fsencode(Path(snapshot).name)[:200])
    return f"{name}-{digest.hexdigest()}.html"


def _frame(page: str, height: int) -> str:
    # A frame isolates the page's styles, keys and policy from the notebook.
    # IPython warns about HTML that is only an iframe, so wrap it.
    frame = f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{height}" style="border:0"></iframe>'
    return f"<div>{frame}</div>"


def write_page(snapshot: str | os.PathLike[str], path: str | os.PathLike[str]) -> bool:
    """Write the page with a snapshot in it. Warns and returns False on failure."""
    from ._binary import MemscapeError

    try:
        run("html", "-o", os.fspath(path), "--", os.fspath(snapshot))
    except MemscapeError as error:
        warnings.warn(f"memscape: no page beside {snapshot}: {error}", RuntimeWarning, stacklevel=3)
        return False
    return True


__all__ = ["View", "show", "view", "write_page"]
