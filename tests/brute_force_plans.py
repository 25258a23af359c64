"""Brute-force sizes of allocations under the plans of the report on OOMs: half the batch size, activation checkpointing, sharding,
and optimizer state or KV cache in fewer bytes.

Shares no code with the Rust implementation. The allocations are those of brute_force_category.py, and `role` returns the role of one.
"""
from collections import defaultdict

from brute_force_category import FOREVER

HALF_BATCH, CHECKPOINT, SHARDED = "half the batch size", "activation checkpointing", "sharding over 8 devices (FSDP)"
EIGHT_BIT, EIGHT_BIT_CACHE, OFFLOADED = "8-bit optimizer state", "the KV cache in 8 bits", "optimizer state on the CPU"
# Workspaces of cuBLAS: 32 MiB, 8.125 MiB and 1 MiB.
WORKSPACES = (33554432, 8519680, 1048576)


def divided(size, by):
    return -(-size // by)


def live_at(found, moment):
    return [one for one in found if one["born"] <= moment < one["died"]]


def grows_with_batch(found, role):
    """Return a function that decides whether an allocation is proportional to the batch size."""
    parameters = [one["size"] for one in found if role(one) == "parameter"]

    def most_live(size):
        moments = {one["born"] for one in found if one["size"] == size and role(one) == "activation"}
        return max((sum(one["size"] == size and role(one) == "activation" for one in live_at(found, it)) for it in moments), default=0)

    copies = {}

    def is_copy(size):
        if size not in copies:
            count = parameters.count(2 * size)
            copies[size] = count > 0 and most_live(size) <= count
        return copies[size]

    def grows(one):
        size, is_live = one["size"], one["died"] == FOREVER
        workspace = is_live and size in WORKSPACES
        what = role(one)
        if what in ("input", "kv cache"):
            return True
        if one["born"] == 0:
            return False
        if what == "activation":
            return not workspace and not is_copy(size)
        if what == "temporary":
            return size not in parameters
        return what == "unknown" and not workspace and not (is_live and size in parameters)

    return grows


def blocks(found, role, peak):
    """Return the number of repeating blocks, and the stacks of the activations inside of them."""
    stack = lambda one: tuple((f.get("filename"), f.get("line"), f.get("name")) for f in one["made"] or one["freed"])
    runs = defaultdict(list)
    for one in live_at(found, peak):
        if role(one) == "activation" and one["size"] > 0 and stack(one):
            runs[stack(one)].append(one)
    bytes = defaultdict(int)
    for run in runs.values():
        if len(run) > 1:
            bytes[len(run)] += sum(one["size"] for one in run)
    if not bytes:
        return 0, stack, set()
    count = max(bytes, key=bytes.get)
    first = lambda key: min(one["born"] for one in runs[key])
    output = max((key for key, run in runs.items() if len(run) == count), key=first)
    return count, stack, {key for key, run in runs.items() if len(run) >= count and key != output}


def planned(found, role, peak, has_backward):
    """Return, by plan that applies, the size of each allocation."""
    grows = grows_with_batch(found, role)
    plans = {HALF_BATCH: [divided(one["size"], 2 if grows(one) else 1) for one in found]}
    plans[EIGHT_BIT_CACHE] = [divided(one["size"], 2 if role(one) == "cache" else 1) for one in found]
    if not has_backward:
        return plans
    count, stack, inside = blocks(found, role, peak)
    if count > 1:
        is_inside = lambda one: role(one) == "activation" and stack(one) in inside
        plans[CHECKPOINT] = [divided(one["size"], count if is_inside(one) else 1) for one in found]
    plans[EIGHT_BIT] = [divided(one["size"], 4 if role(one) == "optimizer" else 1) for one in found]
    plans[OFFLOADED] = [0 if role(one) == "optimizer" else one["size"] for one in found]
    is_sharded = lambda one: role(one) in ("parameter", "gradient", "optimizer")
    plans[SHARDED] = [divided(one["size"], 8 if is_sharded(one) else 1) for one in found]
    return plans
