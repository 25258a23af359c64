from __future__ import annotations

from typing import Any

from .._tensors import Tensor
from . import optimizer
from .optimizer import Optimizer


class Adam(Optimizer):
    def __init__(self, parameters: Any) -> None:
        super().__init__()
        self.param_groups = [{"params": list(parameters)}]
        self.state: dict[Any, dict[str, Any]] = {}

    def step(self) -> None:
        for parameter in self.param_groups[0]["params"]:
            if parameter not in self.state:
                moments = {key: Tensor(*parameter.shape) for key in ("exp_avg", "exp_avg_sq")}
                self.state[parameter] = {"step": 1, **moments}
        self.stepped()


__all__ = ["Adam", "Optimizer", "optimizer"]
