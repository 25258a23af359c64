"""Call sites: stacks named by their frames in the user's own code."""

from __future__ import annotations

import contextlib
import os
import sysconfig
from collections.abc import Iterable
from types import FrameType
from typing import Any

_MOST_NAMES = 3
_MOST_FRAMES = 200
NO_STACK = "no stack: in backward, by C++ alone, or before recording"


def library_folders(torch: Any) -> tuple[str, ...]:
    """Return the folders whose code is not the user's: of PyTorch, Python, installed packages and memscape."""
    found = {os.path.dirname(__file__), os.path.dirname(os.path.dirname(getattr(torch, "__file__", "") or __file__))}
    # Python cannot tell its folders if it may not read its own files.
    with contextlib.suppress(Exception):
        found.update(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return tuple(sorted({os.path.join(folder, "") for folder in found if folder}))


class CallSites:
    """Names stacks, such as `model.py:10 forward < train.py:23 train_step < train.py:38 <module>`."""

    def __init__(self, libraries: tuple[str, ...]) -> None:
        self._libraries = (*libraries, "<frozen", "??")
        # Snapshots share equal stacks, so each is named once. A list is kept, so that its id is not used again.
        self._names: dict[int, tuple[Any, str]] = {}

    def name(self, frames: list[dict[str, Any]] | None) -> str:
        """Return the name of a stack of a snapshot, whose first frame is the innermost."""
        if not frames:
            return NO_STACK
        known = self._names.get(id(frames))
        if known is None:
            keys = ((str(it.get("filename", "")), int(it.get("line", 0)), str(it.get("name", ""))) for it in frames)
            known = self._names[id(frames)] = frames, self._of(list(keys))
        return known[1]

    def of_running(self, frame: FrameType | None) -> str | None:
        """Return the name of a running function, or None without a frame of the user."""
        frames: list[tuple[str, int, str]] = []
        while frame is not None and len(frames) < _MOST_FRAMES:
            frames.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
        return self._of_user(frames)

    def _of(self, frames: list[tuple[str, int, str]]) -> str:
        own = self._of_user(frames)
        return f"{_short(frames[0])} (no frame of yours)" if own is None else own

    def _of_user(self, frames: Iterable[tuple[str, int, str]]) -> str | None:
        chain: dict[str, str] = {}
        for frame in frames:
            file, _, name = frame
            # Comprehensions and functions that call themselves add nothing.
            # Neither does the command with which multiprocessing starts a process.
            is_command = file == "<string>" and name == "<module>" and bool(chain)
            if self._is_user(file) and not name.startswith("<listcomp") and name not in chain and not is_command:
                chain[name] = _short(frame)
                if len(chain) == _MOST_NAMES:
                    break
        return " < ".join(chain.values()) or None

    def _is_user(self, file: str) -> bool:
        is_python = file.endswith(".py") or file.startswith("<")
        return is_python and not file.startswith(self._libraries)


def _short(frame: tuple[str, int, str]) -> str:
    file, line, name = frame
    return f"{os.path.basename(file)}:{line} {name}"
