"""Rows of the Parquet parts, against JSON, hashes computed here, and the other commands."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path

import duckdb

import corpus
from conftest import rows
from memscape.fleet.lake import TABLES

GOLDEN = corpus.ROOT / "tests" / "golden" / "lake.jsonl"


def _survey(folder: Path, form: str, paths: list[Path]) -> None:
    listed = "".join(json.dumps({"path": str(path), "modified_us": 1_793_491_200_000_000}) + "\n" for path in paths)
    command = [os.environ["MEMSCAPE_BINARY"], "survey", "--list", "-", "--to", form, "-o", str(folder), "--batch", "b"]
    subprocess.run(command, input=listed.encode(), check=True, capture_output=True)


def test_parquet_has_the_same_rows_as_json(tmp_path: Path) -> None:
    paths = sorted((corpus.ROOT / "www").glob("*.pickle.gz"))
    for form in ("lake", "jsonl"):
        _survey(tmp_path / form, form, paths)
    for table in TABLES:
        cursor = duckdb.connect().execute(
            "SELECT * FROM read_parquet(?)", [str(tmp_path / "lake" / f"{table}.parquet")]
        )
        names = [column[0] for column in cursor.description]
        found = [dict(zip(names, row)) for row in cursor.fetchall()]
        expected = [json.loads(line) for line in (tmp_path / "jsonl" / f"{table}.jsonl").read_text().splitlines()]
        for row in found:
            if "modified" in row:
                row["modified"] = int(row["modified"].timestamp() * 1_000_000)
        assert found == expected, table
        assert found, table


def test_hashes_are_those_of_hashlib(lake: str) -> None:
    def hashed(*texts: object) -> str:
        return hashlib.sha256("\n".join(map(str, texts)).encode()).hexdigest()[:16]

    sites = rows(lake, "SELECT site, place, file, line, function FROM site")
    assert len(sites) > 20
    for site, place, file, line, function in sites:
        assert (site, place) == (hashed(file, function, line), hashed(file, function))
    for url, sha256, snapshot in rows(lake, "SELECT url, sha256, snapshot FROM snapshot"):
        data = Path(url.removeprefix("file://")).read_bytes()
        assert sha256 == hashlib.sha256(data).hexdigest()
        assert snapshot == sha256[:16]


def test_figures_equal_those_of_the_summary(lake: str, runs: Path) -> None:
    paths = sorted(str(path) for path in runs.rglob("*_step000400_*"))
    output = subprocess.run(
        [os.environ["MEMSCAPE_BINARY"], "summary", "--json", *paths], check=True, capture_output=True
    )
    checked = 0
    for path, summary in zip(paths, json.loads(output.stdout)):
        (device,) = summary["devices"]
        found = rows(
            lake,
            "SELECT device, events, ooms, base_bytes, peak_bytes, end_bytes, peak_reserved_bytes, end_reserved_bytes,"
            f" capacity_bytes, rank, step, host, reason, torch, git, attempt FROM snapshot WHERE url = 'file://{path}'",
        )
        names = (
            "device",
            "events",
            "base_requested",
            "peak_requested",
            "end_requested",
            "peak_reserved",
            "reserved_end",
        )
        known = {name: device[name] for name in names}
        recorder = summary["recorder"]
        assert found == [
            (
                known["device"],
                known["events"],
                device["actions"].get("oom", 0),
                known["base_requested"],
                known["peak_requested"],
                known["end_requested"],
                known["peak_reserved"],
                known["reserved_end"],
                24 << 30,
                int(recorder["rank"]),
                int(recorder["step"]),
                recorder["host"],
                recorder["reason"],
                recorder["torch"],
                recorder["git"],
                int(recorder["attempt"]),
            )
        ]
        checked += 1
    assert checked == 24


def test_sums_by_call_site_equal_the_peak(lake: str) -> None:
    off = """SELECT count(*), count_if(u.bytes <> s.peak_bytes) FROM snapshot s LEFT JOIN
        (SELECT snapshot, device, sum(peak_bytes) AS bytes FROM site_use GROUP BY ALL) u USING (snapshot, device)"""
    assert rows(lake, off) == [(96, 0)]
