"""Plugins of vLLM and SGLang, the setup hook of Ray, and NeMo-RL, with stand-ins for their extension points."""

from __future__ import annotations

import configparser
import os
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from conftest import Fork, allocate, load, names, python

ROOT = Path(__file__).parent.parent.parent
# As vLLM and SGLang do in each of their processes.
ENGINE = """
import multiprocessing, sys
from importlib.metadata import entry_points
GROUP = sys.argv[1]
def engine():
    for entry in entry_points(group=GROUP):
        entry.load()()
    import torch
    torch.empty(1 << 20, device="cuda")
    try:
        torch.empty(1 << 44, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        pass
if __name__ == "__main__":
    for entry in entry_points(group=GROUP):
        entry.load()()
    for how in ("fork", "spawn"):
        process = multiprocessing.get_context(how).Process(target=engine)
        process.start()
        process.join()
        assert process.exitcode == 0
"""


def installed(folder: Path) -> Path:
    """Create the metadata of the wheel, with the entry points of pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text()
    groups = re.findall(r'\[project\.entry-points\."([\w.]+)"\]\n(\w+) = "([\w.:]+)"', text)
    parser = configparser.ConfigParser()
    for group, name, value in groups:
        parser[group] = {name: value}
    info = folder / "memscape-0.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: memscape\nVersion: 0.0.0\n")
    with open(info / "entry_points.txt", "w") as file:
        parser.write(file)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("group", ["vllm.general_plugins", "sglang.srt.plugins"])
def test_entry_point_records_each_process_that_uses_the_gpu(group: str, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "serve.py").write_text(ENGINE)
    paths = os.pathsep.join([str(installed(tmp_path / "site")), os.environ["PYTHONPATH"]])
    for folder, expected in (("", 0), ("out", 2)):
        environment = {"PYTHONPATH": paths, "MEMSCAPE": folder}
        done = python("serve.py", group, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        found = names(tmp_path / folder) if folder else []
        reasons = sorted(re.findall(r"rank00000_step000000_(oom|exit)(?:-pid\d+)?\.pickle\.gz", " ".join(found)))
        assert reasons == ["exit"] * expected + ["oom"] * expected


def test_setup_hook_of_ray_and_import_of_verl_record(fork: Fork, tmp_path: Path) -> None:
    def worker(name: str) -> None:
        if name == "ray":
            from memscape.integrations.ray import setup

            setup()
            setup()
        else:
            import memscape.integrations.verl  # noqa: F401
        allocate(1 << 20)

    for name in ("ray", "verl"):
        fork(worker, name, MEMSCAPE=str(tmp_path / name), MEMSCAPE_SIGNAL="SIGUSR1,SIGUSR2")
        assert [re.sub(r"-pid\d+", "", it) for it in names(tmp_path / name)] == ["rank00000_step000000_exit.pickle.gz"]


def test_phases_of_nemo_rl_are_annotated_and_training_is_a_step(fork: Fork, tmp_path: Path) -> None:
    def worker() -> None:
        import memscape
        from memscape.integrations.nemo_rl import wrap

        class Worker:
            def train(self, data: int) -> int:
                """Train."""
                allocate(data)
                return data

            def get_logprobs(self) -> None:
                allocate(2 << 20)

            def other(self) -> None:
                allocate(3 << 20)

        wrap(Worker)
        with memscape.record(tmp_path):
            allocate(512)  # recording begins with CUDA
            policy: Any = Worker()
            for _ in range(2):
                policy.get_logprobs()
                assert policy.train(1 << 20) == 1 << 20
            policy.other()
        assert Worker.train.__doc__ == "Train."

    fork(worker)
    [name] = names(tmp_path)
    snapshot = load(tmp_path / name)
    assert [step for step, _, _ in snapshot["memscape"]["steps"]] == [0, 1]
    spans = [(it["name"], it["stage"]) for it in snapshot["external_annotations"]]
    assert [name for name, stage in spans if stage == "START"] == [
        "get_logprobs",
        "train",
        "ProfilerStep#0",
        "get_logprobs",
        "train",
        "ProfilerStep#1",
    ]


def test_metadata_of_the_wheel_is_read_like_that_of_an_installed_one(tmp_path: Path) -> None:
    [found] = metadata.distributions(path=[str(installed(tmp_path))])
    assert {(it.group, it.value) for it in found.entry_points} == {
        ("vllm.general_plugins", "memscape.integrations.engines:register"),
        ("sglang.srt.plugins", "memscape.integrations.engines:register"),
    }
