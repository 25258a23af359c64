"""Prints what recording costs: CPU time of allocations and of the recorder's own calls.

    tests/bench/recorder_overhead.sh                                          with the stub of the CUDA driver
    PYTHONPATH=src/python python tests/bench/recorder_overhead.py [--markdown]     with a GPU

With the stub the driver and kernels cost nothing, so these are costs of PyTorch's allocator, of Python and of the
recorder. With a GPU it measures the same calls. Each time per call is the minimum of several runs, because other programs
only make a run slower. What is measured with a large history is measured once.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import platform
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import memscape

RUNS = 7
PAIRS = 2000
DEPTHS = (1, 10, 30, 100)
EVENTS = 1_000_000


def microseconds(function: Callable[[], Any], times: int) -> float:
    """Return the CPU time of a call in all threads, in µs: backward runs in a thread of its own."""
    best = float("inf")
    for _ in range(RUNS):
        began = time.process_time_ns()
        for _ in range(times):
            function()
        best = min(best, (time.process_time_ns() - began) / times / 1000)
    return best


def pairs() -> None:
    for _ in range(PAIRS):
        torch.empty(4096, device="cuda")


def pair_at(depth: int) -> float:
    """Return the cost of an allocation and its free, with so many Python frames."""

    def call(left: int) -> float:
        return microseconds(pairs, 1) / PAIRS if left <= 1 else call(left - 1)

    return call(depth)


def history(**options: Any) -> None:
    torch.cuda.memory._record_memory_history(**options)


def model_of(blocks: int) -> torch.nn.Module:
    return torch.nn.Sequential(
        *(
            torch.nn.Sequential(
                torch.nn.LayerNorm(64), torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64)
            )
            for _ in range(blocks)
        )
    ).to("cuda")


def step_of(model: torch.nn.Module) -> Callable[[], None]:
    optimizer = torch.optim.SGD(model.parameters())
    data = torch.zeros(8, 64, device="cuda")

    def step() -> None:
        model(data).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def rows() -> list[tuple[str, str]]:
    torch.empty(1, device="cuda")
    torch.cuda.memory._snapshot()  # imports what snapshots need
    found = [("alloc and free, no history", f"{pair_at(1):.1f} µs")]
    history(stacks="python", max_entries=1_000_000)
    costs = " / ".join(f"{pair_at(depth):.1f}" for depth in DEPTHS)
    history(enabled=None)
    found.append((f"PyTorch's history, stack of {' / '.join(map(str, DEPTHS))} frames", f"{costs} µs"))
    model = model_of(24)
    step = step_of(model)
    modules = sum(1 for _ in model.modules())
    step()
    plain = microseconds(step, 5)
    with tempfile.TemporaryDirectory() as folder:
        rec = memscape.start(folder, on_exit=False, sample_every=None)
        costs = " / ".join(f"{pair_at(depth):.1f}" for depth in DEPTHS)
        found.append(("memscape, the same stacks", f"{costs} µs"))
        found.append(("`with rec.step()`", f"{microseconds(lambda: one_step(rec), 1000):.1f} µs a step"))
        found.append(("`rec.facts()`", f"{microseconds(rec.facts, 1000):.1f} µs"))
        recorded = microseconds(step, 5)
        forward = rec.trace(model, backward=False)
        only_forward = microseconds(step, 5)
        forward.remove()
        both = rec.trace(model)
        with_backward = microseconds(step, 5)
        both.remove()
        rec.stop()
        growth = memscape.start(folder, on_exit=False, on_growth="1000GiB", on_new_peak=True)
        found.append(
            (
                "with `on_growth`, `on_new_peak` and samples",
                f"{microseconds(lambda: one_step(growth), 1000):.1f} µs a step",
            )
        )
        growth.stop()
    found.append(
        ("`rec.trace(model, backward=False)`", f"{(only_forward - recorded) / modules:.0f} µs a module and step")
    )
    found.append(("`rec.trace(model)`", f"{(with_backward - recorded) / modules:.0f} µs a module and step"))
    milliseconds = " / ".join(f"{cost / 1000:.2f}" for cost in (plain, recorded, only_forward, with_backward))
    found.append((f"step of {modules} modules: plain / recorded / trace forward / trace", f"{milliseconds} ms"))
    return found


def large() -> list[tuple[str, str]]:
    """Return the costs of a history with `EVENTS` events: its memory, a failed allocation, and saving."""
    texts: list[float] = []

    def verdict(text: str) -> None:
        texts.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        before = resident("VmRSS")
        rec = memscape.start(folder, on_exit=False, sample_every=None, holders=False, entries=EVENTS, verdict=verdict)
        for _ in range(-(-EVENTS // (3 * PAIRS))):  # an allocation, a request to free it, and the free
            pairs()
        gc.collect()
        history_bytes = resident("VmRSS") - before
        Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
        began, rss = time.perf_counter(), resident("VmRSS")
        with contextlib.suppress(torch.cuda.OutOfMemoryError):
            torch.empty(1 << 44, dtype=torch.uint8, device="cuda")
        ended, more = time.perf_counter(), resident("VmHWM") - rss
        rec.stop()
        rec = memscape.start(folder, on_exit=False, sample_every=None, holders=False, entries=EVENTS, every=1)
        for _ in range(-(-EVENTS // (3 * PAIRS))):
            pairs()
        alone = [seconds(pairs) for _ in range(5)]
        saved, next_one = seconds(lambda: one_step(rec)), seconds(lambda: one_step(rec))
        writing, began, beside = rec._saver._writing, time.perf_counter(), []
        while writing is not None and writing.is_alive():
            beside.append(seconds(pairs))
        written = time.perf_counter() - began
        rec.stop()
    return [
        (
            f"history of {EVENTS:,} events",
            f"{history_bytes >> 20} MiB, {history_bytes / EVENTS / 1024:.2f} KiB an event",
        ),
        ("a failed allocation with it, until it is explained", f"{1000 * (texts[0] - began):.0f} ms"),
        ("the same, until its snapshot is saved and read", f"{ended - began:.1f} s"),
        ("memory for that", f"{more >> 20} MiB"),
        ("the end of a step that is saved", f"{saved:.1f} s"),
        ("the end of the next step, whose snapshot is also due", f"{next_one:.1f} s"),
        ("the time until the file is written", f"{written:.1f} s"),
        (
            f"{PAIRS} allocations in a step, alone and meanwhile",
            f"{1000 * min(alone):.0f} and {1000 * sum(beside) / max(len(beside), 1):.0f} ms",
        ),
    ]


def seconds(function: Callable[[], Any]) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def resident(name: str) -> int:
    """Return a field of /proc/self/status in bytes."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) << 10 if found else 0


def one_step(rec: memscape.Recorder) -> None:
    with rec.step():
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--markdown", action="store_true", help="print a table for the manual")
    options = parser.parse_args()
    print(f"PyTorch {torch.__version__}, Python {platform.python_version()}, {torch.cuda.get_device_name()}")
    if options.markdown:
        print("| what | cost |\n| --- | --- |")
    for name, cost in [*rows(), *large()]:
        print(f"| {name} | {cost} |" if options.markdown else f"{name:<75} {cost}")


if __name__ == "__main__":
    main()
