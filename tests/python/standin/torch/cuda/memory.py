"""The caching allocator with its memory history."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from typing import Any, Callable

from . import CAPACITY, OutOfMemoryError

_observers: list[Callable[[int, int, int, int], None]] = []
calls: list[dict[str, Any]] = []
fail: BaseException | None = None
is_in_observer = False
is_recording = False
annotations: list[dict[str, Any]] = []
_traces: list[deque[dict[str, Any]]] = [deque(), deque()]
_live: list[dict[int, dict[str, Any]]] = [{}, {}]
_peak = [0, 0]
_failures = [0, 0]
_reserved_peak = [0, 0]
_next = 0x7F0000000000
_lock = threading.RLock()


def _record_memory_history(enabled: str | None = "all", *args: Any, **kwargs: Any) -> None:
    _record_memory_history_impl(enabled, *args, **kwargs)


def _record_memory_history_impl(
    enabled: str | None = "all",
    context: str | None = "all",
    stacks: str = "all",
    max_entries: int = sys.maxsize,
    device: Any = None,
    clear_history: bool = False,
    compile_context: bool = False,
    global_record_annotations: bool = False,
) -> None:
    global _traces, is_recording
    calls.append(
        {
            "enabled": enabled,
            "context": context,
            "stacks": stacks,
            "max_entries": max_entries,
            "global": global_record_annotations,
        }
    )
    if fail is not None:
        raise fail
    is_recording = enabled is not None
    if is_recording:
        if clear_history:
            annotations.clear()
        _traces = [deque(() if clear_history else trace, maxlen=min(max_entries, 10**9)) for trace in _traces]


def _frames() -> list[dict[str, Any]]:
    frame = sys._getframe(2)
    found = []
    while frame is not None:
        found.append({"filename": frame.f_code.co_filename, "line": frame.f_lineno, "name": frame.f_code.co_name})
        frame = frame.f_back
    return found


def _event(device: int, action: str, addr: int, size: int, frames: list[dict[str, Any]] | None = None) -> None:
    if not is_recording:
        return
    fields: dict[str, Any] = {
        "action": action,
        "addr": addr,
        "size": size,
        "stream": 0,
        "time_us": time.time_ns() // 1000,
    }
    if action == "oom":
        fields["device_free"] = fields.pop("addr")
    if frames is not None:
        fields["frames"] = frames
    _traces[device].append(fields)


def reserved(device: int) -> int:
    return sum(2 * -(-block["size"] // (2 << 20)) << 20 for block in list(_live[device].values()))


def allocate(size: int, device: int = 0) -> int:
    """Allocate a block in a segment of its own."""
    global _next, is_in_observer
    frames = _frames()
    free = CAPACITY - reserved(device)
    if size > free:
        _event(device, "oom", free, size, frames)
        _failures[device] += 1
        is_in_observer = True
        try:
            for _ in range(2):
                for observer in _observers:
                    observer(device, size, CAPACITY, free)
        finally:
            is_in_observer = False
        raise OutOfMemoryError(f"CUDA out of memory. Tried to allocate {size} bytes.\nGPU 0 has ...")
    with _lock:
        addr, _next = _next, _next + (1 << 30)
    _live[device][addr] = {"size": size, "frames": frames}
    _peak[device] = max(_peak[device], sum(block["size"] for block in list(_live[device].values())))
    _reserved_peak[device] = max(_reserved_peak[device], reserved(device))
    total = 2 * -(-size // (2 << 20)) << 20
    _event(device, "segment_alloc", addr, total, frames)
    _event(device, "alloc", addr, size, frames)
    return addr


def release(addr: int, device: int = 0) -> None:
    block = _live[device].pop(addr, None)
    if block is None:
        return  # a tensor of an earlier test
    size = block["size"]
    _event(device, "free_requested", addr, size)
    _event(device, "free_completed", addr, size)
    _event(device, "segment_free", addr, 2 * -(-size // (2 << 20)) << 20)


def reset_peak(device: int) -> None:
    _peak[device] = sum(block["size"] for block in list(_live[device].values()))
    _reserved_peak[device] = reserved(device)


def stats(device: int) -> dict[str, object]:
    live = sum(block["size"] for block in list(_live[device].values()))
    return {
        "requested_bytes.all.current": live,
        "requested_bytes.all.peak": _peak[device],
        "reserved_bytes.all.current": reserved(device),
        "reserved_bytes.all.peak": max(_reserved_peak[device], reserved(device)),
        "allocation.all.current": len(_live[device]),
        "num_ooms": _failures[device],
        "name": "not a number",
    }


def _snapshot(device: Any = None) -> dict[str, Any]:
    if fail is not None:
        raise fail
    segments = []
    for ordinal, live in enumerate(_live):
        for addr, block in sorted(live.items()):
            total = 2 * -(-block["size"] // (2 << 20)) << 20
            rounded = -(-block["size"] // 512) * 512
            rest = [
                {
                    "address": addr + rounded,
                    "size": total - rounded,
                    "requested_size": 0,
                    "state": "inactive",
                    "frames": [],
                }
            ]
            used = {
                "address": addr,
                "size": rounded,
                "requested_size": block["size"],
                "state": "active_allocated",
                "frames": block["frames"],
            }
            segments.append(
                {
                    "device": ordinal,
                    "address": addr,
                    "total_size": total,
                    "allocated_size": rounded,
                    "active_size": rounded,
                    "requested_size": block["size"],
                    "stream": 0,
                    "segment_type": "large",
                    "segment_pool_id": (0, 0),
                    "is_expandable": False,
                    "frames": block["frames"],
                    "blocks": [used, *(rest if total > rounded else [])],
                }
            )
    traces = [list(trace) for trace in _traces]
    # The event appears in the next snapshot.
    for ordinal in range(len(_traces)):
        _event(ordinal, "snapshot", 0, 0)
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "expandable_segments": False}
    return {
        "segments": segments,
        "device_traces": traces,
        "allocator_settings": settings,
        "external_annotations": list(annotations),
    }
