"""Rows of numbers and saved snapshots for experiment trackers, with stand-ins for the trackers."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import memscape
from conftest import Fork, MiB, allocate, fail


def test_row_equals_counters_of_pytorch_and_the_driver(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_exit=False)
        kept = allocate(100 * MiB)
        allocate(300 * MiB)
        row = rec.facts()
        stats: dict[str, int] = torch.cuda.memory_stats()
        free, total = torch.cuda.mem_get_info()
        reserved = stats["reserved_bytes.all.current"]
        assert row == {
            "memory/live_bytes": 100 * MiB,
            "memory/live_peak_bytes": 400 * MiB,
            "memory/reserved_bytes": reserved,
            "memory/reserved_peak_bytes": 400 * MiB,
            "memory/cached_free_share": 300 / 400,
            "memory/alloc_retries": 0,
            "memory/outside_allocator_bytes": total - free - reserved,
        }
        assert reserved == 400 * MiB and total - free - reserved > 0 and kept is not None

    fork(job)


def test_function_gets_a_row_for_each_step(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rows: list[tuple[int, float]] = []
        rec = memscape.start(tmp_path, on_exit=False)
        rec.log_to(lambda row, step: rows.append((step, row["memory/live_bytes"])))
        kept = []
        for number in (7, 8, 9):
            with rec.step(number):
                kept.append(allocate(MiB))
        assert rows == [(7, MiB), (8, 2 * MiB), (9, 3 * MiB)]

    fork(job)


class Writer:
    """As SummaryWriter of TensorBoard."""

    def __init__(self) -> None:
        self.scalars: list[tuple[str, float, int]] = []
        self.texts: list[tuple[str, str, int]] = []

    def add_scalar(self, key: str, value: float, step: int) -> None:
        self.scalars.append((key, value, step))

    def add_text(self, key: str, text: str, step: int) -> None:
        self.texts.append((key, text, step))


def test_snapshots_are_logged_with_their_text(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        # Instead of the program, which needs the page.
        program = tmp_path / "program"
        program.write_text('#!/bin/sh\n[ "$1" = html ] && echo page > "$4"\n')
        program.chmod(0o755)
        os.environ["MEMSCAPE_BINARY"] = str(program)
        writer = Writer()
        with memscape.record(tmp_path / "out", verdict=lambda text: None) as rec:
            rec.log_to(writer)
            with rec.step():
                fail()
        [oom, end] = sorted(writer.texts, key=lambda it: "exit" in it[1])
        assert oom[0] == "memory/report" and oom[1].startswith("oom, rank 0  \n`")
        assert "rank00000_step000000_oom.html`" in oom[1] and "memscape: out of memory on rank 0" in oom[1]
        assert end[1].startswith("exit, rank 0") and end[2] == 0
        assert {key for key, _, _ in writer.scalars} == set(rec.facts())
        assert (tmp_path / "out" / "rank00000_step000000_exit.html").read_text() == "page\n"

    fork(job)


@pytest.mark.parametrize("script", ["kill -9 $$", "exit 1", None], ids=["is-killed", "fails", "is-missing"])
def test_snapshot_is_logged_without_a_page_if_the_program_fails(fork: Fork, tmp_path: Path, script: str | None) -> None:
    def job() -> None:
        program = tmp_path / "program"
        if script is not None:
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        os.environ["MEMSCAPE_BINARY"] = str(program)
        writer = Writer()
        with memscape.record(tmp_path / "out") as rec:
            rec.log_to(writer)
            with rec.step():
                allocate(MiB)
        [(_, text, _)] = writer.texts
        assert text.startswith("exit, rank 0  \n`") and "rank00000_step000000_exit.pickle.gz`" in text
        assert "html" not in text

    assert "memscape: no report of rank00000_step000000_exit.pickle.gz: " in fork(job).stderr


def test_failing_tracker_is_a_warning(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        def broken(row: Any, step: int) -> None:
            raise ConnectionError("no server")

        rec = memscape.start(tmp_path, on_exit=False)
        rec.log_to(broken)
        allocate(MiB)
        for _ in range(10):
            with rec.step():
                pass
        rec.stop()

    done = fork(job)
    assert 1 <= done.stderr.count("the tracker failed: ConnectionError: no server") <= 3


def test_other_objects_are_no_trackers(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_exit=False)
        for wrong in (None, 3, "runs", SimpleNamespace()):
            with pytest.raises(TypeError, match="expected a SummaryWriter"):
                rec.log_to(wrong)

    fork(job)
