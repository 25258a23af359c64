"""Assertions about peaks, and the pytest plugin: with the stand-in for PyTorch."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import memscape
from conftest import HERE, load, python

MIB = 1 << 20


def block(torch: Any, mib: int) -> Any:
    return torch.empty(mib * MIB // 4)


def test_peak_counts_what_the_block_allocates(torch: Any) -> None:
    before = block(torch, 100)
    with memscape.assert_peak_below("30 MiB") as peak:
        kept = block(torch, 10)
        del before
        block(torch, 20)
    assert (peak.before_bytes, peak.peak_bytes, peak.left_bytes) == (100 * MIB, 10 * MIB, -90 * MIB)
    del kept


def test_peak_above_the_limit_fails(torch: Any) -> None:
    with pytest.raises(memscape.PeakExceeded) as error, memscape.assert_peak_below(20 * MIB - 1):
        block(torch, 20)
    assert str(error.value) == (
        "the requested peak is 20.00 MiB (20,971,520 B), 1 B above the limit of 20.00 MiB (20,971,519 B) "
        "(0 B from before not counted)"
    )
    with memscape.assert_peak_below(20 * MIB):
        block(torch, 20)


def test_growth_above_the_limit_fails(torch: Any) -> None:
    kept = []
    with pytest.raises(AssertionError, match=r"3.00 MiB .* are left at the end"):
        with memscape.assert_peak_below("1 GiB", growth_below="2MiB"):
            kept.append(block(torch, 3))
    with memscape.assert_peak_below("1 GiB", growth_below="2MiB"):
        block(torch, 3)


def test_reserved_bytes_are_those_of_segments(torch: Any) -> None:
    # The stand-in reserves multiples of 2 MiB.
    with memscape.assert_peak_below("4MiB", what="reserved") as peak:
        block(torch, 3)
    assert peak.peak_bytes == 4 * MIB
    with pytest.raises(ValueError, match="what='cached'"), memscape.assert_peak_below(1, what="cached"):
        pass


def test_inner_blocks_do_not_hide_the_peak_of_the_outer_one(torch: Any) -> None:
    with memscape.assert_peak_below("1 GiB") as outer:
        block(torch, 50)
        with memscape.assert_peak_below("1 GiB") as inner:
            block(torch, 10)
    assert (outer.peak_bytes, inner.peak_bytes) == (50 * MIB, 10 * MIB)
    with memscape.assert_peak_below("1 GiB") as outer:
        kept = block(torch, 5)
        with memscape.assert_peak_below("1 GiB"):
            block(torch, 50)
    assert outer.peak_bytes == 55 * MIB
    del kept


def test_error_of_the_block_is_not_replaced(torch: Any) -> None:
    with pytest.raises(ZeroDivisionError), memscape.assert_peak_below(1):
        block(torch, 20)
        _ = 1 / 0
    # The next measurement starts from nothing.
    with memscape.assert_peak_below(1) as peak:
        pass
    assert peak.peak_bytes == 0


def test_history_is_recorded_only_to_explain_a_failure(torch: Any, tmp_path: Path) -> None:
    calls = torch.cuda.memory.calls
    with memscape.assert_peak_below("1 GiB"):
        block(torch, 1)
    assert calls == []
    path = tmp_path / "failed" / "a.pickle.gz"
    with memscape.assert_peak_below("1 GiB", save_to=path):
        block(torch, 1)
    assert [call["enabled"] for call in calls] == ["all", None]
    assert not path.exists()
    with pytest.raises(memscape.PeakExceeded) as error, memscape.assert_peak_below("1 MiB", save_to=path):
        block(torch, 20)
    assert [call["enabled"] for call in calls] == ["all", None] * 2
    sizes = [event["size"] for event in load(path)["device_traces"][0] if event["action"] == "alloc"]
    assert sizes == [20 * MIB]
    assert str(path) in str(error.value)
    # The stand-in allocates in Python.
    assert "20,971,520     100 %        1  __init__" in str(error.value)


def test_recorder_goes_on_recording(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path / "runs") as recorder:
        with pytest.raises(memscape.PeakExceeded), memscape.assert_peak_below(1, save_to=tmp_path / "a.pickle"):
            block(torch, 20)
        assert recorder.is_recording
        assert torch.cuda.memory.is_recording
    assert (tmp_path / "a.pickle").exists()


def test_no_gpu_is_an_error(torch: Any) -> None:
    torch.cuda.available = False
    with pytest.raises(RuntimeError, match="no GPU"), memscape.assert_peak_below("1 GiB"):
        pass


TESTS = HERE / "peak_tests.py"


def run_tests(folder: Path, *options: str, first: str = "") -> subprocess.CompletedProcess[str]:
    """Run the tests in a folder, after a line of code."""
    (folder / "test_it.py").write_text(first + TESTS.read_text())
    plugin = ("-p", "memscape.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers", "-W", "error")
    return python("-m", "pytest", "-ra", "--rootdir", str(folder), *plugin, *options, str(folder), cwd=folder)


def test_plugin_fails_tests_above_their_limit(tmp_path: Path) -> None:
    done = run_tests(tmp_path)
    assert "3 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    for name in ("test_fixture_exceeded", "test_marker_exceeded"):
        assert f"FAILED test_it.py::{name} - memscape._peak.PeakExceeded" in done.stdout, done.stdout
    assert "FAILED test_it.py::test_marker_and_error - ValueError: of the test" in done.stdout
    assert "error" not in done.stdout.splitlines()[-1]


def test_plugin_saves_snapshots_that_explain_failures(tmp_path: Path) -> None:
    done = run_tests(tmp_path, "--memscape-dir", "saved")
    assert "3 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    names = sorted(path.name for path in (tmp_path / "saved").iterdir())
    assert names == [
        "test_it.py_test_fixture_exceeded.pickle.gz",
        "test_it.py_test_marker_exceeded.pickle.gz",
    ]
    assert "22,020,096     100 %" in done.stdout


def test_plugin_skips_tests_without_gpu(tmp_path: Path) -> None:
    done = run_tests(tmp_path, first="import torch\ntorch.cuda.available = False\n")
    assert "1 passed, 5 skipped" in done.stdout, done.stdout + done.stderr
    assert "no GPU" in done.stdout
