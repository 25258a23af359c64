"""Temporary folders for the tables of batches, and the removal of those that killed surveys have left in a lake."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from contextlib import suppress

_PREFIX = ".batch-"
# The processes that see each other, and the id of the one that made the folder.
_NAME = re.compile(r"[.]batch-(\w+)-([0-9]+)-")
# Age in seconds at which a folder is removed, whichever process made it. A batch takes minutes.
_MAX_AGE = 86_400.0


def new_folder(root: str | None) -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder in `root`, or in the folder for temporary files."""
    return tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{_visible_processes()}-{os.getpid()}-", dir=root)


def remove_abandoned(root: str) -> None:
    """Remove the folders in `root` whose process has ended, or that are older than a day."""
    with suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and _is_abandoned(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_abandoned(folder: os.DirEntry[str]) -> bool:
    named = _NAME.match(folder.name)
    if named and named[1] == _visible_processes() and not _lives(int(named[2])):
        return True
    try:
        return time.time() - folder.stat(follow_symlinks=False).st_mtime > _MAX_AGE
    except FileNotFoundError:
        # Another survey has removed it.
        return False


def _visible_processes() -> str:
    """Return a name of the processes that this one sees: those of a container, until the machine is started again.

    Other machines may survey to the same folder, and processes of another container have ids of their own.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            started = file.read()
        return started[:8] + re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))
    except OSError:
        # Only Linux names them. Elsewhere, only the age counts.
        return ""


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
