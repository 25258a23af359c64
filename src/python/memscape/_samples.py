"""Memory outside the allocator over time: a row after each step with what the driver and the host report."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import Any

from ._backend import Backend, Counters
from ._facts import now_us
from ._text import counted

COLUMNS = ("time_us", "free_bytes", "reserved_bytes", "live_bytes", "rss_bytes", "shared_bytes", "pinned_bytes")
MOST_ROWS = 20_000
# Maximum share of the time of steps that rows may take.
_SHARE = 0.001
_MOST_EVERY = 1 << 20
_MOST_EVENTS = 1_000
# Libraries that take memory of the GPU for themselves.
_LIBRARIES = (
    "apex",
    "bitsandbytes",
    "cupy",
    "deepspeed",
    "flash_attn",
    "tensorrt",
    "transformer_engine",
    "triton",
    "vllm",
    "xformers",
)


class Samples:
    """Rows of one device, and what was loaded or created between them."""

    def __init__(self, backend: Backend, every: int | None, seconds: float | None) -> None:
        """Take a row every so many steps, and in a thread every so many seconds, unless these are None."""
        self._backend = backend
        self._every, self._least_every, self._seconds = every or 1, every or 1, seconds
        self._is_on = every is not None
        self._lock = threading.RLock()
        self._rows: list[tuple[int, ...]] = []
        self._events: list[tuple[int, str]] = []
        self._groups: set[str] = set()
        self._modules = {name for name in _LIBRARIES if name in sys.modules}
        self._steps = 0
        self._last_ns: int | None = None
        self._device = 0
        self._statm = -1
        self._stopped = threading.Event()

    def start(self) -> None:
        """Take the first row, once the device is initialized. Its memory outside the allocator is the context."""
        self._device = self._backend.current_device()
        with contextlib.suppress(OSError):
            self._statm = os.open("/proc/self/statm", os.O_RDONLY)
        if self._is_on or self._seconds is not None:
            self._try_to_take(None)
        if self._seconds is not None:
            threading.Thread(target=self._serve, name="memscape-samples", daemon=True).start()

    def stop(self) -> None:
        """Take no more rows."""
        self._stopped.set()
        with self._lock:
            if self._statm >= 0:
                os.close(self._statm)
                self._statm = -1

    def after_step(self, counters: Counters) -> None:
        """Take a row after a step, if one is due."""
        self._steps += 1
        if not self._is_on or self._steps < self._every or self._stopped.is_set():
            return
        self._steps = 0
        began = time.perf_counter_ns()
        self._try_to_take(counters)
        if self._last_ns is not None:
            self._adapt(time.perf_counter_ns() - began, began - self._last_ns)
        self._last_ns = began

    def _adapt(self, cost_ns: int, elapsed_ns: int) -> None:
        """Take rows at larger or smaller intervals, so that they take a small share of the time."""
        if cost_ns > _SHARE * elapsed_ns:
            self._every = min(2 * self._every, _MOST_EVERY)
        elif cost_ns < _SHARE * elapsed_ns / 4:
            self._every = max(self._every // 2, self._least_every)

    def _serve(self) -> None:
        pid = os.getpid()
        while not self._stopped.wait(self._seconds) and os.getpid() == pid:
            self._try_to_take(None)

    def _try_to_take(self, counters: Counters | None) -> None:
        with contextlib.suppress(Exception):
            # The driver must not be called while a graph is captured.
            if not self._backend.is_capturing():
                self._take(counters or self._backend.counters(self._device))

    def _take(self, counters: Counters) -> None:
        now = now_us()
        free, _ = self._backend.accelerator.mem_get_info(self._device)
        with self._lock:
            rss, shared = self._host_memory()
            pinned = self._backend.pinned_bytes()
            self._rows.append((now, int(free), counters.reserved, counters.live, rss, shared, pinned))
            if len(self._rows) >= MOST_ROWS:
                del self._rows[1::2]
                self._least_every = min(2 * self._least_every, _MOST_EVERY)
                self._every = max(self._every, self._least_every)
                self._seconds = None if self._seconds is None else 2 * self._seconds
            self._note_events(now)

    def _host_memory(self) -> tuple[int, int]:
        """Return resident and shared memory of this process in bytes, or 0 where /proc is missing."""
        if self._statm < 0:
            return 0, 0
        fields = os.pread(self._statm, 256, 0).split()
        page = os.sysconf("SC_PAGE_SIZE")
        return int(fields[1]) * page, int(fields[2]) * page

    def _note_events(self, now: int) -> None:
        """Note what was loaded or created since the last row, which may be why memory outside the allocator grew."""
        if len(self._events) >= _MOST_EVENTS:
            return
        for name in _LIBRARIES:
            if name not in self._modules and name in sys.modules:
                self._modules.add(name)
                self._events.append((now, f"{name} was imported"))
        world = getattr(sys.modules.get("torch.distributed.distributed_c10d"), "_world", None)
        names = getattr(world, "pg_names", None)
        if not names or len(names) == len(self._groups):
            return
        for group, name in list(names.items()):
            if name not in self._groups:
                self._groups.add(name)
                ranks = len(world.pg_group_ranks.get(group, ())) if world is not None else 0
                text = getattr(group, "group_desc", "") or name
                self._events.append((now, f"process group {text} of {counted(ranks, 'rank')} was made"))

    def field(self, reason: str, snapshot: dict[str, Any]) -> tuple[str, object] | None:
        """Return the field `samples` of the `memscape` key."""
        with self._lock:
            if not self._rows:
                return None
            return "samples", {
                "columns": list(COLUMNS),
                "device": self._device,
                "rows": [list(row) for row in self._rows],
                "every": self._every,
                "events": [list(event) for event in self._events],
            }
