"""The commands of the manual's page, in order, with a store and a cluster replaced by folders and this machine."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import corpus

PAGE = corpus.ROOT / "www" / "docs" / "fleets.md"


def test_commands_of_the_page_run(tmp_path: Path) -> None:
    corpus.write(tmp_path / "runs", ["job-leak", "job-oom-a"])
    blocks = PAGE.read_text().split("```sh\n")[1:]
    lines = [line for block in blocks for line in block.split("```")[0].splitlines()]
    count = 0
    for line in lines:
        words = shlex.split(line, comments=True)
        if words[:2] != ["memscape", "fleet"]:
            continue
        words = [word.replace("s3://bucket/", "store/") for word in words[1:]]
        if "ray" in words:
            words[words.index("ray")] = "local"
        if "--storage" in words:
            words[words.index("--storage") + 1] = "{}"
        if "store/runs" in words and not (tmp_path / "store").exists():
            shutil.copytree(tmp_path / "runs", tmp_path / "store" / "runs")
        command = [sys.executable, "-m", "memscape", *words]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{line}: {run.stderr}"
        count += 1
    assert count == 17
    assert (tmp_path / "report.html").exists()
