"""Callback for Lightning: `Trainer(callbacks=[MemscapeCallback("runs/a", every=100)])`."""

from typing import Any

from lightning.pytorch import Callback

from ..recorder import Recorder


class MemscapeCallback(Callback):  # type: ignore[misc, unused-ignore]
    """Records from its creation on, so create it before the model. Options are those of `memscape.start`."""

    def __init__(self, folder: str, **options: Any) -> None:
        self.recorder, self.step = Recorder(folder, **{"replace": True, **options}), -1

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self.recorder.name(pl_module, *trainer.optimizers)

    def on_train_batch_start(self, trainer: Any, *_: Any) -> None:
        if trainer.global_step != self.step:  # with accumulate_grad_batches, a step has several batches
            self.step = self.recorder.begin_step(trainer.global_step)

    def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
        if trainer.global_step != self.step:
            self.recorder.end_step()

    def on_exception(self, trainer: Any, pl_module: Any, exception: Any = None) -> None:
        self.recorder.__exit__(type(exception), exception, None)

    on_fit_end = on_exception
