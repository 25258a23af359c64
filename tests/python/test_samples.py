"""Memory outside the allocator over time, and memory that is paused."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import memscape
from conftest import load
from memscape import _samples
from memscape._import_hook import AfterImport
from memscape._paused import Paused
from memscape._samples import COLUMNS, Samples

MiB = 1 << 20


def samples_of(torch: Any, every: int | None = 1) -> tuple[Samples, Any]:
    from memscape._backend import Backend

    backend = Backend()
    return Samples(backend, every, None), backend


def test_row_after_each_step_is_in_the_snapshot(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Samples, "_adapt", lambda *_: None)
    with memscape.record(tmp_path) as rec:
        for _ in range(3):
            with rec.step():
                torch.cuda.memory.allocate(3 * MiB)
    assert rec.newest is not None
    samples = load(rec.newest)["memscape"]["samples"]
    assert samples["columns"] == list(COLUMNS)
    rows = [dict(zip(COLUMNS, row)) for row in samples["rows"]]
    assert [row["live_bytes"] for row in rows] == [0, 3 * MiB, 6 * MiB, 9 * MiB]
    assert [row["reserved_bytes"] for row in rows] == [0, 4 * MiB, 8 * MiB, 12 * MiB]
    assert [row["free_bytes"] for row in rows] == [(1 << 30) - row["reserved_bytes"] for row in rows]
    assert list(load(rec.newest)["memscape"])[-1] == "samples"


def test_nothing_is_read_without_sample_every(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, sample_every=None) as rec:
        with rec.step():
            pass
    assert rec.newest is not None and "samples" not in load(rec.newest)["memscape"]


def test_rows_take_at_most_a_thousandth_of_the_time(torch: Any) -> None:
    samples, _ = samples_of(torch)
    for cost, elapsed, every in [
        (30, 30_000, 1),
        (31, 30_000, 2),
        (31, 30_000, 4),
        # A quarter of the share leaves room for twice as many rows.
        (30, 119_999, 4),
        (30, 120_001, 2),
        (30, 120_001, 1),
        (30, 120_001, 1),
    ]:
        samples._adapt(cost, elapsed)
        assert samples._every == every


def test_rows_are_thinned_and_taken_half_as_often(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_samples, "MOST_ROWS", 10)
    monkeypatch.setattr(Samples, "_adapt", lambda *_: None)
    samples, backend = samples_of(torch)
    times = iter(range(10_000))
    monkeypatch.setattr(_samples, "now_us", lambda: next(times))
    samples.start()
    for _ in range(100):
        samples.after_step(backend.counters(0))
    field = samples.field("manual", {})
    assert field is not None
    _, value = field
    assert isinstance(value, dict)
    rows = [row[0] for row in value["rows"]]
    assert 5 <= len(rows) <= 10 and rows == sorted(rows) and rows[0] == 0
    assert value["every"] == 16
    samples.stop()


def test_nothing_is_read_while_a_graph_is_captured(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    samples, backend = samples_of(torch)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True, raising=False)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: pytest.fail("the driver was called"))
    samples.start()
    samples.after_step(backend.counters(0))
    assert samples.field("manual", {}) is None


def test_driver_that_fails_does_not_stop_the_steps(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(device: int) -> None:
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(torch.cuda, "mem_get_info", fails)
    with memscape.record(tmp_path, on_exit=False) as rec:
        with rec.step():
            pass


def test_events_name_what_was_loaded_or_made(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    samples, backend = samples_of(torch)
    samples.start()
    names: dict[Any, str] = {}
    ranks: dict[Any, Any] = {}
    world = SimpleNamespace(pg_names=names, pg_group_ranks=ranks)

    class Group:
        group_desc = "tp"

    module = ModuleType("torch.distributed.distributed_c10d")
    module._world = world  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.distributed.distributed_c10d", module)
    samples.after_step(backend.counters(0))
    made = Group()
    names[made], ranks[made] = "7", {0: 0, 4: 1}
    alone = Group()
    alone.group_desc = "pp"
    names[alone], ranks[alone] = "8", {0: 0}
    monkeypatch.setitem(sys.modules, "triton", ModuleType("triton"))
    samples._every = 1
    samples.after_step(backend.counters(0))
    samples._every, samples._steps = 1, 0
    samples.after_step(backend.counters(0))
    assert [text for _, text in samples._events] == [
        "triton was imported",
        "process group tp of 2 ranks was made",
        "process group pp of 1 rank was made",
    ]
    samples.stop()


# Paused memory


class MemorySaver:
    """A stand-in for torch_memory_saver: regions by tag, which can be paused and resumed."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    @contextlib.contextmanager
    def region(self, tag: str = "default", enable_cpu_backup: bool = False) -> Iterator[None]:
        self.calls.append(("region", tag))
        yield

    def pause(self, tag: str | None = None) -> None:
        self.calls.append(("pause", tag))

    def resume(self, tag: str | None = None) -> None:
        self.calls.append(("resume", tag))


@pytest.fixture
def segments() -> dict[int, int]:
    return {0x1000: 2 * MiB}


@pytest.fixture
def paused(torch: Any, segments: dict[int, int]) -> Iterator[Paused]:
    backend = SimpleNamespace(
        state=lambda: {"segments": [{"address": a, "total_size": n} for a, n in segments.items()]}
    )
    paused = Paused(backend)  # type: ignore[arg-type]
    yield paused
    paused.stop()


def test_regions_of_memory_saver_are_noted_while_paused(
    paused: Paused, segments: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Saver(MemorySaver):
        pass

    original = Saver.pause
    module = ModuleType("torch_memory_saver")
    module.torch_memory_saver = saver = Saver()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch_memory_saver", module)
    paused.start()
    with saver.region("weights", enable_cpu_backup=True):
        segments[0x2000] = 400 * MiB
        segments[0x3000] = 20 * MiB
    with saver.region(tag="cache"):
        segments[0x4000] = 8 * MiB
    assert paused.field("manual", {}) is None and paused.bytes_now() == 0
    del segments[0x3000]
    saver.pause("weights")
    saver.pause()
    assert paused.bytes_now() == 408 * MiB
    saver.resume(tag="cache")
    assert paused.bytes_now() == 400 * MiB
    field = paused.field("manual", {})
    assert field is not None
    name, value = field
    assert name == "paused" and isinstance(value, list)
    weights, cache = value
    assert {key: weights[key] for key in ("tag", "by", "bytes", "ranges", "backup")} == {
        "tag": "weights",
        "by": "torch_memory_saver",
        "bytes": 400 * MiB,
        "ranges": [[0x2000, 400 * MiB]],
        "backup": "cpu",
    }
    assert (cache["backup"], cache["ranges"]) == ("none", [[0x4000, 8 * MiB]])
    assert "end_us" not in weights and cache["begin_us"] <= cache["end_us"]
    assert [call for call, _ in saver.calls] == ["region", "region", "pause", "pause", "resume"]
    paused.stop()
    assert Saver.__dict__["pause"] is original or Saver.pause is original


def test_sleep_of_vllm_is_noted_when_it_is_imported_later(
    paused: Paused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "vllm" / "device_allocator"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "cumem.py").write_text(
        "from types import SimpleNamespace as Data\n"
        "class CuMemAllocator:\n"
        "    default_tag = 'default'\n"
        "    pointer_to_data = {\n"
        "        4096: Data(handle=(0, 64 << 20, 4096, 1), tag='weights'),\n"
        "        8192: Data(handle=(0, 32 << 20, 8192, 2), tag='kv_cache'),\n"
        "    }\n"
        "    def sleep(self, offload_tags=None): return 'slept'\n"
        "    def wake_up(self, tags=None): return 'woken'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    paused.start()
    try:
        from vllm.device_allocator.cumem import CuMemAllocator  # type: ignore[import-not-found]

        allocator = CuMemAllocator()
        assert allocator.sleep(("weights",)) == "slept"
        assert paused.bytes_now() == 96 * MiB
        assert allocator.wake_up(["weights"]) == "woken"
        assert paused.bytes_now() == 32 * MiB
        field = paused.field("manual", {})
        assert field is not None and isinstance(field[1], list)
        assert [(it["tag"], it["by"], it["bytes"], it["ranges"], it["backup"]) for it in field[1]] == [
            ("weights", "vllm", 64 * MiB, [[4096, 64 * MiB]], "cpu"),
            ("kv_cache", "vllm", 32 * MiB, [[8192, 32 * MiB]], "none"),
        ]
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "vllm"]:
            del sys.modules[name]


def test_spans_are_limited_and_open_ones_kept(paused: Paused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memscape._paused._MOST_SPANS", 3)
    paused.pause("vllm", "open", [(1, 5)], "cpu")
    for number in range(10):
        paused.pause("vllm", "weights", [(2, number)], "cpu")
        paused.resume("vllm", {"weights"})
    field = paused.field("manual", {})
    assert field is not None and isinstance(field[1], list)
    assert [it["bytes"] for it in field[1]] == [5, 8, 9]


def test_import_hook_hides_no_error_of_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fails_to_import.py").write_text("raise KeyError('mine')")
    (tmp_path / "imports.py").write_text("value = 1")
    monkeypatch.syspath_prepend(tmp_path)
    called: list[str] = []

    def function(module: ModuleType) -> None:
        called.append(module.__name__)
        raise ZeroDivisionError

    hook = AfterImport(dict.fromkeys(("fails_to_import", "imports", "is_not_there"), function))
    hook.install()
    try:
        with pytest.raises(KeyError, match="mine"):
            __import__("fails_to_import")
        with pytest.raises(ModuleNotFoundError):
            __import__("is_not_there")
        assert __import__("imports").value == 1
    finally:
        hook.remove()
        sys.modules.pop("imports", None)
    assert called == ["imports"] and hook not in sys.meta_path
