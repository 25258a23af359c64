#!/usr/bin/env python3
"""Brute-force computation of Leaks & waste, the peak and OOMs of a PyTorch memory snapshot.

usage: brute_force_leaks.py sheets SNAPSHOT THRESHOLDS STEPS     the rows of each sheet, JSON, one entry per device
       brute_force_leaks.py refuse SHORT LONG OUT                LONG with an `oom` at the end of SHORT, and the free blocks of SHORT

THRESHOLDS is a JSON object of values by key. STEPS is a JSON object of the moments [from, to] of each step, by device. Shares no code
with the Rust implementation. All bytes are requested bytes unless noted otherwise. Moment k is the state after k events.
"""
import json, pickle, re, sys
from collections import defaultdict
from brute_force import LIVE, end_blocks, frames_of_block, load, requested

NEVER = 1 << 60
LIBRARY = ["/site-packages/torch/", "/dist-packages/torch/", "/lib/python3", "site-packages/", "dist-packages/", "<frozen",
           "torch/csrc", "torch/_", "<string>"]
NATIVE_ENDS = (".cpp", ".cc", ".cu", ".c", ".h", ".cuh", ".hpp", ".S", ".o", ".so")


def origin(frame):
    """Return the rank of a frame as a call site, and the keyword that identifies a C++ frame."""
    file, name = frame["filename"], frame["name"]
    if "\\" in file:
        file = file.replace("\\", "/")
        if "/Lib/" in file:
            return 3, None
    if file not in ("", "??", "none"):
        if any(part in file for part in LIBRARY):
            return 3, None
        if file.endswith(".py") or file.startswith(("<ipython", "/tmp/ipykernel")) or not file.endswith(NATIVE_ENDS):
            return 4, None
    backward = re.match(r"torch::autograd::(.*?)::apply\(", name, re.S)
    if backward:
        return 2, ("torch::autograd::" + backward.group(1)).split("::")[-1]
    if name.startswith("at::_ops::"):
        return 1, name.split("::")[2]
    return 0, name


def site(frames):
    best = None
    for frame in frames or []:
        rank, word = origin(frame)
        if best is None or rank > best[0]:
            best = (rank, word, frame)
        if rank == 4:
            break
    if best is None:
        return None, "no stack recorded"
    rank, word, frame = best
    base = re.split(r"[/\\]", frame["filename"])[-1]
    line = f":{frame['line']}" if frame["line"] else ""
    name = word if rank < 3 else f"{base}{line} {frame['name']}"
    return json.dumps(frame, sort_keys=True), name


class Allocation:
    def __init__(self, address, size, born, frames, of_free=False):
        self.address, self.size, self.born, self.frames, self.of_free = address, size, born, frames, of_free
        self.died, self.asked, self.block = NEVER, None, None

    def has_stack_of_free(self):
        return self.of_free and bool(self.frames)

    def lives(self, moment):
        return self.born <= moment < self.died


def allocations(trace, blocks):
    completes = any(e["action"] in ("free_completed", "free") for e in trace)
    requests = any(e["action"] == "free_requested" for e in trace)
    found, live = [], {}
    for i, e in enumerate(trace):
        action, address = e["action"], e.get("addr")
        if action == "alloc":
            live[address] = Allocation(address, e["size"], i + 1, e.get("frames"))
            found.append(live[address])
        elif action == "free_requested":
            if address not in live:
                live[address] = Allocation(address, e["size"], 0, e.get("frames"), True)
                found.append(live[address])
            one = live[address]
            one.asked = one.asked or i + 1
            if not completes:
                one.died = i + 1
                live.pop(address)
        elif action in ("free_completed", "free"):
            one = live.pop(address, None)
            if one is None:
                one = Allocation(address, e["size"], 0, e.get("frames"), True)
                found.append(one)
                one.asked = 0 if requests else i + 1
            one.died = i + 1
            one.asked = i + 1 if one.asked is None else one.asked
    for address, one in live.items():
        one.block = blocks.get(address)
        if one.born == 0 and one.block is None:
            one.died = 0
        if one.block is not None:
            frames = frames_of_block(one.block)
            if one.born == 0:
                one.size = requested(one.block)
            if frames is not None and (one.of_free or one.frames is None):
                one.frames, one.of_free = frames, False
    for address, block in blocks.items():
        if address not in live:
            one = Allocation(address, requested(block), 0, frames_of_block(block))
            one.block = block
            one.asked = 0 if block["state"] != "active_allocated" else None
            found.append(one)
    net = 0
    for e in trace:
        net += e["size"] * ((e["action"] == "alloc") - (e["action"] in (("free_completed", "free") if completes else ("free_requested",))))
    lacking = sum(map(requested, blocks.values())) - net - sum(one.size for one in found if one.born == 0 and one.died > 0)
    if lacking > 0:
        one = Allocation(0, lacking, 0, None)
        one.unexplained = True
        found.append(one)
    # A call site with zero byte-events has no group of its own.
    area = defaultdict(int)
    for one in found:
        one.site = site(one.frames)
        area[one.site] += one.size * max(0, min(one.died, len(trace) + 1) - one.born)
    for one in found:
        if area[one.site] == 0:
            one.site = (None, "no stack recorded")
    return found


def rounded(one):
    if one.block is not None:
        return one.block["size"]
    return one.size if hasattr(one, "unexplained") else max(512, -(-one.size // 512) * 512)


def by_site(some, weigh=lambda one: one.size):
    sums = defaultdict(list)
    for one in some:
        sums[one.site].append(one)
    rows = []
    for (_, name), ones in sums.items():
        of_free = sum(one.has_stack_of_free() for one in ones)
        if of_free == len(ones):
            name = "freed at " + name
        elif of_free:
            name += f" ({of_free:,} with the stack of the free)"
        rows.append((name, sum(map(weigh, ones)), ones))
    return rows


def rises_evenly(rises):
    """Return whether there are three rises, and no gap is longer than twice the mean."""
    places = [place for place, rise in enumerate(rises, 1) if rise]
    gaps = [b - a for a, b in zip([0] + places, places + [len(rises)])]
    return len(places) > 2 and max(gaps) * len(places) <= 2 * len(rises)


def growth(ones, steps, last):
    """Return the bytes and counts of a call site at the baseline and the end of each later step, if they grow steadily."""
    if len(steps) < 2:
        return None
    ends = [from_ for from_, _ in steps[:1]] + [to for _, to in steps]
    baseline = 2 if len(steps) > 3 else 0
    # The program no longer holds what it has asked to free.
    live = [[one for one in ones if one.lives(end) and (one.asked is None or one.asked > end)] for end in ends]
    held, counts = [sum(one.size for one in it) for it in live], [len(it) for it in live]
    # What is freed at the end of the trace may belong to no step.
    is_cut = ends[-1] == last and held[-1] < held[-2]
    if is_cut:
        held, counts = held[:-1], counts[:-1]
    kept = [[one for one in ones if one.died == NEVER and one.asked is None and a < one.born <= b] for a, b in zip(ends, ends[1:])]
    falls = any(b < a for a, b in zip(held[baseline:], held[baseline + 1:]))
    # What the step after the last one would free is not known.
    kept = kept[:-1]
    if falls and len(kept) > 2 and all(sum(one.size for one in it) > 0 for it in kept):
        sums = lambda values: [sum(values[:number]) for number in range(len(values) + 1)]
        held, counts, falls, is_cut = sums([sum(one.size for one in it) for it in kept]), sums([len(it) for it in kept]), False, False
    rises = [b > a for a, b in zip(held[baseline:], held[baseline + 1:])]
    evenly = baseline > 0 and counts[-1] > counts[baseline] and rises_evenly(rises)
    if falls or not (sum(rises) >= (-(-len(rises) // 2) if baseline else len(rises)) or evenly):
        return None
    always = all(b > a for a, b in zip(held, held[1:]))
    return {"held": held[baseline:], "counts": counts[baseline:], "rises": sum(rises), "compared": len(rises), "start": ends[0] if always else ends[baseline]}


def sheets(snapshot, device, thresholds, steps):
    traces = snapshot.get("device_traces", [])
    trace = traces[device] if 0 <= device < len(traces) else []
    all = allocations(trace, end_blocks(snapshot, device))
    last = len(trace)
    step = [0] * (last + 2)
    for one in all:
        if one.died > one.born:
            step[one.born] += one.size
            step[min(one.died, last + 1)] -= one.size
    curve = [sum(step[: 1])]
    for moment in range(1, last + 1):
        curve.append(curve[-1] + step[moment])
    peak = curve.index(max(curve))
    told = {}

    stay = by_site(one for one in all if one.born > 0 and one.died == NEVER and one.asked is None)
    told["alive"] = [[b, len(o), min(x.born for x in o) - 1, max(x.born for x in o) - 1, n] for n, b, o in stay if b >= thresholds["alive"]]

    clock, latest = [None] * last, None
    for i, e in enumerate(trace):
        if e.get("time_us") is not None:
            latest = e["time_us"] if latest is None else max(latest, e["time_us"])
            clock[i] = latest
    told["late"] = []
    for one in all:
        if one.asked is None or one.asked >= one.died:
            continue
        to = min(one.died, last)
        waited = to - one.asked
        if waited <= thresholds["late"]:
            continue
        known = one.asked > 0 and to > 0 and clock[one.asked - 1] is not None and clock[to - 1] is not None
        us = clock[to - 1] - clock[one.asked - 1] if known else None
        name = ("freed at " if one.has_stack_of_free() else "") + one.site[1]
        told["late"].append([waited, us, one.size, one.asked - 1, one.died - 1 if one.died < NEVER else None, name])

    brief = by_site(one for one in all if one.born > 0 and one.died < NEVER and one.died - one.born <= thresholds["within"])
    told["brief"] = [[b, len(o), max(x.size for x in o), n] for n, b, o in brief]

    live = [one for one in all if one.lives(peak)]
    losses = defaultdict(list)
    for one in live:
        losses[one.site, one.size, rounded(one)].append(one)
    told["rounding"] = [[(r - s) * len(o), len(o), s, r, sum(x.block is not None for x in o), key[1]]
                        for (key, s, r), o in losses.items() if (r - s) * len(o) >= thresholds["lost"]]

    told["cached"] = []
    for segment in snapshot["segments"]:
        if segment.get("device", 0) == device:
            used = [b["size"] for b in segment["blocks"] if b["state"] in LIVE]
            free = [b["size"] for b in segment["blocks"] if b["state"] not in LIVE]
            unused = segment["total_size"] - sum(used)
            if unused >= thresholds["unused"]:
                told["cached"].append([unused, segment["total_size"], max(free, default=0), len(used)])

    told["grows"] = []
    for key in {one.site for one in all}:
        grown = growth([one for one in all if one.site == key], steps, last)
        if grown is None or grown["rises"] < max(thresholds["steps"], 1):
            continue
        bytes, pairs = grown["held"][-1] - grown["held"][0], grown["compared"]
        more = max(0, grown["counts"][-1] - grown["counts"][0])
        told["grows"].append([bytes, bytes // pairs, grown["rises"], pairs, grown["held"][-1], grown["counts"][-1], more, key[1]])

    told["live"] = [[b, len(o), n] for n, b, o in by_site(live)]
    since = max(0, peak - thresholds["recent"])
    told["recent"] = [[b, len(o), n] for n, b, o in by_site(one for one in live if one.born > since)]
    told["oldest"] = [[one.size, one.born - 1, peak - one.born, one.died - 1 if one.died < NEVER else None,
                       ("freed at " if one.has_stack_of_free() else "") + one.site[1]]
                      for one in live if one.size >= thresholds["large"]]
    return {"device": device, "peak": [peak - 1, curve[peak]], "sheets": told}


def refuse(short, long, out):
    """Write `long` with an `oom` event inserted after its prefix `short`, and return the free memory at the end of `short`."""
    short, long = load(short), load(long)
    events = len(short["device_traces"][0])
    strip = lambda trace: [{k: v for k, v in e.items() if k != "frames"} for e in trace]
    assert strip(short["device_traces"][0]) == strip(long["device_traces"][0][:events]), "SHORT is not a prefix of LONG"
    frames = long["device_traces"][0][0].get("frames")
    oom = {"action": "oom", "device_free": 5 << 20, "size": 1 << 40, "stream": 0, "frames": frames}
    long["device_traces"][0].insert(events, oom)
    with open(out, "wb") as f:
        pickle.dump(long, f, 4)
    # Once with the recorded blocks, once with the smallest possible ones. The derived value lies in between.
    return {"event": events, "rooms": [rooms(short, False), rooms(short, True)]}


def rooms(snapshot, shrunk):
    """Return, by pool, the largest free block, free bytes and blocks, reserved bytes, and the number and bytes of empty segments."""
    rooms = defaultdict(lambda: [0, 0, 0, 0, 0, 0])
    for segment in snapshot["segments"]:
        room = rooms[json.dumps([segment.get("segment_pool_id", [0, 0]), segment["segment_type"], segment.get("is_expandable", False)])]
        free, run, live = [], 0, 0
        for block in segment["blocks"]:
            if block["state"] in LIVE:
                live += 1
                free.append(run)
                run = block["size"] - max(512, -(-block["requested_size"] // 512) * 512) if shrunk else 0
            else:
                run += block["size"]
        free = [size for size in free + [run] if size]
        room[0] = max([room[0]] + free)
        room[1] += sum(free)
        room[2] += len(free)
        room[3] += segment["total_size"]
        room[4] += live == 0
        room[5] += segment["total_size"] * (live == 0)
    return [room for _, room in sorted(rooms.items())]


if __name__ == "__main__":
    if sys.argv[1] == "refuse":
        print(json.dumps(refuse(*sys.argv[2:5])))
    else:
        snapshot, thresholds, steps = load(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
        devices = {s.get("device", 0) for s in snapshot["segments"]}
        devices |= {d for d, trace in enumerate(snapshot.get("device_traces", [])) if trace}
        print(json.dumps([sheets(snapshot, d, thresholds, steps.get(str(d), [])) for d in sorted(devices)]))
