"""sql.py SNAPSHOT EXPORT EXPECTED: checks that a file written by `memscape export --to sqlite` opens in Python's own SQLite and has the
totals computed here and in expected.json (null if that has no entry)."""
import json
import pickle
import sqlite3
import sys


def check(what, have, want):
    assert have == want, f"{what}: {have}, expected {want}"


def main():
    path, export, expected = sys.argv[1:]
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    database = sqlite3.connect(export)
    check("integrity", database.execute("PRAGMA integrity_check").fetchone()[0], "ok")

    def one(sql, *values):
        return database.execute(sql, values).fetchone()[0]

    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    wanted = {"allocation", "event", "stack", "frame", "segment", "block", "annotation", "curve", "step", "phase", "sample", "meta"}
    check("tables", tables, wanted)
    traces = snapshot["device_traces"] if isinstance(snapshot, dict) else []
    segments = snapshot["segments"] if isinstance(snapshot, dict) else snapshot
    check("events", one("SELECT count(*) FROM event WHERE device >= 0"), sum(len(trace) for trace in traces))
    for device, trace in enumerate(traces):
        requested = sum(event["size"] for event in trace if event["action"] == "alloc")
        have = one("SELECT coalesce(sum(requested_bytes), 0) FROM allocation WHERE device = ? AND allocated_at IS NOT NULL", device)
        check(f"allocated on {device}", have, requested)
        with_frames = sum(1 for event in trace if event["action"] == "alloc" and event.get("frames"))
        have = one("SELECT count(*) FROM event WHERE device = ? AND action = 'alloc' AND stack IS NOT NULL", device)
        check(f"stacks on {device}", have, with_frames)
    check("blocks", one("SELECT count(*) FROM block"), sum(len(segment["blocks"]) for segment in segments))
    sizes = sum(block["size"] for segment in segments for block in segment["blocks"])
    check("bytes of blocks", one("SELECT coalesce(sum(allocated_rounded_bytes), 0) FROM block"), sizes)
    for entry in json.loads(expected) or []:
        device = entry["device"]
        end = "SELECT live_bytes FROM curve WHERE device = ? ORDER BY event DESC LIMIT 1"
        check(f"end of {device}", one(end, device), entry["end_requested"])
        check(f"baseline of {device}", one("SELECT live_bytes FROM curve WHERE device = ? AND event = -1", device), entry["base_requested"])
        if one("SELECT value FROM meta WHERE device = ? AND key = 'peak_live_bytes'", device) == str(entry["peak_requested"]):
            check(f"peak of {device}", one("SELECT max(live_bytes) FROM curve WHERE device = ?", device), entry["peak_requested"])
            check(f"allocations of {device}", one("SELECT count(*) FROM allocation WHERE device = ?", device), entry["allocations"])
    strays = "SELECT count(*) FROM allocation WHERE stack IS NOT NULL AND stack NOT IN (SELECT stack FROM frame)"
    check("allocations whose frames are missing", one(strays), 0)


main()
