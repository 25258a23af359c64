"""The profiler, with the profiler of torchtitan and its life cycle."""

from __future__ import annotations

import importlib.machinery
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from conftest import names, steps


@pytest.fixture
def profiler(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("tyro")
    spec = importlib.machinery.PathFinder.find_spec("torchtitan")
    if spec is None or spec.submodule_search_locations is None:
        pytest.skip("torchtitan is not installed")
    # Its own __init__ imports models and data sets.
    package = ModuleType("torchtitan")
    package.__path__ = list(spec.submodule_search_locations)
    monkeypatch.setitem(sys.modules, "torchtitan", package)
    from memscape.integrations.torchtitan import MemscapeProfiler

    return MemscapeProfiler


def test_snapshots_are_saved_where_torchtitan_saves_them(profiler: Any, tmp_path: Path) -> None:
    config = profiler.Config(enable_memory_snapshot=True, memory_snapshot_freq=2)
    with config.build(global_step=10, base_folder=str(tmp_path), leaf_folder="replica") as running:
        for _ in range(4):
            torch.empty(1 << 20, device="cuda")
            running.step()
    assert names(tmp_path / "profiling" / "memory_snapshot" / "replica") == [
        "rank00000_step000012_step.pickle.gz",
        "rank00000_step000014_exit.pickle.gz",
        "rank00000_step000014_step.pickle.gz",
    ]
    assert steps(tmp_path, "*_exit.pickle.gz") == [11, 12, 13, 14]


def test_oom_is_saved_once(profiler: Any, tmp_path: Path) -> None:
    config = profiler.Config(enable_memory_snapshot=True, memory_snapshot_freq=2)
    with pytest.raises(torch.OutOfMemoryError):
        with config.build(global_step=0, base_folder=str(tmp_path)) as running:
            running.step()
            torch.empty(1 << 44, dtype=torch.uint8, device="cuda")
    assert names(tmp_path) == ["rank00000_step000002_oom.pickle.gz"]


def test_nothing_is_recorded_unless_enabled(profiler: Any, tmp_path: Path) -> None:
    with profiler.Config().build(base_folder=str(tmp_path)) as running:
        running.step()
    assert names(tmp_path) == []
