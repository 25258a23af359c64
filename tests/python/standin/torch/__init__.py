"""A stand-in for PyTorch on machines without a GPU, with its allocator, memory history and observers.

Like PyTorch, it overwrites the oldest events of a full history, calls the out-of-memory observer twice per failure and never detaches it,
and keeps the history when recording ends. Tests can make it raise. Synchronising with the device is an error, because a recorder must not.
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
