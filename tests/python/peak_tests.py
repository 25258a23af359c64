"""Tests that run in a pytest of their own, with the plugin: test_peak.py here and in tests/recorder_torch copies this file."""

from typing import Any

import pytest
import torch


def block(mib: int) -> Any:
    return torch.empty(mib << 18, device=0)


def test_fixture_kept(gpu_memory: Any) -> None:
    with gpu_memory("20MiB"):
        block(20)


def test_fixture_exceeded(gpu_memory: Any) -> None:
    with gpu_memory("20MiB"):
        block(21)


@pytest.mark.peak_below("20MiB")
def test_marker_kept() -> None:
    block(20)


@pytest.mark.peak_below("20MiB")
def test_marker_exceeded() -> None:
    block(22)


@pytest.mark.peak_below("20MiB")
def test_marker_and_error() -> None:
    block(23)
    raise ValueError("of the test")


def test_without_limit() -> None:
    block(100)
