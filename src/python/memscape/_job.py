"""Job of this process: its id, the number of its restart, and the commit of the program."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

# Environment variables of Slurm, Ray and torchrun.
_JOB = ("SLURM_JOB_ID", "RAY_JOB_ID", "TORCHELASTIC_RUN_ID")
_ATTEMPT = ("TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT")


def facts() -> dict[str, Any]:
    """Return the facts about the job for the `memscape` key."""
    # torchrun's id is "none" unless it is given.
    jobs = (os.environ.get(name, "") for name in _JOB)
    attempts = (os.environ.get(name, "") for name in _ATTEMPT)
    known = {
        "job": next((job for job in jobs if job not in ("", "none")), None),
        "attempt": next((int(attempt) for attempt in attempts if attempt.isdecimal()), None),
        "git": _commit(sys.argv[0] if sys.argv else ""),
    }
    return {key: value for key, value in known.items() if value is not None}


def _commit(program: str) -> str | None:
    """Return the commit of the repository that a program lies in. Reads files, because git may be missing."""
    try:
        start = Path(program).resolve()
        git = next(folder / ".git" for folder in start.parents if (folder / ".git").exists())
        if git.is_file():  # of a worktree or submodule
            git = (git.parent / git.read_text().partition("gitdir:")[2].strip()).resolve()
        head = (git / "HEAD").read_text().strip()
        name = head.partition("ref: ")[2]
        if not name:
            return head or None
        common = git / "commondir"
        folder = (git / common.read_text().strip()).resolve() if common.exists() else git
        if (folder / name).exists():
            return (folder / name).read_text().strip() or None
        lines = (folder / "packed-refs").read_text().splitlines()
        return next((line.split()[0] for line in lines if line.endswith(f" {name}")), None)
    except (OSError, StopIteration, UnicodeDecodeError):
        return None
