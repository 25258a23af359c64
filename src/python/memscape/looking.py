"""Look at snapshots: in the browser, and in notebooks."""

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

from ._binary import program, run
from ._options import whole

_MOST_INLINE = 20 << 20


class View:
    """A server that runs until `close`, or until this process ends, however it ends."""

    _running: ClassVar[set[View]] = set()

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self._pid = os.getpid()
        self.address = address
        """Where the page is; only this machine can reach it."""
        # The server ends with its standard input, which a View that nobody keeps would close.
        self._running.add(self)

    def close(self) -> None:
        """Stop the server. May be called twice; in a forked process it does nothing."""
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
    """Serve snapshots, or folders with snapshots, and open the page in the browser.

    Args:
        *paths: Files and folders; the current folder if there are none.
        port: Where it begins to look for a free port.
        browser: Open the browser; False on a node that is reached by `ssh -L`.

    Raises:
        MemscapeError: A path is missing, or there is no free port.

    """
    from ._binary import MemscapeError, said

    options = ["--exit-with-stdin", *_option("--port", port), *([] if browser else ["--no-browser"])]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as told:
        process = subprocess.Popen(
            [program(), "serve", *options, "--", *(os.fspath(path) for path in paths)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
            encoding="utf-8",
            # A notebook interrupts a cell by a signal to the whole group of its kernel.
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
        embed: "file": the page is saved in `folder`, beside the notebook, which shows it in a frame; its name has a hash of the
            snapshot and the view, so each cell keeps its own page. "inline": the page is part of the
            notebook, which grows by its size. "picture": only the timeline, as SVG.
        folder: Where pages are saved, relative to the notebook.
        height: Of the frame, in CSS pixels.

    Raises:
        ImportError: IPython is not installed.
        MemscapeError: The file cannot be read.
        TypeError: `height` is no whole number.
        ValueError: `embed` is something else, or `height` is not positive.

    """
    from IPython.display import HTML, SVG, IFrame

    if embed not in ("file", "inline", "picture"):
        raise ValueError(f"embed={embed!r}: expected 'file', 'inline' or 'picture'")
    height = whole("height", height, "a number of CSS pixels, 1 or more")
    if embed == "picture":
        return SVG(run("plot", "-o", "-", "--", os.fspath(snapshot)))
    options = [*_option("--at", at), *_option("--view", view)]
    if embed == "file":
        path = Path(folder) / _page_name(snapshot, options)
        path.parent.mkdir(parents=True, exist_ok=True)
        run("html", "-o", os.fspath(path), *options, "--", os.fspath(snapshot))
        # A server of notebooks takes an absolute address for one of its own.
        address = Path(os.path.relpath(path)) if path.is_absolute() else path
        return IFrame(quote(os.fsencode(address.as_posix())), "100%", height)
    page = run("html", "-o", "-", *options, "--", os.fspath(snapshot))
    if len(page) > _MOST_INLINE:
        warnings.warn(
            f"the notebook grows by {len(page) >> 20} MiB: embed='file' keeps the page beside it",
            UserWarning,
            stacklevel=2,
        )
    return HTML(_frame(page, height))


def _page_name(snapshot: str | os.PathLike[str], options: list[str]) -> str:
    """Return the name of a page: that of the snapshot, and a hash of what the page shows.

    Snapshots of one name, and views of one snapshot, are different pages; the same cell writes the same page again.
    """
    digest = hashlib.blake2b(digest_size=8)
    digest.update("\0".join([*options, ""]).encode("utf-8", "surrogateescape"))
    try:
        with open(snapshot, "rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError:
        # The program has a sentence for it.
        digest.update(os.fsencode(os.path.abspath(snapshot)))
    # File systems have names of 255 bytes at most.
    name = os.fsdecode(os.fsencode(Path(snapshot).name)[:200])
    return f"{name}-{digest.hexdigest()}.html"


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [f"{name}={value}"]


def _frame(page: str, height: int) -> str:
    # A frame of its own: the page has styles, keys and a policy that are not the notebook's. IPython warns of a frame that is all there is.
    frame = f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{height}" style="border:0"></iframe>'
    return f"<div>{frame}</div>"


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
