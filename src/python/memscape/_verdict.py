"""The text about a failed allocation that is printed before a snapshot is saved, from counters alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._memory_state import MemoryState
from ._steps import MIN_ENDS, Growth
from ._text import counted
from .table import size

MAX_LINES = 25
MAX_BYTES = 4096
"""Size up to which a write to a pipe is not mixed with those of other processes (PIPE_BUF on Linux)."""
MAX_LINE = 180
_MAX_SITES = 8
_EXPANDABLE = "expandable_segments:True"
# A step that needs this much more than those before is different from them.
_LARGER = 1.1


@dataclass(frozen=True)
class Failure:
    """A failed request, and the counters at that time. Sizes are in bytes."""

    where: str
    """Rank, host, device and step, such as `rank 0, node3, GPU 0, in step 24`."""
    asked_by: str
    device: int
    requested: int
    limit: int
    free: int
    capacity: int
    live: int
    live_blocks: int
    reserved: int
    paused: int = 0
    """Reserved memory that is not on the GPU, because its owner paused it."""
    settings: str = ""
    settings_variable: str = "PYTORCH_CUDA_ALLOC_CONF"
    """The environment variable that has the settings."""
    steps: Sequence[tuple[int, int]] = ()
    """Number and live bytes of the last steps."""
    growth: Growth | None = None
    peak_before: int = 0
    """Highest live bytes until the last step ended. 0 if none has."""

    @property
    def outside(self) -> int:
        """Memory of the device that is neither reserved by the allocator nor free."""
        return self.capacity - (self.reserved - self.paused) - self.free

    @property
    def available(self) -> int:
        """Memory that the allocator could still reserve: free, and within a limit for this process."""
        return max(min(self.free, self.limit - self.reserved), 0)


def one_line(failure: Failure) -> str:
    """Return the verdict of a rank that is not the first, or of a program that handles many failures."""
    return (
        f"memscape: out of memory on {failure.where}: asked {size(failure.requested)} by {failure.asked_by}; "
        f"live {size(failure.live)}, reserved {size(failure.reserved)}, free {size(failure.free)}"
    )


def heading(failure: Failure) -> list[str]:
    """Return the lines that need no list of blocks."""
    share = 100 * failure.live / max(failure.capacity, 1)
    reserved = f"reserved {size(failure.reserved)}"
    if failure.paused:
        reserved += f", of which {size(failure.paused)} paused (not on the GPU)"
    gpu = (
        f"{size(failure.capacity)}: live {size(failure.live)} ({share:.0f} %) in {counted(failure.live_blocks, 'block')}; "
        f"{reserved}; free {size(failure.free)}; outside the allocator {size(failure.outside)}"
    )
    lines = [
        f"memscape: out of memory on {failure.where}",
        _row("asked", f"{size(failure.requested)} by {failure.asked_by}"),
        _row("GPU", gpu),
    ]
    if failure.limit < failure.capacity:
        lines.append(_row("", f"this process may reserve {size(failure.limit)} (set_per_process_memory_fraction)"))
    return lines


def details(failure: Failure, state: MemoryState) -> list[str]:
    """Return the lines after the heading: causes, a setting to change, call sites and steps."""
    lines = []
    if state.awaiting_free:
        lines.append(_row("", f"{size(state.awaiting_free)} freed but awaiting another stream (record_stream)"))
    lines += [_row("why", text) for text in causes(failure, state)]
    if setting := setting_to_change(failure, state):
        lines.append(_row("do", setting))
    lines += _call_sites(state)
    lines += _steps(failure)
    return lines


def causes(failure: Failure, state: MemoryState) -> list[str]:
    """Return why the request failed, the first cause being the one to look at first."""
    found = []
    if failure.growth is not None:
        steps, total = failure.growth
        found.append(
            f"live memory grows: +{size(total)} over the last {steps} steps, {size(total // steps)} a step: "
            "a leak, lists that are kept, or larger batches"
        )
    needed = failure.live + failure.requested
    if failure.peak_before and needed > _LARGER * failure.peak_before:
        found.append(
            f"more than any step before: {size(needed)} with this request, at most {size(failure.peak_before)} until step "
            f"{failure.steps[-1][0]} ended: a larger batch, a longer sequence, or other code"
        )
    if failure.outside > failure.capacity // 5:
        found.append(f"outside the allocator: {size(failure.outside)} are used by libraries or other processes")
    cached, largest = sum(state.pieces), max(state.pieces, default=0)
    if is_fragmented(failure, state):
        text = (
            f"fragmentation: {size(cached)} cached in {counted(len(state.pieces), 'piece')} (largest {size(largest)}) + "
            f"{size(failure.available)} free would hold it, no single piece does"
        )
    else:
        short = failure.requested - cached - failure.available
        text = (
            f"{size(short)} short even if all {size(cached)} cached and {size(failure.available)} free were one piece"
        )
        if short <= 0:
            text = f"a single piece would hold it ({size(largest)} cached, {size(failure.available)} free): PyTorch could not use it"
    if state.in_private_pools > state.reserved // 20:
        text += "; a private pool's request may differ"
    return [*found, text]


def is_fragmented(failure: Failure, state: MemoryState) -> bool:
    """Return whether the free memory would hold the request, if it were in one piece."""
    largest = max(state.pieces, default=0)
    return sum(state.pieces) + failure.available >= failure.requested > max(largest, failure.available)


def setting_to_change(failure: Failure, state: MemoryState) -> str | None:
    """Return an allocator setting that helps and is not set yet. A leak would fill what it saves in a few steps."""
    if (
        failure.growth is not None
        or not is_fragmented(failure, state)
        or _EXPANDABLE in failure.settings.replace(" ", "")
    ):
        return None
    if "[" in failure.settings:
        return f"add {_EXPANDABLE} to {failure.settings_variable}"
    others = [
        part for part in failure.settings.split(",") if part and not part.strip().startswith("expandable_segments")
    ]
    return f"{failure.settings_variable}={','.join([*others, _EXPANDABLE])}"


def _call_sites(state: MemoryState) -> list[str]:
    if not state.call_sites:
        return []
    lines = [f"  live now by line of code, {len(state.call_sites):,} in all:"]
    for name, live, count in state.largest_call_sites(_MAX_SITES):
        share = 100 * live / max(state.live, 1)
        lines.append(f"    {size(live):>10} {share:5.1f} %  {count:>6,} x  {name}")
    return lines


def _steps(failure: Failure) -> list[str]:
    if len(failure.steps) < 2:
        return []
    ends = [live for _, live in failure.steps]
    last, end = failure.steps[-1]
    trend = "; steady" if failure.growth is None else "; grows"
    if len(ends) < MIN_ENDS:
        trend = ""
    change = failure.live - end
    return [
        _row("steps", f"live after the last ones: {', '.join(map(size, ends[-5:]))}{trend}"),
        _row("", f"since step {last} ended: {'+' if change >= 0 else ''}{size(change)}"),
    ]


def _row(key: str, text: str) -> str:
    return f"  {key:<10}{text}"


def cut(lines: list[str], most: int = MAX_LINES, *, max_line: int = MAX_LINE) -> str:
    """Join lines to a text of limited size, which ends with a line break."""
    kept = [line if len(line) <= max_line else f"{line[: max_line - 3]}..." for line in lines[:most]]
    text = "\n".join(kept) + "\n"
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_BYTES:
        return text
    return data[: MAX_BYTES - 5].decode("utf-8", "ignore") + " ...\n"
