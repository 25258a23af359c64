"""pytest plugin: the fixture `gpu_memory` and the marker `peak_below`. Tests that use them are skipped without a GPU.

With `--memscape-dir DIR`, failing tests leave a snapshot there, and their error names the call sites.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ._backend import Backend
from ._peak import Peak, assert_peak_below
from ._triggers import Bytes

_MARKER = "peak_below"


class GpuMemory:
    """Limits the GPU memory of blocks of a test. The fixture `gpu_memory`."""

    def __init__(self, save_to: Path | None) -> None:
        """Save snapshots of failures to a file, or nowhere."""
        self._save_to = save_to

    def __call__(self, limit: Bytes, **options: Any) -> contextlib.AbstractContextManager[Peak]:
        """Fail if the block needs more GPU memory than `limit`. Has the options of `memscape.assert_peak_below`."""
        return assert_peak_below(limit, **{"save_to": self._save_to, **options})


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting for the folder of snapshots."""
    text = "folder for snapshots of tests that need too much GPU memory"
    parser.getgroup("memscape").addoption("--memscape-dir", metavar="DIR", default=None, help=text)
    parser.addini("memscape_dir", text, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", f"{_MARKER}(limit, **options): fail if the test needs more GPU memory")


@pytest.fixture
def gpu_memory(request: pytest.FixtureRequest) -> GpuMemory:
    """Limit the GPU memory of blocks of the test."""
    _skip_without_gpu()
    return GpuMemory(_save_to(request.node))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test with the marker if there is no GPU."""
    if item.get_closest_marker(_MARKER) is not None:
        _skip_without_gpu()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Run a test with the marker within its limit."""
    marker = item.get_closest_marker(_MARKER)
    if marker is None:
        yield
        return
    block = assert_peak_below(*marker.args, **{"save_to": _save_to(item), **marker.kwargs})
    block.__enter__()
    outcome: Any = yield
    try:
        block.__exit__(*(outcome.excinfo or (None, None, None)))
    except BaseException as error:
        if outcome.excinfo is None:
            outcome.force_exception(error)


def _skip_without_gpu() -> None:
    try:
        if Backend().is_available():
            return
    except ImportError:
        pytest.skip("PyTorch is not installed")
    pytest.skip("no GPU")


def _save_to(item: Any) -> Path | None:
    folder = item.config.getoption("--memscape-dir") or item.config.getini("memscape_dir")
    if not folder:
        return None
    name = re.sub(r"[^\w.-]+", "_", item.nodeid)[-150:]
    return Path(item.config.rootpath, folder, f"{name}.pickle.gz")
