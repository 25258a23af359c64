"""Training steps of a program that is not changed: they end with the updates of its optimizers."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recorder import Recorder

# Optimizers whose states are named.
_MAX_NAMED = 16
# Updates of the first optimizer, without one of the last, after which the last is taken to be unused.
_PATIENCE = 16


class OptimizerSteps:
    """Ends a step when the last of the optimizers that take turns has made its update.

    In the first step it is not known which one is the last: that step ends when a module is called again.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._pid = os.getpid()
        self._handles: list[Any] = []
        self._forward: Any = None
        self._known: list[weakref.ref[Any]] = []
        self._last: weakref.ref[Any] | None = None
        self._is_first_step = True
        self._is_pending = False
        self._updates_without_last = 0

    def install(self) -> None:
        """Begin the first step, and set the hooks, which PyTorch has since 2.0."""
        self._recorder.begin_step()
        try:
            from torch.optim.optimizer import register_optimizer_step_post_hook
        except ImportError:
            return
        self._handles.append(register_optimizer_step_post_hook(self._after_update))
        try:
            from torch.optim.optimizer import register_optimizer_step_pre_hook
        except ImportError:
            return
        self._handles.append(register_optimizer_step_pre_hook(self._before_update))

    def finish(self, error: BaseException | None) -> None:
        """Remove the hooks. Without an error, what follows the last update is no step."""
        for handle in self._handles:
            handle.remove()
        self._end_pending()
        if os.getpid() == self._pid and self._known and (error is None or isinstance(error, SystemExit)):
            self._recorder.cancel_step()

    def _before_update(self, optimizer: Any, *_: Any) -> None:
        if self._known and self._known[0]() is optimizer:
            self._end_pending()
            self._is_first_step = False

    def _after_update(self, optimizer: Any, *_: Any) -> None:
        if os.getpid() != self._pid:
            return
        # An optimizer that is new ends the steps after this one.
        is_last = self._last is not None and self._last() is optimizer
        if not any(known() is optimizer for known in self._known):
            self._add(optimizer)
        if self._is_first_step:
            self._wait_for_forward()
        elif is_last:
            self._end()
        elif self._known[0]() is optimizer:
            self._updates_without_last += 1
            if self._updates_without_last > _PATIENCE:
                self._last = self._known[0]
                self._end()

    def _add(self, optimizer: Any) -> None:
        # Optimizers that no longer exist make no more updates.
        self._known = [known for known in self._known if known() is not None]
        self._known.append(weakref.ref(optimizer))
        if len(self._known) <= _MAX_NAMED:
            self._recorder.name(optimizer)
        self._last = self._known[-1]

    def _wait_for_forward(self) -> None:
        self._is_pending = True
        if self._forward is None:
            try:
                from torch.nn.modules.module import register_module_forward_pre_hook
            except ImportError:
                self._end_pending()
            else:
                # Removed by the first call, because such a hook slows down the calls of all modules.
                self._forward = register_module_forward_pre_hook(lambda *_: self._end_pending())

    def _end_pending(self) -> None:
        handle, self._forward = self._forward, None
        if handle is not None:
            handle.remove()
        if self._is_pending:
            self._end()

    def _end(self) -> None:
        self._is_pending, self._is_first_step, self._updates_without_last = False, False, 0
        self._recorder.end_step()
        self._recorder.begin_step()
