"""Tests of the hooks for trainers, in the trainers themselves, with a real PyTorch on the stub driver."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from memscape import _saving, recorder

# On a busy machine, even a small file takes long.
_saving._STEP_PATIENCE_S = 60


@pytest.fixture(autouse=True)
def nothing_records() -> Any:
    yield
    active = recorder.active()
    if active is not None:
        active.stop()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.gz"))


def facts(folder: Path, name: str) -> Any:
    [path] = folder.rglob(name)
    with gzip.open(path) as file:
        return pickle.load(file)["memscape"]


def steps(folder: Path, name: str) -> list[int]:
    return [step for step, _, _ in facts(folder, name)["steps"]]


class Rows(torch.utils.data.Dataset[Any]):
    """Inputs and labels on the CPU."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return {"x": torch.zeros(8), "labels": torch.zeros(4)}
