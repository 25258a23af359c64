"""Memory outside the allocator over time."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch

import memscape
from conftest import TORCH, Fork, MiB, allocate, load


@pytest.mark.skipif(TORCH < (2, 11), reason="PyTorch has no statistics of pinned memory before 2.11")
def test_samples_have_a_row_after_each_step(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_exit=False)
        rec._samples._adapt = lambda cost, elapsed: None  # type: ignore[method-assign]
        kept: list[Any] = []
        for number in range(4):
            with rec.step():
                kept.append(allocate(8 * MiB))
                if number == 2:
                    kept.append(torch.empty(5 * MiB, dtype=torch.uint8, pin_memory=True))
        path = rec.save()
        assert path is not None
        samples = load(path)["memscape"]["samples"]
        rows = [dict(zip(samples["columns"], row)) for row in samples["rows"]]
        # The context of 512 MiB is all that is used when the GPU is initialized.
        assert [row["live_bytes"] for row in rows] == [0, 8 * MiB, 16 * MiB, 24 * MiB, 32 * MiB]
        assert [(4 << 30) - row["free_bytes"] - row["reserved_bytes"] for row in rows] == [512 * MiB] * 5
        assert [row["pinned_bytes"] > 0 for row in rows] == [False, False, False, True, True]
        assert all(row["rss_bytes"] > 50 * MiB and row["shared_bytes"] > 0 for row in rows)
        assert (samples["device"], samples["every"], samples["events"]) == (0, 1, [])
        assert rows == sorted(rows, key=lambda row: row["time_us"])

    fork(job)


def test_samples_are_taken_by_a_thread_where_steps_are_unknown(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_exit=False, sample_every=None, sample_s=0.01)
        allocate(MiB)
        tenth = threading.Event()
        take = rec._samples._take

        def counted(counters: Any) -> None:
            take(counters)
            if len(rec._samples._rows) >= 10:
                tenth.set()

        rec._samples._take = counted  # type: ignore[method-assign]
        assert tenth.wait(30)
        path = rec.save()
        assert path is not None and len(load(path)["memscape"]["samples"]["rows"]) >= 10
        rec.stop()

    fork(job)
