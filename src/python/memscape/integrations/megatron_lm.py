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

    seen: list[Any] = []
    recorder, inner = Recorder(folder, **{"replace": True, **options}), training.train_step

    def train_step(forward: Any, data: Any, model: Any, optimizer: Any, *more: Any, **options: Any) -> Any:
        if not seen:
            seen.extend(named(model, optimizer))
            recorder.name(*seen)
        with recorder.step(options.get("iteration")):
            return inner(forward, data, model, optimizer, *more, **options)

    training.train_step = train_step
    return recorder
