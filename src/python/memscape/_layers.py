"""Statistics of each traced module, computed from the annotations with its name."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from itertools import accumulate
from typing import Any

from .session import Session

# Cumulative sums up to each event. The sum over a range of events is a difference of two.
_SPANS = """
WITH done AS MATERIALIZED (
    SELECT event,
        sum(action = 'alloc') OVER w AS allocations,
        sum(iif(action = 'alloc', size_bytes, 0)) OVER w AS requested,
        sum(action = 'free_completed') OVER w AS frees,
        sum(iif(action = 'free_completed', size_bytes, 0)) OVER w AS freed
    FROM event WHERE device = {device} WINDOW w AS (ORDER BY event ROWS UNBOUNDED PRECEDING)
), idle AS MATERIALIZED (
    SELECT event, sum(iif(reserved_bytes > live_bytes, 1.0 - 1.0 * live_bytes / reserved_bytes, 0.0)) OVER w AS share
    FROM curve WHERE device = {device} AND event >= 0 WINDOW w AS (ORDER BY event ROWS UNBOUNDED PRECEDING)
)
SELECT a.name, a.first_event, a.last_event, a.begin_us, a.end_us, a.peak_bytes,
    z.allocations - ifnull(b.allocations, 0), z.requested - ifnull(b.requested, 0),
    z.frees - ifnull(b.frees, 0), z.freed - ifnull(b.freed, 0), y.share - ifnull(x.share, 0)
FROM annotation a
LEFT JOIN done z ON z.event = a.last_event LEFT JOIN done b ON b.event = a.first_event - 1
LEFT JOIN idle y ON y.event = a.last_event LEFT JOIN idle x ON x.event = a.first_event - 1
WHERE a.device = {device}
ORDER BY a.begin_us, a.end_us DESC
"""
_RESERVED = """
SELECT event, reserved_bytes FROM (
    SELECT event, reserved_bytes, lag(reserved_bytes) OVER (ORDER BY event) AS before FROM curve WHERE device = {device}
) WHERE before IS NULL OR before <> reserved_bytes ORDER BY event
"""
_LIVE = """
SELECT allocated_at, requested_bytes FROM live_at('peak')
WHERE device = {device} AND allocated_at IS NOT NULL ORDER BY allocated_at
"""


def layer_stats(session: Session, device: int, names: Collection[str]) -> list[dict[str, Any]]:
    """Return a row for each annotated name, in the order of the first calls.

    The keys are the columns of the insight `modules`. A row covers all events while the module ran, including those of
    nested modules.
    """
    reserved = _Reserved(session.sql(_RESERVED.format(device=device))["rows"])
    live = _Live(session.sql(_LIVE.format(device=device))["rows"])
    rows: dict[str, dict[str, Any]] = {}
    ends: dict[str, int] = {}
    for name, first, last, begin_us, end_us, peak, *sums in session.sql(_SPANS.format(device=device))["rows"]:
        if name not in names:
            continue
        row = rows.setdefault(name, _new_row(name))
        # A recursive call is counted with the outer one.
        if begin_us < ends.get(name, begin_us):
            continue
        if end_us is not None:
            ends[name] = end_us
            row["duration_us"] += end_us - begin_us
        if first is None:
            continue
        events = last - first + 1
        row["peak_live_bytes"] = max(row["peak_live_bytes"] or 0, peak)
        row["peak_reserved_bytes"] = max(row["peak_reserved_bytes"] or 0, reserved.most(first, last))
        row["live_bytes_at_peak"] += live.between(first, last)
        for key, value in zip(("allocations", "requested_bytes", "frees", "freed_bytes"), sums):
            row[key] += value
        idle = (row["mean_fragmentation"] or 0.0) * row["events"] + sums[-1]
        row["events"] += events
        row["mean_fragmentation"] = idle / row["events"]
    return list(rows.values())


def _new_row(name: str) -> dict[str, Any]:
    return {
        "module": name,
        "peak_live_bytes": None,
        "peak_reserved_bytes": None,
        "live_bytes_at_peak": 0,
        "allocations": 0,
        "requested_bytes": 0,
        "frees": 0,
        "freed_bytes": 0,
        "mean_fragmentation": None,
        "duration_us": 0,
        "events": 0,
    }


class _Reserved:
    """Reserved bytes over time, stored as changes."""

    def __init__(self, changes: list[list[int]]) -> None:
        self._events = [event for event, _ in changes]
        self._bytes = [size for _, size in changes]

    def most(self, first: int, last: int) -> int:
        """Return the maximum of the reserved bytes after the events from `first` to `last`."""
        return max(self._bytes[max(bisect_right(self._events, first) - 1, 0) : bisect_right(self._events, last)])


class _Live:
    """Allocations live at the peak, by the event that allocated them."""

    def __init__(self, allocations: list[list[int]]) -> None:
        self._events = [event for event, _ in allocations]
        self._sums = [0, *accumulate(size for _, size in allocations)]

    def between(self, first: int, last: int) -> int:
        """Return the bytes allocated by the events from `first` to `last`, inclusive."""
        return self._sums[bisect_right(self._events, last)] - self._sums[bisect_left(self._events, first)]
