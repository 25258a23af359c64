"""`memscape run`: steps, and the processes that a program starts."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from conftest import Fork, load, names, python
from memscape import run as memscape_run


def run(folder: Path, code: str, *options: str, **more: Any) -> tuple[list[str], Any]:
    """Run a program, and return the names of its snapshots without process ids, and what it printed."""
    (folder / "program.py").write_text(textwrap.dedent(code))
    done = python("-m", "memscape", "run", "-o", "out", *options, "program.py", cwd=folder, **more)
    assert done.returncode == 0, done.stderr
    found = names(folder / "out") if (folder / "out").exists() else []
    return [re.sub(r"-pid\d+", "", name) for name in found], done


def run_forked(fork: Fork, folder: Path, code: str) -> list[str]:
    """Run a program that starts no other ones, without importing PyTorch again."""
    (folder / "program.py").write_text(textwrap.dedent(code))

    def job() -> None:
        os.chdir(folder)
        assert memscape_run.main(["-o", "out", "program.py"]) == 0

    fork(job)
    return names(folder / "out")


def marks(folder: Path, name: str) -> list[int]:
    return [step for step, _, _ in load(folder / "out" / name)["memscape"]["steps"]]


def test_exit_is_numbered_like_the_last_step(fork: Fork, tmp_path: Path) -> None:
    code = """
    import torch
    model = torch.nn.Linear(64, 64, device="cuda")
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(4):
        model(torch.zeros(4, 64, device="cuda")).sum().backward()
        optimizer.step()
    """
    found = run_forked(fork, tmp_path, code)
    assert found == ["rank00000_step000003_exit.pickle.gz"]
    assert marks(tmp_path, found[0]) == [0, 1, 2, 3]


def test_step_ends_with_the_last_of_two_optimizers(fork: Fork, tmp_path: Path) -> None:
    code = """
    import torch
    first, second = (torch.nn.Linear(64, 64, device="cuda") for _ in range(2))
    optimizers = [torch.optim.Adam(it.parameters()) for it in (second, first)]
    ends = []
    for number in range(4):
        second(first(torch.zeros(4, 64, device="cuda"))).sum().backward()
        for optimizer in optimizers:
            optimizer.step()
        ends.append(len(torch.empty(number + 1, device="cuda")))
    """
    found = run_forked(fork, tmp_path, code)
    assert found == ["rank00000_step000003_exit.pickle.gz"]
    snapshot = load(tmp_path / "out" / found[0])
    assert [step for step, _, _ in snapshot["memscape"]["steps"]] == [0, 1, 2, 3]
    # The states of both optimizers are allocated in step 0, at the first update.
    [_, begin, end] = snapshot["memscape"]["steps"][0]
    updates = [
        it
        for it in snapshot["device_traces"][0]
        if it["action"] == "alloc" and any(frame["name"] == "_init_group" for frame in it["frames"])
    ]
    # The exponential averages of two weights and two biases.
    assert len(updates) == 8 and all(begin <= it["time_us"] <= end for it in updates)


def test_optimizer_that_takes_a_turn_every_other_iteration_ends_the_step(fork: Fork, tmp_path: Path) -> None:
    code = """
    import torch
    first, second = (torch.nn.Linear(8, 8, device="cuda") for _ in range(2))
    often, seldom = (torch.optim.SGD(it.parameters()) for it in (first, second))
    for number in range(60):
        first(torch.zeros(4, 8, device="cuda")).sum().backward()
        often.step()
        if number % 2 and number < 20:
            second(torch.zeros(4, 8, device="cuda")).sum().backward()
            seldom.step()
    """
    found = run_forked(fork, tmp_path, code)
    # Step 0 is the first iteration. Then steps of two iterations end with `seldom`, the first of them with `often`,
    # because `seldom` was new. After 17 iterations without `seldom`, each iteration is a step.
    steps = marks(tmp_path, found[0])
    assert steps == list(range(len(steps))) and found == [f"rank00000_step{len(steps) - 1:06d}_exit.pickle.gz"]
    assert 1 + 9 + (40 - 17) <= len(steps) <= 1 + 10 + (40 - 16) + 1


CHILDREN = """
import multiprocessing, sys, torch
def child(how):
    torch.empty(1 << 20, device="cuda")
    print(how, "ran")
if __name__ == "__main__":
    for how in HOW:
        process = multiprocessing.get_context(how).Process(target=child, args=(how,))
        process.start()
        process.join()
        assert process.exitcode == 0
    if "parent" in sys.argv:
        torch.empty(1 << 18, device="cuda")
"""


@pytest.mark.parametrize("how", [("fork",), pytest.param(("spawn", "forkserver"), marks=pytest.mark.slow)])
def test_forked_and_spawned_processes_are_recorded(tmp_path: Path, how: tuple[str, ...]) -> None:
    found, done = run(tmp_path, CHILDREN.replace("HOW", repr(how)))
    assert done.stdout.splitlines() == [f"{it} ran" for it in how], done.stderr
    assert len(found) == len(how) and {name.split("_")[2].split(".")[0].split("-")[0] for name in found} == {"exit"}
    for name in names(tmp_path / "out"):
        trace = load(tmp_path / "out" / name)["device_traces"][0]
        assert [it["size"] for it in trace if it["action"] == "alloc"] == [4 << 20]


def test_process_that_fails_saves_its_error(tmp_path: Path) -> None:
    code = """
    import multiprocessing, torch
    def child():
        torch.empty(1 << 20, device="cuda")
        raise ValueError("nan")
    if __name__ == "__main__":
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
    """
    found, done = run(tmp_path, code)
    assert found == ["rank00000_step000000_error.pickle.gz"], done.stderr
    [name] = names(tmp_path / "out")
    assert load(tmp_path / "out" / name)["memscape"]["error"] == "ValueError: nan"


def test_processes_without_gpu_save_nothing_and_do_not_import_memscape(tmp_path: Path) -> None:
    code = """
    import subprocess, sys
    subprocess.run([sys.executable, "-c", "import sys; print('memscape' in sys.modules, 'torch' in sys.modules)"])
    subprocess.run([sys.executable, "-c", "import torch, sys; print('memscape' in sys.modules)"])
    """
    found, done = run(tmp_path, code)
    assert (found, done.stdout.split()) == ([], ["False", "False", "False"])


def test_hidden_sitecustomize_runs(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import os\nos.environ['HIDDEN'] = 'ran'\n")
    code = """
    import subprocess, sys
    ask = "import os, sys, sitecustomize; print(os.environ.get('HIDDEN'), sitecustomize.__file__)"
    del __import__("os").environ["HIDDEN"]
    subprocess.run([sys.executable, "-c", ask])
    """
    paths = os.pathsep.join([str(tmp_path / "site"), os.environ["PYTHONPATH"]])
    _, done = run(tmp_path, code, env={"PYTHONPATH": paths})
    assert done.stdout.split() == ["ran", str(tmp_path / "site" / "sitecustomize.py")], done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--every", "1", "--on-signal", "SIGUSR2", "--steps", "1,3", "--keep", "all", "--holders", "none")]
)
def test_options_reach_the_processes(tmp_path: Path, options: tuple[str, ...]) -> None:
    code = """
    import multiprocessing, torch
    def child():
        model = torch.nn.Linear(64, 64, device="cuda")
        optimizer = torch.optim.SGD(model.parameters())
        for _ in range(2):
            model(torch.zeros(4, 64, device="cuda")).sum().backward()
            optimizer.step()
    if __name__ == "__main__":
        process = multiprocessing.get_context("spawn").Process(target=child)
        process.start()
        process.join()
    """
    found, done = run(tmp_path, code, *options)
    saved = [f"rank00000_step00000{step}_step.pickle.gz" for step in (0, 1)] if options else []
    assert sorted(found) == sorted(["rank00000_step000001_exit.pickle.gz", *saved]), done.stderr
