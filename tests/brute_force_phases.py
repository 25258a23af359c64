#!/usr/bin/env python3
"""Brute-force computation of the phases and the streams of a PyTorch memory snapshot.

usage: brute_force_phases.py SNAPSHOT [STREAM]     JSON on standard output, one entry per device

Shares no code or algorithm with the Rust implementation: every event walks through all frames of its stack and all annotations.
Phases are [phase, first moment, last moment, inferred, peak, moment of the peak]. Streams are {stream: [peak, moment of the peak, live
bytes at the peak of the device]}, where None is for allocations without a known stream.
"""
import gzip, json, re, sys

import brute_force
from brute_force import allocations, end_blocks
from brute_force_steps import pair, running

BACKWARD = {"backward", "_engine_run_backward", "run_backward", "backward_step", "unpack_hook", "recompute_fn"}
FORWARD = {"forward", "_call_impl", "_wrapped_call_impl", "_slow_forward"}
WORDS = {"forward": "forward", "fwd": "forward", "backward": "backward", "bwd": "backward", "optimizer": "optimizer", "optim": "optimizer"}


def load(path):
    if not path.endswith(".gz"):
        return brute_force.load(path)
    with gzip.open(path, "rb") as f:
        return brute_force.Inert(f).load()


def is_optimizer(name, path):
    parts = path.replace("\\", "/").lower().split("/")
    if name == "wrapper":
        return parts[-3:] == ["torch", "optim", "optimizer.py"]
    known = {"optim", "optimizer", "optimizers", "deepspeed"}
    return name == "step" and "sched" not in parts[-1] and ("optim" in parts[-1] or bool(known & set(parts[:-1])))


def by_stack(frames):
    own = None
    for frame in frames or []:
        full, name = frame["name"], frame["name"].split(".")[-1]
        node = full.startswith("torch::autograd::") and "::apply(" in full and frame["filename"] in ("", "??", "none")
        if name in BACKWARD or full.startswith("torch::autograd::Engine::") or node:
            return "backward"
        if own is None and name in FORWARD:
            own = "forward"
        if own is None and is_optimizer(name, frame["filename"]):
            own = "optimizer"
    return own


def by_name(name):
    if name.lower().startswith("optimizer.step#"):
        return "optimizer"
    words = {word for word in re.split(r"[\W\d_]+", name.lower()) if word} - {"pass", "phase", "step", "training"}
    found = {WORDS.get(word) for word in words}
    return found.pop() if len(found) == 1 else None


def annotated(trace, marks):
    """Return [phase, first event, end, index] for each annotation that names a phase."""
    times = [event.get("time_us") for event in trace]
    if all(time is None for time in times):
        return []
    axis, found = running(times), []
    for name, start, end in pair(marks):
        a = sum(time < start for time in axis)
        b = len(trace) if end is None else max(a, sum(time <= max(start, end) for time in axis))
        if by_name(name) and a < b:
            found.append([by_name(name), a, b, len(found)])
    return found


def phases(trace, curve, marks):
    ranges = annotated(trace, marks)
    named = {one[0] for one in ranges}
    # Two annotations of the same phase, one in the other, are one.
    ranges = [one for one in ranges if not any(of is not one and of[0] == one[0] and of[1] <= one[1] and one[2] <= of[2] and of[3] < one[3] for of in ranges)]
    runs = []
    for number, event in enumerate(trace):
        around = [one for one in ranges if one[1] <= number < one[2]]
        kind, source = (around[-1][0], around[-1][3]) if around else (by_stack(event.get("frames")), None)
        if not around and kind in named:
            kind = None
        last = runs[-1] if runs else None
        if kind and last and last[0] == kind and last[3] == source:
            last[2] = number + 1
        elif kind:
            runs.append([kind, number, number + 1, source])
        elif event.get("frames") == [] and last and last[0] == "backward" and last[3] is None:
            last[2] = number + 1
    if not {run[0] for run in runs} & {"backward", "optimizer"}:
        return []
    for run, after in zip(runs, runs[1:]):
        if run[0] == "forward" and run[3] is None and after[0] == "backward":
            run[2] = after[1]
    found = []
    for kind, a, b, source in runs:
        peak = max(curve[a:b + 1])
        found.append([kind, a, b, source is None, max(0, peak), a + curve[a:b + 1].index(peak)])
    return found


def stream_of(snapshot, trace, device, one):
    """Return the stream of an allocation: that of its event, else that of the segment at its address."""
    event = trace[one[2] - 1] if one[2] else trace[one[3] - 1] if one[3] else {}
    if "stream" in event:
        return event["stream"]
    for segment in snapshot["segments"]:
        if segment.get("device", 0) == device and segment.get("address", 0) <= one[0] < segment.get("address", 0) + segment["total_size"]:
            return segment.get("stream")
    return None


def streams(snapshot, trace, all, device, peak_moment):
    curves = {}
    for one in all:
        stream = None if one[4] == "unexplained" else stream_of(snapshot, trace, device, one)
        changes = curves.setdefault(stream, [0] * (len(trace) + 1))
        changes[one[2]] += one[1]
        if one[3] is not None:
            changes[one[3]] -= one[1]
    found = {}
    for stream, changes in curves.items():
        for moment in range(1, len(changes)):
            changes[moment] += changes[moment - 1]
        peak = max(changes)
        if peak > 0:
            found[str(stream)] = [peak, changes.index(peak), changes[peak_moment]]
    return found


def main():
    snapshot = load(sys.argv[1])
    devices = {segment.get("device", 0) for segment in snapshot["segments"]}
    devices |= {number for number, trace in enumerate(snapshot.get("device_traces", [])) if trace}
    found = []
    for device in sorted(devices):
        traces = snapshot.get("device_traces", [])
        trace = traces[device] if 0 <= device < len(traces) else []
        all = allocations(trace, end_blocks(snapshot, device))
        curve = [0] * (len(trace) + 1)
        for one in all:
            curve[one[2]] += one[1]
            if one[3] is not None:
                curve[one[3]] -= one[1]
        for moment in range(1, len(curve)):
            curve[moment] += curve[moment - 1]
        marks = [mark for mark in snapshot.get("external_annotations") or [] if mark.get("device", 0) == device]
        found.append({"device": device, "phases": phases(trace, curve, marks), "streams": streams(snapshot, trace, all, device, curve.index(max(curve)))})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
