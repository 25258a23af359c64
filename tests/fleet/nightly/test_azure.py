"""A survey of Azure Blob Storage: Azurite, which runs beside the tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from conftest import rows
from memscape import fleet
from memscape.fleet.answers import answer
from servers import free_port, wait_for

pytest.importorskip("adlfs")
# The account that Azurite has, with its documented key.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The connection string of a store."""
    script = os.environ.get("MEMSCAPE_AZURITE", "")
    if not os.path.exists(script):
        pytest.skip("Azurite is not installed: npm is not reachable")
    port = free_port()
    command = ["node", script, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--silent", "--skipApiVersionCheck"]
    command += ["--location", str(tmp_path_factory.mktemp("azurite"))]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        name = "devstoreaccount1"
        address = f"http://127.0.0.1:{port}/{name}"
        yield f"DefaultEndpointsProtocol=http;AccountName={name};AccountKey={KEY};BlobEndpoint={address};"
    finally:
        server.kill()
        server.wait()


def test_azure_store_is_surveyed_and_queried(store: str, one_job: Path, tmp_path: Path) -> None:
    options = {"connection_string": store}
    fs = fsspec.filesystem("abfs", **options)
    fs.mkdir("snaps")
    for path in sorted(one_job.rglob("*.gz")):
        fs.pipe_file(f"snaps/runs/{path.relative_to(one_job)}", path.read_bytes())
    lake = "abfs://snaps/lake"
    assert fleet.survey("abfs://snaps/runs", lake, storage=options, workers=2, files=5).statuses == {"ok": 16}
    assert fleet.survey("abfs://snaps/runs", lake, storage=options, workers=1).new == 0
    local = str(tmp_path / "lake")
    fleet.survey(str(one_job), local, workers=1)
    sums = "SELECT snapshot, job, rank, step, peak_bytes, end_bytes FROM snapshot ORDER BY snapshot"
    assert rows(lake, sums, storage=options) == rows(local, sums)
    sums = "SELECT snapshot, sum(peak_bytes) FROM site_use GROUP BY snapshot ORDER BY snapshot"
    assert rows(lake, sums, storage=options) == rows(local, sums)
    # A changed object counts in place of its older version.
    fs.pipe_file("snaps/runs/job-leak/rank00000_step000100_step.pickle.gz", b"not a snapshot")
    assert fleet.survey("abfs://snaps/runs", lake, storage=options, workers=1).statuses == {"decode": 1}
    assert rows(lake, "SELECT count(*), count_if(status = 'ok') FROM snapshot", storage=options) == [(16, 15)]
    names, found = answer(lake, "growth", options, sign_hours=1)
    link = dict(zip(names, found[0]))["link"]
    assert link.startswith("#url=http%3A%2F%2F127.0.0.1") and "sig%3D" in link
