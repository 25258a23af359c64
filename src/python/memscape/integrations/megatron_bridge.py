"""Callback for Megatron-Bridge: `pretrain(..., callbacks=[MemscapeCallback("runs/a", every=100)])`."""

from typing import Any

from megatron.bridge.training.callbacks import Callback

from ..recorder import Recorder
from .megatron_lm import named


class MemscapeCallback(Callback):  # type: ignore[misc, unused-ignore]
    """Records from its creation on. Leave `record_memory_history` of the profiling config off."""

    def __init__(self, folder: str, **options: Any) -> None:
        self.recorder = Recorder(folder, **{"replace": True, **options})

    def on_train_start(self, context: Any) -> None:
        self.recorder.name(*named(context.model, context.optimizer))

    def on_train_step_start(self, context: Any) -> None:
        self.recorder.begin_step(context.state.train_state.step)

    def on_train_step_end(self, context: Any) -> None:
        self.recorder.end_step()

    def on_train_end(self, context: Any) -> None:
        self.recorder.__exit__(None, None, None)
