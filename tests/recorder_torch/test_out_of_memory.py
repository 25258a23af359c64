"""Failed allocations: what is printed, what is saved, and that neither holds up the program."""

from __future__ import annotations

import os
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

import memscape
from conftest import TORCH, Fork, GiB, MiB, allocate, fail, load, names, python
from memscape import _failures, _saved_verdict

# Without the search for what keeps memory alive, which test_holders.py tests and which takes most of the time.
start, record = (partial(function, holders=False) for function in (memscape.start, memscape.record))
OOM = "rank00000_step000000_oom"


def test_leak_is_named_first_and_the_snapshot_is_asked_for_leaks(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        history: list[Any] = []
        with record(tmp_path) as rec:
            for _ in range(200):
                with rec.step():
                    history.append(allocate(50 * MiB))
                    allocate(2 * MiB)

    done = fork.start(job).wait(check=False)
    assert done.status == 1 and "OutOfMemoryError" in done.stderr
    # 4 GiB less the context of 512 MiB, and less a segment of 20 MiB for the allocation of 2 MiB.
    steps = 71
    lines = done.stderr.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("memscape: out of memory on rank 0, "))
    assert lines[first].endswith(f"GPU 0, in step {steps}")
    assert lines[first + 1].startswith("  asked     50.0 MiB by conftest.py:")
    assert " allocate < test_out_of_memory.py:" in lines[first + 1]
    assert f"live 3.47 GiB (87 %) in {steps} blocks" in lines[first + 2]
    assert lines[first + 3] == (
        "  why       live memory grows: +3.08 GiB over the last 63 steps, 50.0 MiB a step: a leak, lists that are kept, or "
        "larger batches"
    )
    [row] = [line for line in lines if f" {steps} x  conftest.py:" in line]
    assert row.split()[:4] == ["3.47", "GiB", "100.0", "%"]
    assert any(line.startswith("  steps     live after the last ones: ") and line.endswith("; grows") for line in lines)
    assert f"            since step {steps - 1} ended: +0 B" in lines
    assert any(line.startswith("memscape: what the snapshot says (") for line in lines)
    file = tmp_path / f"rank00000_step{steps:06d}_oom.pickle.gz"
    assert names(tmp_path) == [file.name, f"rank00000_step{steps:06d}_oom.txt"]
    text = file.with_name(f"rank00000_step{steps:06d}_oom.txt").read_text()
    assert text in done.stderr and f"  file      {file}\n" in text
    assert load(file)["memscape"]["oom"]["requested_bytes"] == 50 * MiB


def test_fragmentation_is_explained_with_the_setting_that_helps(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        start(tmp_path, on_exit=False)
        # Three of these share a segment of 20 MiB. Every second one is freed, so that no segment is free.
        kept: list[Any] = [allocate(6 * MiB) for _ in range(3 * 170)]
        del kept[::2]
        fail(1 * GiB)

    # Of 170 segments, 85 have one free block and 85 two, besides the rest of 2 MiB. Neighbours are merged. There are
    # 184 MiB free on the GPU, which are 9 segments of 20 MiB and 4 MiB.
    lines = fork(job).stderr.splitlines()
    why = next(line for line in lines if line.startswith("  why"))
    assert why == (
        "  why       fragmentation: 1.83 GiB cached in 340 pieces (largest 8.00 MiB) + 184 MiB free would hold it, "
        "no single piece does"
    )
    assert lines[lines.index(why) + 1] == "  do        PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"


def test_backward_names_the_node_of_autograd(fork: Fork, tmp_path: Path) -> None:
    class Large(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            allocate(1 << 40)
            return grad

    def job() -> None:
        start(tmp_path)
        x = torch.zeros(8, device="cuda", requires_grad=True)
        try:
            Large.apply(x).sum().backward()
        except torch.cuda.OutOfMemoryError:
            return
        raise AssertionError

    assert "  asked     1,024 GiB by LargeBackward in backward (" in fork(job).stderr


def test_text_is_printed_before_anything_is_saved(fork: Fork, tmp_path: Path) -> None:
    seen: list[tuple[str, list[str]]] = []

    def verdict(text: str) -> None:
        seen.append((text.split("\n", 1)[0], [name for name in names(tmp_path) if name.endswith(".gz")]))
        raise RuntimeError("an error in here must not reach the program")

    def job() -> None:
        start(tmp_path, verdict=verdict, on_exit=False)
        fail()
        (first, before), (second, after) = [it for it in seen if it[0].startswith("memscape: ")]
        assert first.startswith("memscape: out of memory on rank 0, ") and before == []
        assert second.startswith("memscape: what the snapshot says") and after == [f"{OOM}.pickle.gz"]

    assert fork(job).stderr == ""


def test_leak_without_steps_is_found_in_the_snapshot_with_its_holder(fork: Fork, tmp_path: Path) -> None:
    def serve(answers: list[Any]) -> None:
        while True:
            answers.append(allocate(200 * MiB))

    def job() -> None:
        memscape.start(tmp_path, on_exit=False)
        threads = [threading.Thread(target=serve, args=([],), name="server-0")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    lines = fork(job).stderr.splitlines()
    assert lines[0].startswith("memscape: out of memory on rank 0, ") and lines[0].endswith(", GPU 0, thread server-0")
    [found] = [line for line in lines if line.startswith("  - ")]
    assert " allocated 17 times at even intervals, none freed: 3.32 GiB in all (possibly a leak). Held by " in found
    assert ". Held by local answers of serve (test_out_of_memory.py:" in found


def test_worker_of_a_dataloader_is_named_and_the_same_failure_explained_once(fork: Fork, tmp_path: Path) -> None:
    class Data(torch.utils.data.Dataset[torch.Tensor]):
        def __len__(self) -> int:
            return 8

        def __getitem__(self, index: int) -> torch.Tensor:
            for _ in range(2):
                fail()
            return allocate(1 << 40)

    def job() -> None:
        loader: Any = torch.utils.data.DataLoader(
            Data(), num_workers=1, worker_init_fn=lambda number: start(tmp_path, on_exit=False) and None
        )
        with pytest.raises(torch.cuda.OutOfMemoryError, match="DataLoader worker process 0"):
            next(iter(loader))

    text = fork(job).stderr
    head = [line for line in text.splitlines() if line.startswith("memscape: out of memory")]
    assert head[0].endswith(", GPU 0, DataLoader worker 0") and len(head) > 1
    # The last one has another line of code.
    assert head[1].partition(": asked ")[0] == head[0] and "asked 1,024 GiB by conftest.py:" in head[1]
    assert text.count("  asked     1,024 GiB by ") == 2
    assert names(tmp_path)[:2] == [f"{OOM}-2.pickle.gz", f"{OOM}-2.txt"]


def test_step_that_needs_more_than_those_before_is_compared_with_them(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = start(tmp_path, on_exit=False)
        for size in (100, 120, 110):
            with rec.step():
                allocate(size * MiB)
        with rec.step():
            kept = allocate(500 * MiB)
            fail()
        del kept

    text = fork(job).stderr
    assert (
        "  why       more than any step before: 1,024 GiB with this request, at most 120 MiB until step 2 ended: a larger "
        "batch, a longer sequence, or other code\n" in text
    )
    assert "  steps     live after the last ones: 0 B, 0 B, 0 B\n" in text


@pytest.mark.parametrize(("to", "expected"), [("log", "ERROR:memscape:memscape: out of memory"), (None, "")])
def test_text_goes_to_the_log_or_nowhere(fork: Fork, tmp_path: Path, to: Any, expected: str) -> None:
    def job() -> None:
        import logging

        logging.basicConfig(force=True)
        start(tmp_path, verdict=to, on_exit=False)
        fail()

    text = fork(job).stderr
    assert text.startswith(expected) and (to is not None or text == "")
    assert names(tmp_path) == [f"{OOM}.pickle.gz", *([f"{OOM}.txt"] if to else [])]


def test_first_rank_prints_all_and_the_others_a_line(fork: Fork, tmp_path: Path) -> None:
    def job(rank: int) -> None:
        start(tmp_path, on_exit=False)
        fail((100 + rank) * GiB)

    jobs = [fork.start(job, rank, RANK=str(rank), WORLD_SIZE="4") for rank in range(4)]
    texts = [running.wait().stderr for running in jobs]
    assert sorted(len(text.splitlines()) > 1 for text in texts) == [False, False, False, True]
    for rank, text in enumerate(texts):
        assert text.startswith(f"memscape: out of memory on rank {rank}, ")
        assert f"rank{rank:05d}_step000000_oom.pickle.gz" in names(tmp_path)
    # A restarted job is not silenced by the file of the one before.
    os.utime(tmp_path / ".memscape-oom", (time.time() - 60,) * 2)
    again = fork.start(job, 2, RANK="2", WORLD_SIZE="4").wait().stderr
    assert len(again.splitlines()) > 1


RANKS = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
kept = []
dist.barrier()
while True:
    kept.append(torch.empty((50 + dist.get_rank()) << 20, dtype=torch.uint8, device="cuda"))
"""


@pytest.mark.slow
def test_one_rank_of_torchrun_explains_and_each_leaves_a_file(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(RANKS)
    command = ("-m", "torch.distributed.run", "--nproc-per-node", "4", "-m", "memscape.run", "-o", "out", "program.py")
    done = python(*command, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.count("  asked     ") == 1, done.stderr
    [rank] = {
        line.split(",")[0]
        for line in done.stderr.splitlines()
        if line.startswith("memscape: out of memory") and ": asked" not in line
    }
    assert "  why       " in done.stderr and rank.startswith("memscape: out of memory on rank ")
    # Ranks that had memory left were terminated.
    saved = [name for name in names(tmp_path / "out") if name.endswith(".gz")]
    assert {name[:9] for name in saved} == {f"rank{rank:05d}" for rank in range(4)}
    assert all("_oom" in name or "_signal" in name or "_error" in name for name in saved)


def test_fatal_failure_after_a_handled_one_is_saved(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        with record(tmp_path, verdict=None):
            fail(8 * GiB)
            allocate(5 * GiB)

    assert fork.start(job).wait(check=False).status == 1
    files = [f"{OOM}-2.pickle.gz", f"{OOM}.pickle.gz"]
    assert names(tmp_path) == files
    assert [load(tmp_path / name)["memscape"]["oom"]["requested_bytes"] for name in files] == [5 * GiB, 8 * GiB]


def test_handled_failures_are_explained_three_times_and_then_take_a_line(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        start(tmp_path, on_exit=False)
        for number in range(6):
            fail((10 + number) * GiB)

    text = fork(job).stderr
    assert text.count("memscape: out of memory on ") == 6
    assert text.count("memscape: what the snapshot says") == 3
    assert text.count("  asked     ") == 3
    assert text.splitlines()[-1].startswith("memscape: out of memory on rank 0, ")
    assert "asked 15.0 GiB by test_out_of_memory.py:" in text.splitlines()[-1] or "asked 15.0 GiB by" in text
    assert sum(name.endswith(".gz") for name in names(tmp_path)) == 3


def test_fatal_failure_that_was_not_saved_is_saved_at_the_end(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        start(tmp_path, keep=1)
        for number in range(6):
            fail((10 + number) * GiB)
        allocate(7 * GiB)

    assert fork.start(job).wait(check=False).status == 1
    assert [name for name in names(tmp_path) if name.endswith(".gz")] == [f"{OOM}-4.pickle.gz"]
    facts = load(tmp_path / f"{OOM}-4.pickle.gz")["memscape"]
    assert (facts["reason"], facts["oom"]["requested_bytes"]) == ("oom", 7 * GiB)


def test_threads_that_fail_at_once_save_one_file(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        barrier = threading.Barrier(4)
        texts: list[str] = []
        failed = [0] * 4
        with record(tmp_path, verdict=texts.append, on_exit=False) as rec:
            # The first one saves until all others have failed.
            rec.contribute(lambda reason, snapshot: others.wait(30) and None)
            others = threading.Event()

            def work(number: int) -> None:
                barrier.wait()
                fail()
                failed[number] = 1
                if sum(failed) == 3:
                    others.set()

            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert sum(text.startswith("memscape: out of memory") for text in texts) == 1

    fork(job)
    assert [name for name in names(tmp_path) if name.endswith(".gz")] == [f"{OOM}.pickle.gz"]


@pytest.mark.skipif(TORCH < (2, 11), reason="before PyTorch 2.11 blocks are read from the whole snapshot")
def test_blocks_are_read_without_the_trace(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = start(tmp_path, on_exit=False)
        kept = [allocate(MiB) for _ in range(3)]
        taken: list[Any] = []
        snapshot, state = rec._backend.snapshot, rec._backend.state
        rec._backend.snapshot = lambda: taken.append("snapshot") or snapshot()  # type: ignore[method-assign, func-returns-value]
        rec._backend.state = lambda: taken.append("state") or state()  # type: ignore[method-assign, func-returns-value]
        fail()
        assert taken == ["state", "snapshot"] and len(kept) == 3

    text = fork(job).stderr
    assert "3.00 MiB 100.0 %       3 x  conftest.py:" in text


def test_limit_of_the_process_is_named(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        start(tmp_path, on_exit=False)
        torch.cuda.set_per_process_memory_fraction(0.25)
        fail(2 * GiB)

    text = fork(job).stderr
    assert "this process may reserve 1.00 GiB (set_per_process_memory_fraction)" in text
    assert "  why       1.00 GiB short even if all 0 B cached and 1.00 GiB free were one piece" in text


def test_constants_are_those_of_the_manual() -> None:
    assert (_failures._MOST_FULL, _failures._SAVE_AGAIN_S, _saved_verdict.LIMIT_S) == (3, 60, 20)
