"""Failed allocations where something is in the way: many objects, a program that does not answer, a full disk."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

import memscape
from conftest import Fork, MiB, allocate, fail, names
from memscape import _saved_verdict, _saving

start = partial(memscape.start, holders=False)
OOM = "rank00000_step000000_oom"


def test_two_million_objects_are_not_traversed_by_the_collector(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        import gc

        objects: list[Any] = [[] for _ in range(2_000_000)]
        start(tmp_path, on_exit=False, verdict=None)
        allocate(MiB)
        gc.collect()
        phases: list[int] = []
        gc.callbacks.append(lambda phase, info: phases.append(info["generation"]))
        fail()
        assert 2 not in phases and len(objects) == 2_000_000

    fork(job)


@pytest.mark.parametrize(
    "program",
    ["exit 3", "kill -9 $$", "exec sleep 60", "echo nonsense; exec cat", "yes x", None],
    ids=["fails", "is-killed", "hangs", "talks-nonsense", "talks-forever", "is-missing"],
)
def test_program_that_does_not_answer_does_not_hold_up_the_job(fork: Fork, tmp_path: Path, program: str | None) -> None:
    path = tmp_path / "memscape"
    if program is not None:
        path.write_text(f"#!/bin/sh\n{program}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def job() -> None:
        _saved_verdict.LIMIT_S = 0.3
        start(tmp_path / "runs", on_exit=False)
        fail()

    text = fork(job, MEMSCAPE_BINARY=str(path)).stderr
    assert text.splitlines()[0].startswith("memscape: out of memory")
    assert "  no answer: the time limit has passed, or the program memscape is missing" in text
    assert f"  file      {tmp_path / 'runs' / OOM}.pickle.gz" in text
    assert names(tmp_path / "runs") == [f"{OOM}.pickle.gz", f"{OOM}.txt"]


OBSTACLES = pytest.mark.parametrize("how", ["limited", "full", "removed", "read-only"])
NO_DISK = "no disk could be mounted"


def obstruct(folder: Path, how: str) -> None:
    """Make a folder one to which this process cannot write."""
    if how == "limited":
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    elif how == "full":
        mount_full_disk(folder)
    elif how == "removed":
        folder.rmdir()
    else:
        folder.chmod(0o555)
        if os.getuid() == 0:
            # Root may write to any folder, and others must reach it.
            for path in (folder.parent, *list(folder.parent.parents)[:2]):
                path.chmod(0o755)
            os.setuid(65534)


def mount_full_disk(folder: Path) -> None:
    """Mount a disk of one page, which is used up, that only this process sees. Ends the process if it may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_namespace, private = 0x20000, 0x4000 | 0x40000  # CLONE_NEWNS, MS_REC | MS_PRIVATE
    if (
        libc.unshare(new_namespace)
        or libc.mount(b"none", b"/", None, private, None)
        or libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"size=4k")
    ):
        print(NO_DISK)
        sys.stdout.flush()
        os._exit(0)
    (folder / "other").write_bytes(bytes(4096))


def run_obstructed(fork: Fork, job: Callable[[], None]) -> str:
    """Run a process to its end, which must be without error, and return what it printed."""
    read, write = os.pipe()

    def piped() -> None:
        # Standard error is a file, which the full disk would keep from growing.
        os.dup2(write, 2)
        os.dup2(write, 1)
        job()

    running = fork.start(piped)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    running.wait()
    if NO_DISK in text:
        pytest.skip(NO_DISK)
    return text


@OBSTACLES
def test_folder_that_cannot_be_written_to_is_a_warning(fork: Fork, tmp_path: Path, how: str) -> None:
    folder = tmp_path / "runs"

    def job() -> None:
        start(folder)
        allocate(MiB)
        obstruct(folder, how)
        fail()
        print("went on")

    text = run_obstructed(fork, job)
    assert "went on" in text and "memscape: no snapshot (oom): " in text
    assert text.startswith("memscape: out of memory")
    assert not folder.exists() or names(folder) == []


@OBSTACLES
def test_training_is_not_slowed_down_by_snapshots_that_cannot_be_saved(fork: Fork, tmp_path: Path, how: str) -> None:
    folder = tmp_path / "runs"

    def job() -> None:
        rec = start(folder, every=1, on_growth=1, on_new_peak=True)
        model = torch.nn.Linear(64, 64, device="cuda")
        optimizer = torch.optim.Adam(model.parameters())
        taken: list[Any] = []
        snapshot = rec._backend.snapshot
        rec._backend.snapshot = lambda: taken.append(0) or snapshot()  # type: ignore[method-assign, func-returns-value]

        def train() -> None:
            model(torch.zeros(4, 64, device="cuda")).sum().backward()
            optimizer.step()

        train()  # imports what it needs, which another user may not read
        obstruct(folder, how)
        for _ in range(50):
            with rec.step():
                train()
        # Each attempt takes a snapshot. A failed allocation is worth one at any time.
        rec._saver.join()
        print(f"{len(taken)} snapshots after {rec._steps.number + 1} steps")
        fail()
        print(f"{len(taken)} with the failed allocation")

    text = run_obstructed(fork, job)
    assert "3 snapshots after 50 steps" in text and "4 with the failed allocation" in text, text
    assert 1 <= text.count("memscape: no snapshot (step): ") <= 3
    assert text.count("; tried again after 60 s") == 1
    assert not folder.exists() or names(folder) == []


def test_saving_is_tried_again_once_the_obstacle_is_gone(fork: Fork, tmp_path: Path) -> None:
    folder = tmp_path / "runs"

    def job() -> None:
        rec = start(folder, every=1, on_exit=False)
        allocate(MiB)
        folder.rmdir()
        for number in range(5):
            if number == 4:
                folder.mkdir()
                _saving._RETRY_S = 0
            with rec.step():
                allocate(MiB)
        rec.stop()

    fork(job)
    assert names(folder) == ["rank00000_step000004_step.pickle.gz"]
