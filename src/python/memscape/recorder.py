"""Recording of PyTorch's allocator, with snapshots saved on triggers."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import signal
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from . import _facts, _files, _holders, _options, _ranks, _signals, _sources
from ._backend import Backend
from ._contributors import Contributor, Contributors
from ._files import Kept
from ._looking_back import LookingBack
from ._tensors import Named
from ._triggers import Bytes, Triggers

if TYPE_CHECKING:
    from .modules import Trace

ENTRIES = 1_000_000
# PyTorch may call the observer twice for a failed request. Calls within this time after a save are ignored.
_DEBOUNCE_S = 2.0
_MOST_STEPS = 10_000


# An attached observer cannot be detached, so one is attached per process. It forwards calls to the active recorder.
class _Process:
    active: weakref.ref[Recorder] | None = None
    observed: ClassVar[set[str]] = set()

    @classmethod
    def recorder(cls) -> Recorder | None:
        found = cls.active() if cls.active else None
        return found if found is not None and found.is_recording else None


class Recorder(LookingBack):
    """Records until `stop`. Created by `start`. Methods may be called from any thread.

    In a process forked from the one that started it, methods do nothing.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        entries: int = ENTRIES,
        stacks: str = "python",
        context: str | None = "all",
        every: int | None = None,
        steps: Collection[int] = (),
        on_new_peak: bool = False,
        on_growth: Bytes | None = None,
        on_oom: bool = True,
        on_exit: bool = True,
        on_signal: str | int | None = None,
        ranks: _ranks.Ranks = "all",
        mesh: Any = None,
        keep: int | None = 5,
        sources: bool = False,
        holders: _holders.Holders = "auto",
    ) -> None:
        """Start recording. See `start`."""
        self.folder = _options.folder(folder)
        self._triggers = Triggers(
            None if every is None else _options.whole("every", every, _options.EVERY),
            _options.numbers("steps", steps, _options.STEPS),
            _options.flag("on_new_peak", on_new_peak),
            _options.growth(on_growth),
        )
        self._entries = _options.whole("entries", entries, _options.ENTRIES)
        self._stacks = _options.choice("stacks", stacks, _options.STACKS)
        self._context = _options.choice("context", context, _options.CONTEXTS)
        self._on_oom, self._on_exit = _options.flag("on_oom", on_oom), _options.flag("on_exit", on_exit)
        self._sources, self._mesh = _options.flag("sources", sources), _options.mesh(mesh)
        signal_number, ranks = _options.signal_number(on_signal), _options.rank_numbers(ranks)
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._kept = Kept(None if keep is None else _options.whole("keep", keep, _options.KEEP))
        self._named = Named()
        self._contributors = Contributors()
        self._traces: list[Trace] = []
        self._marks: deque[list[int]] = deque(maxlen=_MOST_STEPS)
        self._range: Any = None
        self._began_us: int | None = None
        self._step = -1
        self._last_oom = float("-inf")
        self._oom: dict[str, int] | None = None
        # Id of the thread that is saving. Signals and failed allocations in this thread do not save again.
        self._saving: int | None = None
        self._writing: threading.Thread | None = None
        self._signal: _signals.Handler | None = None
        self._is_recording = False
        self._backend = Backend()
        self.contribute(_holders.contributor(_options.holders(holders), self._backend))
        if not _ranks.is_among(ranks):
            return
        if not self._backend.is_available():
            _warn("no GPU: nothing is recorded")
            return
        self._begin(signal_number)

    def _begin(self, on_signal: signal.Signals | None) -> None:
        other = _Process.recorder()
        if other is not None:
            raise RuntimeError(f"memscape records into {other.folder} already: stop that recorder first")
        self.folder.mkdir(parents=True, exist_ok=True)
        # Fail now rather than on the first save if the folder is not writable.
        with tempfile.TemporaryFile(dir=self.folder):
            pass
        self._backend.warn_if_nothing_is_recorded()
        if on_signal is not None:
            self._signal = _signals.Handler(on_signal, self._on_signal)
        try:
            self._backend.record(self._entries, self._stacks, self._context)
        except BaseException:
            if self._signal is not None:
                self._signal.remove()
            raise
        self._is_recording = True
        _Process.active = weakref.ref(self)
        if (
            self._on_oom
            and self._backend.name not in _Process.observed
            and self._backend.attach_out_of_memory_observer(_observe)
        ):
            _Process.observed.add(self._backend.name)
        atexit.register(self._at_exit)

    @property
    def is_recording(self) -> bool:
        """True while events are recorded. False without a GPU, on other ranks, after `stop` and in forked processes."""
        return self._is_recording and os.getpid() == self._pid

    @property
    def newest(self) -> Path | None:
        """Path of the newest snapshot."""
        self._join()
        return self._kept.newest

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
            self._close_step()
            raise
        self.end_step()

    def begin_step(self, number: int | None = None) -> int:
        """Begin a step that is not a block of code, and return its number. `end_step` ends it."""
        self._close_step()
        self._step = self._number_of_step(number)
        if self.is_recording:
            self._began_us = _facts.now_us()
            with contextlib.suppress(Exception):
                self._range = self._backend.torch.autograd.profiler.record_function(f"ProfilerStep#{self._step}")
                self._range.__enter__()
        return self._step

    def _number_of_step(self, number: int | None) -> int:
        try:
            return self._step + 1 if number is None else _options.whole("step", number, _options.STEP, -sys.maxsize)
        except (TypeError, ValueError) as error:
            # A wrong step number must not end the training run.
            _warn(f"step {self._step + 1} has the number after the last one: {error}")
            return self._step + 1

    def end_step(self) -> None:
        """End the current step, and save if a trigger fires."""
        if not self._close_step() or not self.is_recording:
            return
        try:
            live, peak = self._backend.live_bytes() if self._triggers.need_live_bytes else (0, 0)
        except Exception as error:
            _warn(f"memory_stats() failed: {error}")
            return
        reason = self._triggers.after(self._step, live, peak)
        if reason is not None:
            self._try_to_save(reason, wait=False)

    def _close_step(self) -> bool:
        (span, self._range), (began_us, self._began_us) = (self._range, None), (self._began_us, None)
        if began_us is None:
            return False
        if span is not None:
            with contextlib.suppress(Exception):
                span.__exit__(None, None, None)
        self._marks.append([self._step, began_us, _facts.now_us()])
        return True

    # Names and modules

    def name(self, *owners: Any, **named: Any) -> None:
        """Name the tensors of models and optimizers: parameters, gradients, buffers, optimizer states.

        Tensors are looked up only when a snapshot is saved, and objects are not kept alive. A keyword becomes a prefix:
        `rec.name(student=model)` yields names such as `student.layers.0.weight`.

        Raises:
            TypeError: An argument is neither a module nor an optimizer.

        """
        for owner in owners:
            self._named.add("", owner)
        for prefix, owner in named.items():
            self._named.add(f"{prefix}.", owner)

    def trace(self, model: Any, *, backward: bool = True, depth: int | None = None, most: int = 2000) -> Trace:
        """Annotate forward and backward of the modules in a model, so that the trace shows which module allocates.

        Hooks take a few µs per call of a module. They are removed by `stop`, or by `remove` of the returned object.

        Args:
            model: The module. It is not kept alive.
            backward: Also annotate backward. PyTorch's hooks for it forbid changing a module's output in place.
            depth: Number of levels of modules below the model. Defaults to all.
            most: Maximum number of modules, outermost first.

        Raises:
            TypeError: The model is not a `torch.nn.Module`, or an option has the wrong type.
            ValueError: `depth` is negative, or `most` is not positive.

        """
        from .modules import Trace

        _options.flag("backward", backward)
        depth = None if depth is None else _options.whole("depth", depth, "a number of levels, 0 or more, or None", 0)
        most = _options.whole("most", most, "a number of modules, 1 or more")
        trace = Trace(self._backend.torch, model, backward=backward, depth=depth, most=most)
        if self.is_recording:
            trace.attach()
        self._traces.append(trace)
        return trace

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
            The path, or None if nothing is recorded.

        Raises:
            OSError: The file cannot be written. No partial file is left behind.

        """
        if not re.fullmatch(r"[A-Za-z0-9-]{1,40}", reason):
            raise ValueError(f"reason={reason!r}: expected letters, digits and '-'")
        if not self.is_recording:
            return None
        with self._lock:
            return self._save(reason, Path(path) if path is not None else None, wait=True)

    def _try_to_save(self, reason: str, *, wait: bool, error: BaseException | None = None) -> None:
        """Save, and only warn on failure, so that the training run goes on."""
        if not self.is_recording or self._saving == threading.get_ident():
            return
        with self._lock:
            try:
                self._save(reason, None, wait=wait, error=error)
            except Exception as failure:
                _warn(f"no snapshot ({reason}): {type(failure).__name__}: {failure}")

    def _save(self, reason: str, path: Path | None, *, wait: bool, error: BaseException | None = None) -> Path:
        self._saving = threading.get_ident()
        try:
            self._join()
            snapshot = self._backend.snapshot()
            snapshot["memscape"] = self._describe(snapshot, reason, error)
            is_ours = path is None
            path = path or _files.unused(self.folder / _files.file_name(_ranks.rank(), self._step, reason))
            if wait:
                self._write(snapshot, path, reason if is_ours else None)
            else:
                # Not a daemon thread: the interpreter waits until the file is written.
                self._writing = threading.Thread(
                    target=self._write_or_warn, args=(snapshot, path, reason), name="memscape"
                )
                self._writing.start()
            return path
        finally:
            self._saving = None

    def _write(self, snapshot: dict[str, Any], path: Path, reason: str | None) -> None:
        _files.write(snapshot, path)
        if reason is not None:
            self._kept.add(path, reason)

    def _write_or_warn(self, snapshot: dict[str, Any], path: Path, reason: str) -> None:
        try:
            self._write(snapshot, path, reason)
        except Exception as failure:
            _warn(f"no snapshot ({reason}): {type(failure).__name__}: {failure}")

    def _join(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None and writing is not threading.current_thread():
            writing.join()

    def _describe(self, snapshot: dict[str, Any], reason: str, error: BaseException | None) -> dict[str, Any]:
        """Build the `memscape` key, whose layout is documented in _facts.py."""
        fields: dict[str, Any] = {"schema": _facts.SCHEMA, "reason": reason, "time_us": _facts.now_us()}
        try:
            fields.update(_facts.of_process(self._backend, self._mesh), settings=self._recording())
            if self._step >= 0:
                fields["step"] = self._step
            if error is not None:
                first = str(error).split("\n", 1)[0]
                fields["error"] = f"{type(error).__name__}: {first}"[:1000]
            if self._oom is not None and reason in ("oom", "error"):
                fields["oom"] = self._oom
            fields["steps"] = list(self._marks)
            fields["devices"] = _facts.of_devices(self._backend, ask_driver=reason != "oom")
            fields.update(_facts.of_current(self._backend, fields["devices"]))
            fields["tensors"], left_out = self._named.tensors()
            if left_out:
                fields["tensors_left_out"] = left_out
            if self._sources:
                fields["source"] = _sources.of_stacks(snapshot)
        except Exception as failure:
            _warn(f"the snapshot says less of its run: {type(failure).__name__}: {failure}")
        return {**fields, **self._contributors.fields(reason, snapshot, _warn)}

    def _recording(self) -> dict[str, Any]:
        return {"entries": self._entries, "stacks": self._stacks, "context": self._context}

    # Events

    def _out_of_memory(self, device: int, requested: int, limit: int, free: int) -> None:
        now = time.monotonic()
        if not self._on_oom or now - self._last_oom < _DEBOUNCE_S or self._saving == threading.get_ident():
            return
        self._oom = {"device": device, "requested_bytes": requested, "limit_bytes": limit, "free_bytes": free}
        self._try_to_save("oom", wait=True)
        # Measured from the end of the save, because a dump may take longer than the debounce time.
        self._last_oom = time.monotonic()

    def _on_signal(self) -> None:
        self._try_to_save("signal", wait=True)

    def _at_exit(self) -> None:
        # Exception that ended the program. In an interactive session it may be unrelated.
        error = None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)
        self._end(error if isinstance(error, BaseException) else None, save=self._on_exit)

    def _end(self, error: BaseException | None, *, save: bool) -> None:
        if save and self.is_recording:
            is_told = error is not None and self._oom is not None and "OutOfMemory" in type(error).__name__
            if error is None or isinstance(error, SystemExit):
                self._try_to_save("exit", wait=True)
            elif not is_told:
                self._try_to_save("error", wait=True, error=error)
        self.stop()

    def stop(self) -> None:
        """Stop recording, remove hooks and handlers, and wait for files being written. Saves nothing.

        May be called more than once.
        """
        if not self.is_recording:
            return
        with self._lock:
            self._close_step()
            self._is_recording = False
            if _Process.active is not None and _Process.active() is self:
                _Process.active = None
            if self._signal is not None:
                self._signal.remove()
            for trace in self._traces:
                trace.remove()
            atexit.unregister(self._at_exit)
            try:
                self._backend.stop()
            except Exception as error:
                _warn(f"recording could not be switched off: {error}")
            self._join()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._end(error, save=self._on_exit)


def _observe(device: int, requested: int, limit: int, free: int) -> None:
    """Forward a failed allocation. Runs inside the failing call, whose error must not be hidden by one in here."""
    try:
        recorder = _Process.recorder()
        if recorder is not None:
            recorder._out_of_memory(device, requested, limit, free)
    except BaseException as error:
        with contextlib.suppress(BaseException):
            _warn(f"no snapshot (oom): {type(error).__name__}: {error}")


def _warn(text: str) -> None:
    # With -W error a warning becomes an exception, which must not end the training run.
    try:
        warnings.warn(f"memscape: {text}", RuntimeWarning, stacklevel=3)
    except RuntimeWarning:
        print(f"memscape: {text}", file=sys.stderr)


def active() -> Recorder | None:
    """Return the recorder that records in this process, or None."""
    return _Process.recorder()


def start(folder: str | os.PathLike[str], **options: Any) -> Recorder:
    """Start recording and return the recorder.

    Start before the model is built, so that the trace includes the allocation of its parameters.

    Args:
        folder: Folder for snapshots, created if missing. Files have names such as `rank00003_step000120_oom.pickle.gz`.
        **options: Options of `Recorder`:
            entries (int): number of newest events to keep per device; 1,000,000. Each takes some KiB of host memory.
            stacks (str): "python", or "all" to include C++ frames; dumps then take minutes.
            context (str or None): events that stacks are recorded for: "all", "alloc", "state" or None.
            every (int): save after every this many completed steps.
            steps (collection of int): save after the steps with these numbers.
            on_new_peak (bool): save after a step whose peak is 1 % above the highest one so far.
            on_growth (int or str): save when live memory after a step has grown by this size: bytes, or "256MiB".
            on_oom (bool): save when an allocation fails; True.
            on_exit (bool): save at the end of the program or of the with block, also after an error; True.
            on_signal (str or int): save on this signal, such as "SIGUSR2". SIGTERM and SIGINT still end the program.
            ranks (str or collection of int): ranks that record: "all", "0,8-15", {0, 8}.
            mesh: coordinates of the rank: {"dp": 1, "tp": 0}, or a DeviceMesh.
            keep (int or None): number of newest files to keep of each reason, 1 or more; 5. None keeps all.
            sources (bool): embed the user's source files that occur in stacks; False.
            holders (str, bool or int): number of the largest allocations for which the objects that keep them alive are
                looked up, or "auto" for 24. Not after steps and new peaks. Training waits for about a second. False for none.

    Raises:
        ImportError: PyTorch is not installed.
        OSError: The folder cannot be created or written to.
        RuntimeError: Another recorder is recording.
        TypeError: An option has the wrong type.
        ValueError: An option has an invalid value.

    """
    return Recorder(folder, **options)


def record(folder: str | os.PathLike[str], **options: Any) -> Recorder:
    """Record a block of code: `with memscape.record("runs/a"): train()`.

    Saves at the end of the block and on any error, then stops. Options and errors are those of `start`.
    """
    return Recorder(folder, **options)
