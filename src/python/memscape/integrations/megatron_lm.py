"""Megatron-LM, which has no callbacks: `memscape.integrations.megatron_lm.install("runs/a")` before `pretrain()`."""

from typing import Any

from ..recorder import Recorder


def named(model: Any, optimizer: Any) -> list[Any]:
    """Return the model chunks, and the optimizers of PyTorch inside of Megatron's."""
    parts = [getattr(it, "optimizer", it) for it in getattr(optimizer, "chained_optimizers", [optimizer])]
    return [*model, *(it for it in parts if hasattr(it, "param_groups"))]


def install(folder: str, **options: Any) -> Recorder:
    """Record, and make each call of `train_step` a step. Options are those of `memscape.start`."""
    from megatron.training import training

    recorder, inner = Recorder(folder, **{"replace": True, **options}), training.train_step
    seen: list[Any] = []

    def train_step(
        forward_step_func: Any, data_iterator: Any, model: Any, optimizer: Any, *more: Any, **named_: Any
    ) -> Any:
        if not seen:
            seen.extend(named(model, optimizer))
            recorder.name(*seen)
        with recorder.step(named_.get("iteration")):
            return inner(forward_step_func, data_iterator, model, optimizer, *more, **named_)

    training.train_step = train_step
    return recorder
