"""The key `memscape` of a snapshot: what PyTorch does not write, and what it looks like.

A snapshot is a dictionary; readers skip keys that they do not know. A recorder adds one, `memscape`. This is its layout, and the only
place that describes it. Times are µs since 1970, sizes bytes. Every field but `schema` may be missing.

    schema          int    1; goes up when a field changes its meaning
    version         str    of this package
    reason          str    why it was saved: step, peak, growth, oom, signal, error, exit, manual
    error           str    with reason error: the type and the first line of the exception
    time_us         int    when it was saved
    step            int    the step that ran, or the last one
    program         str    name of the script, without its arguments
    python, torch   str    versions
    cuda            str    version of CUDA that PyTorch was built for; hip for ROCm
    rank, local_rank, world   int   world is the number of ranks
    host            str
    coords          {str: int}     coordinates of the rank, by the name of the dimension
    settings        {entries: int, stacks: str, context: str}   how it was recorded
    oom             {device: int, requested_bytes: int, limit_bytes: int, free_bytes: int}   what PyTorch said of the failed request
    total_memory    int    capacity of the current device
    devices         [{device: int, name: str, capacity_bytes: int, free_bytes: int, process_bytes: int, other_processes_bytes: int,
                      stats: {str: int}}]
                    capacity_bytes is that of the GPU; free_bytes what its driver says is free; process_bytes what the GPU's driver (NVML)
                    says this process uses, other_processes_bytes all others; stats is memory_stats()
    steps           [[step: int, begin_us: int, end_us: int]]   the newest 10,000
    tensors         [{addr: int, bytes: int, device: int, name: str, kind: str, shape: [int], dtype: str, offset: int}]
                    what Recorder.name() was given, as it was when this was saved. addr and bytes are of the storage, offset is where in it
                    the tensor begins. kind is parameter, buffer, gradient, or optimizer_state:exp_avg and so on
    tensors_left_out   int    tensors beyond the first 200,000
    source          {path: str}    text of files that occur in stacks; only if asked for
"""

from __future__ import annotations

import os
import sys
import time
from importlib import metadata
from typing import Any

from . import _ranks
from ._backend import Backend

SCHEMA = 1


def version() -> str:
    """Version of this package; "unknown" where it was not installed."""
    try:
        return metadata.version("memscape")
    except metadata.PackageNotFoundError:
        return "unknown"


def now_us() -> int:
    """Now, in µs since 1970, as snapshots have their times."""
    return time.time_ns() // 1000


def of_process(backend: Backend, mesh: Any) -> dict[str, Any]:
    """What holds for the whole run."""
    build = getattr(backend.torch, "version", None)
    found = {
        "schema": SCHEMA,
        "version": version(),
        "program": os.path.basename(sys.argv[0]) if sys.argv else None,
        "python": sys.version.split()[0],
        "torch": str(backend.torch.__version__),
        "cuda": getattr(build, "cuda", None),
        "hip": getattr(build, "hip", None),
        **_ranks.facts(mesh),
    }
    return {key: value for key, value in found.items() if value is not None}


def of_devices(backend: Backend, ask_driver: bool) -> list[dict[str, Any]]:
    """What is known of each device that this process allocated on. What cannot be found out is left out.

    Without `ask_driver` only counters are read: inside a failing allocation nothing else should run.
    """
    found = []
    for device in range(backend.device_count()):
        stats = _or_none(lambda device=device: backend.stats(device)) or {}
        if not stats.get("reserved_bytes.all.peak") and device != _or_none(backend.current_device):
            continue
        fields: dict[str, Any] = {"device": device, "stats": stats}
        properties = _or_none(lambda device=device: backend.accelerator.get_device_properties(device))
        if properties is not None:
            fields["name"] = str(getattr(properties, "name", ""))
            fields["capacity_bytes"] = int(getattr(properties, "total_memory", 0))
        if ask_driver:
            free = _or_none(lambda device=device: backend.accelerator.mem_get_info(device))
            if free is not None:
                fields["free_bytes"] = int(free[0])
        fields.update(_or_none(lambda properties=properties: _nvml(properties)) or {})
        found.append(fields)
    return found


def of_current(backend: Backend, devices: list[dict[str, Any]]) -> dict[str, int]:
    """Capacity of the current device, by the key that the survey of ranks reads."""
    current = _or_none(backend.current_device)
    capacities = [device.get("capacity_bytes") for device in devices if device["device"] == current]
    return {"total_memory": capacities[0]} if capacities and capacities[0] else {}


def _or_none(ask: Any) -> Any:
    # A fact that cannot be had is no reason to lose the snapshot.
    try:
        return ask()
    except Exception:
        return None


def _nvml(properties: Any) -> dict[str, int]:
    """What NVML says of the GPU, where nvidia-ml-py is installed. It counts processes by their ids outside of containers."""
    import pynvml

    pynvml.nvmlInit()
    try:
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{properties.uuid}")
        here: int | None = None
        others = 0
        for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle):
            used = process.usedGpuMemory
            if process.pid == os.getpid():
                here = used
            else:
                others += used or 0
        # Where this process is not among them, nobody can say which of the others it is.
        return {} if here is None else {"process_bytes": int(here), "other_processes_bytes": int(others)}
    finally:
        pynvml.nvmlShutdown()
