"""PyTorch functions for recording, for CUDA (and ROCm, which has the same names) and XPU.

Nothing here synchronizes with the device. Functions read counters that the allocator keeps on the host, or ask the
driver.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Callable, NamedTuple

from ._collector import paused_collector

OutOfMemoryObserver = Callable[[int, int, int, int], None]


class Counters(NamedTuple):
    """Counters of the allocator of a device. Sizes are in bytes."""

    live: int
    """Requested bytes of live allocations, or rounded ones before PyTorch 2.1."""
    live_peak: int
    reserved: int
    blocks: int
    """Number of live allocations."""
    ooms: int | None
    """Number of failed requests, if PyTorch counts them."""


class Backend:
    """The memory functions of the accelerator that this process uses."""

    def __init__(self) -> None:
        """Find the accelerator.

        Raises:
            ImportError: PyTorch is not installed.

        """
        try:
            import torch
        except ImportError as error:
            raise ImportError("memscape needs PyTorch to record; opening snapshots does not") from error
        self.torch: Any = torch
        xpu: Any = getattr(torch, "xpu", None)
        use_xpu = not _has_device(torch.cuda) and xpu is not None and xpu.is_available()
        self.name = "xpu" if use_xpu else "cuda"
        self.accelerator: Any = xpu if use_xpu else torch.cuda
        self.memory: Any = self.accelerator.memory

    def is_available(self) -> bool:
        """Return whether there is a device whose allocator can record. Does not initialize it."""
        return _has_device(self.accelerator) and hasattr(self.memory, "_record_memory_history")

    def when_initialized(self, function: Callable[[], None]) -> None:
        """Call a function once the device is initialized: now, or in PyTorch's first use of it in any thread.

        Initializing the device earlier would make it unusable in processes that are forked later.
        """
        later = getattr(self.accelerator, "_lazy_call", None)
        # Called by PyTorch in this thread while it initializes the device. PyTorch 2.11 would wait for its own lock.
        is_initializing = hasattr(getattr(self.accelerator, "_tls", None), "is_initializing")
        if later is None or is_initializing or self.accelerator.is_initialized():
            function()
        else:
            later(function)

    def import_what_snapshots_need(self) -> None:
        """Import what PyTorch imports with its first snapshot: some 800 modules since 2.11, which takes 1.5 s.

        This must not happen inside of a failing allocation.
        """
        try:
            _ = self.torch._inductor.codecache
        except Exception:
            # Not all builds have a compiler. Snapshots do not depend on it.
            return

    def warn_if_nothing_is_recorded(self) -> None:
        """Warn if the allocator keeps no history, such as cudaMallocAsync and pluggable allocators."""
        backend = getattr(self.accelerator, "get_allocator_backend", lambda: "native")()
        if backend != "native":
            warnings.warn(
                f"the allocator {backend!r} records no history: snapshots will be empty. "
                "Use the default allocator (PYTORCH_CUDA_ALLOC_CONF=backend:native).",
                RuntimeWarning,
                stacklevel=4,
            )

    def record(
        self, start: Callable[..., Any], entries: int, stacks: str, context: str | None, *, clear: bool = True
    ) -> None:
        """Start recording with `start`, which is PyTorch's `_record_memory_history`.

        Keeps the newest `entries` events per device. Arguments that this version of PyTorch does not know are left out.
        """
        known = self._known_arguments(start)
        if "max_entries" in known:
            wanted: dict[str, Any] = {"context": context, "stacks": stacks, "max_entries": entries}
            # Annotations are thread-local without this, and backward runs in other threads.
            wanted["global_record_annotations"] = True
            wanted["clear_history"] = clear
            start(enabled="all", **{key: value for key, value in wanted.items() if key in known})
        else:  # PyTorch 2.0
            start(True, trace_alloc_max_entries=entries, trace_alloc_record_context=True)

    def stop(self, start: Callable[..., Any]) -> None:
        """Stop recording with PyTorch's `_record_memory_history`."""
        if "max_entries" in self._known_arguments(start):
            start(enabled=None)
        else:
            start(False)

    def _known_arguments(self, start: Callable[..., Any]) -> set[str]:
        # Since 2.1 this function only dispatches. The parameters are those of the implementation.
        return set(inspect.signature(getattr(self.memory, "_record_memory_history_impl", start)).parameters)

    def is_history_enabled(self) -> bool:
        """Return False if PyTorch says that nothing is recorded."""
        ask = getattr(self.torch._C, f"_{self.name}_isHistoryEnabled", None)
        return True if ask is None else bool(ask())

    def snapshot(self) -> dict[str, Any]:
        """Return the recorded snapshot, as PyTorch writes it to a file."""
        with paused_collector():
            snapshot = self.memory._snapshot()
        # PyTorch 1.13 returns only the segments.
        return snapshot if isinstance(snapshot, dict) else {"segments": snapshot, "device_traces": []}

    def state(self) -> dict[str, Any] | None:
        """Return a snapshot without its trace: segments, blocks and stacks, in some ms. None before PyTorch 2.11."""
        take = getattr(self.torch._C, f"_{self.name}_memorySnapshot", None)
        if take is None:
            return None
        try:
            with paused_collector():
                found = take((0, 0, False))
        except (TypeError, RuntimeError):
            return None
        return found if isinstance(found, dict) else None

    def attach_out_of_memory_observer(self, observer: OutOfMemoryObserver) -> bool:
        """Call `observer(device, requested, limit, free)`, with sizes in bytes, when an allocation fails.

        Returns False if this version of PyTorch has no such hook.
        """
        attach = getattr(self.torch._C, f"_{self.name}_attach_out_of_memory_observer", None)
        if attach is None:
            return False
        attach(observer)
        return True

    def device_count(self) -> int:
        """Return the number of devices that this process can use."""
        return int(self.accelerator.device_count())

    def current_device(self) -> int:
        """Return the ordinal of the current device."""
        return int(self.accelerator.current_device())

    def current_stream(self, device: int) -> int:
        """Return the handle of the current stream of this thread, or 0 for the default stream."""
        try:
            return int(self.accelerator.current_stream(device).cuda_stream)
        except Exception:
            return 0

    def is_capturing(self) -> bool:
        """Return whether this thread captures a graph, when the driver must not be asked for anything."""
        ask = getattr(self.accelerator, "is_current_stream_capturing", None)
        return ask is not None and bool(ask())

    def capacity(self, device: int) -> int:
        """Return the memory of a device in bytes."""
        return int(self.accelerator.get_device_properties(device).total_memory)

    def pinned_bytes(self) -> int:
        """Return the pinned host memory that PyTorch holds, or 0 before PyTorch 2.11."""
        ask = getattr(self.torch._C, f"_{self.name}_hostMemoryStats", None)
        held = ask().get("allocated_bytes", {}) if ask is not None else {}
        return int(held.get("current", 0))

    def stats(self, device: int) -> dict[str, int]:
        """Return the integer counters of PyTorch's memory_stats()."""
        stats = self.accelerator.memory_stats(device)
        return {str(key): int(value) for key, value in stats.items() if isinstance(value, int)}

    def counters(self, device: int) -> Counters:
        """Return the counters of a device: in 10 µs, where memory_stats() takes 75 µs."""
        ask = getattr(self.torch._C, f"_{self.name}_memoryStats", None)
        if ask is None:
            stats = self.stats(device)
            kind = "requested_bytes" if "requested_bytes.all.current" in stats else "allocated_bytes"
            read = stats.get
        else:
            nested = ask(device)
            kind = "requested_bytes" if "requested_bytes" in nested else "allocated_bytes"

            def read(key: str, otherwise: Any = None) -> Any:
                value = nested
                for part in key.split("."):
                    value = value.get(part) if isinstance(value, dict) else None
                return otherwise if value is None else value

        return Counters(
            read(f"{kind}.all.current", 0),
            read(f"{kind}.all.peak", 0),
            read("reserved_bytes.all.current", 0),
            read("allocation.all.current", 0),
            read("num_ooms", None),
        )


def _has_device(accelerator: Any) -> bool:
    # The number is asked from NVML, whereas is_available() initializes the driver, which processes forked later then
    # cannot use.
    if getattr(accelerator, "is_initialized", lambda: True)():
        return bool(accelerator.is_available())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(accelerator.device_count() > 0)
