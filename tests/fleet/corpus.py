"""Snapshots of jobs with known differences: a leak, an odd rank, a new place, and two similar OOMs.

Each is one of the sample files (`www/*.pickle.gz`) with allocations added at its end.
"""

from __future__ import annotations

import gzip
import os
import pickle
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
RANKS, STEPS = 4, (100, 200, 300, 400)
FIRST_TIME = 1_793_491_200  # 2026-11-01
DAY = 86_400
LEAK_BYTES, ODD_BYTES, NEW_BYTES = 16 << 20, 512 << 20, 96 << 20
# Sample file of each job. The jobs with OOMs have their own paths of the program.
JOBS = {
    "job-even": "training",
    "job-leak": "training",
    "job-odd": "training",
    "job-new": "training",
    "job-oom-a": "out-of-memory",
    "job-oom-b": "out-of-memory",
}


def _frame(job: str, file: str, function: str, line: int) -> dict[str, Any]:
    return {
        "filename": f"/home/ann/exp_2026{zlib.crc32(job.encode()) % 9000 + 1000}/train/{file}",
        "name": function,
        "line": line,
    }


def _add(snapshot: dict[str, Any], address: int, size: int, frames: list[dict[str, Any]]) -> None:
    """Add a segment with one live block, allocated after the last event."""
    trace = snapshot["device_traces"][0]
    segment = {
        **snapshot["segments"][0],
        "address": address,
        "total_size": size,
        "allocated_size": size,
        "active_size": size,
        "requested_size": size,
        "frames": frames,
        "blocks": [
            {"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": frames}
        ],
    }
    snapshot["segments"].append(segment)
    for action in ("segment_alloc", "alloc"):
        time_us = trace[-1]["time_us"] + 1
        trace.append(
            {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us, "frames": frames}
        )


def _snapshot(job: str, rank: int, step: int, raw: bytes) -> dict[str, Any]:
    snapshot: dict[str, Any] = pickle.loads(raw)
    if job == "job-leak":
        frames = [_frame(job, "history.py", "remember", 41)]
        for number in range(step // 100):
            _add(snapshot, 0x7F9000000000 + number * (64 << 20), LEAK_BYTES, frames)
    if job == "job-odd" and rank == 2:
        _add(snapshot, 0x7F9800000000, ODD_BYTES, [_frame(job, "eval.py", "gather_logits", 19)])
    if job == "job-new" and step >= 300:
        _add(snapshot, 0x7F9C00000000, NEW_BYTES, [_frame(job, "debug.py", "debug_copy", 7)])
    snapshot["memscape"] = {
        "schema": 1,
        "reason": "oom" if "oom" in job else "step",
        "rank": rank,
        "step": step,
        "host": f"node{rank // 2}",
        "torch": "2.15.0",
        "attempt": 1,
        "git": "0123abc",
        "devices": [{"device": 0, "name": "NVIDIA H100", "capacity_bytes": 24 << 30}],
        "nonce": f"{job}.{step}.{rank}",
    }
    return snapshot


def write(folder: Path, jobs: list[str] | None = None, ranks: int = RANKS, steps: Iterable[int] = STEPS) -> list[Path]:
    """Write the snapshots of these jobs, and return their paths. Job n is from day n."""
    written = []
    for number, (job, sample) in enumerate(JOBS.items()):
        if jobs is not None and job not in jobs:
            continue
        with gzip.open(ROOT / "www" / f"{sample}.pickle.gz") as file:
            raw = file.read()
        (folder / job).mkdir(parents=True)
        for step in steps:
            for rank in range(ranks):
                name = f"rank{rank:05d}_step{step:06d}_{'oom' if 'oom' in job else 'step'}.pickle.gz"
                path = folder / job / name
                data = pickle.dumps(_snapshot(job, rank, step, raw), 4)
                path.write_bytes(gzip.compress(data, 1, mtime=0))
                changed = FIRST_TIME + number * DAY + step * 60 + rank
                os.utime(path, (changed, changed))
                written.append(path)
    return written
