"""Replacement for `maybe_enable_memory_snapshot` of torchtitan before 0.3, with the same `step()` after each step."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..recorder import Recorder


class Profiler(Recorder):
    """A recorder with the interface that torchtitan calls."""

    def step(self, exit_ctx: bool = False) -> None:  # type: ignore[override]
        """End a step and begin the next. An OOM is saved by the recorder when it happens."""
        self.end_step()
        if not exit_ctx:
            self.begin_step()


@contextmanager
def maybe_enable_memory_snapshot(
    folder: str, *, global_step: int = 0, enabled: bool = True, **options: Any
) -> Iterator[Any]:
    """Record if `enabled`. Options are those of `memscape.start`."""
    if not enabled:
        yield None
        return
    with Profiler(folder, **options) as profiler:
        profiler.begin_step(global_step)
        yield profiler
