#!/usr/bin/env python3
"""Brute-force computation of live allocations at random events and in random ranges of a PyTorch memory snapshot.

usage: brute_force.py SNAPSHOT SEED      JSON on standard output, one entry per device

Shares no code or algorithm with the Rust implementation: it keeps a list of allocations and loops over all of them for every
question, by the rules of DESIGN section 2. All bytes are requested bytes. Moment k is the state after k events, and a range
[a, b] contains the events a to b - 1. A tree's nodes are paths of (name, filename, line) from the outermost frame, below one of
the words of `tag`.
"""
import json, pickle, random, sys

LIVE = {"active_allocated", "active_pending_free", "active_awaiting_free"}
MOMENTS, RANGES, TREES = 200, 25, 8


class Inert(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"a snapshot has no classes: {module}.{name}")


def load(path):
    with open(path, "rb") as f:
        snapshot = Inert(f).load()
    return {"segments": snapshot} if isinstance(snapshot, list) else snapshot


def frames_of_block(block):
    if "frames" in block:
        return block["frames"]
    history = block.get("history")
    return history[0].get("frames") if history else None


def requested(block):
    history = block.get("history")
    return block.get("requested_size") or (history[0]["real_size"] if history else block["size"])


def end_blocks(snapshot, device):
    found = {}
    for segment in snapshot["segments"]:
        if segment.get("device", 0) != device:
            continue
        address = segment.get("address", 0)
        for block in segment["blocks"]:
            address = block.get("address", address)
            if block["state"] in LIVE:
                found[address] = block
            address += block["size"]
    return found


def tag(frames, of_free):
    if not frames:
        return "no stack recorded"
    return "freed by" if of_free else "made by"


def allocations(trace, blocks):
    """Return every allocation as [address, size, allocated at, freed at or None, tag, frames]."""
    ends = "free_completed" if any(e["action"] in ("free_completed", "free") for e in trace) else "free_requested"
    found, live, asked = [], {}, {}
    net = 0
    for i, e in enumerate(trace):
        action, address = e["action"], e.get("addr")
        if action == "alloc":
            frames = e.get("frames")
            live[address] = [address, e["size"], i + 1, None, tag(frames, False), frames]
            found.append(live[address])
            asked.pop(address, None)
            net += e["size"]
        elif action in ("free" if ends == "free_completed" else ends, ends):
            net -= e["size"]
            if address in live:
                live.pop(address)[3] = i + 1
            else:
                frames = asked.pop(address, e).get("frames")
                found.append([address, e["size"], 0, i + 1, tag(frames, True), frames])
        elif action == "free_requested" and address not in live:
            asked.setdefault(address, e)
    for address, block in blocks.items():
        frames = frames_of_block(block)
        if address not in live:
            found.append([address, requested(block), 0, None, tag(frames, False), frames])
        elif live[address][5] is None:
            live[address][4:] = [tag(frames, False), frames]
    base = sum(map(requested, blocks.values())) - net
    explained = sum(one[1] for one in found if one[2] == 0)
    if base > explained:
        found.append([0, base - explained, 0, None, "unexplained", None])
    return found


def live_at(all, moment):
    return [one for one in all if one[2] <= moment and (one[3] is None or moment < one[3])]


def tree(weighed, names):
    """Return every node, parents first: [index of the parent, index of its name in `names`, bytes, count]."""
    nodes, places = [], {}
    for one, weight in weighed:
        parent = -1
        path = [(one[4],)] + [tuple(str(f.get(k, "")) for k in ("name", "filename", "line")) for f in reversed(one[5] or [])]
        for name in path:
            name = names.setdefault(name, len(names))
            place = places.setdefault((parent, name), len(nodes))
            if place == len(nodes):
                nodes.append([parent, name, 0, 0])
            nodes[place][2] += weight
            nodes[place][3] += 1
            parent = place
    return nodes


def tally(some):
    return [sum(one[1] for one in some), len(some)]


def analyse(snapshot, device, chance):
    traces = snapshot.get("device_traces", [])
    trace = traces[device] if 0 <= device < len(traces) else []
    blocks = end_blocks(snapshot, device)
    all = allocations(trace, blocks)
    last = len(trace)
    curve = [sum(one[1] for one in all if one[2] == 0)]
    steps = [0] * (last + 2)
    for one in all:
        if one[2] > 0:
            steps[one[2]] += one[1]
        if one[3] is not None:
            steps[one[3]] -= one[1]
    for moment in range(1, last + 1):
        curve.append(curve[-1] + steps[moment])
    moments, names = [], {}
    for number in range(MOMENTS):
        # Errors are most likely at both ends and at the peak.
        moment = [0, last, curve.index(max(curve))][number] if number < 3 else chance.randint(0, last)
        live = live_at(all, moment)
        moments.append({
            "moment": moment, "requested": sum(one[1] for one in live), "count": len(live),
            "addresses": str(sum(one[0] for one in live)),
            "tree": tree(((one, one[1]) for one in live), names) if number < TREES else None,
        })
    ranges = []
    for number in range(RANGES):
        a, b = (0, last) if number == 0 else sorted(chance.randint(0, last) for _ in range(2))
        born = [one for one in all if a < one[2] <= b]
        freed = [one for one in all if one[3] is not None and a < one[3] <= b]
        kept = [one for one in born if one[3] is None or one[3] > b]
        peak = max(curve[a : b + 1])
        parts = ((one, min(one[3] if one[3] is not None else last + 1, b) - max(one[2], a)) for one in all)
        areas = [(one, one[1] * moments) for one, moments in parts if moments > 0]
        ranges.append({
            "from": a, "to": b, "born": tally(born), "freed": tally(freed), "kept": tally(kept),
            "peak": peak, "peak_moment": curve.index(peak, a), "at_begin": curve[a], "at_end": curve[b],
            "area": [str(sum(area for _, area in areas)), len(areas)],
            "trees": {
                "born": tree(((one, one[1]) for one in born), names),
                "freed": tree(((one, one[1]) for one in freed), names),
                "kept": tree(((one, one[1]) for one in kept), names),
                "area": tree(areas, names),
            } if number < 2 else None,
        })
    return {"device": device, "events": last, "names": [list(name) for name in names], "moments": moments, "ranges": ranges}


if __name__ == "__main__":
    snapshot, chance = load(sys.argv[1]), random.Random(int(sys.argv[2]))
    devices = {s.get("device", 0) for s in snapshot["segments"]}
    devices |= {d for d, trace in enumerate(snapshot.get("device_traces", [])) if trace}
    print(json.dumps([analyse(snapshot, device, chance) for device in sorted(devices)]))
