"""The program `memscape`, which reads snapshots."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterator


class MemscapeError(RuntimeError):
    """What the program says of a file or of arguments: one sentence."""


def program() -> str:
    """Return the path of the program that came with this package, of that in `MEMSCAPE_BINARY`, or of one on the PATH.

    Raises:
        MemscapeError: There is none.

    """
    name = "memscape.exe" if os.name == "nt" else "memscape"
    for folder in _folders():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    chosen = shutil.which(os.environ.get("MEMSCAPE_BINARY") or "memscape")
    if chosen is None:
        raise MemscapeError(
            "the program memscape is missing: install the wheel (pip install memscape), or name it in MEMSCAPE_BINARY"
        )
    return chosen


def _folders() -> Iterator[str]:
    # MEMSCAPE_BINARY comes first, the PATH last.
    if not os.environ.get("MEMSCAPE_BINARY"):
        yield sysconfig.get_path("scripts")
        yield os.path.dirname(sys.executable)
        yield os.path.join(site.getuserbase(), "Scripts" if os.name == "nt" else "bin")


def run(*arguments: str) -> str:
    """Run the program to its end, and return what it prints.

    Raises:
        MemscapeError: It failed; the message is what it says.

    """
    done = subprocess.run([program(), *arguments], capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise MemscapeError(said(done.stderr) or f"memscape ended with status {done.returncode}")
    return done.stdout


def said(text: str) -> str:
    """Return what the program printed to standard error, without its name in front."""
    return "\n".join(line.removeprefix("memscape: ") for line in text.strip().splitlines())
