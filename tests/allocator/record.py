"""record.py FOLDER: records workloads with a real PyTorch on the stub driver, each in its own process.

Writes FOLDER/WORKLOAD.SETTING.pickle.gz, and beside it a .json with PyTorch's own counters (memory_stats()) for
check.py. With the setting "recorder", memscape's recorder writes the snapshot, otherwise PyTorch.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import importlib
import json
import os
import pickle
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import torch

import memscape
import workloads

# Fractions depend on the workload: {short} lies between its peaks of live and of reserved bytes, {peak} is the latter.
SETTINGS = {
    "default": "",
    "recorder": "",
    "expandable": "expandable_segments:True",
    "max_split": "max_split_size_mb:32",
    "divisions": "roundup_power2_divisions:4",
    "fraction": "per_process_memory_fraction:{short}",
    "garbage_collection": "garbage_collection_threshold:0.8,per_process_memory_fraction:{peak}",
}
CASES = {
    "training": ["default", "recorder", "expandable", "divisions", "fraction"],
    "mixed": ["default", "expandable", "max_split", "divisions", "garbage_collection"],
    "tight": ["default", "expandable", "fraction"],
    "streams": ["default", "recorder", "expandable"],
    "pools": ["default", "expandable"],
    "out_of_memory": ["default", "recorder", "expandable", "fraction"],
}
Counters = dict[str, int]


def counters() -> Counters:
    return {key: value for key, value in torch.cuda.memory_stats().items() if isinstance(value, int)}


def plain_snapshot(workload: str, path: Path) -> tuple[dict[str, Any], Counters]:
    torch.cuda.memory._record_memory_history(stacks="python", global_record_annotations=True)
    with contextlib.suppress(torch.cuda.OutOfMemoryError):
        workloads.WORKLOADS[workload]()
    end, snapshot = counters(), torch.cuda.memory._snapshot()
    with gzip.open(path, "wb", compresslevel=3) as file:
        pickle.dump(snapshot, file, protocol=4)
    return snapshot, end


def recorder_snapshot(workload: str, path: Path) -> tuple[dict[str, Any], Counters]:
    """Record with memscape, which saves at the end or, if a request fails, inside the failing call."""
    folder = path.parent / f"{workload}.recorder"
    recorder = memscape.start(folder, keep=1)
    try:
        with recorder.step():
            workloads.WORKLOADS[workload]()
        recorder.save()
        end = counters()
    except torch.cuda.OutOfMemoryError:
        end = {}
    saved = recorder.newest
    if saved is None:
        raise RuntimeError("the recorder saved no snapshot")
    with gzip.open(saved) as file:
        snapshot = pickle.load(file)
    recorder.stop()
    [device] = snapshot["memscape"]["devices"]
    if end and device["stats"] != end:
        raise RuntimeError("counters in the recorder's snapshot differ from memory_stats()")
    saved.rename(path)
    return snapshot, device["stats"]


def record(workload: str, setting: str, path: Path) -> None:
    torch.cuda.init()
    snapshot, end = (recorder_snapshot if setting == "recorder" else plain_snapshot)(workload, path)
    line, used = os.environ["PYTORCH_CUDA_ALLOC_CONF"], snapshot["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"]
    if used != line:
        raise RuntimeError(f"PyTorch has the settings {used!r}, expected {line!r}")
    [trace] = snapshot["device_traces"]
    sizes = [event["size"] for event in trace if event["action"] == "alloc"]
    truth = {
        "workload": workload,
        "setting": setting,
        "line": line,
        "memory": int(os.environ["STUB_MEMORY"]),
        "torch": torch.__version__,
        "counters": end,
        "requests": {"count": len(sizes), "hash": hashlib.sha256(json.dumps(sizes).encode()).hexdigest()[:16]},
    }
    path.with_name(f"{workload}.{setting}.json").write_text(json.dumps(truth, indent=1))


def fractions(folder: Path, workload: str) -> dict[str, str]:
    end = json.loads((folder / f"{workload}.default.json").read_text())["counters"]
    live, reserved = end["active_bytes.all.peak"], end["reserved_bytes.all.peak"]
    sizes = {"short": (live + 3 * reserved) / 4, "peak": reserved}
    return {name: f"{size / workloads.memory_of(workload):.4f}" for name, size in sizes.items()}


def in_new_process(folder: Path, workload: str, setting: str) -> None:
    """Fork before CUDA is initialized. Importing PyTorch again would take longer than a workload."""
    line = SETTINGS[setting]
    line = line.format(**fractions(folder, workload)) if "{" in line else line
    process = os.fork()
    if process:
        _, status = os.waitpid(process, 0)
        if status:
            sys.exit(f"recording {workload}.{setting} failed with status {os.waitstatus_to_exitcode(status)}")
        return
    try:
        os.environ |= {"PYTORCH_CUDA_ALLOC_CONF": line, "STUB_MEMORY": str(workloads.memory_of(workload))}
        record(workload, setting, folder / f"{workload}.{setting}.pickle.gz")
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # _snapshot() imports the compiler, which takes longer than a workload. Not in each of the processes.
    importlib.import_module("torch._inductor")
    # Frees on other streams complete some events later, as on a GPU.
    os.environ["STUB_EVENT_LAG"] = "12"
    started, count = time.monotonic(), 0
    for workload, settings in CASES.items():
        for setting in settings:
            in_new_process(folder, workload, setting)
            count += 1
    print(f"   {count} recordings of PyTorch {torch.__version__} in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
