"""Annotations for the modules of a model: which of them allocates, in forward and in backward."""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Any

# More than that is no nesting, but spans that nobody ends.
_DEEPEST = 1000


class Trace:
    """Hooks on the modules of a model; made by `Recorder.trace`."""

    def __init__(self, torch: Any, model: Any, *, backward: bool, depth: int | None, most: int) -> None:
        """Prepare; `attach` sets the hooks.

        Raises:
            TypeError: It is no `torch.nn.Module`.

        """
        if not hasattr(model, "named_modules"):
            raise TypeError(f"expected a torch.nn.Module, not {type(model).__name__}")
        self._span = torch.autograd.profiler.record_function
        self._model = weakref.ref(model)
        self._backward, self._depth, self._most = backward, depth, most
        self.names: set[str] = set()
        """Names of the annotations, those of backward included."""
        self._handles: list[Any] = []
        self._open = threading.local()

    def attach(self) -> None:
        """Set the hooks, unless they are."""
        model = self._model()
        if model is None or self._handles:
            return
        named = [(name, module) for name, module in model.named_modules() if self._is_wanted(name)]
        # The outermost first: what is left out is inside of something.
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
            # After an exception as well.
            add(module.register_forward_hook(lambda module, inputs, output: self._end(name), always_call=True))
        except TypeError:  # before PyTorch 2.0
            add(module.register_forward_hook(lambda module, inputs, output: self._end(name)))
        if self._backward and hasattr(module, "register_full_backward_pre_hook"):
            back = f"{name} (backward)"
            self.names.add(back)
            add(module.register_full_backward_pre_hook(lambda module, gradients: self._begin(back)))
            add(module.register_full_backward_hook(lambda module, inputs, gradients: self._end(back)))

    def remove(self) -> None:
        """Remove the hooks. Spans that are open stay open until the module that is running returns."""
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.remove()

    def _stack(self) -> list[tuple[str, Any]]:
        # Backward runs in threads of its own, DataParallel's forward as well.
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
