"""Replacement for zeta's `save_memory_snapshot`, which leaves a snapshot and a page in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .looking import write_page
from .recorder import Recorder


@contextmanager
def save_memory_snapshot(folder: str | os.PathLike[str], **options: Any) -> Iterator[Recorder]:
    """Record a block of code, write `snapshot.pickle` and `snapshot.html` to a folder, and stop recording.

    The snapshot is also saved after an exception, which is then raised again. If the page cannot be written, a warning
    says why.

    Args:
        folder: Folder to write to, created if missing.
        **options: Options of `memscape.start`.

    Raises:
        OSError: The folder or the snapshot cannot be written.

    """
    recorder = Recorder(folder, **{"on_exit": False, **options})
    path = Path(folder) / "snapshot.pickle"
    try:
        yield recorder
    finally:
        try:
            saved = recorder.save(path, reason="exit")
        finally:
            recorder.stop()
        if saved is not None:
            write_page(path, Path(folder) / "snapshot.html")
