"""Taking snapshots and writing them to files."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

from . import _files, _ranks
from ._backend import Backend
from ._collector import paused_collector
from ._files import Kept
from ._steps import Steps
from ._warnings import warn

Describe = Callable[[dict[str, Any], str, Optional[BaseException]], dict[str, Any]]
"""Builds the `memscape` key from a snapshot, the reason and the error."""
# Time in s that a failing allocation waits for another thread that is saving.
_PATIENCE_S = 30.0
# Time in s that a step waits for the previous file. Longer than that, and its snapshot is taken after a later step.
_STEP_PATIENCE_S = 0.2
# Reasons to save after a step.
_AFTER_STEPS = frozenset({"step", "peak", "growth"})
# After so many failures in a row, saving after a step is tried again only after this time in s. Each attempt takes a
# whole snapshot, which would slow down training for nothing.
_MOST_FAILURES = 3
_RETRY_S = 60.0


class _Attempts:
    """Decides whether saving is tried, and warns of failures."""

    def __init__(self) -> None:
        self._failures = 0
        self._failed_at = 0.0

    def is_due(self, reason: str) -> bool:
        """Return whether to save. Always true at an error, at the end and on signals."""
        is_early = time.monotonic() - self._failed_at < _RETRY_S
        return not (reason in _AFTER_STEPS and self._failures >= _MOST_FAILURES and is_early)

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self, reason: str, failure: Exception) -> None:
        """Warn, so that the training run goes on."""
        self._failures, self._failed_at = self._failures + 1, time.monotonic()
        more = f"; tried again after {_RETRY_S:.0f} s" if not self.is_due(reason) else ""
        warn(f"no snapshot ({reason}): {type(failure).__name__}: {failure}{more}")


class Saver:
    """Saves snapshots, one after the other. Methods may be called from any thread and from signal handlers."""

    def __init__(self, backend: Backend, folder: Path, keep: int | None, describe: Describe, steps: Steps) -> None:
        self._backend, self._folder, self._describe, self._steps = backend, folder, describe, steps
        self.kept = Kept(keep)
        self.after_save: Callable[[], None] = lambda: None
        """Called in the thread that saved, after each snapshot."""
        self.on_saved: Callable[[Path, str, int], None] = lambda path, reason, step: None
        """Called with the path, the reason and the step of each snapshot that the recorder named."""
        self._lock = threading.RLock()
        # Id of the thread that is saving. Signals and failed allocations in this thread do not save again.
        self._saving: int | None = None
        self._writing: threading.Thread | None = None
        # Reason of a save that waits for a later step.
        self._postponed: str | None = None
        self._attempts = _Attempts()

    def is_saving(self) -> bool:
        """Return whether the current thread is saving."""
        return self._saving == threading.get_ident()

    def save(
        self,
        reason: str,
        path: Path | None = None,
        *,
        wait: bool = True,
        error: BaseException | None = None,
        snapshot: dict[str, Any] | None = None,
    ) -> Path | None:
        """Save a snapshot, and return its path. With `wait=False` a thread writes it, and the path is None.

        Raises:
            OSError: The file cannot be written. No partial file is left behind.
            TimeoutError: Another thread has been saving for too long, while an allocation failed in this one.

        """
        if not self._lock.acquire(timeout=_PATIENCE_S if reason == "oom" else -1):
            raise TimeoutError("another thread is saving")
        before, self._saving = self._saving, threading.get_ident()
        try:
            # Not while an allocation fails: the thread may need seconds for another snapshot.
            if reason != "oom":
                self.join()
            with paused_collector():
                snapshot = snapshot or self._backend.snapshot()
                snapshot["memscape"] = self._describe(snapshot, reason, error)
                if wait:
                    written = self._write(snapshot, path, reason)
                    # Freed before the collector is on again, which would traverse it.
                    del snapshot
                    return written
            # Not a daemon thread: the interpreter waits until the file is written. The collector runs meanwhile,
            # because memory of the GPU may be in reference cycles of the program.
            self._writing = threading.Thread(
                target=self._write_or_warn, args=(snapshot, path, reason, self._steps.number), name="memscape"
            )
            self._writing.start()
            return None
        finally:
            self._saving = before
            self._lock.release()
            if before is None:
                self.after_save()

    def save_after_step(self, reason: str | None, *, is_named: bool = False) -> None:
        """Save after a step if there is a reason. Waits at most `_STEP_PATIENCE_S` for the previous file.

        If that takes longer, saves after the first step at whose end it is written. `is_named` says that the user
        named this step: then nothing is postponed.
        """
        reason = reason or self._postponed
        if reason is None or self.is_saving():
            return
        if is_named:
            # Whether the previous one failed is known once it is written.
            self.join()
        elif self._is_busy():
            self._postponed = reason
            return
        self._postponed = None
        self.try_to_save(reason, wait=False)

    def save_postponed(self) -> None:
        """Save now if a save after a step is postponed."""
        reason, self._postponed = self._postponed, None
        if reason is not None:
            self.join()
            self.try_to_save(reason)

    def drop_postponed(self) -> None:
        """Forget a postponed save, because another snapshot has its events."""
        self._postponed = None

    def _is_busy(self) -> bool:
        """Return whether a file is still being written, by any thread. Waits once for a file, not after each step."""
        writing = self._writing
        if writing is not None:
            writing.join(_STEP_PATIENCE_S if self._postponed is None else 0)
        return self._saving is not None or (writing is not None and writing.is_alive())

    def try_to_save(self, reason: str, **options: Any) -> Path | None:
        """Save as `save` does, but only warn on failure, so that the training run goes on."""
        if self.is_saving() or not self._attempts.is_due(reason):
            return None
        try:
            return self.save(reason, **options)
        except Exception as failure:
            self._attempts.failed(reason, failure)
            return None

    def _write(self, snapshot: dict[str, Any], path: Path | None, reason: str, step: int | None = None) -> Path:
        if path is not None:
            _files.write(snapshot, path)
            return path
        step = self._steps.number if step is None else step
        name = _files.file_name(_ranks.rank(), step, reason)
        written = _files.write_new(snapshot, self._folder / name, add_pid=not _ranks.is_known())
        self._attempts.succeeded()
        self.kept.add(written, reason)
        self.on_saved(written, reason, step)
        return written

    def _write_or_warn(self, snapshot: dict[str, Any], path: Path | None, reason: str, step: int) -> None:
        try:
            self._write(snapshot, path, reason, step)
        except Exception as failure:
            self._attempts.failed(reason, failure)

    def join(self) -> None:
        """Wait for the file that is being written."""
        writing, self._writing = self._writing, None
        if writing is not None and writing is not threading.current_thread():
            writing.join()


def check_writable(folder: Path) -> None:
    """Create a folder, and fail now rather than on the first save if it is not writable.

    Raises:
        OSError: The folder cannot be created or written to.

    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass
