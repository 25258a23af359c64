"""export.py SNAPSHOT DEVICE EXPECTED FOLDER: checks that every export of a device in the folder has the totals computed here and in
expected.json. Exports are read with Python's standard library only; tests/readers.sh opens them in the tools they are made for."""
import csv
import json
import pickle
import sys
from collections import defaultdict
from pathlib import Path


def check(what, have, want):
    assert have == want, f"{what}: {have}, expected {want}"


class Truth:
    """Totals computed from the snapshot itself."""

    def __init__(self, path, device, expected):
        with open(path, "rb") as file:
            snapshot = pickle.load(file)
        traces = snapshot["device_traces"] if isinstance(snapshot, dict) else []
        self.trace = traces[device] if device < len(traces) else []
        entry = next(entry for entry in json.loads(expected) if entry["device"] == device)
        self.peak, self.end = entry["peak_requested"], entry["end_requested"]
        self.peak_reserved, self.reserved = entry["peak_reserved"], entry["reserved_end"]
        self.allocations, self.events = entry["allocations"], entry["events"]
        self.allocated = sum(event["size"] for event in self.trace if event["action"] == "alloc")
        self.base = entry["base_requested"]


def speedscope(path, truth):
    profile = json.loads(path.read_text())
    frames = len(profile["shared"]["frames"])
    totals = []
    for part in profile["profiles"]:
        check("unit", part["unit"], "bytes")
        check("weights", len(part["weights"]), len(part["samples"]))
        check(part["name"], sum(part["weights"]), part["endValue"])
        assert all(0 <= frame < frames for sample in part["samples"] for frame in sample)
        totals.append(part["endValue"])
    check("speedscope", totals[:4], [truth.peak, truth.peak, truth.end, truth.allocated])


def varints(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
    assert shift == 0
    return values


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            check("wire type", tag & 7, 2)
            size = varint()
            yield tag >> 3, data[at : at + size]
            at += size


def pprof(path, truth):
    known = defaultdict(list)
    for field, value in fields(path.read_bytes()):
        known[field].append(value)
    texts = [text.decode() for text in known[6]]
    check("first text", texts[0], "")
    types = [texts[dict(fields(kind))[1]] for kind in known[1]]
    check("types", types, ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"])
    functions = {dict(fields(function))[1]: texts[dict(fields(function))[2]] for function in known[5]}
    locations = set()
    for location in known[4]:
        location = dict(fields(location))
        assert dict(fields(location[4]))[1] in functions
        locations.add(location[1])
    sums = [0, 0, 0, 0]
    for sample in known[2]:
        parts = defaultdict(list)
        for field, value in fields(sample):
            parts[field].append(value)
        assert set(varints(parts[1][0])) <= locations
        sums = [one + more for one, more in zip(sums, varints(parts[2][0]))]
        labels = {texts[label[1]]: label for label in map(lambda label: dict(fields(label)), parts[3])}
        assert {"category", "device", "bytes"} <= set(labels), labels
    check("pprof", [sums[1], sums[3]], [truth.allocated, truth.peak])
    check("default", texts[known[14][0]], "inuse_space")


def collapsed(path, truth):
    lines = path.read_text().splitlines()
    check("collapsed", sum(int(line.rsplit(" ", 1)[1]) for line in lines), truth.peak)
    assert all(line.rsplit(" ", 1)[0] for line in lines)


def dhat(path, truth):
    profile = json.loads(path.read_text())
    points, frames = profile["pps"], profile["ftbl"]
    check("live at the peak", sum(point["gb"] for point in points), truth.peak)
    check("live at the end", sum(point["eb"] for point in points), truth.end)
    check("allocated", sum(point["tb"] for point in points), truth.allocated + truth.base)
    check("blocks", sum(point["tbk"] for point in points) - truth.allocations in (0, 1), True)
    for point in points:
        assert max(point["gb"], point["eb"]) <= point["mb"] <= point["tb"], point
        assert all(0 < frame < len(frames) for frame in point["fs"])


def firefox(path, truth):
    profile = json.loads(path.read_text())
    thread = profile["threads"][0]
    for name in ["frameTable", "funcTable", "stackTable", "nativeAllocations", "markers"]:
        table = thread[name]
        for column, values in table.items():
            if isinstance(values, list):
                check(f"{name}.{column}", len(values), table["length"])
    stacks, frames = thread["stackTable"], thread["frameTable"]["length"]
    assert all(prefix is None or prefix < at for at, prefix in enumerate(stacks["prefix"]))
    assert all(frame < frames for frame in stacks["frame"])
    texts = len(thread["stringArray"])
    assert all(name < texts for name in thread["funcTable"]["name"])
    table = thread["nativeAllocations"]
    check("times", table["time"], sorted(table["time"]))
    live, most, owned = 0, 0, {}
    for time, weight, address in zip(table["time"], table["weight"], table["memoryAddress"]):
        live += weight
        if time > 0:
            most = max(most, live)
        else:
            most = live
        if weight < 0:
            check("freed", owned.pop(address), -weight)
        else:
            owned[address] = weight
    check("firefox", [most, live, sum(owned.values())], [truth.peak, truth.end, truth.end])
    counter = profile["counters"][0]["samples"]
    check("counter", sum(counter["count"]), truth.end)


def trace(path, truth):
    events = json.loads(path.read_text())["traceEvents"]
    counters = defaultdict(list)
    for event in events:
        if event["ph"] == "C":
            counters[event["name"]].append(event["args"]["bytes"])
    live = counters["Live bytes (requested)"]
    check("trace", [max(live), live[-1]], [truth.peak, truth.end])
    reserved = counters.get("Reserved bytes", [0])
    check("reserved", [max(reserved), reserved[-1]], [truth.peak_reserved, truth.reserved])
    ids = [event["id"] for event in events if event["ph"] == "b"]
    check("spans", ids, [event["id"] for event in events if event["ph"] == "e"])
    check("largest", len(ids), min(200, len(set(ids))))
    open_until = defaultdict(list)
    for event in (event for event in events if event["ph"] == "X"):
        until = open_until[event["tid"]]
        while until and until[-1] <= event["ts"]:
            until.pop()
        end = event["ts"] + event["dur"]
        assert not until or end <= until[-1], event
        until.append(end)


def tables(folder, truth):
    csv.field_size_limit(1 << 30)
    rows = {}
    for name in ["allocations", "events", "segments", "curve", "stacks"]:
        with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
            read = list(csv.DictReader(file))
        lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().split("\n") if line]
        check(f"rows of {name}", len(read), len(lines))
        for row, line in zip(read, lines):
            check(name, list(row), list(line))
            for key, value in line.items():
                text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
                assert row[key] in (text, "'" + text), (name, key, row[key], text)
        rows[name] = lines
    allocations, curve = rows["allocations"], rows["curve"]
    check("allocations", len(allocations) - truth.allocations in (0, 1), True)
    check("requested", sum(row["requested_bytes"] for row in allocations), truth.allocated + truth.base)
    kept = sum(row["requested_bytes"] for row in allocations if row["freed_at"] is None)
    check("not freed", kept, truth.end)
    check("events", len(rows["events"]), truth.events)
    for row, event in zip(rows["events"], truth.trace):
        assert row["action"] == event["action"], row
        if row["action"] != "oom":
            check("size", row["size_bytes"], event["size"])
            check("address", row["address"] and int(row["address"], 16), event["addr"] if row["address"] else None)
        check("time", row["time_us"], event.get("time_us"))
    check("curve", [max(row["live_bytes"] for row in curve), curve[-1]["live_bytes"]], [truth.peak, truth.end])
    check("reserved", max(row["reserved_bytes"] for row in curve), truth.peak_reserved)
    check("moments", [row["event"] for row in curve], list(range(-1, truth.events)))
    left = sum(row["reserved_bytes"] for row in rows["segments"] if row["freed_at"] is None)
    check("segments", left, truth.reserved)
    known = {row["stack"] for row in rows["stacks"]}
    assert {row["stack"] for row in allocations if row["stack"] is not None} <= known


def main():
    snapshot, device, expected, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    truth = Truth(snapshot, device, expected)
    for name, read in [
        ("speedscope", speedscope),
        ("pprof", pprof),
        ("collapsed", collapsed),
        ("dhat", dhat),
        ("firefox", firefox),
        ("trace", trace),
    ]:
        read(folder / name, truth)
    tables(folder, truth)


main()
