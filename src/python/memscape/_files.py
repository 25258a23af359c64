"""Snapshot files: their names, atomic writing, and removal of old ones."""

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

# PyTorch's viewer cannot read protocol 5, the default of Python 3.14.
_PROTOCOL = 4
# Level 1 takes a small part of the time of a dump. Higher levels would save only a tenth of the size.
_LEVEL = 1


def file_name(rank: int, step: int, reason: str) -> str:
    """Return the name of a snapshot, such as `rank00003_step000120_oom.pickle.gz`."""
    return f"rank{rank:05d}_step{max(step, 0):06d}_{reason}.pickle.gz"


def unused(path: Path) -> Path:
    """Return the path, or the first unused one with a number appended, such as `…_signal-2.pickle.gz`."""
    if not path.exists():
        return path
    found = re.fullmatch(r"(.*?)((?:\.pickle|\.pkl)?(?:\.gz)?)", path.name, re.DOTALL)
    stem, ending = found.groups() if found else (path.name, "")
    number = 2
    while (other := path.with_name(f"{stem}-{number}{ending}")).exists():
        number += 1
    return other


def write(snapshot: dict[str, Any], path: Path) -> None:
    """Write a snapshot, gzipped if the name ends in `.gz`. The file appears under its name once it is complete.

    Raises:
        OSError: The file cannot be written. No partial file is left behind.

    """
    # The temporary name identifies the file if the machine crashes meanwhile.
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
    # The umask can only be read by setting it, which affects other threads, so this is done once at import.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


_UMASK = _umask()


class Kept:
    """The files written by a recorder. Only the newest of each reason are kept."""

    def __init__(self, keep: int | None) -> None:
        self._keep = keep
        self._files: dict[str, list[Path]] = defaultdict(list)
        self.newest: Path | None = None

    def add(self, path: Path, reason: str) -> None:
        """Register a written file, and remove the oldest ones beyond the limit."""
        self.newest = path
        files = self._files[reason]
        files.append(path)
        while self._keep is not None and len(files) > self._keep:
            with contextlib.suppress(OSError):
                files.pop(0).unlink()
