"""Saving a snapshot on a signal."""

from __future__ import annotations

import contextlib
import os
import signal
import warnings
from collections.abc import Callable
from typing import Any

# Signals that are meant to end the program, and do so by default.
_ENDING = {signal.SIGTERM, signal.SIGINT}


class Handler:
    """Calls `save` on a signal, and then the previous handler."""

    def __init__(self, number: signal.Signals, save: Callable[[], None]) -> None:
        """Set the handler."""
        self._number = number
        self._save = save
        self._pid = os.getpid()
        self._before: Any = None
        self._is_set = False
        try:
            self._before = signal.signal(self._number, self._handle)
            self._is_set = True
        except ValueError:
            # Python allows this only in the main thread.
            warnings.warn(
                f"memscape: {self._number.name} is not handled: only the main thread can set handlers. Start the recorder there.",
                RuntimeWarning,
                stacklevel=5,
            )

    def _handle(self, number: int, frame: Any) -> None:
        # A forked process inherits the handler, but must not save.
        if os.getpid() == self._pid:
            self._save()
        if callable(self._before):
            self._before(number, frame)
        elif self._before == signal.SIG_DFL and (self._number in _ENDING or os.getpid() != self._pid):
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def remove(self) -> None:
        """Restore the previous handler, unless another one was set meanwhile."""
        if self._is_set:
            self._is_set = False
            with contextlib.suppress(ValueError):
                if signal.getsignal(self._number) == self._handle:
                    signal.signal(self._number, self._before if self._before is not None else signal.SIG_DFL)
