"""Finding and running the `memscape` program, which reads snapshots."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterator


class MemscapeError(RuntimeError):
    """An error reported by the program about a file or arguments, as one sentence."""


def program() -> str:
    """Return the path of the program: `MEMSCAPE_BINARY`, the one of this package, or one on the PATH.

    Raises:
        MemscapeError: The program was not found.

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
    # Folders where pip installs programs. They are not searched if MEMSCAPE_BINARY is set.
    if not os.environ.get("MEMSCAPE_BINARY"):
        yield sysconfig.get_path("scripts")
        yield os.path.dirname(sys.executable)
        yield os.path.join(site.getuserbase(), "Scripts" if os.name == "nt" else "bin")


def run(*arguments: str) -> str:
    """Run the program and return its standard output.

    Raises:
        MemscapeError: The program failed. The message is its standard error.

    """
    done = subprocess.run([program(), *arguments], capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise MemscapeError(error_text(done.stderr) or f"memscape ended with status {done.returncode}")
    return done.stdout


def options(**given: object) -> list[str]:
    """Return command-line options, such as `--at=peak`. Values of None are omitted."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value is not None]


def error_text(text: str) -> str:
    """Return the program's standard error, without the prefix of each line and hints for the command line."""
    lines = [line.removeprefix("memscape: ").removeprefix("error: ") for line in text.strip().splitlines()]
    shown = [line for line in lines if line and not line.startswith(("Usage: ", "For more information, try "))]
    # Possible values and tips are indented.
    return re.sub(r"\n +", " ", "\n".join(shown))
