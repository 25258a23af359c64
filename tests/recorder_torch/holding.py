"""Helpers of the tests of holders. Tests hold tensors in the variable `held` of their own module."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import torch

from memscape import _holders

MIB = 1 << 20

# The search is not cut off on a busy machine. test_holders_safety.py sets its own limit.
_holders._MAX_SECONDS = 60.0


def tensor(mib: int = 1, **more: Any) -> torch.Tensor:
    return torch.empty(mib * MIB // 4, device="cuda", **more)


def look(most: int = 24) -> dict[int, dict[str, Any]]:
    """Return the answers by address."""
    found = _holders.holders(torch, torch.cuda.memory._snapshot(), most)
    assert found is not None and not found["cut"]
    return {it["addr"]: it for it in found["of"]}


def address(value: torch.Tensor) -> int:
    return value.untyped_storage().data_ptr()


def path_of(value: int) -> tuple[str, str]:
    found = look()[value]
    return found["root"], found["path"]


def evaluated(path: str) -> Any:
    """Return the object at a path that begins with the name of a module."""
    return eval(path, dict(sys.modules))


def without_leaks(module: str) -> Iterator[None]:
    """Run a test without garbage collection, and check that it leaves no tensor behind."""
    square = torch.zeros(8, 8, device="cuda")
    # Older versions of PyTorch allocate the workspace of cuBLAS, and keep it.
    square @ square
    del square
    gc.collect()
    gc.disable()
    before = torch.cuda.memory_allocated()
    yield
    sys.modules[module].held = None  # type: ignore[attr-defined]
    gc.enable()
    gc.collect()
    assert torch.cuda.memory_allocated() == before
