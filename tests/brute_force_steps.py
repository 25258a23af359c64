#!/usr/bin/env python3
"""Brute-force computation of annotations, steps, compiled regions, Mosaic's figures and modules of a PyTorch memory snapshot.

usage: brute_force_steps.py SNAPSHOT      JSON on standard output, one entry per device

Shares no code or algorithm with the Rust implementation: it loops over all allocations or events for every annotation, step and module.
Rules: DESIGN section 2, FORMAT section 6, semantics.md section 1. Bytes are requested bytes, and moment k is the state after k events.
"""
import collections, json, re, sys

from brute_force import allocations, end_blocks, load


def running(times):
    """Return non-decreasing times. Events before the first time get that time."""
    latest = next((time for time in times if time is not None), None)
    found = []
    for time in times:
        latest = latest if time is None else max(latest, time)
        found.append(latest)
    return found


def pair(marks):
    """Return [name, start, end or None] sorted by start. An END closes the innermost open START of its name."""
    ranges, open = [], collections.defaultdict(list)
    for mark in marks:
        if mark["stage"] == "START":
            open[mark["name"]].append(len(ranges))
            ranges.append([mark["name"], mark["time_us"], None])
        elif open[mark["name"]]:
            ranges[open[mark["name"]].pop()][2] = mark["time_us"]
    return sorted(ranges, key=lambda range: range[1])


def facts(all, curve, a, b):
    born = [one for one in all if a < one[2] <= b]
    moments = range(a, b + 1)
    peak = max(moments, key=lambda moment: (curve[moment], -moment))
    return {
        "from": a, "to": b, "start": max(0, curve[a]), "end": max(0, curve[b]), "peak": max(0, curve[peak]), "peak_event": peak - 1,
        "allocated": sum(one[1] for one in born),
        "freed": sum(one[1] for one in all if one[3] is not None and a < one[3] <= b),
        "kept": sum(one[1] for one in born if one[3] is None or one[3] > b),
        "never_freed": sum(one[1] for one in born if one[3] is None),
    }


def stages(all, curve, trace, marks):
    times = [event.get("time_us") for event in trace]
    if not any(time is not None for time in times):
        return []
    axis = running(times)
    recorded = [time for time in times if time is not None]
    found, lost = [], set()
    for name, start, end in pair(marks):
        last = float("inf") if end is None else max(start, end)
        if last < recorded[0] or start > max(recorded):
            lost.add(re.sub("[0-9]+", "#", name) if start < recorded[0] else None)
            continue
        a = sum(time < start for time in axis)
        b = len(trace) if end is None else max(a, sum(time <= last for time in axis))
        ended = max(recorded) if end is None else last
        found.append({"name": name, "micros": max(0, ended - start), "ended": end is not None, "cut": start < recorded[0] and re.sub("[0-9]+", "#", name) in lost, **facts(all, curve, a, b)})
    return found


def mosaic(trace, marks):
    """Compute Mosaic's figures as `semantics.md` describes: a counter and a dict of live allocations."""
    live, usage, curve = {}, 0, []
    annotations = [dict(mark) for mark in marks]
    waiting, open = collections.deque(annotations), []
    peak, at_peak = 0, {}
    times = [event.get("time_us") for event in trace]
    timed = any(time is not None for time in times)
    axis = running(times) if timed else times
    for number, event in enumerate(trace):
        while timed and waiting and waiting[0]["time_us"] <= axis[number]:
            mark = waiting.popleft()
            if mark["stage"] == "START":
                open.append(mark["name"])
            elif mark["name"] in open:
                del open[len(open) - 1 - open[::-1].index(mark["name"])]
        if event["action"] == "alloc":
            live.setdefault(event["addr"], []).append((event["size"], event.get("compile_context") or "N/A", open[-1] if open else ""))
            usage += event["size"]
        elif event["action"] in ("free_completed", "free") and live.get(event["addr"]):
            usage -= live[event["addr"]].pop()[0]
        curve.append(usage)
        if usage > peak:
            peak, at_peak = usage, [one for ones in live.values() for one in ones]
    contexts, names = collections.Counter(), collections.Counter()
    for size, context, name in at_peak:
        contexts[context] += size
        names[name] += size
    stages, seen = [], collections.Counter()
    if timed:
        for mark in marks:
            key = f"{mark['name']}_{mark['stage']}"
            events = sum(time <= mark["time_us"] for time in axis)
            stages.append([key if not seen[key] else f"{key}({seen[key]})", curve[events - 1] if events else 0])
            seen[key] += 1
    # Entries of zero bytes are not part of a peak.
    some = lambda counter: {name: size for name, size in counter.items() if size}
    return {"peak": peak, "contexts": some(contexts), "annotations": some(names), "stages": stages}


def regions(trace, all, peak_moment):
    of = {}
    for one in all:
        if one[2] > 0:
            of.setdefault(trace[one[2] - 1].get("compile_context") or "N/A", []).append(one)
    if set(of) <= {"N/A"}:
        return {}
    found = {}
    for name, ones in of.items():
        steps = [0] * (len(trace) + 2)
        for one in ones:
            steps[one[2]] += one[1]
            if one[3] is not None:
                steps[one[3]] -= one[1]
        live, most = 0, 0
        for step in steps:
            live += step
            most = max(most, live)
        at_peak = sum(one[1] for one in ones if one[2] <= peak_moment and (one[3] is None or peak_moment < one[3]))
        found[name] = [at_peak, most, sum(one[1] for one in ones), len(ones)]
    return found


NATIVE = (".cpp", ".cc", ".cu", ".c", ".h", ".cuh", ".hpp", ".S", ".o", ".so")
CALLS = {"_call_impl", "_wrapped_call_impl", "_slow_forward", "inner", "__call__"}
WRAPPERS = ("torch/_dynamo/eval_frame.py", "torch/amp/autocast_mode.py", "torch/utils/_contextlib.py")


def is_native(name):
    library = ("site-packages/", "dist-packages/", "/lib/python3", "<frozen", "torch/csrc", "torch/_", "<string>")
    if name in ("", "??", "none"):
        return True
    name = name.replace("\\", "/")
    if "/Lib/" in name:
        return False
    return not any(part in name for part in library) and not name.endswith(".py") and name.endswith(NATIVE)


def modules(frames):
    """Return, for each module of a stack, outermost first, the frames that call it and the file of its forward."""
    python = [(f["filename"], f["line"], f["name"]) for f in reversed(frames or []) if not is_native(f["filename"])]
    found, path, calls = [], (), False
    key = ()
    for file, line, name in python:
        function, slashed = name.rsplit(".", 1)[-1], file.replace("\\", "/")
        if slashed.endswith("torch/nn/modules/module.py") and function in CALLS:
            calls = True
        elif calls and slashed.endswith(WRAPPERS):
            pass
        elif calls and function == "forward":
            key = key + (path, file)
            found.append((key, path[-1] if path else None))
            path, calls = ((file, line, name),), False
        else:
            path = (path if found else ()) + ((file, line, name),)
            calls = False
    return found


def layers(trace, all, curve, reserved, peak_moment):
    sums, seen = {}, {}
    by_moment = {one[2]: one for one in all if one[2] > 0}
    ends = {one[3]: one for one in all if one[3] is not None}

    def of(frames):
        key = id(frames)
        if key not in seen:
            seen[key] = modules(frames)
        return seen[key]

    none = lambda calls: {"calls": calls, "events": 0, "allocations": 0, "allocated": 0, "frees": 0, "freed": 0, "peak": 0, "reserved": 0, "waste": 0.0, "live": 0, "first": None, "last": None}
    for number, event in enumerate(trace):
        calls = []
        for key, call in of(event.get("frames")):
            calls = calls + [list(call) if call else None]
            it = sums.setdefault(key, none(calls))
            it["events"] += 1
            if event["action"] == "alloc":
                it["allocations"] += 1
                it["allocated"] += event["size"]
            elif event["action"] in ("free_completed", "free"):
                it["frees"] += 1
                it["freed"] += ends[number + 1][1] if number + 1 in ends else 0
            it["peak"] = max(it["peak"], curve[number + 1])
            it["reserved"] = max(it["reserved"], reserved[number + 1])
            it["waste"] += max(0.0, 1 - curve[number + 1] / reserved[number + 1]) if reserved[number + 1] > 0 else 0
            it["first"] = number if it["first"] is None else it["first"]
            it["last"] = number
    for one in all:
        if one[2] <= peak_moment and (one[3] is None or peak_moment < one[3]) and one[4] == "made by":
            calls = []
            for key, call in of(one[5]):
                calls = calls + [list(call) if call else None]
                sums.setdefault(key, none(calls))["live"] += one[1]
    return [{**it, "files": [part for part in key if isinstance(part, str)]} for key, it in sums.items() if it["events"] or it["live"]]


FORWARD_LOOPS = ("torch/optim/", "torch/autograd/")
SETUP = {"__init__", "from_pretrained", "load_state_dict", "load_model", "load_weights", "create_weights", "reset_parameters", "_apply", "to_empty"}


def role(file, name):
    """Return the role of a Python frame: forward, module call, wrapper, library, setup or other."""
    path, name = file.replace("\\", "/"), name.rsplit(".", 1)[-1]
    if path.endswith("torch/nn/modules/module.py") and name in CALLS:
        return "call"
    if path.endswith(WRAPPERS):
        return "wrapper"
    if name == "forward":
        return "forward"
    if any(part in path for part in FORWARD_LOOPS):
        return "library"
    return "setup" if name in SETUP else "other"


def is_backward(frames):
    """Return whether a stack has a frame of the backward pass."""
    for frame in frames or []:
        name = frame["name"]
        if name.rsplit(".", 1)[-1] in ("backward", "_engine_run_backward", "run_backward", "backward_step", "unpack_hook", "recompute_fn"):
            return True
        if name.startswith("torch::autograd::Engine::"):
            return True
        if name.startswith("torch::autograd::") and "::apply(" in name and is_native(frame["filename"]):
            return True
    return False


def by_stack(trace, all, curve, marks):
    """Return steps inferred from repeating stacks: [spans, number of stacks that agree]."""
    freed = {one[2] - 1 for one in all if one[2] > 0 and one[3] is not None}
    allocs = [number for number, event in enumerate(trace) if event["action"] == "alloc"]
    at = collections.defaultdict(list)
    for place, number in enumerate(allocs):
        frames = trace[number].get("frames")
        if frames:
            at[tuple((f["filename"], f["line"], f["name"]) for f in frames)].append(place)

    def is_even(places):
        if len(places) < 2 or (places[-1] - places[0]) * (2 if len(places) > 3 else 8) < len(allocs):
            return False
        gaps = [b - a for a, b in zip(places, places[1:])]
        gaps = gaps[1:] if len(gaps) > 2 else gaps
        # Variance divided by the square of the mean, in integers.
        variance = len(gaps) * sum(gap * gap for gap in gaps) - sum(gaps) ** 2
        return (16 if len(places) > 3 else 4) * variance <= sum(gaps) ** 2

    backward = [number for number, event in enumerate(trace) if is_backward(event.get("frames"))]
    even = {stack: places for stack, places in at.items() if is_even(places)}
    votes = collections.Counter(len(places) for places in even.values())
    for count, agreeing in sorted(votes.items(), key=lambda item: (item[0] == 2, -item[1], item[0])):
        if agreeing < 3:
            continue
        roots = {}
        for stack, places in even.items():
            python = [frame for frame in reversed(stack) if not is_native(frame[0])]
            near = len(places) == count if 2 in (count, len(places)) else abs(len(places) - count) <= 1
            if near and python:
                roots.setdefault((python[0][0], python[0][2]), {})[stack] = python
        if not roots:
            continue
        (file, function), agree = max(roots.items(), key=lambda item: len(item[1]))
        shared = list(next(iter(agree.values())))
        for python in agree.values():
            same = [one == other for one, other in zip(shared, python)] + [False]
            shared = shared[: same.index(False)]
        inside = any(role(file, name) in ("forward", "library") for file, line, name in shared) if shared else role(file, function) not in ("other", "setup")
        calls_model = any(role(file, name) in ("forward", "library", "call") for python in agree.values() for file, line, name in python)
        frees = any(allocs[place] in freed for stack in agree for place in even[stack])
        setup = "setup" in [role(file, name) for file, line, name in shared or [(file, 0, function)]]
        if len(agree) < 3 or inside or not calls_model and (setup or not frees):
            continue
        anchor = min(agree, key=lambda stack: (curve[allocs[even[stack][1]]], even[stack][0]))
        begins = [allocs[place] for place in even[anchor]]
        spans = list(zip(begins, begins[1:] + [len(trace)]))
        lengths = [sum(a <= number < b for number in allocs) for a, b in spans]
        *others, last = lengths
        enough = 4 if len(others) == 1 else 6 if ends_with_optimizer(trace[begins[-1] :]) else 7
        short = last * 8 < min(others) * enough
        if short or last > 2 * max(others):
            spans.pop()
        complete = sum(any(a <= number < b for number in backward) for a, b in spans)
        if complete < 2 if count == 2 else backward and complete * 2 < len(spans):
            continue
        return join_passes(spans, marks_of_optimizer(trace, marks))
    return by_optimizer(trace)


def frame_phase(frame):
    parts, name = frame["filename"].replace("\\", "/").lower().split("/"), frame["name"].rsplit(".", 1)[-1]
    if name in ("forward", "_call_impl", "_wrapped_call_impl", "_slow_forward"):
        return "forward"
    if name == "wrapper" and parts[-3:] == ["torch", "optim", "optimizer.py"]:
        return "optimizer"
    named = "optim" in parts[-1] or {"optim", "optimizer", "optimizers", "deepspeed"} & set(parts[:-1])
    return "optimizer" if name == "step" and named and "sched" not in parts[-1] else None


def ends_with_optimizer(events):
    """Return whether an optimizer step follows the backward pass of a step."""
    seen = []
    for event in events:
        frames = event.get("frames") or []
        phases = [phase for phase in map(frame_phase, frames) if phase]
        seen += ["backward"] if is_backward(frames) else phases[:1]
    seen = [phase for phase in seen if phase != "forward"]
    return seen[-1:] == ["optimizer"] and "backward" in seen


def by_optimizer(trace):
    """Return steps, each from a forward pass to the next one after a backward pass and an optimizer step."""
    spans, start, seen = [], None, []
    for number, event in enumerate(trace):
        frames = event.get("frames") or []
        phases = [phase for phase in map(frame_phase, frames) if phase]
        if is_backward(frames):
            seen += ["backward"] if start is not None else []
        elif phases[:1] == ["optimizer"] and "backward" in seen:
            seen.append("optimizer")
        elif phases[:1] == ["forward"]:
            if start is None:
                start = number
            elif "optimizer" in seen and "optimizer" not in phases:
                spans.append((start, number))
                start, seen = number, []
    if "optimizer" in seen and start is not None:
        spans.append((start, len(trace)))
    return spans if len(spans) > 1 else by_passes(trace)


def by_passes(trace):
    """Return forward passes with their backward passes, if an optimizer step follows only the first one."""
    passes, start, seen = [], None, set()
    for number, event in enumerate(trace + [{"frames": [{"filename": "", "line": 0, "name": "forward"}]}]):
        frames = event.get("frames") or []
        phase = next((phase for phase in map(frame_phase, frames) if phase), None)
        if is_backward(frames):
            seen |= {"backward"} if start is not None else set()
        elif phase == "optimizer" and "backward" in seen:
            seen.add("optimizer")
        elif phase == "forward" and ("backward" in seen or start is None):
            if "backward" in seen:
                passes.append((start, number, "optimizer" in seen))
            start, seen = number, set()
    is_first_only = [it[2] for it in passes] == [number == 0 for number in range(len(passes))]
    return [(a, b) for a, b, _ in passes] if is_first_only and len(passes) > 1 else []


def is_optimizer_step(frames):
    """Return whether the innermost frame of a module call or an optimizer step belongs to the step."""
    return [phase for phase in map(frame_phase, frames or []) if phase][:1] == ["optimizer"]


def marks_of_optimizer(trace, marks):
    """Return the events that belong to an optimizer step, or follow the start of its annotation."""
    found = {number for number, event in enumerate(trace) if is_optimizer_step(event.get("frames")) and not is_backward(event.get("frames"))}
    times = [event.get("time_us") for event in trace]
    if any(time is not None for time in times):
        axis = running(times)
        # An annotation outside the trace belongs to no event.
        for name, start, end in pair(marks):
            if name.startswith("Optimizer.step#") and start <= axis[-1] and (end is None or max(start, end) >= axis[0]):
                found.add(sum(time < start for time in axis))
    return found


def join_passes(spans, optimizer):
    """Join spans up to the one with an optimizer step, if that is every nth one."""
    has = [any(a <= number < b for number in optimizer) for a, b in spans]
    if sum(has) < 2 or sum(has) * 4 >= len(spans) * 3:
        return spans
    ends = [place for place, it in enumerate(has) if it]
    firsts = [0] + [place + 1 for place in ends[:-1]]
    lengths = sorted(end - first + 1 for first, end in zip(firsts, ends))
    usual = lengths[len(lengths) // 2]
    if usual < 2 or len(spans) - 1 - ends[-1] >= usual or lengths.count(usual) * 4 < len(lengths) * 3:
        return spans
    return [(spans[first][0], spans[end][1]) for first, end in zip(firsts, ends)]


PARTS = re.compile("((?<![A-Za-z])|(?=[A-Z]))(?i:layer|block|stage|micro|expert|shard|bucket)|(?i:norm)(?![A-Za-z])")


def kind_of(names, count, pattern):
    """Return how likely annotations mark steps: numbered step 4, numbered 3, word for steps 2, epoch 1, other 0, or None."""
    is_part, pattern = PARTS.search(pattern), pattern.lower()
    says_so = any(word in pattern for word in ("step", "iter", "batch"))
    unique = len(names) == count and count > 1
    if count < 2 or is_part:
        return None
    if says_so:
        return 4 if unique else 2
    if unique:
        return 1 if "epoch" in pattern else None if ".#" in pattern else 3
    return 0 if len(names) == 1 else None


def by_name(stages):
    """Return steps by annotations with equal names, or with names that differ only in numbers: their kind, whether each is a step,
    the steps and the annotations."""
    best, rank = None, None
    for number, name in enumerate(dict.fromkeys(re.sub("[0-9]+", "#", stage["name"]) for stage in stages)):
        of, last = [], 0
        for stage in stages:
            if re.sub("[0-9]+", "#", stage["name"]) == name and stage["ended"] and not stage["cut"] and (not of or stage["from"] >= last):
                of.append(stage)
                last = stage["to"]
        names = {stage["name"] for stage in of}
        kind = kind_of(names, len(of), name)
        if kind is None:
            continue
        covered = sum(stage["to"] - stage["from"] for stage in of)
        if best is None or (kind, covered, -number) > rank:
            best, rank = of, (kind, covered, -number)
    if best is None:
        return None, False, [], []
    marked = [(stage["from"], stage["to"]) for stage in best]
    differ = len({stage["name"] for stage in best}) > 1
    if differ or rank[1] * 10 >= 9 * (best[-1]["to"] - best[0]["from"]):
        return rank[0], True, marked, marked
    return rank[0], False, [(one["to"], next["to"]) for one, next in zip(best, best[1:])], marked


def are_parts(trace, spans, marked):
    """Return whether most steps lack the backward pass of the trace, or all marked allocations are made at one place of a forward."""
    backward = [number for number, event in enumerate(trace) if is_backward(event.get("frames"))]
    if backward:
        return 2 * sum(any(a <= number < b for number in backward) for a, b in spans) < len(spans)
    inside = [event.get("frames") or [] for number, event in enumerate(trace) if event["action"] == "alloc" and any(a <= number < b for a, b in marked)]
    stacks = [[(f["filename"], f["line"], f["name"]) for f in reversed(frames) if not is_native(f["filename"])] for frames in inside]
    stacks = [stack for stack in stacks if stack]
    shared = 0
    while stacks and all(len(stack) > shared and stack[shared] == stacks[0][shared] for stack in stacks):
        shared += 1
    return any(role(file, name) == "forward" for file, line, name in stacks[0][:shared]) if stacks else False


def are_in(inner, outer):
    """Return whether most outer spans have the starts of several inner ones."""
    return 2 * sum(sum(a <= start < b for start, _ in inner) > 1 for a, b in outer) > len(outer)


def steps(stages, trace, all, curve, marks):
    kind, each, named, marked = by_name(stages)
    spans = named
    if kind != 4:
        repeated, parts = by_stack(trace, all, curve, marks), named and are_parts(trace, named, marked)
        if not named or parts and (repeated or kind != 2):
            spans = repeated
        elif repeated and (kind != 2 and are_in(marked, repeated) or kind == 1 and are_in(repeated, named)):
            spans = repeated
        elif not each and len(named) < len(repeated):
            spans = repeated
    return [facts(all, curve, a, b) for a, b in spans]


def analyse(snapshot, device):
    traces = snapshot.get("device_traces", [])
    trace = traces[device] if 0 <= device < len(traces) else []
    all = allocations(trace, end_blocks(snapshot, device))
    curve = [sum(one[1] for one in all if one[2] == 0)] + [0] * len(trace)
    for one in all:
        if one[2] > 0:
            curve[one[2]] += one[1]
        if one[3] is not None:
            curve[one[3]] -= one[1]
    for moment in range(1, len(curve)):
        curve[moment] += curve[moment - 1]
    peak_moment = curve.index(max(curve))
    grown = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
    changes = [grown.get(event["action"], 0) * event.get("size", 0) for event in trace]
    reserved = [sum(segment["total_size"] for segment in snapshot["segments"] if segment.get("device", 0) == device) - sum(changes)]
    for change in changes:
        reserved.append(reserved[-1] + change)
    marks = snapshot.get("external_annotations") or []
    own = [mark for mark in marks if mark.get("device", 0) == device]
    named = stages(all, curve, trace, own)
    return {
        "device": device, "stages": named, "steps": steps(named, trace, all, curve, own), "mosaic": mosaic(trace, marks),
        "regions": regions(trace, all, peak_moment), "layers": layers(trace, all, curve, reserved, peak_moment),
    }


def main():
    snapshot = load(sys.argv[1])
    devices = {segment.get("device", 0) for segment in snapshot["segments"]}
    devices |= {number for number, trace in enumerate(snapshot.get("device_traces", [])) if trace}
    json.dump([analyse(snapshot, device) for device in sorted(devices)], sys.stdout)


if __name__ == "__main__":
    main()
