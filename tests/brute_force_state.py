#!/usr/bin/env python3
"""Brute-force computation of a PyTorch memory snapshot's segments and blocks at random moments: undoes the trace event by event.

usage: brute_force_state.py SNAPSHOT MOMENTS SEED

Prints `device ORDINAL PEAK_MOMENT PEAK_RESERVED END` for each device and `e ADDRESS BYTES LIVE_BLOCKS` for every segment that the file
lists. For each moment it prints `moment M`, `s ADDRESS BYTES` for every segment and `b ADDRESS REQUESTED STATE SEGMENT` for every live
block (STATE is `l` or `p`, SEGMENT the address of its segment or -1). All are sorted by address. Moment k is the state after k events.
Shares no code with the Rust implementation.

It starts with the segments that the file lists at its end and undoes each event: memory that the event allocated or mapped is removed,
and memory that it freed or unmapped is restored. Adjacent ranges of an expandable segment are one segment, as in the allocator's list.
"""
import bisect, random, sys
from brute_force import load

LIVE = {"active_allocated": "l", "active_pending_free": "p", "active_awaiting_free": "p"}


def traces_of(data):
    """Return device, events and segments of the devices that have any."""
    if isinstance(data, list):
        data = {"segments": data}
    traces = {place: trace for place, trace in enumerate(data.get("device_traces", []))}
    segments = {}
    for segment in data.get("segments", []):
        segments.setdefault(segment["device"], []).append(segment)
    traces[-1] = data.get("host_traces", [])
    segments.setdefault(-1, []).extend(data.get("host_segments", []))
    for device in sorted(set(traces) | set(segments), key=lambda device: (device == -1, device)):
        events, held = traces.get(device, []), segments.get(device, [])
        if events or any(segment["blocks"] for segment in held):
            yield device, events, held


class State:
    def __init__(self, segments):
        # Mapped ranges: first address -> [end, stream, expandable].
        self.starts, self.ranges, self.blocks = [], {}, {}
        for segment in segments:
            self.insert(segment["address"], segment["total_size"], segment["stream"], segment.get("is_expandable", False))
            address = segment["address"]
            for block in segment["blocks"]:
                address = block.get("address", address)
                if block["state"] in LIVE:
                    history = block.get("history") or [{}]
                    requested = block.get("requested_size") or history[0].get("real_size") or block["size"]
                    self.blocks[address] = [requested, LIVE[block["state"]]]
                address += block["size"]

    def insert(self, address, size, stream, grows):
        place = bisect.bisect(self.starts, address)
        end = address + size
        if grows and place < len(self.starts) and self.starts[place] == end:
            above = self.ranges[end]
            if above[2] and above[1] == stream:
                end = above[0]
                del self.ranges[self.starts.pop(place)]
        if grows and place > 0:
            below = self.ranges[self.starts[place - 1]]
            if below[2] and below[1] == stream and below[0] == address:
                below[0] = end
                return
        self.starts.insert(place, address)
        self.ranges[address] = [end, stream, grows]

    def remove(self, address, size):
        end = address + size
        place = bisect.bisect(self.starts, address) - 1
        start = self.starts[place]
        known = self.ranges.pop(start)
        assert start <= address and end <= known[0], "mapped twice"
        del self.starts[place]
        for left, right in ((end, known[0]), (start, address)):
            if left < right:
                self.starts.insert(place, left)
                self.ranges[left] = [right, known[1], known[2]]

    def undo(self, event, was_pending):
        action, address, size = event["action"], event.get("addr"), event["size"]
        if action in ("segment_alloc", "segment_map"):
            self.remove(address, size)
        elif action in ("segment_free", "segment_unmap"):
            self.insert(address, size, event["stream"], action == "segment_unmap")
        elif action == "alloc":
            assert self.blocks.pop(address, None), "allocated, but neither freed nor live at the end"
        elif action == "free_completed":
            assert address not in self.blocks, "two blocks at one address"
            self.blocks[address] = [size, "p" if was_pending else "l"]
        elif action == "free_requested" and was_pending is None:
            self.blocks[address] = [size, "l"]
        elif action == "free_requested":
            self.blocks[address][1] = "l"

    def tell(self, out):
        for start in self.starts:
            out.append(f"s {start} {self.ranges[start][0] - start}")
        for address, (requested, state) in sorted(self.blocks.items()):
            place = bisect.bisect(self.starts, address) - 1
            start = self.starts[place] if place >= 0 else -1
            out.append(f"b {address} {requested} {state} {start if start >= 0 and address < self.ranges[start][0] else -1}")


def pending(events):
    """Return, for each event, whether it restores a block whose free was already requested, in the trace or before it."""
    asks = any(event["action"] == "free_requested" for event in events)
    ends = any(event["action"] == "free_completed" for event in events)
    known, result = {}, []
    for event in events:
        action, address = event["action"], event.get("addr")
        if action == "alloc":
            known[address] = False
        elif action == "free_requested":
            known[address] = True
        result.append(known.get(address, asks) if ends else None)
    return result


def main(path, count, seed):
    out = []
    for device, events, segments in traces_of(load(path)):
        reserved = [sum(segment["total_size"] for segment in segments)]
        for event in reversed(events):
            sign = {"segment_alloc": -1, "segment_map": -1, "segment_free": 1, "segment_unmap": 1}.get(event["action"], 0)
            reserved.append(reserved[-1] + sign * event["size"])
        reserved.reverse()
        peak = max(reserved)
        out.append(f"device {device} {reserved.index(peak)} {peak} {len(events)}")
        for segment in sorted(segments, key=lambda segment: segment["address"]):
            live = sum(block["state"] in LIVE for block in segment["blocks"])
            out.append(f"e {segment['address']} {segment['total_size']} {live}")
        chosen = random.Random(seed)
        wanted = {0, len(events), *(chosen.randint(0, len(events)) for _ in range(count))}
        state, was_pending = State(segments), pending(events)
        for moment in range(len(events), -1, -1):
            if moment in wanted:
                out.append(f"moment {moment}")
                state.tell(out)
            if moment > 0:
                state.undo(events[moment - 1], was_pending[moment - 1])
    print("\n".join(out))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
