"""The `memscape` key of a snapshot: facts about the run that PyTorch does not record.

A snapshot is a dictionary, and readers skip unknown keys. The recorder adds the key `memscape` with the layout below,
which is documented only here. Times are µs since 1970, sizes are in bytes. All fields except `schema` are optional.

    schema          int    1; incremented when a field changes its meaning
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
    oom             {device: int, requested_bytes: int, limit_bytes: int, free_bytes: int}   as reported by PyTorch
    total_memory    int    capacity of the current device
    devices         [{device: int, name: str, capacity_bytes: int, free_bytes: int, process_bytes: int, other_processes_bytes: int,
                      stats: {str: int}}]
                    capacity_bytes is that of the GPU; free_bytes is reported by the driver; process_bytes is what NVML
                    says this process uses, other_processes_bytes all others; stats is memory_stats()
    steps           [[step: int, begin_us: int, end_us: int]]   the newest 10,000
    tensors         [{addr: int, bytes: int, device: int, name: str, kind: str, shape: [int], dtype: str, offset: int}]
                    named by Recorder.name(), as of the time of saving. addr and bytes are those of the storage, offset
                    is the position of the tensor in it. kind is parameter, buffer, gradient, or
                    optimizer_state:exp_avg and so on
    tensors_left_out   int    tensors beyond the first 200,000
    holders         {seconds: float, objects: int, cut: bool,
                     of: [{addr: int, bytes: int, device: int, root: str, path: str, length: int, cycle: [str],
                           node: str, saved_as: str}]}
                    what keeps the largest live allocations alive, looked up in seconds among this many Python objects;
                    cut if a limit ended the search. addr and bytes are those of the block. root is global (a variable
                    of a module), class, frame (of a running function), gradient, graph (autograd), cycle (until the
                    garbage collector runs), c++ (no Python object refers to it) or unknown. path is written as in
                    Python, such as __main__.history[0]['loss'], and length is its number of objects. cycle has the
                    types in a cycle. node and saved_as are the node of the graph, and its name for the tensor
    source          {path: str}    text of files that occur in stacks; only if asked for
    history         {ignored: [{from: str, calls: int}], restarted_us: [int]}
                    calls of _record_memory_history by the program, which the recorder ignored, and when it restarted
                    recording because something else had ended it
    samples         {columns: [str], device: int, rows: [[int]], every: int, events: [[time_us: int, text: str]]}
                    columns are time_us, free_bytes, reserved_bytes, live_bytes, rss_bytes, shared_bytes and
                    pinned_bytes. The first row is taken when CUDA is initialized, the others after every `every` steps.
                    Events are libraries that were imported and process groups that were made before a row
    paused          [{begin_us: int, end_us: int, tag: str, by: str, bytes: int, ranges: [[addr: int, bytes: int]],
                      backup: str}]
                    reserved memory that was not on the GPU, because torch_memory_saver or vllm paused it. Without
                    end_us it still is. backup is cpu or none
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from importlib import metadata
from typing import Any

from . import _ranks
from ._backend import Backend

SCHEMA = 1


@functools.lru_cache(maxsize=1)
def version() -> str:
    """Return the version of this package, or "unknown" if it is not installed."""
    try:
        return metadata.version("memscape")
    except metadata.PackageNotFoundError:
        return "unknown"


def import_nvml() -> None:
    """Import NVML's package, if it is installed. Nothing is imported inside of a failing allocation."""
    with contextlib.suppress(Exception):
        import pynvml  # noqa: F401


def now_us() -> int:
    """Return the current time in µs since 1970, as in snapshots."""
    return time.time_ns() // 1000


def of_process(backend: Backend, mesh: Any) -> dict[str, Any]:
    """Return the facts that are constant during the run."""
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
    """Return the facts about each device that this process has allocated on. Unknown facts are left out.

    Without `ask_driver` only counters are read, which is safe inside a failing allocation.
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
    """Return the capacity of the current device under the key that the survey of ranks reads."""
    current = _or_none(backend.current_device)
    capacities = [device.get("capacity_bytes") for device in devices if device["device"] == current]
    return {"total_memory": capacities[0]} if capacities and capacities[0] else {}


def _or_none(ask: Any) -> Any:
    # A missing fact must not prevent the snapshot from being saved.
    try:
        return ask()
    except Exception:
        return None


def _nvml(properties: Any) -> dict[str, int]:
    """Return memory use by process from NVML, which needs nvidia-ml-py and identifies processes by ids of the host."""
    pynvml = sys.modules["pynvml"]
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
        # In a container this process has another id and cannot be identified in the list.
        return {} if here is None else {"process_bytes": int(here), "other_processes_bytes": int(others)}
    finally:
        pynvml.nvmlShutdown()
