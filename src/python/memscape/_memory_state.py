"""Totals of a snapshot's segments and blocks that explain a failed request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

# Requests up to 1 MiB are served from segments of 2 MiB, larger ones from others.
_SMALL = 1 << 20
_DEFAULT_POOL = (0, 0)


@dataclass
class MemoryState:
    """Memory of one device, in bytes."""

    live: int = 0
    live_blocks: int = 0
    reserved: int = 0
    awaiting_free: int = 0
    """Freed by the program, still in use by another stream."""
    in_private_pools: int = 0
    """Reserved by private pools, such as those of CUDA graphs."""
    pieces: list[int] = field(default_factory=list)
    """Sizes of the free blocks that could serve the request: of its pool, size class and stream."""
    call_sites: dict[str, list[int]] = field(default_factory=dict)
    """Live bytes and number of blocks by call site."""

    def largest_call_sites(self, most: int) -> list[tuple[str, int, int]]:
        """Return name, bytes and number of blocks of the call sites with most live memory."""
        rows = ((name, size, count) for name, (size, count) in self.call_sites.items())
        return sorted(rows, key=lambda row: -row[1])[:most]


def memory_state(
    segments: Iterable[dict[str, Any]], device: int, requested: int, stream: int, name: Callable[[Any], str]
) -> MemoryState:
    """Sum the segments of a device for a request from the default pool on a stream."""
    state = MemoryState()
    is_small = requested <= _SMALL
    for segment in segments:
        if segment.get("device", 0) != device:
            continue
        state.reserved += segment["total_size"]
        is_private = tuple(segment.get("segment_pool_id", _DEFAULT_POOL)) != _DEFAULT_POOL
        if is_private:
            state.in_private_pools += segment["total_size"]
        serves = (
            not is_private and (segment["segment_type"] == "small") == is_small and segment.get("stream", 0) == stream
        )
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                size = block.get("requested_size") or block["size"]
                state.live += size
                state.live_blocks += 1
                entry = state.call_sites.setdefault(name(block.get("frames")), [0, 0])
                entry[0] += size
                entry[1] += 1
            elif block["state"] != "inactive":
                state.awaiting_free += block["size"]
            elif serves:
                state.pieces.append(block["size"])
    return state
