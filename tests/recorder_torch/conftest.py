"""Tests of the recorder with a real PyTorch. tests/recorder.sh runs them with the stub of the CUDA driver."""

from __future__ import annotations

import atexit
import gzip
import importlib
import os
import pickle
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from memscape import _saving  # before processes are forked

MiB = 1 << 20
GiB = 1 << 30
TORCH = tuple(int(part) for part in torch.__version__.split("+", maxsplit=1)[0].split("."))
# The first snapshot imports the compiler, which takes longer than most tests. Not in each forked process.
importlib.import_module("torch._inductor.codecache")
# On a busy machine, even a small file takes long.
_saving._STEP_PATIENCE_S = 60


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: imports PyTorch in several new processes; only with --all")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Tests that use CUDA in this process are last: processes forked afterwards cannot use it.
    items.sort(key=lambda item: "fork" not in getattr(item, "fixturenames", ()))


@dataclass
class Done:
    """A process that ended."""

    status: int
    """Exit status, or the negative number of a signal."""
    stdout: str
    stderr: str


@dataclass
class Job:
    """A running process of a test. Its output is in files, so that it never waits for a reader."""

    pid: int
    output: Path

    def wait(self, *, check: bool = True) -> Done:
        """Wait for the end. With `check`, a status other than 0 is a failure."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        stdout, stderr = (self.output.with_suffix(end).read_text() for end in (".out", ".err"))
        if check and status != 0:
            pytest.fail(f"the process ended with status {status}\n{stdout}\n{stderr}", pytrace=False)
        return Done(status, stdout, stderr)


class Fork:
    """Runs functions in forked processes, because CUDA cannot be uninitialized and importing PyTorch takes seconds."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0

    def start(self, function: Callable[..., Any], *arguments: Any, **environment: str) -> Job:
        """Start a process. Environment variables may be given as keywords."""
        self._count += 1
        output = self._folder / f"output{self._count}"
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            return Job(pid, output)
        for number, end in ((1, ".out"), (2, ".err")):
            os.dup2(os.open(output.with_suffix(end), os.O_CREAT | os.O_WRONLY | os.O_APPEND), number)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
        sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
        warnings.resetwarnings()
        warnings.simplefilter("ignore", ResourceWarning)
        os.environ.update({"STUB_MEMORY": str(4 * GiB), **environment})
        status = 0
        try:
            function(*arguments)
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 1
        except BaseException as error:
            traceback.print_exc()
            # What Python sets before it runs the functions of atexit.
            sys.last_value = error
            status = 1
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(status)

    def __call__(self, function: Callable[..., Any], *arguments: Any, **environment: str) -> Done:
        """Run a process to its end, which must be without error."""
        return self.start(function, *arguments, **environment).wait()


@pytest.fixture
def fork(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Fork:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    return Fork(tmp_path_factory.mktemp("output"))


def python(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a new process, with the same PyTorch."""
    environment = {**os.environ, "STUB_MEMORY": str(4 * GiB), **more.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-W", "ignore:Failed to initialize NumPy", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
        **more,
    )


def load(path: Path) -> Any:
    with (gzip.open if path.name.endswith(".gz") else open)(path, "rb") as file:
        return pickle.load(file)


def names(folder: Path) -> list[str]:
    """Names of all files in a folder, including partly written ones."""
    return sorted(path.name for path in folder.iterdir())


def allocate(size: int) -> torch.Tensor:
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def fail(size: int = 1 << 40) -> None:
    """Allocate more than there is, and handle the error, as programs do that search for a batch size."""
    try:
        allocate(size)
    except torch.cuda.OutOfMemoryError:
        return
    raise AssertionError("there was enough memory")
