"""What zeta's `save_memory_snapshot` does: a folder with a snapshot, and a page to look at it."""

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
    """Record a block of code, and leave `snapshot.pickle` and `snapshot.html` in a folder. Recording is switched off at the end.

    It is saved after an exception as well, which is then raised on. If the page cannot be made, a warning says why.

    Args:
        folder: Made if it is missing.
        **options: Those of `memscape.start`.

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
