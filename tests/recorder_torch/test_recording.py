"""What the recorder does to the program, and what the program does to the recorder."""

from __future__ import annotations

import gc
import multiprocessing
import os
from pathlib import Path
from typing import Any

import torch

import memscape
from conftest import Fork, MiB, allocate, fail, load, names, python


def test_snapshot_has_all_events_and_counters_of_pytorch(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_exit=False)
        model = torch.nn.Linear(512, 512, device="cuda")
        optimizer = torch.optim.Adam(model.parameters())
        rec.name(model, optimizer)
        for _ in range(3):
            with rec.step():
                model(torch.zeros(64, 512, device="cuda")).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        path = rec.save()
        assert path is not None
        counters = {key: value for key, value in torch.cuda.memory_stats().items() if isinstance(value, int)}
        facts = load(path)["memscape"]
        assert facts["devices"][0]["stats"] == counters
        assert facts["total_memory"] == 4 << 30
        assert [step for step, _, _ in facts["steps"]] == [0, 1, 2]
        # The weight and the bias, their gradients are gone, and two states of each.
        assert sorted((it["name"], it["kind"]) for it in facts["tensors"]) == sorted(
            (name, kind)
            for name in ("bias", "weight")
            for kind in ("parameter", "optimizer_state:exp_avg", "optimizer_state:exp_avg_sq")
        )

    fork(job)


def test_garbage_collector_is_off_while_a_snapshot_is_saved(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_exit=False)
        for _ in range(20_000):
            allocate(512)
        collections: list[str] = []
        gc.collect()
        gc.set_threshold(100, 2, 2)
        gc.callbacks.append(lambda phase, info: collections.append(phase))
        fail()
        inside = len(collections)
        assert rec.save() is not None
        rec.summary()
        assert gc.isenabled()
        # None while a snapshot was taken and written; some in the program's own code.
        assert inside <= 4, inside
        gc.disable()
        rec.save()
        assert not gc.isenabled()

    fork(job)


def test_failing_allocation_imports_no_module(tmp_path: Path) -> None:
    done = python(
        "-c",
        """
import sys, memscape, torch
memscape.start(sys.argv[1], on_exit=False)
x = torch.empty(1 << 20, device="cuda")
before = set(sys.modules)
try:
    torch.empty(1 << 40, device="cuda")
except torch.cuda.OutOfMemoryError:
    print(sorted(set(sys.modules) - before))
""",
        str(tmp_path),
    )
    assert done.stdout == "[]\n", done.stderr
    assert names(tmp_path) == ["rank00000_step000000_oom.pickle.gz", "rank00000_step000000_oom.txt"]


def test_processes_forked_after_start_can_use_the_gpu(fork: Fork, tmp_path: Path) -> None:
    def child() -> None:
        allocate(MiB)

    def job() -> None:
        rec = memscape.start(tmp_path)
        assert not torch.cuda.is_initialized() and rec.save() is None
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
        assert process.exitcode == 0
        assert not torch.cuda.is_initialized()
        # Recording begins with the program's first use of the GPU, and misses nothing.
        allocate(3 * MiB)

    fork(job)
    assert names(tmp_path) == ["rank00000_step000000_exit.pickle.gz"]
    [trace] = load(tmp_path / names(tmp_path)[0])["device_traces"]
    assert [event["size"] for event in trace if event["action"] == "alloc"] == [3 * MiB]


def test_program_that_uses_no_gpu_saves_nothing(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        with memscape.record(tmp_path, every=1) as rec:
            with rec.step():
                torch.zeros(8)
        assert not torch.cuda.is_initialized()

    fork(job)
    assert names(tmp_path) == []


def test_processes_without_rank_that_save_at_once_lose_no_file(fork: Fork, tmp_path: Path) -> None:
    ready, go = os.pipe(), os.pipe()

    def job(number: int) -> None:
        with memscape.record(tmp_path):
            kept = allocate((number + 1) * MiB)
            os.write(ready[1], b".")
            os.read(go[0], 1)
        del kept

    jobs = [fork.start(job, number) for number in range(6)]
    for _ in jobs:
        os.read(ready[0], 1)
    os.write(go[1], b"......")
    for running in jobs:
        running.wait()
    sizes = []
    for path in tmp_path.iterdir():
        [segment, *_] = load(path)["segments"]
        sizes.append(segment["requested_size"])
    assert sorted(sizes) == [(number + 1) * MiB for number in range(6)]
    plain = "rank00000_step000000_exit.pickle.gz"
    pids = [f"rank00000_step000000_exit-pid{running.pid}.pickle.gz" for running in jobs]
    assert plain in names(tmp_path) and set(names(tmp_path)) <= {plain, *pids}


def test_program_that_ends_the_history_does_not_end_recording(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        original = torch.cuda.memory._record_memory_history
        rec = memscape.start(tmp_path, on_exit=False)
        kept = [allocate(MiB)]
        torch.cuda.memory._record_memory_history(max_entries=3)
        kept.append(allocate(2 * MiB))
        torch.cuda.memory._record_memory_history(enabled=None)
        kept += [allocate(3 * MiB) for _ in range(5)]
        path = rec.save()
        assert path is not None
        snapshot = load(path)
        [trace] = snapshot["device_traces"]
        assert [event["size"] // MiB for event in trace if event["action"] == "alloc"] == [1, 2, 3, 3, 3, 3, 3]
        assert snapshot["memscape"]["settings"]["entries"] == 1_000_000
        assert [it["calls"] for it in snapshot["memscape"]["history"]["ignored"]] == [1, 1]
        rec.stop()
        assert torch.cuda.memory._record_memory_history is original
        torch.cuda.memory._record_memory_history(enabled=None)

    done = fork(job)
    assert done.stderr.count("called _record_memory_history to start recording") == 1
    assert done.stderr.count("called _record_memory_history to end recording") == 1
    assert "test_recording.py:" in done.stderr


def test_history_started_by_the_program_before_it_uses_the_gpu_is_ignored(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        memscape.start(tmp_path)
        torch.cuda.memory._record_memory_history(max_entries=1, stacks="all")
        assert not torch.cuda.is_initialized()
        kept = [allocate(MiB) for _ in range(3)]
        assert len(kept) == 3

    fork(job)
    snapshot = load(tmp_path / "rank00000_step000000_exit.pickle.gz")
    assert [event["action"] for event in snapshot["device_traces"][0]].count("alloc") == 3
    # The program asked for C++ frames, so both get them.
    assert snapshot["memscape"]["settings"] == {"entries": 1_000_000, "stacks": "all", "context": "all"}


def test_history_ended_behind_pythons_back_is_started_again(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        original = torch.cuda.memory._record_memory_history
        rec = memscape.start(tmp_path, on_exit=False)
        with rec.step():
            kept = allocate(MiB)
            original(enabled=None)
        with rec.step():
            kept = allocate(5 * MiB)
        path = rec.save()
        assert path is not None and kept.numel() == 5 * MiB
        snapshot = load(path)
        assert [event["size"] for event in snapshot["device_traces"][0] if event["action"] == "alloc"] == [5 * MiB]
        assert len(snapshot["memscape"]["history"]["restarted_us"]) == 1

    assert fork(job).stderr.count("something else ended the memory history") == 1


def test_newest_files_are_kept_and_their_names_not_used_again(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_exit=False, keep=2)
        allocate(MiB)
        for number in range(2, 7):
            path = rec.save()
            assert path is not None
            expected = f"manual-{number - 1}." if number > 2 else "manual."
            assert expected in path.name

    fork(job)
    assert names(tmp_path) == [f"rank00000_step000000_manual-{number}.pickle.gz" for number in (4, 5)]


def test_questions_save_again_only_after_something_happened(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_exit=False)
        kept = [allocate(MiB)]
        assert rec.summary()["devices"][0]["end_requested"] == MiB
        rec.export_flame_graph(tmp_path / "flame.json")
        rec.layer_stats()
        assert names(tmp_path) == ["flame.json", "rank00000_step000000_manual.pickle.gz"]
        kept.append(allocate(MiB))
        assert rec.summary()["devices"][0]["end_requested"] == 2 * MiB
        assert len(names(tmp_path)) == 3

    fork(job)


def test_layer_stats_after_trace_have_the_names_of_modules(fork: Fork, tmp_path: Path) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.enc, self.dec = torch.nn.Linear(512, 512), torch.nn.Linear(512, 512)

        def forward(self, x: Any) -> Any:
            return self.dec(self.enc(x))

    def job() -> None:
        rec = memscape.start(tmp_path, on_exit=False)
        model = Net().cuda()
        # The first call also allocates the workspace of cuBLAS.
        model(torch.zeros(64, 512, device="cuda"))
        rec.trace(model)
        for _ in range(2):
            with rec.step():
                model(torch.zeros(64, 512, device="cuda")).sum().backward()
        rows = {row["module"]: row["requested_bytes"] for row in rec.layer_stats()}
        modules = ("Net", "enc", "dec")
        assert set(rows) == {*modules, *(f"{name} (backward)" for name in modules)}
        # Since 2.15 each call has a workspace.
        assert 2 * 64 * 512 * 4 <= rows["enc"] == rows["dec"] == rows["Net"] / 2

    fork(job)


def test_run_saves_when_it_is_terminated(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os, signal, torch\nx = torch.empty(1 << 20, device='cuda')\nos.kill(os.getpid(), signal.SIGTERM)\n"
    )
    done = python("-m", "memscape", "run", "-o", "out", "train.py", cwd=tmp_path)
    assert done.returncode == -15, done.stderr
    assert names(tmp_path / "out") == ["rank00000_step000000_signal.pickle.gz"]
