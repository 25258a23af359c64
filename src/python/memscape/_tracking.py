"""Logging of a recording to experiment trackers: a row after each step, and each saved snapshot."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import _binary, _files, _ranks
from ._backend import Backend
from ._trackers import Row, Saved, Tracker, tracker
from ._warnings import warn

# Warnings of one tracker, which may fail at every step.
_MAX_WARNINGS = 3
# Time in s that `stop` waits for reports.
_PATIENCE_S = 120.0


class Tracking:
    """The trackers of a recorder."""

    def __init__(self, backend: Backend, paused_bytes: Callable[[], int]) -> None:
        self._backend, self._paused_bytes = backend, paused_bytes
        self._all: list[Tracker] = []
        self._warnings = 0
        self._threads: list[threading.Thread] = []
        self._unexplained: list[tuple[Path, str, int]] = []

    def add(self, target: Any) -> None:
        """Add a tracker. See `_trackers.tracker` for what it may be."""
        self._all.append(tracker(target))

    def row(self) -> Row:
        """Return the numbers of the current device. Takes some 15 µs, and synchronizes nothing."""
        device = self._backend.current_device()
        read = getattr(self._backend.torch._C, f"_{self._backend.name}_memoryStats", None)
        stats: Any = read(device) if read is not None else _nested(self._backend.stats(device))
        reserved, rounded = _all(stats, "reserved_bytes"), _all(stats, "allocated_bytes")
        live = _all(stats, "requested_bytes") or rounded  # before PyTorch 2.1
        held, allocated = reserved.get("current", 0), (rounded or live).get("current", 0)
        found = {
            "memory/live_bytes": live.get("current", 0),
            "memory/live_peak_bytes": live.get("peak", 0),
            "memory/reserved_bytes": held,
            "memory/reserved_peak_bytes": reserved.get("peak", 0),
            "memory/cached_free_share": (held - allocated) / held if held else 0.0,
            "memory/alloc_retries": stats.get("num_alloc_retries", 0),
        }
        paused = self._paused_bytes()
        if paused:
            found["memory/paused_bytes"] = paused
        # The driver must not be called while a graph is captured.
        if not self._backend.is_capturing():
            with contextlib.suppress(Exception):
                free, total = self._backend.accelerator.mem_get_info(device)
                found["memory/outside_allocator_bytes"] = total - free - (held - paused)
        return found

    def after_step(self, step: int) -> None:
        """Log a row to all trackers."""
        if not self._all:
            return
        try:
            values = self.row()
            for it in self._all:
                it.row(values, step)
        except Exception as error:
            self._warn(error)

    def after_save(self, path: Path, reason: str, step: int) -> None:
        """Log a snapshot, or remember it if the text about it follows."""
        if any(it.takes_files for it in self._all):
            self._unexplained.append((path, reason, step))
            if reason != "oom":
                self.flush()

    def flush(self) -> None:
        """Log the remembered snapshots in threads, because reports and uploads take time."""
        waiting, self._unexplained = self._unexplained, []
        for path, reason, step in waiting:
            thread = threading.Thread(target=self._log, args=(path, reason, step), name="memscape-report")
            self._threads.append(thread)
            thread.start()

    def _log(self, path: Path, reason: str, step: int) -> None:
        try:
            text = _files.text_path(path)
            verdict = text.read_text(encoding="utf-8") if text.exists() else ""
            saved = Saved(path, _report(path), reason, max(step, 0), _ranks.rank(), verdict)
            for it in self._all:
                if it.takes_files:
                    it.saved(saved)
        except Exception as error:
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        self._warnings += 1
        if self._warnings <= _MAX_WARNINGS:
            warn(f"the tracker failed: {type(error).__name__}: {error}")

    def join(self) -> None:
        """Wait until all snapshots are logged."""
        self.flush()
        threads, self._threads = self._threads, []
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(_PATIENCE_S)


class Tracked:
    """Methods of a recorder for trackers."""

    _tracking: Tracking

    def facts(self) -> dict[str, float]:
        """Return a row about the memory of the current device, for an experiment tracker. Takes some 15 µs.

        The keys are `memory/live_bytes`, `live_peak_bytes`, `reserved_bytes`, `reserved_peak_bytes`,
        `cached_free_share`, `alloc_retries`, `outside_allocator_bytes`, and `paused_bytes` if some is paused. Peaks are
        PyTorch's: since the start, or since the program's last `reset_peak_memory_stats`.
        """
        return self._tracking.row()

    def log_to(self, tracker: Any) -> None:
        """Log the row of `facts` after each step to a tracker, and each saved snapshot with its report.

        Args:
            tracker: A `SummaryWriter` of TensorBoard, the module `mlflow` or a run of it, the module `wandb` or a run of
                it, or a function that gets the row and the step.

        Raises:
            RuntimeError: A module has no active run.
            TypeError: It is none of these.

        """
        self._tracking.add(tracker)


def _report(path: Path) -> Path | None:
    """Write the page with a snapshot in it beside the snapshot, and return its path."""
    report = path.with_name(_files.text_path(path).stem + ".html")
    try:
        _binary.run("html", str(path), "-o", str(report))
    except (_binary.MemscapeError, OSError) as error:
        warn(f"no report of {path.name}: {error}")
        return None
    return report


def _all(stats: dict[str, Any], name: str) -> dict[str, int]:
    """Return a counter of both pools of the allocator, with its peak."""
    found: dict[str, int] = stats.get(name, {}).get("all", {})
    return found


def _nested(stats: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in stats.items():
        at, *parts = found, *key.split(".")
        for part in parts[:-1]:
            at = at.setdefault(part, {})
        at[parts[-1]] = value
    return found
