"""Snapshots on the disk: their names, whole or not at all, and only so many of them."""

from __future__ import annotations

import contextlib
import gzip
import os
import pickle
import re
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, BinaryIO, cast

# Protocol 5 is the default of Python 3.14, and PyTorch's own viewer cannot read it.
_PROTOCOL = 4
# Of the time that a dump takes, level 1 is a small part; higher levels save a tenth of the size.
_LEVEL = 1


def file_name(rank: int, step: int, reason: str) -> str:
    """Return the name of a snapshot: `rank00003_step000120_oom.pickle.gz`."""
    return f"rank{rank:05d}_step{max(step, 0):06d}_{reason}.pickle.gz"


def unused(path: Path) -> Path:
    """Return the path, or the first like it that is not there: `…_signal-2.pickle.gz`."""
    if not path.exists():
        return path
    found = re.fullmatch(r"(.*?)((?:\.pickle|\.pkl)?(?:\.gz)?)", path.name, re.DOTALL)
    stem, ending = found.groups() if found else (path.name, "")
    number = 2
    while (other := path.with_name(f"{stem}-{number}{ending}")).exists():
        number += 1
    return other


def write(snapshot: dict[str, Any], path: Path) -> None:
    """Write a snapshot, gzipped if the name ends in `.gz`. It appears under its name when it is whole.

    Raises:
        OSError: The file cannot be written; nothing is left behind.

    """
    # Its name says what it is, should the machine lose its power now. The mode is that of an ordinary file: others look at it.
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            if path.name.endswith(".gz"):
                with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
                    pickle.dump(snapshot, cast(BinaryIO, packed), protocol=_PROTOCOL)
            else:
                pickle.dump(snapshot, file, protocol=_PROTOCOL)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_UMASK)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    # There is no way to read it but to set it, and other threads write files: read once, at import.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


_UMASK = _umask()


class Kept:
    """The files that a recorder wrote, of which the newest of each reason are kept."""

    def __init__(self, keep: int | None) -> None:
        self._keep = keep
        self._files: dict[str, list[Path]] = defaultdict(list)
        self.newest: Path | None = None

    def add(self, path: Path, reason: str) -> None:
        """Count a file that was written, and remove what is one too many."""
        self.newest = path
        files = self._files[reason]
        files.append(path)
        while self._keep is not None and len(files) > self._keep:
            with contextlib.suppress(OSError):
                files.pop(0).unlink()
