"""Recording of PyTorch's allocator, with snapshots saved on triggers."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from . import _facts, _holders, _ranks, _saving, _signals
from ._backend import Backend
from ._contributors import Contributor, Contributors
from ._description import Description
from ._failures import Failures
from ._history import History
from ._naming import Naming
from ._paused import Paused
from ._samples import Samples
from ._settings import ENTRIES, Settings
from ._steps import Steps
from ._tensors import Named
from ._tracking import Tracked, Tracking
from ._warnings import warn

if TYPE_CHECKING:
    from .modules import Trace

__all__ = ["ENTRIES", "Recorder"]


# An attached observer cannot be detached, so one is attached per process. It forwards calls to the active recorder.
class _Process:
    active: weakref.ref[Recorder] | None = None
    observed: ClassVar[set[str]] = set()

    @classmethod
    def recorder(cls) -> Recorder | None:
        found = cls.active() if cls.active else None
        return found if found is not None and found.is_recording else None


class Recorder(Naming, Tracked):
    """Records until `stop`. Created by `start`. Methods may be called from any thread.

    In a process forked from the one that started it, methods do nothing.
    """

    def __init__(self, folder: str | os.PathLike[str], **options: Any) -> None:
        """Start recording. See `start`."""
        self._options = Settings(folder, **options)
        self.folder = self._options.path
        self._pid = os.getpid()
        self._traces: list[Trace] = []
        self._is_recording = self._is_begun = False
        # Whether the last snapshot is being saved.
        self._is_ending = False
        self._signals: _signals.Handler | None = None
        self._saved_state: tuple[object, Path | None] | None = None
        self._backend = backend = Backend()
        self._steps, self._named, self._contributors = Steps(backend), Named(), Contributors()
        self._history = History(backend, self._options.entries, self._options.stacks, self._options.context)
        self._paused = Paused(backend)
        self._samples = Samples(backend, self._options.sample_every, self._options.sample_s)
        holders = _holders.contributor(self._options.holders, backend)
        for contributor in (self._history.field, self._paused.field, self._samples.field, holders):
            self._contributors.add(contributor)
        describe = Description(
            backend, self._options, self._steps, self._named, contributors=self._contributors, history=self._history
        )
        self._saver = _saving.Saver(backend, self.folder, self._options.keep, describe, self._steps)
        self._tracking = Tracking(backend, self._paused.bytes_now)
        self._saver.on_saved = self._tracking.after_save
        self._failures = Failures(backend, self._saver, describe, self._paused.bytes_now)
        if not _ranks.is_among(self._options.ranks):
            return
        if not backend.is_available():
            warn("no GPU: nothing is recorded")
            return
        self._begin()

    def _begin(self) -> None:
        other = _Process.recorder()
        if other is not None and self._options.replace:
            other.stop()
        elif other is not None:
            raise RuntimeError(f"memscape records into {other.folder} already: stop that recorder first")
        _saving.check_writable(self.folder)
        self._backend.warn_if_nothing_is_recorded()
        self._backend.import_what_snapshots_need()
        _facts.import_nvml()
        if self._options.signals:
            self._signals = _signals.Handler(self._options.signals, self._on_signal, self._saver.is_saving)
            self._saver.after_save = self._signals.handle_deferred
        self._is_recording = True
        _Process.active = weakref.ref(self)
        try:
            self._history.wrap()
            self._paused.start()
            self._begin_when_initialized()
        except BaseException:
            self.stop()
            raise
        atexit.register(self._at_exit)

    def _begin_when_initialized(self) -> None:
        """Begin recording once the device is initialized. PyTorch does not keep the recorder alive until then."""
        is_later = False
        reference = weakref.ref(self)

        def begin() -> None:
            recorder = reference()
            try:
                if recorder is not None:
                    recorder._begin_on_device()
            except Exception as failure:
                if not is_later:
                    raise
                # The program is using the GPU for the first time, which must not fail.
                warn(f"nothing is recorded: {type(failure).__name__}: {failure}")

        self._backend.when_initialized(begin)
        is_later = True

    def _begin_on_device(self) -> None:
        if not self.is_recording or self._is_begun:
            return
        self._history.start()
        self._is_begun = True
        if (
            self._options.on_oom
            and self._backend.name not in _Process.observed
            and self._backend.attach_out_of_memory_observer(_observe)
        ):
            _Process.observed.add(self._backend.name)
        self._samples.start()

    @property
    def is_recording(self) -> bool:
        """True while events are recorded. False without a GPU, on other ranks, after `stop` and in forked processes.

        Also true until PyTorch initializes CUDA, which is when recording begins.
        """
        return self._is_recording and os.getpid() == self._pid

    @property
    def newest(self) -> Path | None:
        """Path of the newest snapshot."""
        self._saver.join()
        return self._saver.kept.newest

    # Steps

    @contextlib.contextmanager
    def step(self, number: int | None = None) -> Iterator[int]:
        """Mark a training step, and save after it if a trigger fires.

        The trace gets the annotation `ProfilerStep#number`. Without a number, the previous one is incremented.
        """
        number = self.begin_step(number)
        try:
            yield number
        except BaseException:
            self._steps.close()
            raise
        self.end_step()

    def begin_step(self, number: int | None = None) -> int:
        """Begin a step that is not a block of code, and return its number. `end_step` ends it."""
        return self._steps.begin(number, is_recording=self.is_recording)

    def end_step(self) -> None:
        """End the current step, and save if a trigger fires."""
        if not self._steps.close() or not self.is_recording or not self._is_begun:
            return
        live = peak = 0
        try:
            self._history.check()
            counters = self._backend.counters(self._backend.current_device())
            live, peak = counters.live, counters.live_peak
            self._steps.ended(live, peak)
            self._samples.after_step(counters)
        except Exception as error:
            warn(f"the counters of the allocator cannot be read: {error}")
            if self._options.triggers.need_live_bytes:
                return
        self._tracking.after_step(self._steps.number)
        step = self._steps.number
        reason = self._options.triggers.after(step, live, peak)
        self._saver.save_after_step(reason, is_named=step in self._options.triggers.steps)

    def cancel_step(self) -> None:
        """End the current step as if it had not begun, and save nothing."""
        self._steps.cancel()

    # Saving

    def contribute(self, contributor: Contributor) -> None:
        """Add a field to each snapshot that is saved from now on. See `_contributors.Contributor`."""
        self._contributors.add(contributor)

    def save(self, path: str | os.PathLike[str] | None = None, reason: str = "manual") -> Path | None:
        """Save a snapshot now and return its path.

        Args:
            path: File to write, gzipped if it ends in `.gz`. Defaults to a file in the folder, named by rank, step and
                reason.
            reason: Reason for saving, as a word of letters, digits and `-`.

        Returns:
            The path, or None if nothing is recorded, for example because nothing has used the GPU yet.

        Raises:
            OSError: The file cannot be written. No partial file is left behind.

        """
        if not re.fullmatch(r"[A-Za-z0-9-]{1,40}", reason):
            raise ValueError(f"reason={reason!r}: expected letters, digits and '-'")
        if not self.is_recording or not self._is_begun:
            return None
        self._history.check()
        state = self._state()
        saved = self._saver.save(reason, Path(path) if path is not None else None)
        self._saved_state = (state, saved) if state is not None else None
        return saved

    # Events

    def _on_signal(self) -> None:
        # A launcher terminates the other ranks when one fails, and they may have failed as well.
        if self.is_recording and self._is_begun and not self._is_ending:
            self._saver.try_to_save("signal")

    def _at_exit(self) -> None:
        # Exception that ended the program. In an interactive session it may be unrelated.
        error = None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)
        self._end(error if isinstance(error, BaseException) else None)

    def _end(self, error: BaseException | None) -> None:
        if self._options.on_exit and self.is_recording and self._is_begun:
            self._is_ending = True
            self._saver.drop_postponed()
            if error is None or isinstance(error, SystemExit):
                self._saver.try_to_save("exit")
            elif not (self._options.on_oom and self._failures.save_fatal(error)):
                self._saver.try_to_save("error", error=error)
        self.stop()

    def stop(self) -> None:
        """Stop recording, remove hooks and handlers, and wait for files being written.

        Saves only what was postponed after a step. May be called more than once.
        """
        if not self.is_recording:
            return
        self._steps.close()
        self._saver.save_postponed()
        self._is_recording = False
        if _Process.active is not None and _Process.active() is self:
            _Process.active = None
        if self._signals is not None:
            self._signals.remove()
        self._paused.stop()
        self._samples.stop()
        for trace in self._traces:
            trace.remove()
        atexit.unregister(self._at_exit)
        try:
            self._history.stop()
        except Exception as error:
            warn(f"recording could not be switched off: {error}")
        self._saver.join()
        self._tracking.join()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._end(error)


def active() -> Recorder | None:
    """Return the recorder that records in this process, or None."""
    return _Process.recorder()


def _observe(device: int, requested: int, limit: int, free: int) -> None:
    """Forward a failed allocation. Runs inside the failing call, whose error must not be hidden by one in here."""
    try:
        recorder = _Process.recorder()
        if recorder is not None and recorder._options.on_oom:
            recorder._failures.failed(device, requested, limit, free)
            recorder._tracking.flush()
    except BaseException as error:
        with contextlib.suppress(BaseException):
            warn(f"no snapshot (oom): {type(error).__name__}: {error}")
