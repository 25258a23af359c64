#!/usr/bin/env python3
"""Brute-force computation of a PyTorch memory snapshot's events, the totals after each event, and the free blocks.

usage: brute_force_events.py SNAPSHOT SEED      JSON on standard output, one entry per device

Shares no code with the Rust implementation. Moment k is the state after k events. A block that is gone by the end of the file has at least
its requested size, rounded up to 512 bytes.
"""
import json, random, sys
from brute_force import load
from brute_force_state import traces_of

TAKES, GIVES = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
DONE = ("free_completed", "free")
SIZED = ("alloc", "free_requested", "oom") + DONE + TAKES + GIVES
LIVE = {"active_allocated", "active_pending_free", "active_awaiting_free"}
ROWS, MOMENTS, PARTS, FINER = 120, 40, 48, 16


def requested(block):
    history = block.get("history")
    return block.get("requested_size") or (history[0]["real_size"] if history else block["size"])


def blocks_at_end(segments):
    found = {}
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            address = block.get("address", address)
            if block["state"] in LIVE:
                found[address] = block
            address += block["size"]
    return found


def pool(value):
    return list(value) if value is not None else None


def segment_of(segments, address):
    return next((s for s in segments if s["address"] <= address < s["address"] + s["total_size"]), None)


class Life:
    """An allocation, live from moment `born` to before `died` and awaiting its free from `asked`."""

    def __init__(self, address, size, born, labels):
        self.address, self.size, self.born, self.labels = address, size, born, labels
        self.asked = self.died = self.block = None


def lives_of(trace, segments):
    ends = DONE if any(e["action"] in DONE for e in trace) else ("free_requested",)
    asks = any(e["action"] == "free_requested" for e in trace) and ends == DONE
    lives, live, about = [], {}, [None] * len(trace)
    for i, e in enumerate(trace):
        action, address = e["action"], e.get("addr")
        if action == "alloc":
            live[address] = Life(address, e["size"], i + 1, e)
            lives.append(live[address])
        elif action in DONE or action == "free_requested":
            if address not in live:
                live[address] = Life(address, e["size"], 0, e)
                lives.append(live[address])
                if action in DONE and asks:
                    live[address].asked = 0
        else:
            continue
        about[i] = live[address]
        if action == "free_requested" and about[i].asked is None:
            about[i].asked = i + 1
        if action in ends:
            live.pop(address).died = i + 1
    for address, block in blocks_at_end(segments).items():
        if address not in live:
            lives.append(Life(address, requested(block), 0, {}))
            if block["state"] != "active_allocated":
                lives[-1].asked = 0
        (live.get(address) or lives[-1]).block = block
    return lives, about


def curve(lives, last, weight):
    """Return the sum at every moment of the (start, stop, amount) spans that `weight` gives for each life."""
    steps = [0] * (last + 2)
    for life in lives:
        for start, stop, amount in weight(life):
            steps[start] += amount
            steps[stop if stop is not None else last + 1] -= amount
    total, all = 0, []
    for step in steps[: last + 1]:
        total += step
        all.append(total)
    return all


def reserved_curve(trace, segments):
    now = sum(s["total_size"] for s in segments)
    all = [now]
    for e in reversed(trace):
        now -= e["size"] if e["action"] in TAKES else -e["size"] if e["action"] in GIVES else 0
        all.append(now)
    return all[::-1]


def rounded(life):
    return life.block["size"] if life.block else max(512, -(-life.size // 512) * 512)


def device_of(trace, segments, chance):
    lives, about = lives_of(trace, segments)
    last = len(trace)
    active = curve(lives, last, lambda it: [(it.born, it.died, it.size)])
    pending = curve(lives, last, lambda it: [(it.asked, it.died, it.size)] if it.asked is not None else [])
    over = curve(lives, last, lambda it: [(it.born, it.died, rounded(it))])
    reserved = reserved_curve(trace, segments)
    free = [max(a - b, 0) for a, b in zip(reserved, over)]
    ended, versions = {}, []
    for e in trace:
        of = "b" if e["action"] in ("alloc", "free_requested") + DONE else "s" if e["action"] in TAKES + GIVES else ""
        key = (of, e.get("addr"))
        versions.append(ended.get(key, 0) if of else 0)
        if e["action"] in DONE + GIVES:
            ended[key] = ended.get(key, 0) + 1

    def label(i, name, of_segment):
        own = trace[i].get(name)
        if own is None and about[i]:
            own = about[i].labels.get(name)
        moves = trace[i]["action"] in TAKES + GIVES
        if own is None and (about[i] or moves):
            segment = segment_of(segments, trace[i]["addr"])
            own = segment.get(of_segment) if segment else None
        return own

    def row(i):
        e = trace[i]
        size = about[i].size if about[i] else e.get("size", 0)
        return {
            "event": i, "action": "free_completed" if e["action"] == "free" else e["action"], "time": e.get("time_us"),
            "size": size, "version": versions[i], "address": None if e["action"] == "oom" else e["addr"] if e["action"] in SIZED else e.get("addr") or None,
            "stream": label(i, "stream", "stream"), "pool": pool(label(i, "pool_id", "segment_pool_id")),
            "active": active[i + 1], "pending": pending[i + 1], "reserved": reserved[i + 1],
        }

    rows = sorted(chance.sample(range(last), min(ROWS, last)))
    streams = sorted({e["stream"] for e in trace if e.get("stream") is not None})[:3]
    filters = []
    for text, holds in [
        ("alloc", lambda i: trace[i]["action"] == "alloc"),
        ("segment_alloc,segment_map,oom", lambda i: trace[i]["action"] in TAKES + ("oom",)),
        (">=1MiB", lambda i: trace[i]["action"] in SIZED and (about[i].size if about[i] else trace[i].get("size", 0)) >= 1 << 20),
        *[(f"stream:{s}", lambda i, s=s: label(i, "stream", "stream") == s) for s in streams],
        ("pool:0,0", lambda i: pool(label(i, "pool_id", "segment_pool_id")) == [0, 0]),
        ("pool:0,1", lambda i: pool(label(i, "pool_id", "segment_pool_id")) == [0, 1]),
    ]:
        found = [i for i in range(last) if holds(i)]
        filters.append([text, len(found), sum(found) % (1 << 52)])

    half = max(reserved) / 2
    parts = {}
    for m in range(last + 1):
        part = m * PARTS * FINER // (last + 1) // FINER
        if part not in parts or free[m] > free[parts[part]]:
            parts[part] = m
    shares = [m for m in range(last + 1) if reserved[m] >= max(half, 1)]
    worst_share = max(shares, key=lambda m: (free[m] * 10**30 // reserved[m], -m), default=None)
    moments = sorted({0, last, *chance.sample(range(last + 1), min(MOMENTS, last + 1))})

    pools = {}
    for life in lives:
        of = life.labels.get("pool_id")
        if of is None:
            segment = segment_of(segments, life.address)
            of = segment.get("segment_pool_id") if segment else None
        pools.setdefault(json.dumps(of and list(of)), []).append(life)
    told = {}
    for name, of in pools.items():
        most = curve(of, last, lambda it: [(it.born, it.died, it.size)])
        told[name] = [max(most), most.index(max(most)), *[most[m] for m in moments]]
    explained = sum(it.size for it in lives if it.born == 0)
    return {
        "rows": [row(i) for i in rows], "filters": filters,
        "moments": [[m, reserved[m], active[m], over[m], free[m], pending[m]] for m in moments],
        "parts": [[m - 1, free[m], reserved[m], active[m]] for _, m in sorted(parts.items())],
        "worst_share": worst_share and [worst_share - 1, free[worst_share]],
        "pools": told, "explained": explained,
    }


def main():
    data, chance = load(sys.argv[1]), random.Random(int(sys.argv[2]))
    devices = []
    for device, trace, segments in traces_of(data):
        devices.append({"device": device, **device_of(trace, segments, chance)})
    json.dump(devices, sys.stdout)


if __name__ == "__main__":
    main()
