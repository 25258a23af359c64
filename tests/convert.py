"""convert.py ORIGINAL PICKLE JSON: checks that a snapshot converted to a pickle and to JSON keeps every value that memscape reads."""
import json
import pickle
import sys


def plain(value):
    """Return the value with tuples replaced by lists, as in JSON."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value


def wide(value):
    """Return an address as unsigned: the C++ pickler writes addresses above 2^63 as negative."""
    return value + (1 << 64) if isinstance(value, int) and value < 0 else value


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return json.loads(data) if path.endswith(".json") else pickle.loads(data)


EVENT = ["action", "size", "time_us", "compile_context", "user_metadata", "internal_metadata", "category", "pool_id", "frames"]


def compare_events(where, was, now):
    assert len(was) == len(now), f"{where}: {len(was)} events, {len(now)} converted"
    for at, (old, new) in enumerate(zip(was, now)):
        for key in EVENT:
            # An empty text equals a missing one. Metadata that is a dict is kept as a text.
            if old.get(key, "") != "" and not (key == "user_metadata" and isinstance(old[key], dict)):
                assert plain(new.get(key)) == plain(old[key]), f"{where}[{at}].{key}: {old[key]!r}, {new.get(key)!r} converted"
        for key in ["addr", "device_free", "stream"]:
            if key in old:
                assert new.get(key) == wide(old[key]), f"{where}[{at}].{key}: {old[key]}, {new.get(key)} converted"
        for key in new:
            assert key in old, f"{where}[{at}].{key} is invented"


def compare_segments(where, was, now):
    assert len(was) == len(now), f"{where}: {len(was)} segments, {len(now)} converted"
    for at, (old, new) in enumerate(zip(was, now)):
        for key in ["device", "total_size", "segment_type", "is_expandable", "segment_pool_id"]:
            if key in old:
                assert plain(new[key]) == plain(old[key]), f"{where}[{at}].{key}: {old[key]}, {new[key]} converted"
        assert len(old["blocks"]) == len(new["blocks"]), f"{where}[{at}].blocks"
        for place, (one, other) in enumerate(zip(old["blocks"], new["blocks"])):
            assert other["size"] == one["size"], f"{where}[{at}].blocks[{place}].size"
            state = one["state"].replace("awaiting", "pending")
            assert other["state"] == state, f"{where}[{at}].blocks[{place}].state"
            for key in ["frames", "requested_size"]:
                if key in one:
                    assert other[key] == one[key], f"{where}[{at}].blocks[{place}].{key}"


def main():
    original, converted, text = (read(path) for path in sys.argv[1:])
    assert plain(converted) == text, "the pickle and the JSON differ"
    if isinstance(original, list):
        original = {"segments": original, "device_traces": []}
    traces = original.get("device_traces", [])
    for device, events in enumerate(traces):
        if device < len(converted["device_traces"]):
            compare_events(f"device_traces[{device}]", events, converted["device_traces"][device])
        else:
            assert not events, f"device_traces[{device}] is missing"
    compare_segments("segments", original.get("segments", []), converted["segments"])
    compare_events("host_traces", original.get("host_traces", []), converted.get("host_traces", []))
    compare_segments("host_segments", original.get("host_segments", []), converted.get("host_segments", []))
    marks = original.get("external_annotations", [])
    have = converted.get("external_annotations", [])
    assert [[mark[key] for key in ["stage", "name", "device", "time_us"]] for mark in marks] == [
        [mark[key] for key in ["stage", "name", "device", "time_us"]] for mark in have
    ], "external_annotations"
    settings = original.get("allocator_settings", {})
    assert converted.get("allocator_settings", {}) == settings, f"allocator_settings: {settings}, {converted.get('allocator_settings')}"


main()
