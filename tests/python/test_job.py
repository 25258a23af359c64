from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memscape import _job


@pytest.fixture(autouse=True)
def no_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*_job._JOB, *_job._ATTEMPT):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "run" / "train.py")])


def test_job_and_attempt_come_from_the_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _job.facts() == {}
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    assert _job.facts() == {}
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "llama-7")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "2")
    assert _job.facts() == {"job": "llama-7", "attempt": 2}
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "x")
    assert _job.facts() == {"job": "4711"}


def test_commit_is_read_from_refs_packed_refs_and_worktrees(tmp_path: Path) -> None:
    git, commit = tmp_path / ".git", "0123456789abcdef0123456789abcdef01234567"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text(f"{commit}\n")
    assert _job.facts() == {"git": commit}
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    assert _job.facts() == {}
    (git / "packed-refs").write_text(f"# pack-refs with: peeled\n{commit} refs/heads/main\n")
    assert _job.facts() == {"git": commit}
    (git / "refs" / "heads" / "main").write_text("f" * 40)
    assert _job.facts() == {"git": "f" * 40}
    # A worktree, whose branches lie in the folder of the repository.
    tree = git / "worktrees" / "run"
    tree.mkdir(parents=True)
    (tree / "HEAD").write_text("ref: refs/heads/main\n")
    (tree / "commondir").write_text("../..\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".git").write_text(f"gitdir: {tree}\n")
    assert _job.facts() == {"git": "f" * 40}
