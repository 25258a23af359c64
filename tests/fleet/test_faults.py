"""Stores that fail, and a driver that is killed: in the end the tables are those of an undisturbed survey."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

import corpus
from conftest import fingerprint, rows
from memscape import MemscapeError, fleet
from servers import KEY, SECRET, Proxy, s3

boto3 = pytest.importorskip("boto3")
RUNS = "s3://snaps/runs"
RANKS, STEPS = 2, (100, 200, 300)
FILES = RANKS * len(STEPS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a store with a job."""
    with s3() as address:
        terms = {"region_name": "us-east-1", "aws_access_key_id": KEY, "aws_secret_access_key": SECRET}
        boto3.client("s3", endpoint_url=address, **terms).create_bucket(Bucket="snaps")
        _upload(address, "runs", tmp_path_factory.mktemp("stored"))
        yield address


@pytest.fixture(scope="module")
def undisturbed(store: str, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The contents of a lake of the store without any fault."""
    lake = str(tmp_path_factory.mktemp("undisturbed") / "lake")
    assert fleet.survey(RUNS, lake, storage=_options(store), workers=1).statuses == {"ok": FILES}
    return _contents(lake)


def _upload(address: str, name: str, folder: Path) -> Any:
    fs = fsspec.filesystem("s3", **_options(address))
    for path in corpus.write(folder, ["job-leak"], RANKS, STEPS):
        fs.pipe_file(f"snaps/{name}/{path.relative_to(folder)}", path.read_bytes())
    return fs


def _options(address: str) -> dict[str, Any]:
    client = {"endpoint_url": address, "region_name": "us-east-1"}
    # The client of S3 makes one attempt, and fsspec five, with pauses of 2 s in all.
    return {"key": KEY, "secret": SECRET, "client_kwargs": client, "config_kwargs": {"retries": {"max_attempts": 1}}}


def _contents(lake: str, **more: Any) -> list[Any]:
    """The rows that count, without the time of the upload and what follows from it."""
    connection = fleet.connect(lake, **more)
    sums = "SELECT snapshot, device, site, peak_bytes, kept_bytes, total_count FROM site_use ORDER BY ALL"
    heads = (
        "SELECT snapshot, sha256, url, bytes, job, rank, step, status, peak_bytes, end_bytes FROM snapshot ORDER BY ALL"
    )
    return [connection.execute(sql).fetchall() for sql in (sums, heads)]


@pytest.mark.parametrize("harm", ["503", "cut"])
def test_fault_that_passes_leaves_no_trace(store: str, undisturbed: list[Any], tmp_path: Path, harm: str) -> None:
    def plan(name: str, count: int) -> str:
        return harm if count == 1 and "rank00001" in name else "ok"

    lake = str(tmp_path / "lake")
    with Proxy(store, plan) as proxy:
        done = fleet.survey(RUNS, lake, storage=_options(proxy.address), workers=2, files=4)
        assert max(proxy.requests.values()) == 2
    assert done.statuses == {"ok": FILES}
    assert _contents(lake) == undisturbed


@pytest.mark.parametrize(
    ("harm", "expected"),
    [("503", ("read", 60)), ("cut", ("read", 60)), ("cut without length", ("read", 60)), ("stall", ("timeout", 1))],
)
def test_fault_that_stays_costs_only_its_file_and_is_read_again(
    store: str, undisturbed: list[Any], tmp_path: Path, harm: str, expected: tuple[str, float]
) -> None:
    def plan(name: str, count: int) -> str:
        return harm if "rank00001_step000300" in name else "ok"

    status, seconds = expected
    lake = str(tmp_path / "lake")
    with Proxy(store, plan) as proxy:
        done = fleet.survey(RUNS, lake, storage=_options(proxy.address), workers=1, files=4, seconds=seconds)
    assert done.statuses == {"ok": FILES - 1, status: 1}
    assert rows(lake, "SELECT count(*) FROM snapshot WHERE status = 'ok'") == [(FILES - 1,)]
    again = fleet.survey(RUNS, lake, storage=_options(store), workers=1, again=True)
    assert again.statuses == {"ok": 1}
    assert _contents(lake) == undisturbed


def test_object_that_changes_after_it_was_listed_is_read_by_the_next_survey(store: str, tmp_path: Path) -> None:
    fs = _upload(store, "changing", tmp_path / "changing")
    key = "snaps/changing/job-leak/rank00000_step000100_step.pickle.gz"
    replaced = (corpus.ROOT / "www" / "leak.pickle.gz").read_bytes()

    def plan(name: str, count: int) -> str:
        if name == f"/{key}" and count == 1:
            fs.pipe_file(key, replaced)
        return "ok"

    lake, whole = str(tmp_path / "lake"), str(tmp_path / "whole")
    with Proxy(store, plan) as proxy:
        done = fleet.survey("s3://snaps/changing", lake, storage=_options(proxy.address), workers=1)
    assert done.statuses == {"ok": FILES - 1, "read": 1}
    assert fleet.survey("s3://snaps/changing", lake, storage=_options(store), workers=1).statuses == {"ok": 1}
    assert rows(lake, "SELECT count(*), count(DISTINCT url) FROM snapshot") == [(FILES, FILES)]
    fleet.survey("s3://snaps/changing", whole, storage=_options(store), workers=1)
    assert _contents(lake) == _contents(whole)


@pytest.mark.parametrize("refused", ["once", "snapshot"])
def test_write_that_is_refused_is_repeated_or_leaves_no_rows_that_count(
    store: str, undisturbed: list[Any], tmp_path: Path, refused: str
) -> None:
    def plan(name: str, count: int) -> str:
        is_refused = name.endswith(".parquet") and "1970" not in name
        return "503" if is_refused and (count == 1 if refused == "once" else f"/{refused}/" in name) else "ok"

    lake, options = f"s3://snaps/lake-{refused}", _options(store)
    with Proxy(store, plan) as proxy:
        harmed = _options(proxy.address)
        if refused == "once":
            assert fleet.survey(RUNS, lake, storage=harmed, workers=1).statuses == {"ok": FILES}
        else:
            with pytest.raises(MemscapeError, match=rf"^{lake}: .*(reduce your request rate|SlowDown|503)"):
                fleet.survey(RUNS, lake, storage=harmed, workers=1)
            assert rows(lake, "SELECT count(*) FROM snapshot", storage=options) == [(0,)]
            assert rows(lake, "SELECT count(*) FROM site_use", storage=options) == [(0,)]
            assert fleet.survey(RUNS, lake, storage=options, workers=1).statuses == {"ok": FILES}
    assert _contents(lake, storage=options) == undisturbed


@pytest.mark.parametrize("workers", ["Threads", "Processes"])
def test_driver_that_is_killed_takes_its_workers_along_and_loses_nothing(
    runs: Path, lake: str, tmp_path: Path, workers: str
) -> None:
    killed = str(tmp_path / "lake")
    script = tmp_path / "killed.py"
    script.write_text(
        "import os, pathlib, signal, sys\nfrom memscape import fleet\nfrom memscape.fleet import engines, processes\n"
        f"engines.Threads = processes.{workers}\n"
        "def kill(progress):\n"
        "    if progress.batches == 3:\n"
        "        tasks = pathlib.Path('/proc/self/task').glob('*/children')\n"
        "        print(*(task.read_text() for task in tasks), flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "fleet.survey(sys.argv[1], sys.argv[2], files=4, workers=2, report=kill)\n"
    )
    run = subprocess.run([sys.executable, str(script), str(runs), killed], capture_output=True, text=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr
    children = run.stdout.split()
    # Programs of threads are started for each batch.
    assert workers == "Threads" or len(children) == 2
    while any(_lives(int(child)) for child in children):
        pass
    (count,) = rows(killed, "SELECT count(*) FROM snapshot")[0]
    assert 8 <= count < 96
    assert fleet.survey(str(runs), killed, files=10, workers=2).done == 96 - count
    assert fingerprint(killed) == fingerprint(lake)


def _lives(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"
