"""The recorder in this process."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import pickletools
import signal
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import memscape
from conftest import load, names
from memscape import _files, _saving
from memscape import recorder as recorder_module

MiB = 1 << 20


def test_context_manager_records_and_saves(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path / "a" / "b") as rec:
        assert rec.is_recording
        addr = torch.cuda.memory.allocate(3 * MiB)
    assert not rec.is_recording
    assert [call["enabled"] for call in torch.cuda.memory.calls] == ["all", None]
    assert torch.cuda.memory.calls[0] == {
        "enabled": "all",
        "context": "all",
        "stacks": "python",
        "max_entries": 1_000_000,
        "global": True,
    }
    assert names(tmp_path / "a" / "b") == ["rank00000_step000000_exit.pickle.gz"]
    snapshot = load(rec.newest)
    assert [event["action"] for event in snapshot["device_traces"][0]] == ["segment_alloc", "alloc"]
    assert snapshot["device_traces"][0][1]["addr"] == addr
    facts = snapshot["memscape"]
    assert facts["schema"] == 1
    assert facts["reason"] == "exit"
    assert facts["torch"] == "2.15.0"
    assert facts["cuda"] == "13.0"
    assert facts["settings"] == {"entries": 1_000_000, "stacks": "python", "context": "all"}
    assert facts["total_memory"] == 1 << 30
    [device] = facts["devices"]
    assert device["capacity_bytes"] == 1 << 30
    assert device["free_bytes"] == (1 << 30) - 4 * MiB
    assert device["stats"]["requested_bytes.all.peak"] == 3 * MiB
    assert "name" not in device["stats"]
    assert "error" not in facts


def test_file_is_protocol_4_and_compressed_by_name(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, on_exit=False) as rec:
        assert rec.save(tmp_path / "why.pickle") == tmp_path / "why.pickle"
        rec.save(tmp_path / "why.pickle.gz")
    assert names(tmp_path) == ["why.pickle", "why.pickle.gz"]
    plain = (tmp_path / "why.pickle").read_bytes()
    assert max(argument for opcode, argument, _ in pickletools.genops(plain) if opcode.name == "PROTO") == 4
    assert load(tmp_path / "why.pickle.gz").keys() == pickle.loads(plain).keys()
    assert os.stat(tmp_path / "why.pickle").st_mode & 0o444 == 0o444 & ~_files._UMASK


def test_error_is_saved_once_and_raised(torch: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such thing"), memscape.record(tmp_path):
        raise ValueError("no such thing\nsecond line")
    assert names(tmp_path) == ["rank00000_step000000_error.pickle.gz"]
    assert load(tmp_path / names(tmp_path)[0])["memscape"]["error"] == "ValueError: no such thing"
    assert torch.cuda.memory.calls[-1]["enabled"] is None


def test_out_of_memory_is_saved_once_for_two_observer_calls(torch: Any, tmp_path: Path) -> None:
    with pytest.raises(torch.OutOfMemoryError), memscape.record(tmp_path):
        torch.cuda.memory.allocate(100 * MiB)
        torch.cuda.memory.allocate(2000 * MiB)
    # Saved once, and not again as an error.
    assert names(tmp_path) == ["rank00000_step000000_oom.pickle.gz", "rank00000_step000000_oom.txt"]
    snapshot = load(tmp_path / names(tmp_path)[0])
    assert snapshot["memscape"]["oom"] == {
        "device": 0,
        "requested_bytes": 2000 * MiB,
        "limit_bytes": 1 << 30,
        "free_bytes": (1 << 30) - 100 * MiB,
    }
    assert snapshot["device_traces"][0][-1]["action"] == "oom"
    # The driver is not queried inside a failing allocation. The facts of the failure are under `oom`.
    assert "free_bytes" not in snapshot["memscape"]["devices"][0]


def test_observer_is_attached_once_and_inactive_after_recording(torch: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        with memscape.record(tmp_path / name, on_exit=False):
            pass
    assert torch.cuda.memory._observers.count(recorder_module._observe) == 1
    with pytest.raises(torch.OutOfMemoryError):
        torch.cuda.memory.allocate(2000 * MiB)
    assert names(tmp_path / "a") == names(tmp_path / "b") == []


def test_second_failure_is_saved_to_another_file(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, on_exit=False, verdict=None):
        for size in (2000, 2001):
            with pytest.raises(torch.OutOfMemoryError):
                torch.cuda.memory.allocate(size * MiB)
    assert names(tmp_path) == ["rank00000_step000000_oom-2.pickle.gz", "rank00000_step000000_oom.pickle.gz"]


def test_errors_while_saving_do_not_hide_out_of_memory(torch: Any, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(torch.OutOfMemoryError), memscape.record(tmp_path, on_exit=False):
            torch.cuda.memory.fail = RuntimeError("the allocator is gone")
            torch.cuda.memory.allocate(2000 * MiB)
    assert [str(warning.message) for warning in warned] == [
        "memscape: a failed allocation is not explained: RuntimeError: the allocator is gone",
        "memscape: no snapshot (oom): RuntimeError: the allocator is gone",
        "memscape: recording could not be switched off: the allocator is gone",
    ]
    assert names(tmp_path) == []


def test_warnings_as_errors_do_not_stop_recording(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(torch.OutOfMemoryError), memscape.record(tmp_path, on_exit=False):
            torch.cuda.memory.fail = RuntimeError("gone")
            torch.cuda.memory.allocate(2000 * MiB)
    assert "memscape: no snapshot (oom): RuntimeError: gone" in capsys.readouterr().err


def test_out_of_memory_without_on_oom_saves_nothing(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, on_oom=False, on_exit=False), pytest.raises(torch.OutOfMemoryError):
        torch.cuda.memory.allocate(2000 * MiB)
    assert names(tmp_path) == []


def test_steps_are_annotated_marked_and_saved(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, every=2, steps={0}, on_exit=False) as rec:
        for expected in range(4):
            with rec.step() as number:
                assert number == expected
        with rec.step(17):
            pass
    files = [
        "rank00000_step000000_step.pickle.gz",
        "rank00000_step000001_step.pickle.gz",
        "rank00000_step000003_step.pickle.gz",
    ]
    assert names(tmp_path) == files
    facts = load(tmp_path / files[2])["memscape"]
    assert [mark[0] for mark in facts["steps"]] == [0, 1, 2, 3]
    assert all(begin <= end for _, begin, end in facts["steps"])
    assert facts["step"] == 3
    stages = [(it["stage"], it["name"]) for it in torch.cuda.memory.annotations]
    assert stages[:2] == [("START", "ProfilerStep#0"), ("END", "ProfilerStep#0")]
    assert stages[-1] == ("END", "ProfilerStep#17")


def test_failed_step_ends_its_annotation_and_saves_nothing(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, every=1, on_exit=False) as rec:
        with pytest.raises(KeyError), rec.step():
            raise KeyError
    assert names(tmp_path) == []
    assert [it["stage"] for it in torch.cuda.memory.annotations] == ["START", "END"]


def test_growth_and_new_peaks_are_saved(torch: Any, tmp_path: Path) -> None:
    rec = memscape.start(tmp_path, on_growth="8MiB", on_new_peak=True, on_exit=False)
    kept: list[int] = []
    # Live after the steps: 4, 6, 6, 14, 14, 20 MiB. Peak: 4, 6, 16, 24, 24, 30.
    for stays, passes in [(4, 0), (2, 0), (0, 10), (8, 10), (0, 0), (6, 10)]:
        with rec.step():
            kept.extend(torch.cuda.memory.allocate(size * MiB) for size in (stays,) if size)
            if passes:
                torch.cuda.memory.release(torch.cuda.memory.allocate(passes * MiB))
    rec.stop()
    # 1: peak +50 %. 2: peak. 3: live +10 and peak, saved as peak. 4: none. 5: peak, live only +6.
    assert names(tmp_path) == [f"rank00000_step00000{step}_peak.pickle.gz" for step in (1, 2, 3, 5)]
    rec = memscape.start(tmp_path / "growth", on_growth=8 * MiB, on_exit=False)
    for size in (1, 7, 1, 7, 1):
        with rec.step():
            torch.cuda.memory.allocate(size * MiB)
    rec.stop()
    assert names(tmp_path / "growth") == [
        "rank00000_step000002_growth.pickle.gz",
        "rank00000_step000004_growth.pickle.gz",
    ]


def test_steps_do_not_wait_for_a_file_that_takes_long(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, write = threading.Event(), _files.write_new

    def write_slowly(*arguments: Any, **options: Any) -> Path:
        assert written.wait(60)
        return write(*arguments, **options)

    monkeypatch.setattr(_files, "write_new", write_slowly)
    monkeypatch.setattr(_saving, "_STEP_PATIENCE_S", 0)
    rec = memscape.start(tmp_path, every=3, on_growth=MiB, on_exit=False)

    def step() -> None:
        with rec.step():
            torch.cuda.memory.allocate(MiB)

    for _ in range(5):
        step()
    # Steps 1 and 2 are saved for growth and as the third, but only the first one found no file being written.
    assert names(tmp_path) == []
    written.set()
    rec._saver.join()
    assert names(tmp_path) == ["rank00000_step000001_growth.pickle.gz"]
    step()
    rec._saver.join()
    assert names(tmp_path)[1:] == ["rank00000_step000005_step.pickle.gz"]
    written.clear()
    step()
    step()
    threading.Timer(0.05, written.set).start()
    rec.stop()
    assert names(tmp_path)[2:] == ["rank00000_step000006_growth.pickle.gz", "rank00000_step000007_growth.pickle.gz"]


def test_steps_that_are_named_are_all_saved(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = _files.write_new

    def write_slowly(*arguments: Any, **options: Any) -> Path:
        time.sleep(0.02)
        return write(*arguments, **options)

    monkeypatch.setattr(_files, "write_new", write_slowly)
    monkeypatch.setattr(_saving, "_STEP_PATIENCE_S", 0)
    with memscape.record(tmp_path, steps=range(1, 4), on_exit=False) as rec:
        for _ in range(5):
            with rec.step():
                pass
    assert names(tmp_path) == [f"rank00000_step00000{step}_step.pickle.gz" for step in (1, 2, 3)]


def test_only_newest_files_of_each_reason_are_kept(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, every=1, keep=2) as rec:
        for _ in range(5):
            with rec.step():
                pass
        rec.save()
    assert names(tmp_path) == [
        "rank00000_step000003_step.pickle.gz",
        "rank00000_step000004_exit.pickle.gz",
        "rank00000_step000004_manual.pickle.gz",
        "rank00000_step000004_step.pickle.gz",
    ]


def test_full_history_keeps_all_segments(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, entries=4) as rec:
        for _ in range(5):
            torch.cuda.memory.allocate(MiB)
    snapshot = load(rec.newest)
    assert len(snapshot["device_traces"][0]) == 4
    assert len(snapshot["segments"]) == 5


def test_tensor_names_are_those_at_save(torch: Any, tmp_path: Path) -> None:
    shared = torch.empty(8, 8)
    model = torch.nn.Module(
        embed=torch.nn.Module(weight=shared),
        head=torch.nn.Module(
            weight=torch.Tensor(8, 8, storage=shared.untyped_storage(), offset=128), buffer_mask=torch.empty(4)
        ),
        meta=torch._tensors.Meta(),
        cpu=torch.empty(3, device=None),
    )
    optimizer = torch.optim.Adam([shared])
    with memscape.record(tmp_path) as rec:
        rec.name(model, optimizer)
        optimizer.step()
        shared.grad = torch.empty(8, 8)
    tensors = {(it["name"], it["kind"]): it for it in load(rec.newest)["memscape"]["tensors"]}
    assert set(tensors) == {
        ("embed.weight", "parameter"),
        ("embed.weight", "gradient"),
        ("embed.weight", "optimizer_state:exp_avg"),
        ("embed.weight", "optimizer_state:exp_avg_sq"),
        ("head.weight", "parameter"),
        ("head.buffer_mask", "buffer"),
    }
    weight = {"addr": shared.data_ptr(), "bytes": 256, "device": 0, "shape": [8, 8], "dtype": "float32", "offset": 0}
    assert tensors["embed.weight", "parameter"] == {"name": "embed.weight", "kind": "parameter", **weight}
    assert tensors["head.weight", "parameter"]["offset"] == 128
    assert tensors["head.weight", "parameter"]["addr"] == shared.data_ptr()


def test_names_have_prefixes_and_keep_no_tensor_alive(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path) as rec:
        teacher = torch.nn.Module(weight=torch.empty(2))
        rec.name(teacher=teacher, student=(student := torch.nn.Module(weight=torch.empty(2))))
        rec.name(teacher=student)
        del teacher
        optimizer = torch.optim.Adam([torch.empty(5)])
        rec.name(optimizer)
        with pytest.raises(TypeError, match="not list"):
            rec.name([])
    assert {it["name"] for it in load(rec.newest)["memscape"]["tensors"]} == {
        "student.weight",
        "teacher.weight",
        "param_groups.0.0",
    }


def test_traced_modules_are_annotated_and_hooks_removed(torch: Any, tmp_path: Path) -> None:
    class Fails(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self) -> None:
            raise ValueError

    inner = torch.nn.Module()
    model = torch.nn.Module(block=torch.nn.Module(attn=inner), head=torch.nn.Module())
    with memscape.record(tmp_path) as rec:
        rec.trace(model)
        model()
        thread = threading.Thread(target=model.backward)
        thread.start()
        thread.join()
        fails = Fails()
        rec.trace(fails, backward=False)
        with pytest.raises(ValueError):
            fails()
    assert [(it["stage"], it["name"]) for it in torch.cuda.memory.annotations] == [
        ("START", "Module"),
        ("START", "block"),
        ("START", "block.attn"),
        ("END", "block.attn"),
        ("END", "block"),
        ("START", "head"),
        ("END", "head"),
        ("END", "Module"),
        ("START", "Module (backward)"),
        ("START", "head (backward)"),
        ("END", "head (backward)"),
        ("START", "block (backward)"),
        ("START", "block.attn (backward)"),
        ("END", "block.attn (backward)"),
        ("END", "block (backward)"),
        ("END", "Module (backward)"),
        ("START", "Fails"),
        ("END", "Fails"),
    ]
    assert not inner.before and not inner.after and not inner.before_backward and not fails.after


def test_traced_modules_are_bounded_by_depth_and_number(torch: Any, tmp_path: Path) -> None:
    model = torch.nn.Module(a=torch.nn.Module(b=torch.nn.Module()), c=torch.nn.Module())
    for options, expected in [
        ({"depth": 1}, ["Module", "a", "c"]),
        ({"most": 2}, ["Module", "a"]),
        ({"depth": 0}, ["Module"]),
    ]:
        torch.cuda.memory.annotations.clear()
        with memscape.record(tmp_path, on_exit=False) as rec:
            rec.trace(model, **options)
            model()
        assert [it["name"] for it in torch.cuda.memory.annotations if it["stage"] == "START"] == expected


def test_sources_option_includes_user_files(torch: Any, tmp_path: Path) -> None:
    for wanted in (False, True):
        with memscape.record(tmp_path, sources=wanted) as rec:
            torch.cuda.memory.allocate(MiB)
        facts = load(rec.newest)["memscape"]
        assert ("source" in facts) == wanted
    assert facts["source"][__file__] == Path(__file__).read_text()
    assert not any("site-packages" in path or path.endswith("threading.py") for path in facts["source"])


def test_only_selected_ranks_record(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "9")
    monkeypatch.setenv("WORLD_SIZE", "16")
    monkeypatch.setenv("LOCAL_RANK", "1")
    for ranks in ("0,2-8", {0}, "10-12"):
        with memscape.record(tmp_path, ranks=ranks) as rec:
            assert not rec.is_recording
            with rec.step():
                pass
            assert rec.save() is None
    assert torch.cuda.memory.calls == [] and names(tmp_path) == []
    with memscape.record(tmp_path, ranks="0,8-15", mesh={"dp": 4, "tp": 1}) as rec:
        pass
    assert names(tmp_path) == ["rank00009_step000000_exit.pickle.gz"]
    facts = load(rec.newest)["memscape"]
    assert (facts["rank"], facts["world"], facts["local_rank"]) == (9, 16, 1)
    assert facts["coords"] == {"dp": 4, "tp": 1}
    with pytest.raises(ValueError, match="expected 'all'"):
        memscape.start(tmp_path, ranks="first")


def test_without_gpu_program_runs_without_recording(torch: Any, tmp_path: Path) -> None:
    torch.cuda.available = False
    with pytest.warns(RuntimeWarning, match="no GPU"), memscape.record(tmp_path / "a", every=1) as rec:
        rec.name(torch.nn.Module())
        rec.trace(torch.nn.Module())
        with rec.step():
            pass
    assert not (tmp_path / "a").exists()


def test_allocator_without_history_gives_warning(torch: Any, tmp_path: Path) -> None:
    torch.cuda.backend = "cudaMallocAsync"
    with pytest.warns(RuntimeWarning, match="cudaMallocAsync.*records no history"), memscape.record(tmp_path):
        pass


def test_second_recorder_is_an_error(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, on_exit=False):
        with pytest.raises(RuntimeError, match="stop that recorder first"):
            memscape.start(tmp_path)
    memscape.start(tmp_path).stop()


def test_second_recorder_may_replace_the_first(torch: Any, tmp_path: Path) -> None:
    first = memscape.start(tmp_path / "a")
    with memscape.record(tmp_path / "b", replace=True) as second:
        assert second.is_recording and not first.is_recording
    assert names(tmp_path / "a") == [] and names(tmp_path / "b") == ["rank00000_step000000_exit.pickle.gz"]


def test_features_add_fields_and_a_failing_one_is_left_out(torch: Any, tmp_path: Path) -> None:
    def fails(reason: str, snapshot: dict[str, Any]) -> None:
        raise ZeroDivisionError

    with memscape.record(tmp_path) as rec, pytest.warns(RuntimeWarning, match="says less of its run: ZeroDivision"):
        rec.contribute(lambda reason, snapshot: ("segments_of", [reason, len(snapshot["segments"])]))
        rec.contribute(fails)
        rec.contribute(lambda reason, snapshot: None)
        torch.cuda.memory.allocate(MiB)
        path = rec.save()
    assert path is not None
    facts = load(path)["memscape"]
    assert facts["segments_of"] == ["manual", 1] and None not in facts


def test_failed_start_restores_state(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = signal.getsignal(signal.SIGUSR2)
    with pytest.raises(OSError):
        memscape.start(tmp_path / "file")
    with pytest.raises(ValueError, match="no such signal"):
        memscape.start(tmp_path, on_signal="SIGNONE")
    for wrong in ({"every": 0}, {"on_growth": "8 apples"}):
        with pytest.raises(ValueError):
            memscape.start(tmp_path, **wrong)
    torch.cuda.memory.fail = RuntimeError("no")
    with pytest.raises(RuntimeError, match="no"):
        memscape.start(tmp_path, on_signal="SIGUSR2")
    assert signal.getsignal(signal.SIGUSR2) == before
    torch.cuda.memory.fail = None
    memscape.start(tmp_path).stop()


def test_signal_saves_and_previous_handler_is_called_and_restored(torch: Any, tmp_path: Path) -> None:
    called = []
    before = signal.signal(signal.SIGUSR2, lambda *_: called.append(1))
    try:
        mine = signal.getsignal(signal.SIGUSR2)
        with memscape.record(tmp_path, on_signal="SIGUSR2", on_exit=False):
            os.kill(os.getpid(), signal.SIGUSR2)
            os.kill(os.getpid(), signal.SIGUSR2)
        assert signal.getsignal(signal.SIGUSR2) is mine
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert called == [1, 1]
    assert names(tmp_path) == ["rank00000_step000000_signal-2.pickle.gz", "rank00000_step000000_signal.pickle.gz"]


def test_threads_save_concurrently(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, keep=None, on_exit=False) as rec:
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for _ in range(5):
                    torch.cuda.memory.release(torch.cuda.memory.allocate(MiB, number % 2))
                    rec.save(reason=f"thread-{number}")
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
    assert len(names(tmp_path)) == 20
    assert all(load(path)["memscape"]["reason"].startswith("thread") for path in tmp_path.iterdir())


def test_forked_process_records_nothing(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, on_signal="SIGUSR2", every=1, on_exit=False) as rec:
        fork = multiprocessing.get_context("fork")

        def child() -> None:
            assert not rec.is_recording
            with rec.step():
                pass
            assert rec.save() is None
            rec.stop()
            with pytest.raises(torch.OutOfMemoryError):
                torch.cuda.memory.allocate(2000 * MiB)

        process = fork.Process(target=child)
        process.start()
        process.join()
        assert process.exitcode == 0
        assert names(tmp_path) == []
        assert rec.is_recording
        rec.save()
    assert names(tmp_path) == ["rank00000_step000000_manual.pickle.gz"]


def test_existing_file_is_not_overwritten(torch: Any, tmp_path: Path) -> None:
    for _ in range(3):
        with memscape.record(tmp_path):
            pass
    assert names(tmp_path) == [f"rank00000_step000000_exit{more}.pickle.gz" for more in ("-2", "-3", "")]
    with memscape.record(tmp_path, on_exit=False) as rec, pytest.raises(ValueError, match="expected letters"):
        rec.save(reason="../../etc")


def test_older_pytorch_gets_supported_arguments(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[Any] = []

    def history(
        enabled: Any = "all", context: Any = "all", stacks: str = "all", max_entries: int = 1, device: Any = None
    ) -> None:
        got.append((enabled, context, stacks, max_entries))

    def legacy(
        enabled: bool,
        record_context: bool = True,
        trace_alloc_max_entries: int = 1,
        trace_alloc_record_context: bool = False,
    ) -> None:
        got.append((enabled, trace_alloc_max_entries, trace_alloc_record_context))

    monkeypatch.delattr(torch.cuda.memory, "_record_memory_history_impl")
    for function in (history, legacy):
        monkeypatch.setattr(torch.cuda.memory, "_record_memory_history", function)
        with memscape.record(tmp_path, entries=7, on_exit=False):
            pass
    assert got == [("all", "all", "python", 7), (None, "all", "all", 1), (True, 7, True), (False, 1, False)]
