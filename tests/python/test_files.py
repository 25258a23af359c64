"""Names of snapshot files, and how they get them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

import memscape
from conftest import load, names, python
from memscape import _files


def snapshot(number: int) -> dict[str, Any]:
    return {"segments": [], "device_traces": [], "number": number}


def test_name_that_another_process_has_used_gets_the_process_id(tmp_path: Path) -> None:
    path = tmp_path / "rank00000_step000000_oom.pickle.gz"
    code = "import sys, pathlib; from memscape import _files; _files.write_new({}, pathlib.Path(sys.argv[1]), add_pid=True)"
    assert python("-c", code, str(path)).returncode == 0
    written = [_files.write_new(snapshot(number), path, add_pid=True) for number in range(3)]
    own = f"rank00000_step000000_oom-pid{os.getpid()}"
    assert [it.name for it in written] == [f"{own}.pickle.gz", f"{own}-2.pickle.gz", f"{own}-3.pickle.gz"]
    assert [load(it)["number"] for it in written] == [0, 1, 2]
    # With a rank the name is that of the rank, so another run has used it.
    ranked = [
        _files.write_new(snapshot(number), tmp_path / "rank00001_step000000_oom.pickle.gz", add_pid=False)
        for number in range(2)
    ]
    assert [it.name for it in ranked] == ["rank00001_step000000_oom.pickle.gz", "rank00001_step000000_oom-2.pickle.gz"]


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP])
def test_file_system_without_hard_links_replaces_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def link(*_: Any) -> None:
        raise OSError(code, "no hard links")

    monkeypatch.setattr(os, "link", link)
    (tmp_path / "a.pickle.gz").write_text("another's")
    path = _files.write_new(snapshot(1), tmp_path / "a.pickle.gz", add_pid=False)
    assert path.name == "a-2.pickle.gz" and load(path)["number"] == 1
    assert (tmp_path / "a.pickle.gz").read_text() == "another's"
    assert names(tmp_path) == ["a-2.pickle.gz", "a.pickle.gz"]


def test_names_are_not_used_again_after_files_were_removed(tmp_path: Path) -> None:
    path = tmp_path / "b.pickle"
    first = _files.write_new(snapshot(0), path, add_pid=True)
    first.unlink()
    assert _files.write_new(snapshot(1), path, add_pid=True).name == "b-2.pickle"


def test_text_beside_a_snapshot_is_removed_with_it(torch: Any, tmp_path: Path) -> None:
    with memscape.record(tmp_path, keep=1, on_exit=False, verdict=lambda text: None):
        # A request that fails again in the same way is not saved again.
        for size in (1 << 40, 1 << 40, 1 << 41):
            with pytest.raises(torch.OutOfMemoryError):
                torch.cuda.memory.allocate(size)
    assert names(tmp_path) == ["rank00000_step000000_oom-2.pickle.gz", "rank00000_step000000_oom-2.txt"]


def test_error_in_the_explanation_does_not_keep_the_snapshot_from_being_saved(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: 1 // 0)
    with memscape.record(tmp_path / "counters", on_exit=False), pytest.raises(torch.OutOfMemoryError):
        torch.cuda.memory.allocate(1 << 40)
    assert names(tmp_path / "counters")[0] == "rank00000_step000000_oom.pickle.gz"
    monkeypatch.undo()
    monkeypatch.setattr("memscape._verdict.details", lambda failure, state: 1 // 0)
    with pytest.warns(RuntimeWarning, match="not explained: ZeroDivisionError"):
        with memscape.record(tmp_path / "text", on_exit=False), pytest.raises(torch.OutOfMemoryError):
            torch.cuda.memory.allocate(1 << 40)
    assert names(tmp_path / "text")[0] == "rank00000_step000000_oom.pickle.gz"
