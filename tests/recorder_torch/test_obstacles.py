"""Failed allocations where something is in the way: many objects, a program that does not answer, a full disk."""

from __future__ import annotations

import os
import signal
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import memscape
from conftest import Fork, MiB, allocate, fail, names
from memscape import _saved_verdict

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


@pytest.mark.parametrize("how", ["full", "removed", "read-only"])
def test_folder_that_cannot_be_written_to_is_a_warning(fork: Fork, tmp_path: Path, how: str) -> None:
    folder = tmp_path / "runs"

    def job() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        start(folder)
        allocate(MiB)
        if how == "full":
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        elif how == "removed":
            folder.rmdir()
        else:
            folder.chmod(0o555)
            if os.getuid() == 0:
                tmp_path.chmod(0o755)
                os.setuid(65534)
        fail()
        print("went on")

    for path in (tmp_path, *list(tmp_path.parents)[:2]):
        path.chmod(0o755)
    read, write = os.pipe()

    def quiet() -> None:
        # Standard error is a file, which the full disk would keep from growing.
        os.dup2(write, 2)
        os.dup2(write, 1)
        job()

    fork.start(quiet).wait()
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    assert "went on" in text and "memscape: no snapshot (oom): " in text
    assert text.startswith("memscape: out of memory")
    assert not folder.exists() or names(folder) == []
