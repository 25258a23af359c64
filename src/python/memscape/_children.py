"""Recording in the processes that a program under `memscape run` starts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection
from typing import Any

from . import recorder
from ._optimizer_steps import OptimizerSteps
from ._warnings import warn

VARIABLE = "MEMSCAPE_RUN"
"""Environment variable with the options of the recorders as JSON."""
_HERE = os.path.dirname(os.path.abspath(__file__))
_SITE = os.path.join(_HERE, "_site")
# Recorders of this process, which nothing else refers to.
_kept: list[object] = []


def follow(folder: str | os.PathLike[str], options: dict[str, Any]) -> None:
    """Make processes that this one starts record into the same folder, once they initialize CUDA."""
    values = {key: _plain(value) for key, value in options.items()}
    package = os.path.dirname(_HERE)
    os.environ[VARIABLE] = json.dumps({**values, "folder": os.path.abspath(folder), "package": package})
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != _SITE]
    os.environ["PYTHONPATH"] = os.pathsep.join([_SITE, *paths])
    import torch

    later = getattr(torch.cuda, "_lazy_call", None)
    if later is not None:
        pid = os.getpid()
        # Forked processes do not import this package again, but call what waits for CUDA.
        later(lambda: None if os.getpid() == pid else begin({**values, "folder": os.path.abspath(folder)}))


def _plain(value: Any) -> Any:
    """Return a set as a list of numbers, for JSON."""
    if isinstance(value, Collection) and not isinstance(value, str):
        return sorted(int(it) for it in value)
    return value


def begin(options: dict[str, Any], *, count_steps: bool = True) -> None:
    """Record in this process, which initializes CUDA. An error is a warning: the program goes on."""
    if recorder.active() is not None:
        return
    try:
        started = recorder.Recorder(options.pop("folder"), **options)
        steps = OptimizerSteps(started)
        if count_steps:
            steps.install()
    except Exception as error:
        warn(f"cannot record this process: {type(error).__name__}: {error}")
        return
    _kept.extend([started, steps])
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        from multiprocessing.util import Finalize

        # Forked processes of multiprocessing skip atexit.
        _kept.append(Finalize(None, _end, (started, steps), exitpriority=100))


def _end(started: recorder.Recorder, steps: OptimizerSteps) -> None:
    error = sys.exc_info()[1]
    steps.finish(error)
    started.__exit__(type(error) if error else None, error, None)
