"""A Ray cluster of two nodes, one of which is killed in the middle. Ray listens on all addresses, so tests/fleet.sh runs
this in a network namespace of its own.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import fingerprint
from memscape import fleet

ray = pytest.importorskip("ray")
ADDRESS = "127.0.0.1:6390"


def _start(*arguments: str) -> None:
    program = os.path.join(os.path.dirname(sys.executable), "ray")
    command = [program, "start", *arguments, "--object-store-memory", "104857600", "--disable-usage-stats"]
    subprocess.run(command, check=True, capture_output=True)


def _raylets(address: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if b"raylet/raylet" in command.split(b"\0")[0] and address.encode() in command:
                found.append(int(folder.name))
    return found


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    if len(socket.if_nameindex()) > 1:
        pytest.skip("Ray listens on all addresses: run tests/fleet.sh, which has a network namespace")
    _start("--head", "--num-cpus", "0", "--port", "6390", "--include-dashboard=false", "--node-ip-address", "127.0.0.1")
    for node in (2, 3):
        _start("--address", ADDRESS, "--num-cpus", "1", "--node-ip-address", f"127.0.0.{node}")
    ray.init(address=ADDRESS, log_to_driver=False, _node_ip_address="127.0.0.1")
    try:
        yield
    finally:
        ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_survey_whose_driver_was_killed_is_continued(runs: Path, lake: str, tmp_path: Path) -> None:
    surveyed = str(tmp_path / "lake")
    script = tmp_path / "killed.py"
    script.write_text(
        "import os, ray, signal, sys\nfrom memscape import fleet\n"
        f"ray.init(address='{ADDRESS}', log_to_driver=False, _node_ip_address='127.0.0.1')\n"
        "def kill(progress):\n    if progress.batches == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "fleet.survey(sys.argv[1], sys.argv[2], engine='ray', files=4, report=kill)\n"
    )
    run = subprocess.run(
        [sys.executable, str(script), str(runs), surveyed], capture_output=True, text=True, check=False
    )
    assert run.returncode == -signal.SIGKILL, run.stderr
    # Tasks that still run may write the same parts meanwhile.
    done = fleet.survey(str(runs), surveyed, engine="ray", files=4)
    assert done.statuses["ok"] == done.new
    assert 0 < done.new <= 88
    assert fingerprint(surveyed) == fingerprint(lake)
    assert fleet.survey(str(runs), surveyed, engine="ray").new == 0


# The last test: it leaves the cluster with one node.
@pytest.mark.usefixtures("cluster")
def test_survey_survives_a_killed_node(runs: Path, lake: str, tmp_path: Path) -> None:
    killed = False

    def harm(progress: fleet.Progress) -> None:
        nonlocal killed
        if progress.batches == 2 and not killed:
            (raylet,) = _raylets("127.0.0.2")
            os.kill(raylet, signal.SIGKILL)
            killed = True

    surveyed = str(tmp_path / "lake")
    done = fleet.survey(str(runs), surveyed, engine="ray", files=4, report=harm)
    assert killed
    assert done.statuses == {"ok": 96}
    assert fingerprint(surveyed) == fingerprint(lake)
    assert fleet.survey(str(runs), surveyed, engine="ray").new == 0
