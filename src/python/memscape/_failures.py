"""Reaction to failed allocations: a text about the cause, and a snapshot.

It runs inside the failing call, in the thread that failed. PyTorch has released its lock by then, and this thread holds
Python's. So nothing here calls CUDA, imports modules, waits for other threads for long, or raises.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Callable

from . import _files, _ranks, _saved_verdict, _verdict
from ._backend import Backend
from ._call_sites import CallSites, library_folders
from ._collector import paused_collector
from ._description import Description
from ._memory_state import MemoryState, memory_state
from ._saving import Saver
from ._verdict_output import VerdictOutput
from ._warnings import warn

# Programs that search for a batch size handle many failures. So many are explained and saved, and after that one a
# minute is saved.
_MOST_FULL = 3
_SAVE_AGAIN_S = 60.0
_SETTINGS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
# Time in s after which nothing more is done about a failure.
_LIMIT_S = 60.0


@dataclass
class _Request:
    """A failed request."""

    device: int
    size: int
    limit: int
    free: int
    thread: int = field(default_factory=threading.get_ident)
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    """When its snapshot was complete."""
    key: object = None
    """Equal for repeated calls of the observer about the same request."""
    failure: _verdict.Failure | None = None

    @property
    def what(self) -> object:
        """Return the code and the size. Failures with the same ones have the same explanation."""
        return self.failure and (self.failure.asked_by, self.device, self.size)

    def is_of(self, error: BaseException) -> bool:
        """Return whether an exception names this size, or names none and is raised soon after."""
        text = str(error)
        if "Tried to allocate" not in text:
            return time.monotonic() - (self.ended or self.began) < _SAVE_AGAIN_S
        return any(f"Tried to allocate {it}" in text for it in (_as_pytorch(self.size), f"{self.size} bytes"))


@dataclass
class _Text:
    """What was printed before a snapshot is saved."""

    text: str = ""
    has_advice: bool = False
    snapshot: dict[str, Any] | None = None
    """The snapshot, if it had to be taken for the text."""


class Failures:
    """Explains failed allocations and saves snapshots of them."""

    def __init__(
        self, backend: Backend, saver: Saver, description: Description, paused_bytes: Callable[[], int]
    ) -> None:
        self._backend, self._saver, self._description = backend, saver, description
        self._steps, self._paused_bytes = description.steps, paused_bytes
        self._output = VerdictOutput(description.options.verdict, description.options.path)
        self._libraries = library_folders(backend.torch)
        self._lock = threading.Lock()
        self._host = socket.gethostname()
        self._count = 0
        self._explained: set[object] = set()
        self._newest: _Request | None = None
        self._saved: _Request | None = None

    def failed(self, device: int, requested: int, limit: int, free: int) -> None:
        """React to a failed allocation in this thread."""
        request = _Request(device, requested, limit, free)
        with contextlib.suppress(Exception):
            request.failure = self._failure(request)
        # Several threads fail at once if the GPU is full. One of them says it for all.
        if self._saver.is_saving() or not self._lock.acquire(blocking=False):
            self._newest = request
            return
        try:
            with paused_collector():
                self._react(request)
        finally:
            self._lock.release()

    def _react(self, request: _Request) -> None:
        request.key = (request.thread, request.device, request.size, self._place(request))
        if self._newest is not None and self._newest.key == request.key:
            return
        self._newest = request
        self._count += 1
        # Such as a worker of a DataLoader, which goes on with the next item.
        is_repeated = request.what in self._explained
        self._explained.add(request.what)
        is_new = self._count <= _MOST_FULL and not is_repeated
        is_full = is_new and self._output.is_first_rank()
        is_due = self._saved is None or request.began - (self._saved.ended or 0) >= _SAVE_AGAIN_S
        saves = is_new or is_due
        if not is_full and request.failure is not None:
            self._output.write(_verdict.cut([_verdict.one_line(request.failure)]))
        if saves:
            self._save(request, is_full=is_full)

    def _place(self, request: _Request) -> object:
        """Return a value that differs between two requests: PyTorch's count of failures, or the running instruction."""
        with contextlib.suppress(Exception):
            count = self._backend.counters(request.device).ooms
            if count is not None:
                return count
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
            frame = frame.f_back
        return frame and (id(frame), frame.f_lasti)

    def _failure(self, request: _Request) -> _verdict.Failure:
        counters = self._backend.counters(request.device)
        variable = next((name for name in _SETTINGS if os.environ.get(name)), _SETTINGS[0])
        place, worker = self._steps.place, _worker()
        # Processes that load data run no steps.
        step = f", {place}" if place and (self._steps.ends or not worker) else ""
        return _verdict.Failure(
            where=f"rank {_ranks.rank()}, {self._host}, GPU {request.device}{step}{worker}{_thread()}",
            asked_by=self._asked_by(),
            device=request.device,
            requested=request.size,
            limit=request.limit,
            free=request.free,
            capacity=self._backend.capacity(request.device),
            live=counters.live,
            live_blocks=counters.blocks,
            reserved=counters.reserved,
            paused=self._paused_bytes(),
            settings=os.environ.get(variable, ""),
            settings_variable=variable,
            steps=list(self._steps.ends),
            growth=self._steps.growth(),
            peak_before=self._steps.peak,
        )

    def _asked_by(self) -> str:
        site = CallSites(self._libraries).of_running(sys._getframe(1))
        # Backward runs in threads of autograd, which have no Python frames.
        node = getattr(self._backend.torch._C, "_current_autograd_node", lambda: None)()
        if node is None:
            return site or "code without a Python frame of yours"
        name = type(node).__name__
        with contextlib.suppress(Exception):
            name = str(node.name()).rpartition("::")[2]
        return f"{name} in backward" + (f" ({site})" if site else "")

    def _save(self, request: _Request, *, is_full: bool) -> None:
        text = _Text()
        if request.failure is not None and not self._output.is_off:
            # An error in the text must not keep the snapshot from being saved.
            try:
                text = self._explain_counters(request, request.failure, is_full=is_full)
            except Exception as error:
                warn(f"a failed allocation is not explained: {type(error).__name__}: {error}")
        self._description.oom = {
            "device": request.device,
            "requested_bytes": request.size,
            "limit_bytes": request.limit,
            "free_bytes": request.free,
        }
        path = self._saver.try_to_save("oom", snapshot=text.snapshot)
        if path is None:
            return
        request.ended = time.monotonic()
        self._saved = request
        if not self._output.is_off:
            more = self._explain_snapshot(path, request, has_advice=text.has_advice) if is_full else ""
            _write_text(path, text.text + more)

    def _explain_counters(self, request: _Request, failure: _verdict.Failure, *, is_full: bool) -> _Text:
        """Print what the counters and the blocks say."""
        heading = _verdict.heading(failure)
        taken, snapshot = self._backend.state(), None
        if taken is None:
            # Before PyTorch 2.11 the blocks take as long as the whole snapshot, 2 s for 1 M events.
            if is_full:
                self._output.write(_verdict.cut(heading))
            taken = snapshot = self._backend.snapshot()
        state = self._state(taken, request)
        details = [] if state is None else _verdict.details(failure, state)
        text = _verdict.cut([*heading, *details])
        if is_full:
            self._output.write(text if snapshot is None else _verdict.cut(details))
        return _Text(text, state is not None and _verdict.setting_to_change(failure, state) is not None, snapshot)

    def _state(self, snapshot: dict[str, Any], request: _Request) -> MemoryState | None:
        try:
            stream = self._backend.current_stream(request.device)
            name = CallSites(self._libraries).name
            return memory_state(snapshot["segments"], request.device, request.size, stream, name)
        except (KeyError, TypeError, ValueError):
            return None

    def _explain_snapshot(self, path: Path, request: _Request, *, has_advice: bool) -> str:
        """Print what the saved snapshot says."""
        saved = time.monotonic()
        left = min(_LIMIT_S - (saved - request.began), _saved_verdict.LIMIT_S)
        topics = ("savings", "leaks") if self._steps.growth() is None else ("leaks", "savings")
        statements = _saved_verdict.read_statements(path, topics, left) if left > 0 else None
        read_s = time.monotonic() - saved
        lines = _saved_verdict.lines(path, saved - request.began, read_s, statements, has_advice=has_advice)
        text = _verdict.cut(lines, _saved_verdict.MAX_LINES, max_line=_verdict.MAX_BYTES)
        self._output.write(text)
        return text

    def is_saved(self, error: BaseException) -> bool:
        """Return whether the failed allocation that an exception is about has been saved."""
        newest, saved = self._newest, self._saved
        if newest is None or saved is None or not saved.is_of(error):
            return False
        # A thread that failed while another one saved is in the snapshot of that one.
        return newest is saved or saved.began <= newest.began <= (saved.ended or saved.began)

    def save_fatal(self, error: BaseException) -> bool:
        """Save the failed allocation that ends the program, if it was not saved when it failed.

        Returns False if the error is not about a failed allocation that was seen.
        """
        newest = self._newest
        if "OutOfMemory" not in type(error).__name__ or newest is None:
            return False
        if self.is_saved(error):
            return True
        if not newest.is_of(error):
            return False
        with contextlib.suppress(Exception):
            newest.began = time.monotonic()
            self._save(newest, is_full=self._output.is_first_rank())
        return self._saved is newest


def _worker() -> str:
    """Return the name of a process that the program started, as the end of a text."""
    data = sys.modules.get("torch.utils.data._utils.worker")
    number = getattr(getattr(data, "_worker_info", None), "id", None)
    if number is not None:
        return f", DataLoader worker {number}"
    processes = sys.modules.get("multiprocessing.process")
    if getattr(processes, "_parent_process", None) is None:
        return ""
    return f", process {getattr(getattr(processes, '_current_process', None), 'name', os.getpid())}"


def _thread() -> str:
    """Return the name of a thread that the program started, as the end of a text."""
    # Threads of C++, such as those of autograd, have no name of the program's.
    thread = threading._active.get(threading.get_ident())  # type: ignore[attr-defined]
    if thread is None or thread is threading.main_thread() or isinstance(thread, threading._DummyThread):
        return ""
    return f", thread {thread.name}"


def _write_text(path: Path, text: str) -> None:
    with contextlib.suppress(OSError):
        _files.text_path(path).write_text(text, encoding="utf-8")


def _as_pytorch(count: int) -> str:
    """Return a size as in PyTorch's message."""
    if count <= 1 << 10:
        return f"{count} bytes"
    for unit, scale in (("KiB", 1 << 10), ("MiB", 1 << 20)):
        if count <= scale << 10:
            return f"{count / scale:.2f} {unit}"
    return f"{count / (1 << 30):.2f} GiB"
