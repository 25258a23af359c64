"""Plugin of vLLM and SGLang, which they call in each process that they start. Does nothing unless MEMSCAPE is set.

MEMSCAPE=runs/a vllm serve …          # snapshots in runs/a when memory runs out, at the end, and on SIGUSR2
"""

import os
from typing import Any

_kept: list[Any] = []


def register() -> None:
    """Record in this process into the folder MEMSCAPE, once it initializes CUDA."""
    folder = os.environ.get("MEMSCAPE")
    if not folder or os.getpid() in _kept:
        return
    _kept.append(os.getpid())
    from torch import cuda

    cuda._lazy_call(_begin)


def _begin() -> None:
    from .._children import begin

    signals = [name for name in os.environ.get("MEMSCAPE_SIGNAL", "SIGUSR2").split(",") if name]
    begin({"folder": os.environ["MEMSCAPE"], "on_signal": signals}, count_steps=False)
