"""crop.py ORIGINAL CROP DEVICE FIRST PROLOGUE: checks, without memscape's code, that both files have the same requested and reserved bytes
after each event of the crop, and that each segment of the crop is as large as its blocks."""
import pickle
import sys


def load(path):
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    return snapshot if isinstance(snapshot, dict) else {"segments": snapshot, "device_traces": []}


def curves(snapshot, device):
    trace = snapshot["device_traces"][device]
    segments = [segment for segment in snapshot["segments"] if segment["device"] == device]
    requested = reserved = 0
    for segment in segments:
        reserved += segment["total_size"]
        for block in segment["blocks"]:
            if block["state"] != "inactive":
                requested += block.get("requested_size", block["size"])
    backwards = [(requested, reserved)]
    for event in reversed(trace):
        action, size = event["action"], event["size"]
        if action == "alloc":
            requested -= size
        elif action in ("free_completed", "free"):
            requested += size
        elif action in ("segment_alloc", "segment_map"):
            reserved -= size
        elif action in ("segment_free", "segment_unmap"):
            reserved += size
        backwards.append((requested, reserved))
    return backwards[::-1]


def main():
    original, crop = load(sys.argv[1]), load(sys.argv[2])
    device, first, prologue = map(int, sys.argv[3:])
    whole, part = curves(original, device), curves(crop, device)[prologue:]
    assert part == whole[first : first + len(part)], "the curves differ"
    for segment in crop["segments"]:
        assert sum(block["size"] for block in segment["blocks"]) == segment["total_size"], hex(segment["address"])
        address = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == address, hex(address)
            address += block["size"]
    events = original["device_traces"][device][first : first + len(part) - 1]
    for was, now in zip(events, crop["device_traces"][device][prologue:]):
        for key, value in now.items():
            assert was.get(key) == value, (key, was.get(key), value)
    print(len(part))


main()
