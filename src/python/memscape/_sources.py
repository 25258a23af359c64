"""Source files that occur in stacks, which are embedded so that source lines are visible on any machine."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from typing import Any

MOST_OF_ONE = 1 << 20
MOST_OF_ALL = 8 << 20


def of_stacks(snapshot: dict[str, Any]) -> dict[str, str]:
    """Return the user's source files in the stacks of a snapshot, by path.

    Files of PyTorch, Python and installed packages are left out, as are files larger than 1 MiB, and files beyond 8 MiB
    in total.
    """
    left = MOST_OF_ALL
    found: dict[str, str] = {}
    libraries = tuple(
        {os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    )
    for path in _files(snapshot):
        if path in found or path.startswith(libraries) or not path.endswith(".py"):
            continue
        try:
            with open(path, "rb") as file:
                text = file.read(MOST_OF_ONE + 1)
        except (OSError, ValueError):
            continue
        if len(text) > MOST_OF_ONE or len(text) > left:
            continue
        left -= len(text)
        found[path] = text.decode("utf-8", "replace")
    return found


def _files(snapshot: dict[str, Any]) -> Iterator[str]:
    # Equal stacks share one list, and equal frames one dictionary, so each is visited once.
    seen: set[int] = set()
    names: set[str] = set()
    for entry in _with_frames(snapshot):
        frames = entry.get("frames")
        if not frames or id(frames) in seen:
            continue
        seen.add(id(frames))
        for frame in frames:
            if id(frame) not in seen:
                seen.add(id(frame))
                names.add(str(frame.get("filename", "")))
    return iter(sorted(names))


def _with_frames(snapshot: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for segment in snapshot.get("segments", ()):
        yield segment
        yield from segment.get("blocks", ())
    for trace in snapshot.get("device_traces", ()):
        yield from trace
