"""The objects that keep the largest allocations alive, as Python paths: the field `holders` of a snapshot.

No code of the program is run. Everything holds the GIL, so training waits, for about a second at most.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from collections.abc import Iterator
from typing import Any, Union

from ._contributors import Contributor, Field
from ._holders_search import Found, Search
from ._holders_tensors import Saved, Tensors

Holders = Union[str, bool, int]
"""Value of the option: "auto", False, or a number of allocations."""

DEFAULT = 24
_MAX_SECONDS = 1.0
_MAX_OBJECTS = 2_000_000
# Python tensors that are followed for one allocation. Views share their storage.
_MAX_TENSORS = 4
# Innermost frames by which call stacks are distinguished.
_MAX_FRAMES = 8
# Snapshots after a step are frequent, and are often taken to look at time.
_WITHOUT = frozenset({"step", "peak"})
_ORDER = ("global", "class", "frame", "graph")


def number(option: Holders, reason: str) -> int:
    """Return the number of allocations to look up in a snapshot saved for this reason. 0 for none."""
    if option is False or reason in _WITHOUT:
        return 0
    return DEFAULT if option == "auto" else int(option)


def contributor(option: Holders, backend: Any) -> Contributor:
    """Return the function that adds the field to snapshots."""

    def contribute(reason: str, snapshot: dict[str, Any]) -> Field | None:
        most = number(option, reason)
        found = holders(backend.torch, snapshot, most, backend.name) if most else None
        return None if found is None else ("holders", found)

    return contribute


def holders(torch: Any, snapshot: dict[str, Any], most: int, device_type: str = "cuda") -> dict[str, Any] | None:
    """Return the field `holders`, whose layout is in _facts.py, or None if this PyTorch or Python is not supported."""
    functions = getattr(torch, "_C", None)
    is_supported = hasattr(functions, "TensorBase") and hasattr(functions, "DisableTorchFunctionSubclass")
    # Without the GIL objects change while they are read.
    if not is_supported or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    began = time.perf_counter()
    with _no_collection():
        blocks = _largest(snapshot, most)
        alive: dict[int, Any] = {}
        tensors = Tensors(torch, device_type, alive, _MAX_OBJECTS)
        if tensors.is_too_large:
            answers, is_cut = list[dict[str, Any]](), True
        else:
            answers, is_cut = _answers(blocks, tensors, alive, began + _MAX_SECONDS)
        alive.clear()
    seconds = round(time.perf_counter() - began, 4)
    return {"seconds": seconds, "objects": tensors.objects, "cut": is_cut, "of": answers}


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    # A collection may run finalizers, which are code of the program and may free tensors.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _largest(snapshot: dict[str, Any], most: int) -> list[tuple[int, int, int]]:
    """Return bytes, address and device of the allocations to look up, largest first.

    Half of them are the largest ones of the call stacks with the most live bytes, so that a leak of many small tensors
    is among them, and the rest are the largest ones. Of each stack there are two, if it has two of that size: one may be
    that of the running step, which a local variable holds.
    """
    blocks: list[tuple[int, int, int]] = []
    # Live bytes, and the largest blocks with the highest and with the lowest address.
    stacks: dict[Any, list[Any]] = {}
    for segment in snapshot.get("segments", ()):
        address = segment.get("address", 0)
        for block in segment.get("blocks", ()):
            size = block.get("requested_size", block.get("size", 0))
            if block.get("state") == "active_allocated":
                at = (size, block.get("address", address), segment.get("device", 0))
                blocks.append(at)
                frames = (block.get("frames") or ())[:_MAX_FRAMES]
                stack = stacks.setdefault(tuple((it["filename"], it["line"]) for it in frames), [0, at, at])
                stack[0] += size
                stack[1] = max(stack[1], at)
                stack[2] = min(stack[2], at, key=lambda it: (-it[0], *it[1:]))
            address += block.get("size", 0)
    pairs = sorted(stacks.values(), reverse=True)[: (most + 1) // 2]
    by_stack = dict.fromkeys(at for _, *pair in pairs for at in pair)
    chosen = dict.fromkeys([*list(by_stack)[: (most + 1) // 2], *sorted(blocks, reverse=True)])
    return sorted(list(chosen)[:most], reverse=True)


def _answers(
    blocks: list[tuple[int, int, int]], tensors: Tensors, alive: dict[int, Any], until: float
) -> tuple[list[dict[str, Any]], bool]:
    gradients, saved = tensors.gradients(), tensors.saved(until)
    targets: list[int] = []
    for _, address, _ in blocks:
        targets += tensors.by_address.get(address, ())[:_MAX_TENSORS]
        if address in gradients:
            targets.append(gradients[address])
        if address in saved:
            targets.append(saved[address].behind)
    search = Search(alive, until)
    # A node is only a root for what a program stored in it, such as `ctx.mask`.
    for node, (name, _) in tensors.nodes.items():
        search.add_root(node, "graph", name)
    search.run(targets)
    # The tensors whose graphs have these nodes.
    search.run(tensors.nodes[it.start][1] for it in map(search.found, targets) if it.root == "graph")
    found = [
        {"addr": address, "bytes": size, "device": device, **_answer(address, tensors, search, gradients, saved)}
        for size, address, device in blocks
    ]
    return found, search.cut


def _answer(
    address: int, tensors: Tensors, search: Search, gradients: dict[int, int], saved: dict[int, Saved]
) -> dict[str, Any]:
    """Return the fields of one allocation: its Python tensor, else whose gradient it is, else the graph that saved it."""
    found = [search.found(it) for it in tensors.by_address.get(address, ())[:_MAX_TENSORS]]
    best = min(
        found, key=lambda it: (_ORDER.index(it.root) if it.root in _ORDER else len(_ORDER), it.length), default=None
    )
    if best is not None and best.root == "graph":
        node, behind = tensors.nodes[best.start]
        return _in_graph(node, best.path[len(node) :].lstrip("."), search.found(behind))
    if best is not None and best.root in _ORDER:
        return _fields(best)
    if address in gradients:
        owner = search.found(gradients[address])
        return {**_fields(owner), "root": "gradient", "path": f"gradient of {owner.path}"}
    if address in saved:
        it = saved[address]
        return _in_graph(it.node, it.saved_as, search.found(it.behind))
    if best is not None:
        return _fields(best)
    # Objects that gc.freeze() moved to the permanent generation are not found.
    return {"root": "unknown" if gc.get_freeze_count() else "c++", "path": "", "length": 0}


def _in_graph(node: str, saved_as: str, owner: Found) -> dict[str, Any]:
    path = f"saved by {node} .{saved_as} of the graph behind {owner.path}"
    return {"root": "graph", "path": path, "length": owner.length, "node": node, "saved_as": saved_as}


def _fields(found: Found) -> dict[str, Any]:
    fields: dict[str, Any] = {"root": found.root, "path": found.path, "length": found.length}
    if found.root == "cycle":
        fields["cycle"] = found.names
    return fields
