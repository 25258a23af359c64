"""PyTorch functions for recording, for CUDA (and ROCm, which has the same names) and XPU.

Nothing here synchronizes with the device. Functions read counters that the allocator keeps on the host, or ask the
driver.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Callable

OutOfMemoryObserver = Callable[[int, int, int, int], None]


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
        use_xpu = not torch.cuda.is_available() and xpu is not None and xpu.is_available()
        self.name = "xpu" if use_xpu else "cuda"
        self.accelerator: Any = xpu if use_xpu else torch.cuda
        self.memory: Any = self.accelerator.memory

    def is_available(self) -> bool:
        """Return whether there is a device whose allocator can record."""
        return bool(self.accelerator.is_available()) and hasattr(self.memory, "_record_memory_history")

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

    def record(self, entries: int, stacks: str, context: str | None) -> None:
        """Start recording.

        Keeps the newest `entries` events per device. Arguments that this version of PyTorch does not know are left out.
        """
        start = self.memory._record_memory_history
        # Since 2.1 this function only dispatches. The parameters are those of the implementation.
        known = set(inspect.signature(getattr(self.memory, "_record_memory_history_impl", start)).parameters)
        if "max_entries" in known:
            wanted: dict[str, Any] = {"context": context, "stacks": stacks, "max_entries": entries}
            # Annotations are thread-local without this, and backward runs in other threads.
            wanted["global_record_annotations"] = True
            wanted["clear_history"] = True
            start(enabled="all", **{key: value for key, value in wanted.items() if key in known})
        else:  # PyTorch 2.0
            start(True, trace_alloc_max_entries=entries, trace_alloc_record_context=True)

    def stop(self) -> None:
        """Stop recording."""
        known = inspect.signature(
            getattr(self.memory, "_record_memory_history_impl", self.memory._record_memory_history)
        )
        if "max_entries" in known.parameters:
            self.memory._record_memory_history(enabled=None)
        else:
            self.memory._record_memory_history(False)

    def snapshot(self) -> dict[str, Any]:
        """Return the recorded snapshot, as PyTorch writes it to a file."""
        snapshot = self.memory._snapshot()
        # PyTorch 1.13 returns only the segments.
        return snapshot if isinstance(snapshot, dict) else {"segments": snapshot, "device_traces": []}

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

    def stats(self, device: int) -> dict[str, int]:
        """Return the integer counters of PyTorch's memory_stats()."""
        stats = self.accelerator.memory_stats(device)
        return {str(key): int(value) for key, value in stats.items() if isinstance(value, int)}

    def live_bytes(self) -> tuple[int, int]:
        """Return live bytes of the current device and their peak: requested, or rounded before PyTorch 2.1."""
        stats = self.stats(self.current_device())
        for kind in ("requested_bytes", "allocated_bytes"):
            current, peak = stats.get(f"{kind}.all.current"), stats.get(f"{kind}.all.peak")
            if current is not None and peak is not None:
                return current, peak
        return 0, 0
