"""Saving a snapshot on signals, also while the main thread does not run Python."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Collection
from typing import Any

from ._warnings import warn

# Signals that are meant to end the program, and do so by default.
_ENDING = {signal.SIGTERM, signal.SIGINT}
# Maximum number of snapshots per minute. Many signals must not stop the training.
_MOST_A_MINUTE = 20
# Time in s that a handler waits for a snapshot that the thread saves.
_PATIENCE_S = 60.0
# Time in s after the snapshot, after which a signal ends the program although the main thread is still in C.
_GRACE_S = 5.0
# Written to the pipe to end the thread. No signal has this number.
_STOP = b"\0"


class Handler:
    """Calls `save` on signals, and then the previous handlers.

    Python runs handlers in the main thread once it returns from C. In a collective operation or a synchronization that
    hangs it never does. So a thread reads the signals from Python's wakeup descriptor, and saves meanwhile.
    """

    def __init__(
        self, numbers: Collection[signal.Signals], save: Callable[[], None], is_saving: Callable[[], bool]
    ) -> None:
        """Set the handlers. `is_saving` returns whether the current thread is saving a snapshot."""
        self._save, self._is_saving = save, is_saving
        self._pid = os.getpid()
        self._before: dict[int, Any] = {}
        self._times: deque[float] = deque(maxlen=_MOST_A_MINUTE)
        # Held while signals are taken from the pipe and the snapshot for them is saved.
        self._busy = threading.RLock()
        # Signals that interrupted a save. They are handled once it is complete.
        self._deferred: list[tuple[int, Any]] = []
        self._main_handles_ending = threading.Event()
        self._pipe: tuple[int, int] | None = None
        self._wakeup_before = -1
        self._is_removed = False
        try:
            for number in sorted(numbers):
                self._before[number] = signal.signal(number, self._handle)
        except ValueError:
            # Python allows this only in the main thread.
            names = ", ".join(number.name for number in sorted(numbers))
            warn(f"{names} is not handled: only the main thread can set handlers. Start the recorder there.")
            return
        self._watch()

    def _watch(self) -> None:
        if not hasattr(select, "poll"):  # Windows, where the handlers of the main thread have to do
            return
        reader, writer = self._pipe = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        self._wakeup_before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        _handlers.add(self)
        threading.Thread(target=self._serve, args=(reader,), name="memscape-signals", daemon=True).start()

    def _serve(self, reader: int) -> None:
        """Handle signals in the thread until `remove` is called."""
        poll = select.poll()
        poll.register(reader, select.POLLIN)
        while poll.poll() and (numbers := self._take(reader)) is not None:
            ending = [number for number in numbers if self._ends_program(number)]
            if ending and not self._main_handles_ending.wait(_GRACE_S):
                _end_program(ending[0])
        os.close(reader)

    def _ends_program(self, number: int) -> bool:
        return number in _ENDING and self._before.get(number) == signal.SIG_DFL

    def _take(self, reader: int) -> list[int] | None:
        """Take the pending signals from the pipe, and save once for all of them. Returns None after `remove`."""
        with self._busy:
            try:
                data = os.read(reader, 4096)
            except BlockingIOError:
                return []
            except OSError:
                return None
            if self._wakeup_before >= 0:
                # asyncio may wait for signals there.
                with contextlib.suppress(OSError):
                    os.write(self._wakeup_before, data.replace(_STOP, b""))
            numbers = [number for number in data if number in self._before]
            if numbers and self._may_save(numbers):
                self._times.append(time.monotonic())
                self._save()
            return None if self._pipe is None or _STOP in data else numbers

    def _may_save(self, numbers: list[int]) -> bool:
        is_rare = len(self._times) < _MOST_A_MINUTE or time.monotonic() - self._times[0] > 60
        return is_rare or any(number in _ENDING for number in numbers)

    def _handle(self, number: int, frame: Any) -> None:
        """Handle a signal in the main thread."""
        pipe = self._pipe
        # A forked process inherits the handler, but must not save.
        if os.getpid() == self._pid and not self._is_removed:
            if number in _ENDING:
                self._main_handles_ending.set()
            if self._is_saving():
                self._deferred.append((number, frame))
                return
            # If the thread has taken the signal already, this waits until it has saved.
            if pipe is None:
                self._save()
            elif self._busy.acquire(timeout=_PATIENCE_S):
                try:
                    self._take(pipe[0])
                finally:
                    self._busy.release()
        self._pass_on(number, frame)

    def handle_deferred(self) -> None:
        """Handle the signals that interrupted a save. Called after each save."""
        if threading.current_thread() is not threading.main_thread():
            return
        while self._deferred and not self._is_saving():
            self._handle(*self._deferred.pop(0))

    def _pass_on(self, number: int, frame: Any) -> None:
        before = self._before.get(number)
        if callable(before):
            before(number, frame)
        elif before == signal.SIG_DFL and (number in _ENDING or os.getpid() != self._pid):
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def remove(self) -> None:
        """Restore the previous handlers and descriptor, unless others were set meanwhile."""
        if self._is_removed or os.getpid() != self._pid:
            return
        self._is_removed = True
        pipe, self._pipe = self._pipe, None
        _handlers.discard(self)
        with contextlib.suppress(ValueError):  # not the main thread
            if pipe is not None:
                self._restore_wakeup(pipe[1])
            for number, before in self._before.items():
                if signal.getsignal(number) == self._handle:
                    signal.signal(number, before if before is not None else signal.SIG_DFL)
        if pipe is not None:
            with contextlib.suppress(OSError):
                os.write(pipe[1], _STOP)

    def _restore_wakeup(self, writer: int) -> None:
        current = signal.set_wakeup_fd(-1)
        others = current if current != writer else self._wakeup_before
        if others >= 0:
            with contextlib.suppress(OSError, ValueError):
                signal.set_wakeup_fd(others, warn_on_full_buffer=False)

    def forget_in_child(self) -> None:
        """Detach a forked process from the pipe, through which its signals would reach the parent."""
        pipe, self._pipe = self._pipe, None
        if pipe is None:
            return
        with contextlib.suppress(ValueError, OSError):
            current = signal.set_wakeup_fd(-1)
            if current != pipe[1]:
                signal.set_wakeup_fd(current)
        for descriptor in pipe:
            with contextlib.suppress(OSError):
                os.close(descriptor)


_handlers: weakref.WeakSet[Handler] = weakref.WeakSet()


def _forget_in_child() -> None:
    for handler in list(_handlers):
        handler.forget_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)


def _end_program(number: int) -> None:
    """End the program by a signal, from a thread: only the main thread may restore the default action in Python."""
    try:
        import ctypes

        restore = ctypes.CDLL(None).signal
        restore.argtypes = [ctypes.c_int, ctypes.c_void_p]
        restore(int(number), None)
        os.kill(os.getpid(), number)
    except (ImportError, OSError, AttributeError):
        os._exit(128 + number)
