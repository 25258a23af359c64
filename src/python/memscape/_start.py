"""Starting a recorder."""

from __future__ import annotations

import os
from typing import Any

from .recorder import Recorder


def start(folder: str | os.PathLike[str], **options: Any) -> Recorder:
    """Start recording and return the recorder.

    Start before the model is built, so that the trace includes the allocation of its parameters.

    Args:
        folder: Folder for snapshots, created if missing. Files have names such as `rank00003_step000120_oom.pickle.gz`.
        **options: Options of `Recorder`:
            entries (int): number of newest events to keep per device; 1,000,000. Each takes some KiB of host memory.
            stacks (str): "python", or "all" to include C++ frames; dumps then take minutes.
            context (str or None): events that stacks are recorded for: "all", "alloc", "state" or None.
            every (int): save after every this many completed steps.
            steps (collection of int): save after the steps with these numbers.
            on_new_peak (bool): save after a step whose peak is 1 % above the highest one so far.
            on_growth (int or str): save when live memory after a step has grown by this size: bytes, or "256MiB".
            on_oom (bool): save when an allocation fails; True.
            on_exit (bool): save at the end of the program or of the with block, also after an error; True.
            on_signal (str, int or a collection of these): save on these signals, such as "SIGUSR2". SIGTERM and SIGINT
                still end the program.
            ranks (str or collection of int): ranks that record: "all", "0,8-15", {0, 8}.
            mesh: coordinates of the rank: {"dp": 1, "tp": 0}, or a DeviceMesh.
            keep (int or None): number of newest files to keep of each reason, 1 or more; 5. None keeps all.
            sources (bool): embed the user's source files that occur in stacks; False.
            verdict (str, function or None): where a failed allocation is explained: "stderr", "log" for the logger
                "memscape", or a function that gets the text; "stderr". None explains nothing.
            sample_every (int or None): read memory outside the allocator after every this many steps; 1. Taken less
                often if it would take more than 0.1 % of the time. None reads nothing.
            sample_s (float or None): read it in a thread every this many seconds, for programs without steps; None.
            holders (str, bool or int): number of the largest allocations for which the objects that keep them alive are
                looked up, or "auto" for 24. Not after steps and new peaks. Training waits for about a second. False for
                none.
            replace (bool): stop a recorder that is recording, instead of raising an error; False.

    Raises:
        ImportError: PyTorch is not installed.
        OSError: The folder cannot be created or written to.
        RuntimeError: Another recorder is recording.
        TypeError: An option has the wrong type.
        ValueError: An option has an invalid value.

    """
    return Recorder(folder, **options)


def record(folder: str | os.PathLike[str], **options: Any) -> Recorder:
    """Record a block of code: `with memscape.record("runs/a"): train()`.

    Saves at the end of the block and on any error, then stops. Options and errors are those of `start`.
    """
    return Recorder(folder, **options)
