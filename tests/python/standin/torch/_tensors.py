"""Tensors: a shape and a storage."""

from __future__ import annotations

import math
import weakref
from types import SimpleNamespace
from typing import Any

from .cuda import memory


class Storage:
    def __init__(self, size: int, device: int | None) -> None:
        self._size = size
        self._addr = memory.allocate(size, device) if device is not None else 0
        if device is not None:
            weakref.finalize(self, memory.release, self._addr, device).atexit = False

    def data_ptr(self) -> int:
        return self._addr

    def nbytes(self) -> int:
        return self._size


class Tensor:
    def __init__(self, *shape: int, device: int | None = 0, storage: Storage | None = None, offset: int = 0) -> None:
        self.shape, self.dtype = shape, "torch.float32"
        self.device = SimpleNamespace(type="cpu" if device is None else "cuda", index=device)
        self._storage = storage or Storage(4 * math.prod(shape), device)
        self._offset = offset
        self.grad: Any = None

    def untyped_storage(self) -> Storage:
        return self._storage

    def data_ptr(self) -> int:
        return self._storage.data_ptr() + self._offset


class Meta(Tensor):
    """A tensor without storage."""

    def __init__(self) -> None:
        super().__init__(1, device=None)
        self.device = SimpleNamespace(type="cuda", index=0)

    def untyped_storage(self) -> Storage:
        raise NotImplementedError("no storage")


def empty(*shape: int, device: int | None = 0) -> Tensor:
    return Tensor(*shape, device=device)
