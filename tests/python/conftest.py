from __future__ import annotations

import gzip
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
STANDIN = HERE / "standin"
SOURCES = HERE.parent.parent / "src" / "python"
sys.path[:0] = [str(STANDIN), str(SOURCES)]


def load(path: Path) -> Any:
    with (gzip.open if path.name.endswith(".gz") else open)(path, "rb") as file:
        return pickle.load(file)


def names(folder: Path) -> list[str]:
    """Return the names of all files in a folder, including partly written ones."""
    return sorted(path.name for path in folder.iterdir())


def python(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a new process with the stand-in for PyTorch."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(STANDIN), str(SOURCES)]), **more.pop("env", {})}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=60, env=environment, **more
    )


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The stand-in for PyTorch in its initial state."""
    import torch

    from memscape import _saving, recorder

    # On a busy machine, even a small file takes long.
    monkeypatch.setattr(_saving, "_STEP_PATIENCE_S", 60)
    memory = torch.cuda.memory
    memory._traces = [type(memory._traces[0])(), type(memory._traces[0])()]
    memory._live, memory._peak, memory._reserved_peak = [{}, {}], [0, 0], [0, 0]
    memory.calls.clear()
    memory.annotations.clear()
    memory.fail = None
    memory.is_recording = False
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    yield torch
    active = recorder._Process.recorder()
    torch.cuda.available, torch.cuda.backend, memory.fail = True, "native", None
    if active is not None:
        active.stop()


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> str:
    """Path of the built program, which tests/python.sh sets."""
    path = os.environ.get("MEMSCAPE_BINARY") or str(HERE.parent.parent / "target" / "debug" / "memscape")
    if not os.access(path, os.X_OK):
        pytest.skip(f"no program at {path}: cargo build makes it")
    monkeypatch.setenv("MEMSCAPE_BINARY", path)
    return path


@pytest.fixture
def page(program: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of the program, if the page is embedded in it."""
    done = subprocess.run([program, "serve", "--help"], capture_output=True, check=True)
    assert done.stdout
    built = HERE.parent.parent / "src" / "cli" / "built" / "memscape.html"
    if not built.exists():
        pytest.skip("the program has no page inside: ./run build makes it")
    return program
