#!/usr/bin/env python3
"""Brute-force comparison of two PyTorch memory snapshots: live bytes by call stack at pairs of moments.

usage: brute_force_compare.py A B DEVICE_A DEVICE_B < PAIRS      each line of PAIRS: MOMENT_OF_A MOMENT_OF_B

Prints `pair` for each pair, then a line `BYTES_A BYTES_B COUNT_A COUNT_B` for each stack of either side, sorted by these numbers.
Shares no code with the Rust implementation: it loops over all allocations for every moment.
"""
import sys
from brute_force import allocations, end_blocks, live_at, load


def all_of(path, device):
    snapshot = load(path)
    traces = snapshot.get("device_traces", [])
    trace = traces[device] if 0 <= device < len(traces) else []
    return allocations(trace, end_blocks(snapshot, device))


def stack(one):
    return (one[4],) + tuple(tuple(str(frame.get(key, "")) for key in ("name", "filename", "line")) for frame in one[5] or [])


sides = [all_of(sys.argv[1], int(sys.argv[3])), all_of(sys.argv[2], int(sys.argv[4]))]
for line in sys.stdin:
    sums = {}
    for side, moment in enumerate(map(int, line.split())):
        for one in live_at(sides[side], moment):
            sum_ = sums.setdefault(stack(one), [0, 0, 0, 0])
            sum_[side] += one[1]
            sum_[2 + side] += 1
    print("pair")
    for sum_ in sorted(sums.values()):
        print(*sum_)
