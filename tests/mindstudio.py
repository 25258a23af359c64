"""mindstudio.py FILE.db SUMMARY: reads an export for MindStudio Insight as Insight does, and compares each device with
the output of `memscape summary --json`.

Insight sorts the events of a device by time, and pairs each FREE with the MALLOC of the same type and address that is not
freed yet. It ignores events that have no size, a second MALLOC of an address, and a FREE without a MALLOC. Here such
events are errors.
"""
import json
import sqlite3
import sys
from collections import defaultdict

COLUMNS = [
    "ID", "Event", "Event Type", "Name", "Timestamp(ns)", "Process Id", "Thread Id", "Device Id", "Ptr", "Attr",
    "Call Stack(Python)", "Call Stack(C)",
]


def check(what, have, want):
    assert have == want, f"{what}: {have}, expected {want}"


def main(path, summary):
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM memscope_dump WHERE \"Device Id\" NOT IN ('N/A', '', 'host') ORDER BY \"Timestamp(ns)\"")
    check("columns", [column[0] for column in rows.description], COLUMNS)
    live, sums, peaks, last = {}, defaultdict(int), defaultdict(int), {}
    blocks, stacks, keys = defaultdict(int), 0, {}
    for number, row in enumerate(rows, 1):
        row = dict(zip(COLUMNS, row, strict=True))
        check("ID", row["ID"], number)
        device, kind = int(row["Device Id"]), row["Event Type"]
        time = row["Timestamp(ns)"]
        assert time >= 0 and last.get(device, -1) < time, f"time {time} of row {number}"
        last[device] = time
        attributes = json.loads(row["Attr"])
        assert all(isinstance(value, str) for value in attributes.values()), row["Attr"]
        size, place = int(attributes["size"]), (device, row["Ptr"], kind)
        check("addr", attributes["addr"], row["Ptr"])
        if row["Event"] == "MALLOC":
            assert place not in live, f"row {number} allocates {place} again"
            assert int(attributes["allocation_id"]) > 0
            assert attributes["allocation_id"] not in keys, f"row {number} has the key of {keys[attributes['allocation_id']]}"
            keys[attributes["allocation_id"]] = place
            live[place] = (size, attributes["allocation_id"])
            sums[device, kind] += size
            stacks += bool(row["Call Stack(Python)"] or row["Call Stack(C)"])
        else:
            check("event", row["Event"], "FREE")
            check(f"free in row {number}", (size, attributes["allocation_id"]), live.pop(place))
            sums[device, kind] -= size
        blocks[device, kind] += row["Event"] == "MALLOC"
        peaks[device, kind] = max(peaks[device, kind], sums[device, kind])
        if row["Event"] == "MALLOC" and kind == "PTA":
            assert attributes["owner"].startswith("PTA@")
            check("total", int(attributes["total"]), sums[device, "HAL"])
            check("used", int(attributes["used"]), sums[device, "PTA"])
    devices = [device for device in summary["devices"] if device["device"] >= 0]
    for device in devices:
        number, is_exact = device["device"], not any(it["kind"] in INEXACT for it in summary["warnings"])
        check("allocations", blocks[number, "PTA"], device["allocations"])
        if is_exact:
            check("peak", peaks[number, "PTA"], device["peak_requested"])
            check("end", sums[number, "PTA"], device["end_requested"])
            check("reserved at the end", sums[number, "HAL"], device["reserved_end"])
            check("peak reserved", peaks[number, "HAL"], device["peak_reserved"])
    return stacks


# Files with these contradictions have bytes that belong to no allocation or to no segment.
INEXACT = {"unexplained_bytes", "negative_remainder", "allocated_twice", "requested_beyond_reserved", "missing_segments"}

if __name__ == "__main__":
    print(main(sys.argv[1], json.loads(sys.argv[2])[0]))
