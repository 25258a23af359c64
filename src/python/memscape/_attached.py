"""Requests of `memscape attach`, which run in the program that it names."""

from __future__ import annotations

import os
from typing import Any

from . import _start, recorder

# Keeps the recorder of a program that has no variable for it.
_kept: list[recorder.Recorder] = []


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Carry out a request: what (start, save, stop or status), folder, and entries or None.

    Returns:
        Whether this process records, the folder of its snapshots, and the path of a saved one.

    Raises:
        RuntimeError: Something else records already, or nothing does.

    """
    what, active = request["what"], recorder.active()
    reply: dict[str, Any] = {}
    if what == "start":
        active = _begin(request)
    elif what != "status":
        if active is None:
            raise RuntimeError("nothing records in this process: start first")
        if what == "save":
            path = active.save()
            if path is None:
                raise RuntimeError("there is nothing to save: the program has not used the GPU yet")
            reply["path"] = os.fspath(path.absolute())
        else:
            active.stop()
            _kept.clear()
    reply["folder"] = None if active is None else os.fspath(active.folder.absolute())
    reply["is_recording"] = active is not None and active.is_recording
    return reply


def _begin(request: dict[str, Any]) -> recorder.Recorder:
    options = {} if request.get("entries") is None else {"entries": request["entries"]}
    started = _start.start(request["folder"], **options)
    if not started.is_recording:
        raise RuntimeError("nothing is recorded: the program has no GPU")
    _kept[:] = [started]
    return started
