"""Options of a recorder: every invalid one is an error when recording starts, not later."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import pytest

import memscape
from conftest import names, python

TYPE, VALUE = TypeError, ValueError

WRONG = [
    ("entries", 0, VALUE),
    ("entries", -1, VALUE),
    ("entries", 1 << 64, VALUE),
    ("entries", "100", TYPE),
    ("entries", 1e6, TYPE),
    ("entries", True, TYPE),
    ("entries", None, TYPE),
    ("stacks", "cpp", VALUE),
    ("stacks", None, VALUE),
    ("stacks", ["python"], VALUE),
    ("context", "some", VALUE),
    ("context", 1, VALUE),
    ("every", 0, VALUE),
    ("every", -5, VALUE),
    ("every", 2.0, TYPE),
    ("every", "2", TYPE),
    ("every", True, TYPE),
    ("steps", "abc", TYPE),
    ("steps", "1,2", TYPE),
    ("steps", 3, TYPE),
    ("steps", {"a": 1}, TYPE),
    ("steps", [1, "2"], TYPE),
    ("steps", [1, 2.5], TYPE),
    ("steps", [[]], TYPE),
    ("steps", [-1], VALUE),
    ("steps", None, TYPE),
    ("on_new_peak", "no", TYPE),
    ("on_new_peak", 1, TYPE),
    ("on_growth", -1, VALUE),
    ("on_growth", 0, VALUE),
    ("on_growth", "0 MiB", VALUE),
    ("on_growth", "-1GiB", VALUE),
    ("on_growth", "8 apples", VALUE),
    ("on_growth", "9" * 400, VALUE),
    ("on_growth", 1.5, TYPE),
    ("on_growth", math.inf, TYPE),
    ("on_growth", True, TYPE),
    ("on_oom", None, TYPE),
    ("on_exit", "yes", TYPE),
    ("on_signal", "SIGNONE", VALUE),
    ("on_signal", "SIG_DFL", VALUE),
    ("on_signal", 0, VALUE),
    ("on_signal", 9999, VALUE),
    ("on_signal", "SIGKILL", VALUE),
    ("on_signal", 19, VALUE),
    ("on_signal", True, TYPE),
    ("on_signal", 1.0, TYPE),
    ("on_signal", ["SIGUSR2", "SIGNONE"], VALUE),
    ("on_signal", [1.0], TYPE),
    ("on_signal", {"SIGUSR2": 1}, TYPE),
    ("ranks", "first", VALUE),
    ("ranks", "0,first", VALUE),
    ("ranks", "", VALUE),
    ("ranks", "8-", VALUE),
    ("ranks", "8-0", VALUE),
    ("ranks", ["0"], TYPE),
    ("ranks", [-1], VALUE),
    ("ranks", 0, TYPE),
    ("ranks", None, TYPE),
    ("mesh", {"dp": "1"}, TYPE),
    ("mesh", {"dp": -1}, VALUE),
    ("mesh", "dp=1", TYPE),
    ("mesh", [0, 1], TYPE),
    ("keep", 0, VALUE),
    ("keep", -1, VALUE),
    ("keep", 1.5, TYPE),
    ("keep", "5", TYPE),
    ("keep", False, TYPE),
    ("sources", "yes", TYPE),
    ("verdict", "stdout", VALUE),
    ("verdict", True, TYPE),
    ("verdict", 1, TYPE),
    ("sample_every", 0, VALUE),
    ("sample_every", 1.5, TYPE),
    ("sample_every", "1", TYPE),
    ("sample_s", 0, VALUE),
    ("sample_s", math.inf, VALUE),
    ("sample_s", math.nan, VALUE),
    ("sample_s", "1", TYPE),
    ("sample_s", True, TYPE),
    ("replace", "yes", TYPE),
]


@pytest.mark.parametrize(("name", "value", "kind"), WRONG, ids=lambda it: repr(it)[:20])
def test_wrong_option_is_an_error_that_names_it(
    torch: Any, tmp_path: Path, name: str, value: Any, kind: type[Exception]
) -> None:
    for start in (memscape.record, memscape.start):
        with pytest.raises(kind) as error:
            start(tmp_path / "runs", **{name: value})
        assert type(error.value) is kind
        text = str(error.value)
        assert text.startswith(f"{name}={value!r}: ") and "expected " in text
    # Nothing was started.
    assert not torch.cuda.memory.is_recording and names(tmp_path) == []


def test_wrong_option_is_an_error_on_ranks_that_do_not_record_and_without_a_gpu(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "3")
    with pytest.raises(ValueError, match="on_signal"):
        memscape.start(tmp_path, ranks="0", on_signal="SIGNONE")
    with pytest.raises(ValueError, match="ranks='3,x'"):
        memscape.start(tmp_path, ranks="3,x")
    torch.cuda.available = False
    with pytest.raises(ValueError, match="keep=0"):
        memscape.start(tmp_path, keep=0)


@pytest.mark.parametrize("folder", [None, 3, b"runs", ["runs"]])
def test_folder_of_wrong_type_is_an_error(torch: Any, folder: Any) -> None:
    with pytest.raises(TypeError, match=r"^folder="):
        memscape.start(folder)


class Index:
    """An integer type like those of NumPy and PyTorch."""

    def __index__(self) -> int:
        return 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("entries", Index()),
        ("every", Index()),
        ("steps", range(0, 10, 2)),
        ("steps", [Index()]),
        ("steps", {0: 1}.keys()),
        ("on_growth", "1.5 GiB"),
        ("on_growth", 1),
        ("on_signal", "SIGUSR2"),
        ("on_signal", 12),
        ("on_signal", ["SIGUSR1", 12]),
        ("on_signal", ()),
        ("ranks", "0 , 8 - 15"),
        ("ranks", [0]),
        ("ranks", range(4)),
        ("mesh", {"dp": Index()}),
        ("keep", 1),
        ("keep", None),
        ("context", None),
        ("verdict", "log"),
        ("verdict", print),
        ("verdict", None),
        ("sample_every", Index()),
        ("sample_every", None),
        ("sample_s", 1),
        ("sample_s", 0.5),
    ],
    ids=lambda it: repr(it)[:20],
)
def test_valid_option_records(torch: Any, tmp_path: Path, name: str, value: Any) -> None:
    with memscape.record(tmp_path, **{name: value}) as rec:
        with rec.step():
            torch.cuda.memory.allocate(8)
        assert rec.is_recording
    assert "rank00000_step000000_exit.pickle.gz" in names(tmp_path)


@pytest.mark.parametrize("number", ["7", 1.5, None, object()])
def test_invalid_step_number_is_replaced_with_a_warning(torch: Any, tmp_path: Path, number: Any) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with memscape.record(tmp_path, every=1, on_exit=False) as rec:
            with rec.step(3):
                pass
            with rec.step(number) as taken:
                pass
            with rec.step(Index()):  # type: ignore[arg-type]
                pass
    assert taken == 4
    assert [name[10:20] for name in names(tmp_path)] == ["step000002", "step000003", "step000004"]
    assert [str(it.message).startswith("memscape: step ") for it in warned] == [True] * (number is not None)


@pytest.mark.parametrize(
    ("name", "value"), [("depth", -1), ("depth", "1"), ("most", 0), ("most", 1.5), ("backward", 1)]
)
def test_wrong_option_of_trace_is_an_error_that_names_it(torch: Any, tmp_path: Path, name: str, value: Any) -> None:
    with memscape.record(tmp_path, on_exit=False) as rec:
        with pytest.raises((TypeError, ValueError), match=f"^{name}="):
            rec.trace(torch.nn.Module(), **{name: value})


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--entries", "0", "expected a number of events"),
        ("--entries", "many", "expected a number of events"),
        ("--stacks", "cpp", "choose from"),
        ("--every", "0", "expected a number of steps"),
        ("--every", "x", "expected a number of steps"),
        ("--steps", "abc", "expected numbers of steps"),
        ("--steps", "1,,2", "expected numbers of steps"),
        ("--steps", "-1", "expected"),
        ("--on-growth", "-1", "expected"),
        ("--on-growth", "0", "expected a size"),
        ("--on-growth", "8 apples", "expected a size"),
        ("--on-signal", "SIGNONE", "no such signal"),
        ("--on-signal", "SIGKILL", "no program can handle it"),
        ("--on-signal", "SIGUSR1,SIGNONE", "no such signal"),
        ("--ranks", "8-0", "expected 'all'"),
        ("--keep", "0", "expected a number of files, 1 or more, or 'all'"),
        ("--keep", "-1", "expected"),
        ("--keep", "few", "expected a number of files"),
    ],
)
def test_wrong_option_of_command_exits_before_running_program(
    tmp_path: Path, option: str, value: str, message: str
) -> None:
    (tmp_path / "train.py").write_text("print('runs')")
    done = python("-m", "memscape.run", f"{option}={value}", "train.py", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert option in done.stderr and message in done.stderr and "Traceback" not in done.stderr
    assert names(tmp_path) == ["train.py"]


def test_command_keeps_all_files(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "from memscape import _saving\n_saving._STEP_PATIENCE_S = 60\n"
        "import torch\noptimizer = torch.optim.Adam([torch.empty(8)])\nfor _ in range(8):\n    optimizer.step()\n"
    )
    done = python("-m", "memscape.run", "--every=1", "--keep=all", "-o", "out", "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(names(tmp_path / "out")) == 9


def test_command_that_cannot_record_reports_error(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('runs')")
    (tmp_path / "out").write_text("a file")
    done = python("-m", "memscape.run", "-o", "out", "train.py", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("memscape run: ") and len(done.stderr.splitlines()) == 1
