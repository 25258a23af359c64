"""A stand-in for PyTorch on a machine without a GPU: the allocator, its history and its observers as PyTorch has them.

It wraps its ring, calls the out-of-memory observer twice for one failure and keeps it for ever, forgets nothing when recording ends, and
raises when it is told to. Synchronising with the device is an error: a recorder has no business there.
"""

from __future__ import annotations

from types import SimpleNamespace

from . import autograd, cuda, nn, optim
from ._tensors import Tensor, empty

__version__ = "2.15.0"
version = SimpleNamespace(cuda="13.0", hip=None)
OutOfMemoryError = cuda.OutOfMemoryError
_C = SimpleNamespace(_cuda_attach_out_of_memory_observer=cuda.memory._observers.append)

__all__ = ["OutOfMemoryError", "Tensor", "autograd", "cuda", "empty", "nn", "optim"]
