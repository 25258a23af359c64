"""Assertions about the peak of a block of code, from PyTorch's counters."""

from __future__ import annotations

import contextlib
import gc
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from . import _binary, _files, _options
from ._backend import Backend
from ._triggers import Bytes, in_bytes
from .recorder import _Process

# Events that are recorded to explain a failure.
_ENTRIES = 200_000
_KINDS = {"requested": ("requested_bytes", "allocated_bytes"), "reserved": ("reserved_bytes",)}
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class PeakExceeded(AssertionError):  # noqa: N818 # it is an AssertionError, as from pytest
    """A block of code allocated more than it may."""


class Peak:
    """Bytes of a block of code, beyond those from before it. Numbers are complete when the block has ended."""

    _open: ClassVar[list[Peak]] = []

    def __init__(self, backend: Backend, what: str, device: int) -> None:
        """Start measuring. Resets PyTorch's peak counters."""
        self._backend, self._keys, self._device = backend, _KINDS[what], device
        gc.collect()
        if what == "reserved":
            # Otherwise requests are served from what earlier code left in the cache.
            backend.accelerator.empty_cache()
        # The counters of blocks around this one are reset as well.
        for other in self._open:
            other._update()
        backend.accelerator.reset_peak_memory_stats(device)
        self.before_bytes = self._counter("current")
        """Bytes from before the block."""
        self.peak_bytes = 0
        """Largest number of bytes during the block."""
        self.left_bytes = 0
        """Bytes at the end of the block."""
        self._open.append(self)

    def _counter(self, name: str) -> int:
        stats = self._backend.accelerator.memory_stats(self._device)
        return int(next((stats[f"{key}.all.{name}"] for key in self._keys if f"{key}.all.{name}" in stats), 0))

    def _update(self) -> None:
        self.peak_bytes = max(self.peak_bytes, self._counter("peak") - self.before_bytes)

    def end(self) -> None:
        """Read the counters for the last time."""
        self._open.remove(self)
        self._update()
        self.left_bytes = self._counter("current") - self.before_bytes


@contextlib.contextmanager
def assert_peak_below(
    limit: Bytes,
    *,
    what: str = "requested",
    growth_below: Bytes | None = None,
    save_to: str | os.PathLike[str] | None = None,
    device: int | None = None,
) -> Iterator[Peak]:
    """Fail if a block of code needs more GPU memory than `limit`, such as 2147483648 or "2 GiB".

        with memscape.assert_peak_below("2 GiB"):
            step(model, batch)

    Memory from before the block does not count. The numbers are PyTorch's counters, so nothing is recorded, and the
    device is not synchronized.

    Args:
        limit: Largest peak that is allowed.
        what: "requested" for the bytes that the code asked for, "reserved" for those taken from the driver.
        growth_below: Largest number of bytes that may be live (or reserved) at the end.
        save_to: Record the block, and save a snapshot here if it fails. The error then names the call sites.
        device: Ordinal of the GPU, by default the current one.

    Raises:
        PeakExceeded: The peak is above the limit, or too much is left.
        RuntimeError: There is no GPU.

    """
    allowed = in_bytes(limit)
    most_left = None if growth_below is None else in_bytes(growth_below)
    if what not in _KINDS:
        raise _options.wrong("what", what, " or ".join(map(repr, _KINDS)))
    backend = Backend()
    if not backend.is_available():
        raise RuntimeError("no GPU: its memory cannot be measured")
    # PyTorch crashes if the history is asked for before the device is initialized.
    getattr(backend.accelerator, "init", lambda: None)()
    records = save_to is not None and not _is_recorded(backend) and _record(backend)
    try:
        peak = Peak(backend, what, backend.current_device() if device is None else device)
        try:
            yield peak
        finally:
            peak.end()
        found = []
        if peak.peak_bytes > allowed:
            over = _size(peak.peak_bytes - allowed)
            found.append(f"the {what} peak is {_size(peak.peak_bytes)}, {over} above the limit of {_size(allowed)}")
        if most_left is not None and peak.left_bytes > most_left:
            found.append(f"{_size(peak.left_bytes)} are left at the end, more than {_size(most_left)}")
        if found:
            text = f"{'; '.join(found)} ({_size(peak.before_bytes)} from before not counted)"
            raise PeakExceeded(text if save_to is None else f"{text}\n{_explained(backend, Path(save_to))}")
    finally:
        if records:
            backend.memory._record_memory_history(enabled=None)


def _is_recorded(backend: Backend) -> bool:
    ask = getattr(backend.torch._C, f"_{backend.name}_isHistoryEnabled", None)
    return _Process.recorder() is not None or (ask is not None and bool(ask()))


def _record(backend: Backend) -> bool:
    start = backend.memory._record_memory_history
    known = inspect.signature(getattr(backend.memory, "_record_memory_history_impl", start)).parameters
    wanted: dict[str, Any] = {"stacks": "python", "max_entries": _ENTRIES, "clear_history": True}
    if "max_entries" not in known:
        return False
    start(enabled="all", **{key: value for key, value in wanted.items() if key in known})
    return True


def _explained(backend: Backend, path: Path) -> str:
    """Save a snapshot, and return what is live at its peak."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _files.write(backend.snapshot(), path)
    try:
        return f"{path}:\n{_binary.run('peak', str(path), '--top', '5').strip()}"
    except _binary.MemscapeError as error:
        return f"{path}: {error}"


def _size(number: int) -> str:
    value, unit = float(number), 0
    while abs(value) >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{number:,} B" if unit == 0 else f"{value:.2f} {_UNITS[unit]} ({number:,} B)"
