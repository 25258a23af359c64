"""Assertions about peaks, with the counters of a real PyTorch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import memscape
from conftest import Fork, MiB, allocate, load, python


def test_peak_is_that_of_the_block(fork: Fork) -> None:
    def job() -> None:
        before = allocate(100 * MiB)
        with memscape.assert_peak_below("31 MiB", growth_below="10 MiB") as peak:
            kept = allocate(10 * MiB)
            for _ in range(3):
                allocate(20 * MiB)
        assert (peak.before_bytes, peak.peak_bytes, peak.left_bytes) == (100 * MiB, 30 * MiB, 10 * MiB)
        with pytest.raises(memscape.PeakExceeded, match=r"above the limit of 40\.00 MiB"):
            with memscape.assert_peak_below("40MiB"):
                allocate(41 * MiB)
        del before, kept

    fork(job)


def test_reserved_peak_does_not_depend_on_the_cache(fork: Fork) -> None:
    def job() -> None:
        allocate(500 * MiB)  # left in the cache
        with memscape.assert_peak_below("200 MiB", what="reserved") as peak:
            allocate(100 * MiB)
        assert peak.peak_bytes == 100 * MiB
        with pytest.raises(memscape.PeakExceeded), memscape.assert_peak_below("99 MiB", what="reserved"):
            allocate(100 * MiB)

    fork(job)


def test_forward_and_backward_are_measured_in_autograd_threads(fork: Fork) -> None:
    def job() -> None:
        model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024, bias=False, device="cuda") for _ in range(4)))
        # Libraries take their workspaces in the first step.
        model(torch.ones(256, 1024, device="cuda")).sum().backward()
        model.zero_grad(set_to_none=True)
        with memscape.assert_peak_below("1 GiB", growth_below="17 MiB") as peak:
            model(torch.ones(256, 1024, device="cuda")).sum().backward()
        # The gradients of the four layers stay, 4 MiB each.
        assert 16 * MiB <= peak.left_bytes < 17 * MiB
        assert peak.peak_bytes > peak.left_bytes

    fork(job)


def test_failure_is_explained_by_call_sites(fork: Fork, tmp_path: Path) -> None:
    path = tmp_path / "failed.pickle.gz"

    def job() -> None:
        with pytest.raises(memscape.PeakExceeded) as error, memscape.assert_peak_below("40MiB", save_to=path):
            allocate(41 * MiB)
        assert "allocate (" in str(error.value)
        assert "conftest.py:" in str(error.value)
        assert not torch._C._cuda_isHistoryEnabled()
        sizes = [event["size"] for event in load(path)["device_traces"][0] if event["action"] == "alloc"]
        assert sizes == [41 * MiB]

    fork(job)


TESTS = Path(__file__).parent.parent / "python" / "peak_tests.py"


@pytest.mark.slow
def test_pytest_plugin_fails_tests_above_their_limit(tmp_path: Path) -> None:
    shutil.copy(TESTS, tmp_path / "test_it.py")
    plugin = ("-p", "memscape.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers", "--memscape-dir", "saved")
    done = python("-m", "pytest", "-ra", "--rootdir", str(tmp_path), *plugin, str(tmp_path), cwd=tmp_path)
    assert "3 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    line = next(number for number, text in enumerate(TESTS.read_text().split("\n"), 1) if "torch.empty" in text)
    assert done.stdout.count(f"test_it.py:{line})") == 2
    assert len(list((tmp_path / "saved").iterdir())) == 2
