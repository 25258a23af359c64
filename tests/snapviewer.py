"""snapviewer.py SNAPSHOT ARCHIVE: compares an archive for SnapViewer with the snapshot. Reimplements SnapViewer's drawing rules: an
allocation's lifetime, size, and offset after every event."""
import json
import pickle
import sys
import zipfile


def drawn(events):
    """Return, for each allocation, the index of its element, its size, and its offset after each event of its lifetime."""
    elements, live, shapes, before = [], {}, [], []
    for event in events:
        if event["action"] == "alloc":
            live[event["addr"]] = len(elements)
            elements.append(event)
        elif event["action"] in ("free_completed", "free"):
            if event["addr"] in live:
                live.pop(event["addr"])
            else:
                before.append(len(elements))
                elements.append(event)
    return elements, before


def main():
    with open(sys.argv[1], "rb") as file:
        snapshot = pickle.load(file)
    events = snapshot["device_traces"][0]
    archive = zipfile.ZipFile(sys.argv[2])
    allocations = json.loads(archive.read("allocations.json"))
    written = json.loads(archive.read("elements.json"))
    elements, before = drawn(events)
    assert len(written) == len(allocations) == len(elements), (len(written), len(allocations), len(elements))
    for have, want in zip(written, elements):
        assert [have["addr"], have["size"], have["frames"]] == [want["addr"], want["size"], want["frames"]]
    assert [shape["elem"] for shape in allocations[: len(before)]] == before[::-1]
    # The stack, event by event. Offsets are looked up at the corners of the drawing.
    stack = allocations[: len(before)]
    for shape in allocations:
        assert len(shape["timesteps"]) == len(shape["offsets"]) >= 2
        assert shape["timesteps"] == sorted(shape["timesteps"])
        assert 150 < (shape["color"] >> 16) + (shape["color"] >> 8 & 255) + (shape["color"] & 255) < 600
    offsets, total = {}, 0
    for shape in stack:
        offsets[id(shape)] = total
        assert shape["offsets"][0] == total and shape["timesteps"][0] == 0
        total += shape["size"]
    corner = {id(shape): 0 for shape in allocations}
    later = iter(allocations[len(before):])
    owner, early, step, most = {}, iter(range(len(before) - 1, -1, -1)), 0, total
    for event in events:
        if event["action"] == "alloc":
            shape = next(later)
            assert shape["size"] == event["size"] and shape["timesteps"][0] == step and shape["offsets"][0] == total
            offsets[id(shape)] = total
            owner[event["addr"]] = shape
            stack.append(shape)
            total += shape["size"]
            most = max(most, total)
            step += 1
        elif event["action"] in ("free_completed", "free"):
            shape = owner.pop(event["addr"], None) or allocations[next(early)]
            place = stack.index(shape)
            assert shape["timesteps"][-1] == step, (shape, step)
            for above in stack[place + 1:]:
                at = corner[id(above)] + 1
                assert above["timesteps"][at : at + 2] == [step, step + 3], (above, at, step)
                offsets[id(above)] -= shape["size"]
                assert above["offsets"][at + 1] == offsets[id(above)]
                corner[id(above)] = at + 1
            step += 1 + (3 if stack[place + 1:] else 0)
            stack.pop(place)
            total -= shape["size"]
    assert all(shape["timesteps"][-1] == step for shape in stack)


main()
