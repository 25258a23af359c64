"""Surveys of an S3 store with access rules: moto, which runs beside the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import fingerprint, rows
from memscape import MemscapeError, fleet
from memscape.fleet.answers import answer
from memscape.fleet.compaction import compact
from servers import moto

boto3 = pytest.importorskip("boto3")


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, Any]]:
    """Options of a user who may not read objects whose name starts with `secret`."""
    # The requests that create the bucket and the user come before the rules apply.
    with moto(INITIAL_NO_AUTH_ACTION_COUNT="4") as address:
        yield _user(address)


def _user(address: str) -> dict[str, Any]:
    terms = {
        "endpoint_url": address,
        "region_name": "us-east-1",
        "aws_access_key_id": "k",
        "aws_secret_access_key": "s",
    }
    boto3.client("s3", **terms).create_bucket(Bucket="snaps")
    iam = boto3.client("iam", **terms)
    iam.create_user(UserName="u")
    key = iam.create_access_key(UserName="u")["AccessKey"]
    allowed = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    denied = {"Effect": "Deny", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::snaps/runs/job-leak/secret*"}
    policy = {"Version": "2012-10-17", "Statement": [allowed, denied]}
    iam.put_user_policy(UserName="u", PolicyName="p", PolicyDocument=json.dumps(policy))
    client = {"endpoint_url": address, "region_name": "us-east-1"}
    return {"key": key["AccessKeyId"], "secret": key["SecretAccessKey"], "client_kwargs": client}


def test_store_is_surveyed_queried_and_compacted(store: dict[str, Any], one_job: Path, tmp_path: Path) -> None:
    import fsspec

    fs = fsspec.filesystem("s3", **store)
    for path in sorted(one_job.rglob("*.gz")):
        fs.pipe_file(f"snaps/runs/{path.relative_to(one_job)}", path.read_bytes())
    fs.pipe_file("snaps/runs/job-leak/secret_rank9_step100.pickle.gz", b"secret")
    lake = "s3://snaps/lake"
    done = fleet.survey("s3://snaps/runs", lake, storage=store, workers=2, files=5)
    assert done.statuses == {"ok": 16, "denied": 1}
    assert fleet.survey("s3://snaps/runs", lake, storage=store, workers=1).new == 0
    assert fleet.survey("s3://snaps/runs", lake, storage=store, workers=1, again=True).statuses == {"denied": 1}
    urls = rows(lake, "SELECT url, status FROM snapshot WHERE status <> 'ok'", storage=store)
    assert urls == [("s3://snaps/runs/job-leak/secret_rank9_step100.pickle.gz", "denied")]
    # The same figures as of the local files.
    local = str(tmp_path / "lake")
    fleet.survey(str(one_job), local, workers=1)
    sums = "SELECT snapshot, sum(peak_bytes) FROM site_use GROUP BY snapshot ORDER BY snapshot"
    assert rows(lake, sums, storage=store) == rows(local, sums)
    expected = fingerprint(lake, storage=store)
    assert compact(lake, storage=store)["snapshot"]["parts"] >= 4
    assert fingerprint(lake, storage=store) == expected
    url = "s3://snaps/runs/job-leak/rank00000_step000100_step.pickle.gz"
    command = [
        sys.executable,
        "-m",
        "memscape",
        "fleet",
        "open",
        "--storage",
        json.dumps(store),
        url,
        "summary",
        "--json",
    ]
    summary = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert summary[0]["recorder"]["step"] == "100"
    # With the address and the credentials in the environment, as the manual says. delta-rs reads other variables than s3fs.
    environment = {
        "AWS_ENDPOINT_URL": store["client_kwargs"]["endpoint_url"],
        "AWS_DEFAULT_REGION": store["client_kwargs"]["region_name"],
        "AWS_ACCESS_KEY_ID": store["key"],
        "AWS_SECRET_ACCESS_KEY": store["secret"],
    }
    for action in (["compact", lake], ["ask", lake, "growth"]):
        command = [sys.executable, "-m", "memscape", "fleet", *action]
        run = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stderr) == (0, "")
    with pytest.raises(MemscapeError, match="s3://snaps/other has no tables"):
        fleet.query("s3://snaps/other", "growth", storage=store)
    missing = "s3://snips/lake: the bucket snips does not exist: check the address"
    with pytest.raises(MemscapeError, match=missing):
        fleet.query("s3://snips/lake", "growth", storage=store)
    # Without credentials: one line, no traceback.
    command = [sys.executable, "-m", "memscape", "fleet", "ask", lake, "peaks", "--storage"]
    options = {"client_kwargs": store["client_kwargs"], "key": "wrong", "secret": "wrong"}
    refused = subprocess.run([*command, json.dumps(options)], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1), refused.stderr
    assert refused.stderr.startswith("memscape: ")
    names, found = answer(lake, "growth", store, sign_hours=2)
    link = dict(zip(names, found[0]))["link"]
    assert link.startswith("#url=http%3A%2F%2F127.0.0.1") and "Signature" in link.split("&at=")[0]
    assert link.count("Signature") >= 2  # of the snapshot, and of the one to compare with
