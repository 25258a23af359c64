"""Annotations of the modules of a model, which show the module that allocates in forward and backward."""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Any

# Deeper nesting means that spans are not ended, so further ones are ignored.
_DEEPEST = 1000


class Trace:
    """Hooks on the modules of a model. Created by `Recorder.trace`."""

    def __init__(self, torch: Any, model: Any, *, backward: bool, depth: int | None, most: int) -> None:
        """Prepare the hooks. `attach` sets them.

        Raises:
            TypeError: The model is not a `torch.nn.Module`.

        """
        if not hasattr(model, "named_modules"):
            raise TypeError(f"expected a torch.nn.Module, not {type(model).__name__}")
        self._span = torch.autograd.profiler.record_function
        self._model = weakref.ref(model)
        self._backward, self._depth, self._most = backward, depth, most
        self.names: set[str] = set()
        """Names of the annotations, including those of backward."""
        self._handles: list[Any] = []
        self._open = threading.local()

    def attach(self) -> None:
        """Set the hooks, unless they are set already."""
        model = self._model()
        if model is None or self._handles:
            return
        named = [(name, module) for name, module in model.named_modules() if self._is_wanted(name)]
        # Outermost modules first, so that modules beyond the limit are covered by their parents.
        named.sort(key=lambda item: item[0].count(".") + bool(item[0]))
        for name, module in named[: self._most]:
            self._hook(name or type(module).__name__, module)

    def _is_wanted(self, name: str) -> bool:
        return self._depth is None or (name.count(".") + 1 if name else 0) <= self._depth

    def _hook(self, name: str, module: Any) -> None:
        self.names.add(name)
        add = self._handles.append
        add(module.register_forward_pre_hook(lambda module, inputs: self._begin(name)))
        try:
            # always_call: also after an exception.
            add(module.register_forward_hook(lambda module, inputs, output: self._end(name), always_call=True))
        except TypeError:  # before PyTorch 2.0
            add(module.register_forward_hook(lambda module, inputs, output: self._end(name)))
        if self._backward and hasattr(module, "register_full_backward_pre_hook"):
            back = f"{name} (backward)"
            self.names.add(back)
            add(module.register_full_backward_pre_hook(lambda module, gradients: self._begin(back)))
            add(module.register_full_backward_hook(lambda module, inputs, gradients: self._end(back)))

    def remove(self) -> None:
        """Remove the hooks. Open spans end when the enclosing modules return."""
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.remove()

    def _stack(self) -> list[tuple[str, Any]]:
        # Backward and DataParallel's forward run in other threads, so each thread has its own stack.
        if not hasattr(self._open, "stack"):
            self._open.stack = []
        stack: list[tuple[str, Any]] = self._open.stack
        return stack

    def _begin(self, name: str) -> None:
        stack = self._stack()
        if len(stack) < _DEEPEST:
            with contextlib.suppress(Exception):
                span = self._span(name)
                span.__enter__()
                stack.append((name, span))

    def _end(self, name: str) -> None:
        stack = self._stack()
        if not any(opened == name for opened, _ in stack):
            return
        while stack:
            opened, span = stack.pop()
            with contextlib.suppress(Exception):
                span.__exit__(None, None, None)
            if opened == name:
                return
