"""Modules with hooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._tensors import Tensor


class Handle:
    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self.hooks, self.hook = hooks, hook
        hooks.append(hook)

    def remove(self) -> None:
        self.hooks.remove(self.hook)


class Module:
    def __init__(self, **parts: Any) -> None:
        self.parts = parts
        self.before: list[Any] = []
        self.after: list[Any] = []
        self.before_backward: list[Any] = []
        self.after_backward: list[Any] = []

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        yield prefix, self
        for name, part in self.parts.items():
            if isinstance(part, Module):
                yield from part.named_modules(f"{prefix}.{name}" if prefix else name)

    def _tensors(self, is_buffer: bool) -> Iterator[tuple[str, Tensor]]:
        for prefix, module in self.named_modules():
            for name, part in module.parts.items():
                if isinstance(part, Tensor) and name.startswith("buffer") == is_buffer:
                    yield f"{prefix}.{name}" if prefix else name, part

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        return self._tensors(False)

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        return self._tensors(True)

    def register_forward_pre_hook(self, hook: Any) -> Handle:
        return Handle(self.before, hook)

    def register_forward_hook(self, hook: Any, *, always_call: bool = False) -> Handle:
        assert always_call
        return Handle(self.after, hook)

    def register_full_backward_pre_hook(self, hook: Any) -> Handle:
        return Handle(self.before_backward, hook)

    def register_full_backward_hook(self, hook: Any) -> Handle:
        return Handle(self.after_backward, hook)

    def forward(self) -> None:
        for part in self.parts.values():
            if isinstance(part, Module):
                part()

    def __call__(self) -> None:
        for hook in list(self.before):
            hook(self, ())
        try:
            self.forward()
        finally:
            for hook in list(self.after):
                hook(self, (), None)

    def backward(self) -> None:
        for hook in list(self.before_backward):
            hook(self, ())
        for part in reversed(list(self.parts.values())):
            if isinstance(part, Module):
                part.backward()
        for hook in list(self.after_backward):
            hook(self, (), ())
