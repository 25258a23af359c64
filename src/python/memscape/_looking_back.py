"""Questions about a recorder's own snapshots, with the interface of MemoryTracer."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _options

if TYPE_CHECKING:
    from .modules import Trace


class LookingBack(ABC):
    """Answers about a recorder's snapshot. While it records, one is saved if there is no current one."""

    _traces: list[Trace]

    @abstractmethod
    def current_snapshot(self) -> Path | None:
        """Return the path of a snapshot of what is recorded so far."""

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
