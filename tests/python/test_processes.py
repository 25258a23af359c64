"""The recorder in separate processes: normal exits, errors, signals, and folders that cannot be written to."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import SOURCES, STANDIN, load, names, python

# On a busy machine, even a small file takes long.
PATIENT = "from memscape import _saving; _saving._STEP_PATIENCE_S = 60\n"
TRAIN = (
    PATIENT
    + """
import sys, torch
model = torch.nn.Module(weight=torch.empty(1024))
optimizer = torch.optim.Adam([model.parts["weight"]])
for step in range(int(sys.argv[1])):
    optimizer.step()
if len(sys.argv) > 2:
    torch.cuda.memory.allocate(int(sys.argv[2]))
"""
)


def start(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python("-c", "import sys, memscape, torch\n" + code, *arguments)


def test_snapshot_is_saved_at_exit(tmp_path: Path) -> None:
    done = start("memscape.start(sys.argv[1]); torch.cuda.memory.allocate(99)", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path) == ["rank00000_step000000_exit.pickle.gz"]
    assert load(tmp_path / names(tmp_path)[0])["segments"][0]["requested_size"] == 99


def test_uncaught_exception_is_saved_as_error(tmp_path: Path) -> None:
    done = start("memscape.start(sys.argv[1]); raise KeyError('lr')", str(tmp_path))
    assert done.returncode == 1 and "KeyError: 'lr'" in done.stderr
    assert names(tmp_path) == ["rank00000_step000000_error.pickle.gz"]
    assert load(tmp_path / names(tmp_path)[0])["memscape"]["error"] == "KeyError: 'lr'"


def test_early_exit_saves_snapshot(tmp_path: Path) -> None:
    done = start("memscape.start(sys.argv[1]); sys.exit(3)", str(tmp_path))
    assert done.returncode == 3
    assert names(tmp_path) == ["rank00000_step000000_exit.pickle.gz"]


def test_out_of_memory_saves_one_file(tmp_path: Path) -> None:
    done = start("memscape.start(sys.argv[1]); torch.cuda.memory.allocate(1 << 40)", str(tmp_path))
    assert done.returncode == 1 and "OutOfMemoryError" in done.stderr
    assert names(tmp_path) == ["rank00000_step000000_oom.pickle.gz", "rank00000_step000000_oom.txt"]


def test_exit_of_fork_saves_nothing(tmp_path: Path) -> None:
    code = "import os; memscape.start(sys.argv[1]); child = os.fork()\nif not child: sys.exit(0)\nos.waitpid(child, 0)"
    done = start(code, str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path) == ["rank00000_step000000_exit.pickle.gz"]


@pytest.mark.parametrize(("name", "status"), [("SIGUSR2", 0), ("SIGTERM", -signal.SIGTERM)])
def test_signal_saves_and_keeps_its_default_action(tmp_path: Path, name: str, status: int) -> None:
    code = f"""
import time, memscape, sys
rec = memscape.start(sys.argv[1], on_signal={name!r}, on_exit=False)
print("ready", flush=True)
while rec.newest is None:
    time.sleep(0.01)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(STANDIN), str(SOURCES)])}
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.Signals[name])
        assert process.wait(30) == status
    assert names(tmp_path) == ["rank00000_step000000_signal.pickle.gz"]
    assert load(tmp_path / names(tmp_path)[0])["memscape"]["reason"] == "signal"


def test_signal_in_fork_saves_nothing_and_ends_it(tmp_path: Path) -> None:
    code = """
import os, signal, time
rec = memscape.start(sys.argv[1], on_signal="SIGUSR2", on_exit=False)
ready, ready_writer = os.pipe()
child = os.fork()
if not child:
    os.write(ready_writer, b".")
    time.sleep(60)
    os._exit(0)
os.read(ready, 1)
os.kill(child, signal.SIGUSR2)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = start(code, str(tmp_path))
    assert done.stdout.split() == [str(-signal.SIGUSR2)], done.stderr
    assert names(tmp_path) == []


def test_recording_in_thread_works_without_signal_handler(tmp_path: Path) -> None:
    code = """
import threading
def work():
    with memscape.record(sys.argv[1], on_signal="SIGUSR2"):
        pass
thread = threading.Thread(target=work); thread.start(); thread.join()
"""
    done = start(code, str(tmp_path))
    assert "only the main thread can set handlers" in done.stderr
    assert names(tmp_path) == ["rank00000_step000000_exit.pickle.gz"]


def test_full_disk_leaves_no_partial_file_and_program_continues(tmp_path: Path) -> None:
    # As on a full disk: writing fails once a file reaches 20 kB.
    resource_limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, {resource.RLIM_INFINITY}))"
    code = f"""
{PATIENT}{resource_limit}
import os
with memscape.record(sys.argv[1], every=1) as rec:
    for _ in range(2):
        with rec.step():
            for _ in range(3000):
                # Random sizes, so that gzip cannot compress them well.
                torch.cuda.memory.release(torch.cuda.memory.allocate(1 + int.from_bytes(os.urandom(2), "big")))
    try:
        torch.cuda.memory.allocate(1 << 40)
    except torch.OutOfMemoryError:
        pass
    try:
        rec.save(sys.argv[1] + "/mine.pickle")
    except OSError as error:
        print("save:", error)
print("ran on")
"""
    done = start(code, str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("save: [Errno 27]")
    assert done.stdout.splitlines()[1] == "ran on"
    for reason in ("step", "oom", "exit"):
        assert f"no snapshot ({reason}): OSError" in done.stderr
    assert names(tmp_path) == []


def test_read_only_folder_is_an_error_at_start(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    folder.chmod(0o555)
    # For root no folder is read-only, and other users may not read pytest's folders.
    code = """
import os
# Imports its module, which other users may not read.
start = memscape.start
if os.getuid() == 0:
    os.setuid(65534)
os.chdir("/")
try:
    start(sys.argv[1])
except OSError as error:
    print(type(error).__name__, torch.cuda.memory.is_recording)
"""
    for path in (tmp_path, *list(tmp_path.parents)[:2]):
        path.chmod(0o755)
    done = start(code, str(folder))
    assert done.stdout.split() == ["PermissionError", "False"], done.stderr


def test_removed_folder_is_a_warning(tmp_path: Path) -> None:
    code = "import os; memscape.start(sys.argv[1]); os.rmdir(sys.argv[1]); print('ran on')"
    done = start(code, str(tmp_path / "gone"))
    assert done.returncode == 0
    assert done.stdout == "ran on\n"
    assert "no snapshot (exit): FileNotFoundError" in done.stderr


def test_pending_write_is_finished_at_exit(tmp_path: Path) -> None:
    code = """
rec = memscape.start(sys.argv[1], every=1, on_exit=False)
with rec.step():
    for _ in range(20000):
        torch.cuda.memory.release(torch.cuda.memory.allocate(4096))
"""
    done = start(code, str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(load(tmp_path / "rank00000_step000000_step.pickle.gz")["device_traces"][0]) == 100_000


def test_run_records_unmodified_program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    options = ["-o", "out", "--every", "2", "--keep", "9"]
    for program in (["train.py"], ["-m", "train"]):
        started = time.monotonic()
        done = python("-m", "memscape", "run", *options, *program, "5", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), time.monotonic() - started
        files = [f"rank00000_step00000{step}_step.pickle.gz" for step in (1, 3)]
        assert names(tmp_path / "out") == sorted([*files, "rank00000_step000004_exit.pickle.gz"])
        facts = load(tmp_path / "out" / files[1])["memscape"]
        assert facts["program"] == "train.py"
        assert {it["kind"] for it in facts["tensors"]} == {
            "parameter",
            "optimizer_state:exp_avg",
            "optimizer_state:exp_avg_sq",
        }
        for path in (tmp_path / "out").iterdir():
            path.unlink()


def test_run_exits_with_status_of_program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN + "\nsys.exit(7)\n")
    done = python("-m", "memscape.run", "-o", "out", "train.py", "1", cwd=tmp_path)
    assert done.returncode == 7
    done = python("-m", "memscape.run", "-o", "oom", "train.py", "1", str(1 << 40), cwd=tmp_path)
    assert done.returncode == 1 and "OutOfMemoryError" in done.stderr
    assert names(tmp_path / "oom") == ["rank00000_step000001_oom.pickle.gz", "rank00000_step000001_oom.txt"]
    done = python("-m", "memscape.run", "nowhere.py", cwd=tmp_path)
    assert done.returncode == 1 and "nowhere.py" in done.stderr


def test_import_has_no_dependencies(tmp_path: Path) -> None:
    code = "import sys, memscape; print(sorted({'torch', 'numpy', 'pandas', 'IPython'} & set(sys.modules)))"
    assert python("-c", code).stdout == "[]\n"
    done = python("-S", "-c", "import memscape; memscape.start('x')", env={"PYTHONPATH": str(SOURCES)}, cwd=tmp_path)
    assert "ImportError: memscape needs PyTorch to record" in done.stderr
