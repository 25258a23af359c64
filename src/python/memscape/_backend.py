"""The few functions of PyTorch that recording needs, for CUDA (and ROCm, which has the same names) and XPU.

Nothing here synchronises with the device: each function reads counters that the allocator keeps on the host, or asks the driver.
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
        """Whether there is a device whose allocator can record."""
        return bool(self.accelerator.is_available()) and hasattr(self.memory, "_record_memory_history")

    def warn_if_nothing_is_recorded(self) -> None:
        """Warn where the allocator keeps no history: cudaMallocAsync and pluggable allocators."""
        backend = getattr(self.accelerator, "get_allocator_backend", lambda: "native")()
        if backend != "native":
            warnings.warn(
                f"the allocator {backend!r} records no history: snapshots will be empty. "
                "Use the default allocator (PYTORCH_CUDA_ALLOC_CONF=backend:native).",
                RuntimeWarning,
                stacklevel=4,
            )

    def record(self, entries: int, stacks: str, context: str | None) -> None:
        """Switch recording on.

        `entries` is the number of events that are kept per device, the newest. Arguments that this PyTorch does not know are left out.
        """
        start = self.memory._record_memory_history
        # Since 2.1 it dispatches: what it understands stands in the function behind it.
        known = set(inspect.signature(getattr(self.memory, "_record_memory_history_impl", start)).parameters)
        if "max_entries" in known:
            wanted: dict[str, Any] = {"context": context, "stacks": stacks, "max_entries": entries}
            # Backward runs in threads of its own; annotations are thread-local without this.
            wanted["global_record_annotations"] = True
            wanted["clear_history"] = True
            start(enabled="all", **{key: value for key, value in wanted.items() if key in known})
        else:  # PyTorch 2.0
            start(True, trace_alloc_max_entries=entries, trace_alloc_record_context=True)

    def stop(self) -> None:
        """Switch recording off."""
        known = inspect.signature(
            getattr(self.memory, "_record_memory_history_impl", self.memory._record_memory_history)
        )
        if "max_entries" in known.parameters:
            self.memory._record_memory_history(enabled=None)
        else:
            self.memory._record_memory_history(False)

    def snapshot(self) -> dict[str, Any]:
        """What the allocator recorded, as PyTorch writes it to a file."""
        snapshot = self.memory._snapshot()
        # PyTorch 1.13 returns the segments alone.
        return snapshot if isinstance(snapshot, dict) else {"segments": snapshot, "device_traces": []}

    def attach_out_of_memory_observer(self, observer: OutOfMemoryObserver) -> bool:
        """Have `observer(device, requested, limit, free)` called, in bytes, when an allocation fails; False where there is no such hook."""
        attach = getattr(self.torch._C, f"_{self.name}_attach_out_of_memory_observer", None)
        if attach is None:
            return False
        attach(observer)
        return True

    def device_count(self) -> int:
        """Number of devices that this process sees."""
        return int(self.accelerator.device_count())

    def current_device(self) -> int:
        """Ordinal of the current device."""
        return int(self.accelerator.current_device())

    def stats(self, device: int) -> dict[str, int]:
        """Counters of the allocator: PyTorch's memory_stats(), whole numbers only."""
        stats = self.accelerator.memory_stats(device)
        return {str(key): int(value) for key, value in stats.items() if isinstance(value, int)}

    def live_bytes(self) -> tuple[int, int]:
        """Live bytes of the current device and their peak: requested ones, or rounded ones before PyTorch 2.1."""
        stats = self.stats(self.current_device())
        for kind in ("requested_bytes", "allocated_bytes"):
            current, peak = stats.get(f"{kind}.all.current"), stats.get(f"{kind}.all.peak")
            if current is not None and peak is not None:
                return current, peak
        return 0, 0
