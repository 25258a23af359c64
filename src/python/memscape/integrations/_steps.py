"""Steps of trainers that call `step()` after each one."""

from __future__ import annotations

from typing import Any

from ..recorder import Recorder


class StepCalls:
    """A recorder, and the number of the step that runs. Options are those of `memscape.start`."""

    def __init__(self, folder: str, first: int, **options: Any) -> None:
        """Start recording, and begin the first step."""
        self.recorder = Recorder(folder, replace=True, **options)
        self.number = self.recorder.begin_step(first)

    def step(self, exit_ctx: bool = False) -> None:
        """End a step and begin the next. After an OOM error there is none: the recorder has saved it."""
        if not exit_ctx:
            self.recorder.end_step()
            self.number = self.recorder.begin_step()

    def close(self, kind: Any, error: Any, traceback: Any) -> None:
        """Stop recording, as at the end of a `with` block."""
        if error is None:
            self.recorder.cancel_step()
        self.recorder.__exit__(kind, error, traceback)
