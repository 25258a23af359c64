"""`memscape check` in a repository with three commits: the baseline, one that needs more memory, and one that mends it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from conftest import Fork, MiB, names
from memscape import run

TRAIN = """
import torch

model = torch.nn.Sequential(*(torch.nn.Linear(512, 512, device="cuda") for _ in range(4)))
optimizer = torch.optim.Adam(model.parameters())
history = []

def train_step():
    output = model(torch.ones(1024, 512, device="cuda"))
    output.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return output.detach()

for _ in range(8):
    output = train_step()
    history.append({kept})
del output

# The counters of PyTorch, with which the test compares.
stats = torch.cuda.memory_stats()
print(stats["requested_bytes.all.peak"], stats["reserved_bytes.all.peak"])
"""
SNAPSHOT = "rank00000_step000007_exit.pickle.gz"


class Repository:
    """A repository with a program, and the two commands of a workflow that has no action."""

    def __init__(self, folder: Path, fork: Fork) -> None:
        self._folder, self._fork = folder, fork
        self._git("init", "--quiet")
        (folder / ".gitignore").write_text("snapshots\n.memscape\n")

    def _git(self, *words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self._folder, check=True)

    def commit(self, subject: str, kept: str) -> None:
        (self._folder / "train.py").write_text(TRAIN.format(kept=kept))
        self._git("add", "-A")
        self._git("commit", "--quiet", "-m", subject)

    def record(self) -> list[int]:
        """Record the program of the newest commit. Returns its requested and reserved peak as PyTorch counts them."""
        shutil.rmtree(self._folder / "snapshots", ignore_errors=True)

        def job() -> None:
            os.chdir(self._folder)
            assert run.main(["-o", "snapshots", "train.py"]) == 0

        done = self._fork(job)
        assert names(self._folder / "snapshots") == [SNAPSHOT], done.stderr
        return [int(word) for word in done.stdout.split()]

    def check(self) -> tuple[int, str, dict[str, Any]]:
        """Compare the recording with the baseline. Returns the exit status, the text and the JSON."""
        command = [
            os.environ["MEMSCAPE_BINARY"],
            "check",
            "snapshots",
            "--baseline",
            ".memscape",
            "--json",
            "check.json",
        ]
        done = subprocess.run(command, cwd=self._folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, json.loads((self._folder / "check.json").read_text())

    def keep_as_baseline(self) -> None:
        shutil.copytree(self._folder / "snapshots", self._folder / ".memscape")


def checks(found: dict[str, Any]) -> dict[str, Any]:
    [device] = found["devices"]
    return {check["check"]: check for check in device["checks"]}


def test_three_commits_set_the_baseline_exceed_it_and_keep_it(fork: Fork, tmp_path: Path) -> None:
    repository = Repository(tmp_path, fork)
    repository.commit("Train a model", "output.mean(0)")
    before = repository.record()
    status, text, _ = repository.check()
    assert status == 0 and text.startswith(f"kept     {SNAPSHOT} · GPU 0\n"), text
    repository.keep_as_baseline()

    repository.commit("Keep the outputs for a plot", "output")
    after = repository.record()
    # An output has 2 MiB. The first peak is in step 0, where the states of Adam are not allocated yet.
    assert after[0] - before[0] > 10 * MiB
    status, text, found = repository.check()
    assert status == 3 and text.startswith(f"EXCEEDED {SNAPSHOT} · GPU 0 · baseline {SNAPSHOT}\n"), text
    for name, place in (("live_peak_growth", 0), ("reserved_peak_growth", 1)):
        check = checks(found)[name]
        assert (check["baseline_bytes"], check["value_bytes"]) == (before[place], after[place])
    assert checks(found)["live_peak_growth"]["outcome"] == "exceeded"
    grown = found["devices"][0]["grown"][0]
    assert grown["name"] == "train.py train_step" and grown["delta_bytes"] == 6 * 2 * MiB

    repository.commit("Keep only the means of the outputs", "output.mean(0).clone()")
    assert repository.record()[0] - before[0] < MiB
    status, text, found = repository.check()
    assert status == 0 and text.endswith("GPU memory is within its limits\n"), text
    assert all(check["outcome"] == "kept" for check in checks(found).values())
