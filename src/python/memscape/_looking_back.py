"""Questions about a recorder's own snapshots, with the interface of MemoryTracer."""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _options
from ._backend import Backend
from ._steps import Steps
from ._tensors import Named

if TYPE_CHECKING:
    from .modules import Trace


class LookingBack(ABC):
    """Answers about a recorder's snapshot. While it records, one is saved if there is no current one."""

    _backend: Backend
    _named: Named
    _steps: Steps
    _traces: list[Trace]
    _saved_state: tuple[object, Path | None] | None
    """State as of the last save, and the file."""

    @property
    @abstractmethod
    def is_recording(self) -> bool:
        """True while events are recorded."""

    @property
    @abstractmethod
    def newest(self) -> Path | None:
        """Path of the newest snapshot."""

    @abstractmethod
    def save(self, path: str | os.PathLike[str] | None = None, reason: str = "manual") -> Path | None:
        """Save a snapshot now and return its path."""

    def current_snapshot(self) -> Path | None:
        """Return the path of a snapshot of what is recorded so far. Saves one, unless nothing happened since the last."""
        if not self.is_recording:
            return self.newest
        if self._saved_state is not None:
            state, saved = self._saved_state
            if saved is not None and saved.exists() and state == self._state():
                return saved
        return self.save()

    def _state(self) -> object:
        """Return a value that changes with each allocation, step and name, or None if it is unknown."""
        with contextlib.suppress(Exception):
            counters = [self._backend.stats(device) for device in range(self._backend.device_count())]
            return counters, self._steps.number, len(self._named)
        return None

    def summary(self) -> dict[str, Any]:
        """Return peak, live and reserved bytes of each device. While recording, saves a snapshot if there is no current one.

        Raises:
            RuntimeError: Nothing is recorded, or the `memscape` program is missing.

        """
        with self._open() as session:
            fields: dict[str, Any] = session.summary.fields
            return fields

    def layer_stats(self, top: int = 200) -> list[dict[str, Any]]:
        """Return at most `top` rows, one per module: allocated, freed and peak bytes, fragmentation and duration.

        After `trace`, the modules are those that it annotated, with their names in the model, in the order of the first
        calls. Otherwise they are found in the stacks, as in `memscape insights --topic modules`.

        Raises:
            RuntimeError: Nothing is recorded, or the `memscape` program is missing.

        """
        top = _options.whole("top", top, "a number of rows, 0 or more", 0)
        names = {name for trace in self._traces for name in trace.names}
        with self._open() as session:
            if names:
                from ._layers import layer_stats

                return layer_stats(session, session.live()["device"], names)[:top]
            rows: list[dict[str, Any]] = session.insight("modules", top=top).table.rows
            return rows

    def export_flame_graph(self, path: str | os.PathLike[str]) -> None:
        """Write live memory by call stack for speedscope.app."""
        with self._open() as session:
            session.export("speedscope", path)

    def export_timeline(self, path: str | os.PathLike[str]) -> None:
        """Write counters and annotations for Perfetto and chrome://tracing."""
        with self._open() as session:
            session.export("trace", path)

    def _open(self) -> Any:
        from .session import open as open_snapshot

        path = self.current_snapshot()
        if path is None:
            raise RuntimeError("nothing is recorded: no GPU, another rank, or stopped before anything was saved")
        return open_snapshot(path)
