"""Snapshot files: their names, atomic writing, and removal of old ones."""

from __future__ import annotations

import contextlib
import gzip
import os
import pickle
import re
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

# PyTorch's viewer cannot read protocol 5, the default of Python 3.14.
_PROTOCOL = 4
# Level 1 takes a small part of the time of a dump. Higher levels would save only a tenth of the size.
_LEVEL = 1


def file_name(rank: int, step: int, reason: str) -> str:
    """Return the name of a snapshot, such as `rank00003_step000120_oom.pickle.gz`."""
    return f"rank{rank:05d}_step{max(step, 0):06d}_{reason}.pickle.gz"


def text_path(path: Path) -> Path:
    """Return the path of the text beside a snapshot: `…_oom.txt` beside `…_oom.pickle.gz`."""
    return path.with_name(_parts(path)[0] + ".txt")


def _parts(path: Path) -> tuple[str, str]:
    found = re.fullmatch(r"(.*?)((?:\.pickle|\.pkl)?(?:\.gz)?)", path.name, re.DOTALL)
    return (found[1], found[2]) if found else (path.name, "")


class _Names:
    """Names used by this process. None is used again after its file was removed."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._last: dict[Path, int] = {}
        self._own: dict[Path, Path] = {}

    def unused(self, path: Path, *, add_pid: bool) -> Iterator[Path]:
        path = path.absolute()
        while True:
            own = self._own.get(path, path)
            stem, ending = _parts(own)
            with self._lock:
                self._last[own] = number = self._last.get(own, 0) + 1
            yield own if number == 1 else own.with_name(f"{stem}-{number}{ending}")
            if number == 1 and add_pid and own == path:
                # The name exists, and this process has not used it.
                self._own[path] = path.with_name(f"{stem}-pid{os.getpid()}{ending}")


_names = _Names()


def unused_names(path: Path, *, add_pid: bool) -> Iterator[Path]:
    """Yield the path, then paths with a number appended, such as `…_signal-2.pickle.gz`.

    With `add_pid`, a name that another process has used gets the id of this one first: `…_signal-pid4711.pickle.gz`.
    """
    for name in _names.unused(path, add_pid=add_pid):
        yield path.with_name(name.name)


def write(snapshot: dict[str, Any], path: Path) -> None:
    """Write a snapshot, gzipped if the name ends in `.gz`. Replaces an existing file once it is complete.

    Raises:
        OSError: The file cannot be written. No partial file is left behind.

    """
    with _written(snapshot, path) as temporary:
        os.replace(temporary, path)


def write_new(snapshot: dict[str, Any], path: Path, *, add_pid: bool) -> Path:
    """Write a snapshot to the first unused name, and return its path. Never replaces a file, even of another process.

    Raises:
        OSError: The file cannot be written. No partial file is left behind.

    """
    with _written(snapshot, path) as temporary:
        for name in unused_names(path, add_pid=add_pid):
            with contextlib.suppress(FileExistsError):
                _move_to_new(temporary, name)
                return name
    raise AssertionError


def _move_to_new(temporary: str, path: Path) -> None:
    """Give a file a name that must not exist yet. Unlike a look at the folder first, this cannot race."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # Not all file systems have hard links. Creating the name also fails if it exists.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.replace(temporary, path)


@contextlib.contextmanager
def _written(snapshot: dict[str, Any], path: Path) -> Iterator[str]:
    """Write a temporary file, and remove it if it still has this name afterwards."""
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
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


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
        self._lock = threading.RLock()
        self._files: dict[str, list[Path]] = defaultdict(list)
        self.newest: Path | None = None

    def add(self, path: Path, reason: str) -> None:
        """Register a written file, and remove the oldest ones beyond the limit, with the texts beside them."""
        with self._lock:
            self.newest = path
            files = self._files[reason]
            files.append(path)
            while self._keep is not None and len(files) > self._keep:
                oldest = files.pop(0)
                for file in (oldest, text_path(oldest)):
                    with contextlib.suppress(OSError):
                        file.unlink()
