"""check.py MEMSCAPE FOLDER: compares what memscape says about the recordings of record.py with PyTorch's own counters.

Each recording: `summary` has PyTorch's numbers, and `whatif` reproduces every address and driver call. Each pair of
recordings A and B of a workload: `whatif A --set B's settings` predicts B's peak, driver calls, retries and failing
request.
"""

from __future__ import annotations

import gzip
import itertools
import json
import operator
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# In use by the context of the stub driver.
CONTEXT = 512 << 20
SIGN = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}


@dataclass
class Recording:
    name: str
    path: Path
    truth: dict[str, Any]
    snapshot: dict[str, Any]

    @property
    def counters(self) -> dict[str, int]:
        return dict(self.truth["counters"])

    @property
    def line(self) -> str:
        return self.truth["line"] or "expandable_segments:False"

    @property
    def trace(self) -> list[dict[str, Any]]:
        [trace] = self.snapshot["device_traces"]
        return list(trace)

    @property
    def requests(self) -> list[int]:
        """Positions in the trace of all requests up to the failing one."""
        places = []
        for at, event in enumerate(self.trace):
            if event["action"] in ("alloc", "oom"):
                places.append(at)
            if event["action"] == "oom":
                break
        return places

    @property
    def failed(self) -> int | None:
        """Number of the request that failed, from 1."""
        return len(self.requests) if self.counters["num_ooms"] else None

    def until(self, request: int) -> dict[str, int]:
        """Peak reserved bytes and driver calls up to this request. No recording starts with reserved memory."""
        reserved = peak = calls = 0
        for event in self.trace[: self.requests[request - 1] + 1]:
            if sign := SIGN.get(event["action"]):
                reserved += sign * event["size"]
                peak, calls = max(peak, reserved), calls + 1
        return {"peak reserved": peak, "driver calls": calls}


def load(folder: Path) -> list[Recording]:
    recordings = []
    for file in sorted(folder.glob("*.json")):
        path = file.with_suffix(".pickle.gz")
        with gzip.open(path) as opened:
            recordings.append(Recording(file.stem, path, json.loads(file.read_text()), pickle.load(opened)))
    return recordings


def compare(name: str, said: dict[str, Any], counted: dict[str, Any]) -> None:
    """Print the values on one line. Exit if one of them differs from PyTorch's."""
    for key, value in counted.items():
        if said[key] != value:
            sys.exit(f"{name}: {key}: memscape {said[key]}, PyTorch {value}")
    print(f"   {name}: {', '.join(f'{key} {value:,}' for key, value in counted.items() if value is not None)}")


def ask(memscape: str, *arguments: str | Path) -> dict[str, Any]:
    command = [memscape, *map(str, arguments), "--json", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    [device] = (answer[0] if isinstance(answer, list) else answer)["devices"]
    return dict(device)


def check_summary(memscape: str, recording: Recording) -> None:
    device, counters = ask(memscape, "summary", recording.path), recording.counters
    said = {
        "peak requested": device["peak_requested"],
        "peak reserved": device["peak_reserved"],
        "requested at the end": device["end_requested"],
        "reserved at the end": device["reserved_end"],
        "segments": device["segments"],
        "requests": device["actions"]["alloc"],
        "failed requests": device["actions"].get("oom", 0),
    }
    counted = {
        "peak requested": counters["requested_bytes.all.peak"],
        "peak reserved": counters["reserved_bytes.all.peak"],
        "requested at the end": counters["requested_bytes.all.current"],
        "reserved at the end": counters["reserved_bytes.all.current"],
        "segments": len(recording.snapshot["segments"]),
        "requests": counters["allocation.all.allocated"],
        "failed requests": counters["num_ooms"],
    }
    compare(recording.name, said, counted)


def check_replay(memscape: str, recording: Recording) -> set[str]:
    """Check the replay, and return the rules of the allocator that it did not exercise."""
    replay = ask(memscape, "whatif", recording.path, "--set", recording.line)["reproduces"]
    if replay["refused"]:
        sys.exit(f"{recording.name}: memscape refuses to replay it: {replay['refused']}")
    counters = recording.counters
    said = {
        "addresses": replay["addresses_equal"],
        "driver calls": replay["segment_events_equal"],
        "error of reserved bytes": replay["largest_reserved_error_bytes"],
    }
    counted = {
        "addresses": counters["allocation.all.allocated"],
        "driver calls": counters["num_device_alloc"] + counters["num_device_free"],
        "error of reserved bytes": 0,
    }
    compare(f"{recording.name} replayed", said, counted)
    return set(replay["not_exercised"])


def check_pair(memscape: str, source: Recording, target: Recording) -> None:
    memory = source.truth["memory"]
    limits = ["--capacity", str(memory - CONTEXT), "--total", str(memory)]
    answer = ask(memscape, "whatif", source.path, "--set", target.line, *limits)
    name = f"{source.name} to {target.truth['setting']}"
    if answer["reproduces"]["refused"] or not answer["runs"]:
        sys.exit(f"{name}: memscape predicts nothing: {answer['reproduces']['refused']}")
    run, requests = answer["runs"][-1], source.requests
    event = run["oom_event"]
    said = {
        "failing request": None if event is None else sum(place <= event for place in requests),
        "peak reserved": run["peak_reserved_bytes"],
        "driver calls": run["driver_calls"],
        "retries": run["retries"],
    }
    # A recording that ends with a failed request has no later ones: the other is compared up to that request.
    is_shorter = source.failed is not None and len(requests) < len(target.requests)
    if is_shorter:
        counted = {"failing request": None, **target.until(len(requests))}
    else:
        counters = target.counters
        counted = {
            "failing request": target.failed,
            "peak reserved": counters["reserved_bytes.all.peak"],
            "driver calls": counters["num_device_alloc"] + counters["num_device_free"],
            "retries": counters["num_alloc_retries"],
        }
    compare(f"{name}{f' up to request {len(requests):,}' if is_shorter else ''}", said, counted)


def check_recorder(recording: Recording, plain: Recording) -> None:
    """Check the recorder's reason for saving, and that it recorded the same events as PyTorch alone."""
    said = {"reason": recording.snapshot["memscape"]["reason"]}
    expected = "oom" if recording.failed else "manual"
    if said["reason"] != expected:
        sys.exit(f"{recording.name}: saved because of {said['reason']}, expected {expected}")
    # PyTorch adds an event for each snapshot. The recorder takes one of the segments before it saves a failed request.
    looked = [e for e in recording.trace if e["action"] != "snapshot"]
    events, others = ([(e["action"], e.get("addr"), e["size"]) for e in trace] for trace in (looked, plain.trace))
    compare(
        f"{recording.name} saved because of {expected}",
        {"events": sum(map(operator.eq, events, others))},
        {"events": len(events)},
    )


def check_requests(first: Recording, second: Recording) -> None:
    """Check that a workload makes the same requests under all settings: otherwise pairs say nothing."""
    counts = [recording.truth["requests"] for recording in (first, second)]
    if not (first.failed or second.failed) and counts[0] != counts[1]:
        sys.exit(f"{first.name} and {second.name} made different requests: {counts[0]} and {counts[1]}")


def main(memscape: str, folder: Path) -> None:
    recordings = {recording.name: recording for recording in load(folder)}
    untried = []
    for recording in recordings.values():
        check_summary(memscape, recording)
        untried.append(check_replay(memscape, recording))
        if recording.truth["setting"] == "recorder":
            check_recorder(recording, recordings[f"{recording.truth['workload']}.default"])
    if rules := set.intersection(*untried):
        sys.exit(f"no recording exercises these rules of the allocator: {', '.join(sorted(rules))}")
    pairs = [
        (first, second)
        for first, second in itertools.permutations(recordings.values(), 2)
        if first.truth["workload"] == second.truth["workload"]
    ]
    for first, second in pairs:
        check_requests(first, second)
        check_pair(memscape, first, second)
    print(f"   {len(recordings)} recordings and {len(pairs)} predictions equal PyTorch's counters")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]))
