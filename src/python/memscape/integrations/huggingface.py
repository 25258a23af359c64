"""Callback for the Hugging Face Trainer: `Trainer(..., callbacks=[MemscapeCallback("runs/a", every=100)])`."""

from typing import Any

from transformers import TrainerCallback

from ..recorder import Recorder


class MemscapeCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Records from its creation on, so create it before the model. Options are those of `memscape.start`.

    No callback is called after an exception, so it also replaces the recorder of an earlier training that failed.
    """

    def __init__(self, folder: str, **options: Any) -> None:
        self.recorder = Recorder(folder, **{"replace": True, **options})

    def on_train_begin(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
        self.recorder.name(*(parts[key] for key in ("model", "optimizer") if parts.get(key) is not None))

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.recorder.begin_step(state.global_step)

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.recorder.end_step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self.recorder.__exit__(None, None, None)
