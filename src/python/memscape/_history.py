"""PyTorch's memory history, which is one for the process, and which the program may switch as well."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any, Callable

from ._backend import Backend
from ._facts import now_us
from ._warnings import warn


class History:
    """Keeps the history recording from `start` to `stop`.

    The program's own calls of `_record_memory_history` would end it, or limit it to fewer events. They are answered
    with a warning, and recording goes on: the program's own snapshots then have more events than it asked for.
    """

    def __init__(self, backend: Backend, entries: int, stacks: str, context: str | None) -> None:
        self._backend = backend
        self._entries, self._stacks, self._context = entries, stacks, context
        self._pid = os.getpid()
        self._start: Callable[..., Any] | None = None
        self._wrapper: Callable[..., Any] | None = None
        self._is_started = False
        self._ignored: dict[str, int] = {}
        self._restarts: list[int] = []

    @property
    def settings(self) -> dict[str, Any]:
        """How the history is recorded."""
        return {"entries": self._entries, "stacks": self._stacks, "context": self._context}

    def wrap(self) -> None:
        """Replace PyTorch's function, so that calls of the program are noticed, also before recording begins."""
        start = self._start = self._backend.memory._record_memory_history

        @functools.wraps(start)
        def _record_memory_history(enabled: Any = "all", *arguments: Any, **options: Any) -> Any:
            if self._start is None or os.getpid() != self._pid:
                return start(enabled, *arguments, **options)
            return self._called(enabled, options)

        self._wrapper = self._backend.memory._record_memory_history = _record_memory_history

    def start(self) -> None:
        """Start recording."""
        if self._start is not None:
            self._backend.record(self._start, self._entries, self._stacks, self._context)
            self._is_started = True

    def _called(self, enabled: Any, options: dict[str, Any]) -> None:
        place = _caller()
        if place not in self._ignored and len(self._ignored) < 1000:
            what = "start" if enabled else "end"
            warn(
                f"{place} called _record_memory_history to {what} recording. The recorder keeps the newest "
                f"{self._entries:,} events until it stops"
            )
        self._ignored[place] = self._ignored.get(place, 0) + 1
        if enabled and options.get("stacks", "python") == "all" and self._stacks != "all":
            # The program wants to see C++ frames too.
            self._stacks = "all"
            if self._start is not None and self._is_started:
                self._backend.record(self._start, self._entries, self._stacks, self._context, clear=False)

    def check(self) -> None:
        """Restart recording if something else than a call of `_record_memory_history` ended it."""
        if self._start is None or not self._is_started or self._backend.is_history_enabled():
            return
        self._restarts.append(now_us())
        if len(self._restarts) == 1:
            warn("something else ended the memory history. It was started again; earlier events are lost")
        self._backend.record(self._start, self._entries, self._stacks, self._context)

    def field(self, reason: str, snapshot: dict[str, Any]) -> tuple[str, object] | None:
        """Return the field `history` of the `memscape` key, if the program switched the history."""
        if not self._ignored and not self._restarts:
            return None
        calls = [{"from": place, "calls": count} for place, count in self._ignored.items()]
        return "history", {"ignored": calls[:20], "restarted_us": self._restarts[-20:]}

    def stop(self) -> None:
        """Stop recording, and restore PyTorch's function unless it was replaced meanwhile."""
        start, self._start = self._start, None
        if start is None:
            return
        if self._backend.memory._record_memory_history is self._wrapper:
            self._backend.memory._record_memory_history = start
        if self._is_started:
            self._is_started = False
            self._backend.stop(start)


def _caller() -> str:
    frame = sys._getframe(3)
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
