"""Prints what surveys of many snapshots cost, and how long questions about a million of them take.

    PYTHONPATH=src/python:tests/fleet MEMSCAPE_BINARY=target/release/memscape python tests/bench/fleet.py ingest
    PYTHONPATH=src/python:tests/fleet MEMSCAPE_BINARY=target/release/memscape python tests/bench/fleet.py questions

`ingest` surveys 2,112 small files, and copies of a large uncompressed one, on two cores, and compares the CPU time with
that of `memscape ranks`. `questions` makes lakes of 2,112 and of 1,000,000 different snapshots from a survey of the test
corpus, with jobs, times, sizes and call sites of their own, and asks all questions. Needs duckdb and fsspec.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import duckdb

import corpus
from memscape import fleet
from memscape._binary import program
from memscape.fleet.lake import TABLES, Lake

CORES = 2
RANKS, STEPS = 16, tuple(range(100, 2300, 100))
# Days of the snapshots of a lake.
DAYS, FIRST_DAY, EPOCH = 60, date(2026, 9, 1), date(1970, 1, 1)
# Goals of the specification: files and bytes per second, ratio of CPU times, and seconds of a question by lake.
SMALL_FILES, LARGE_BYTES, OVERHEAD = 150, 200e6, 1.5
SECONDS = {2_112: 0.05, 1_000_000: 1.0}


@contextmanager
def measured() -> Iterator[dict[str, float]]:
    """Measure the time, and the CPU time of all processes that end meanwhile."""
    found: dict[str, float] = {}

    def cpu() -> float:
        usage = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
        return sum(one.ru_utime + one.ru_stime for one in usage)

    began, cpu_before = time.monotonic(), cpu()
    yield found
    found |= {"seconds": time.monotonic() - began, "cpu": cpu() - cpu_before}


def ingest(folder: Path, large: Path | None) -> None:
    runs = folder / "small"
    count = len(corpus.write(runs, ranks=RANKS, steps=STEPS))
    with measured() as survey:
        done = fleet.survey(str(runs), str(folder / "lake"), workers=CORES)
    assert done.statuses == {"ok": count}
    with measured() as ranks:
        for job in sorted(runs.iterdir()):
            subprocess.run([program(), "ranks", "--json", str(job)], check=True, stdout=subprocess.DEVNULL)
    rate, ratio = count / survey["seconds"], survey["cpu"] / ranks["cpu"]
    print(f"{count:,} small files: {rate:.0f} files/s (goal {SMALL_FILES})")
    print(
        f"  CPU: survey {1e3 * survey['cpu'] / count:.2f} ms a file, memscape ranks {1e3 * ranks['cpu'] / count:.2f} ms"
    )
    print(f"  CPU of a survey over memscape ranks: {ratio:.2f} (goal at most {OVERHEAD})")
    print(f"  tables: {done.written_bytes / 1e6:.2f} MB")
    if large is None:
        return
    copies = folder / "large"
    copies.mkdir()
    number = max(2 * CORES, int(400e6 / large.stat().st_size))
    for copy in range(number):
        shutil.copy(large, copies / f"rank{copy}.pickle")
    with measured() as survey:
        done = fleet.survey(str(copies), str(folder / "lake-large"), workers=CORES, files=1)
    assert done.statuses == {"ok": number}
    rate = done.source_bytes / survey["seconds"]
    print(
        f"{number} files of {large.stat().st_size / 1e6:.0f} MB: {rate / 1e6:.0f} MB/s (goal {LARGE_BYTES / 1e6:.0f})"
    )
    print(f"  CPU: {done.source_bytes / survey['cpu'] / 1e6:.0f} MB for each second")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"  memory of the largest process: {peak >> 10:,} MiB")


# Snapshot r of a file, for r of a day: another job, place in time, size, and a third of the call sites.
_SNAPSHOT = "substr(md5(snapshot || r), 1, 16) AS snapshot"
# Each call site becomes four: k = 0 is the original one. Their sizes add up to that of the original.
_OTHER = "(k > 0 OR hash(site, 3) % 3 = 0)"
_SITE = f"CASE WHEN site <> 'rest' AND {_OTHER} THEN substr(md5(concat(site, k, r % 3000)), 1, 16) ELSE site END"
_TIMES = "(1 + hash(snapshot, r) % 7)"
_BATCH = "$batch AS batch"


def _scaled(columns: tuple[str, ...]) -> str:
    return ", ".join(f"({column} * {_TIMES})::BIGINT AS {column}" for column in columns)


_BYTES = ("base_bytes", "peak_bytes", "end_bytes", "peak_reserved_bytes", "end_reserved_bytes", "capacity_bytes")
_USES = ", ".join(
    f"({column} * {_TIMES} // 4 + if(k = 0, {column} * {_TIMES} % 4, 0))::BIGINT AS {column}"
    for column in ("peak_bytes", "oom_bytes", "kept_bytes", "total_bytes")
)
_OOMS = ("requested_bytes", "live_bytes", "reserved_bytes", "device_free_bytes", "idle_bytes", "outside_bytes")
_SQL = {
    "snapshot": f"""SELECT * REPLACE ({_BATCH}, {_SNAPSHOT}, sha256(sha256 || r) AS sha256,
        concat('s3://lab/', r, '/', job, '/', split_part(url, '/', -1)) AS url, concat(job, '-', r) AS job,
        to_timestamp(epoch_us(modified) % 86400000000 / 1e6 + $day) AS modified, concat(host, '-', r % 512) AS host,
        concat('2.', 6 + r % 10, '.0') AS torch, {_scaled(_BYTES)}) FROM base, copies ORDER BY job, rank, step""",
    "site_use": f"""SELECT * REPLACE ({_BATCH}, {_SNAPSHOT}, {_SITE} AS site, {_USES})
        FROM base, copies, range(4) f(k) ORDER BY snapshot, device, peak_bytes DESC""",
    "oom": f"""SELECT * REPLACE ({_BATCH}, {_SNAPSHOT},
        substr(md5(signature || r % 500), 1, 16) AS signature, {_scaled(_OOMS)}) FROM base, copies""",
    "step": f"""SELECT * REPLACE ({_BATCH}, {_SNAPSHOT},
        {_scaled(("peak_bytes", "end_bytes", "end_reserved_bytes"))}) FROM base, copies""",
    "site": f"""SELECT DISTINCT ON (site) * FROM (SELECT * REPLACE ({_BATCH}, {_SITE} AS site,
        CASE WHEN {_OTHER} THEN substr(md5(concat(place, k, r % 3000)), 1, 16) ELSE place END AS place,
        CASE WHEN {_OTHER} THEN concat('home:r', r % 3000, '/', k, file) ELSE file END AS file)
        FROM base, copies, range(4) f(k))""",
}


def make_lake(base: str, target: str, snapshots: int) -> None:
    """Write a lake of about so many different snapshots, a part of each table for each day."""
    Lake(target).create()
    connection = duckdb.connect()
    ((of_base,),) = connection.execute(
        f"SELECT count(*) FROM read_parquet('{base}/v1/snapshot/dt=2*/*.parquet')"
    ).fetchall()
    copies = -(-snapshots // of_base)
    for day in range(min(DAYS, copies)):
        dt = f"{date.fromordinal(FIRST_DAY.toordinal() + day)}"
        batch = f"{day:016x}"
        for table in TABLES:
            folder = f"{target}/v1/{table}/dt={dt}"
            os.makedirs(folder, exist_ok=True)
            source = (
                f"read_parquet('{base}/v1/{table}/dt=2*/*.parquet', hive_partitioning = false, union_by_name = true)"
            )
            sql = _SQL[table].replace("base,", f"{source},").replace("copies", f"range({day}, {copies}, {DAYS}) t(r)")
            sql = sql.replace("$batch", f"'{batch}'").replace(
                "$day", str((FIRST_DAY - EPOCH).days * 86_400 + day * 86_400)
            )
            connection.execute(f"COPY ({sql}) TO '{folder}/part-{batch}.parquet' (FORMAT parquet, COMPRESSION zstd)")


def questions(folder: Path) -> None:
    runs, base = folder / "runs", str(folder / "base")
    corpus.write(runs)
    fleet.survey(str(runs), base, workers=CORES)
    for snapshots, goal in SECONDS.items():
        lake = str(folder / f"lake-{snapshots}")
        make_lake(base, lake, snapshots)
        began = time.monotonic()
        connection = fleet.connect(lake)
        connected = time.monotonic() - began
        counts = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
            for table in ("snapshot", "site_use", "step", "oom", "site")
        }
        size = sum(path.stat().st_size for path in Path(lake).rglob("*.parquet"))
        rows = ", ".join(f"{table} {count:,}" for table, count in counts.items())
        print(f"{rows}: {size / 1e6:.1f} MB, connected in {connected:.2f} s", flush=True)
        for name, sql in fleet.QUESTIONS.items():
            times, cpu = [], []
            for _ in range(3):
                began, cpu_began = time.monotonic(), time.process_time()
                answer = connection.execute(sql).fetchall()
                times.append(time.monotonic() - began)
                cpu.append(time.process_time() - cpu_began)
            found = statistics.median(times)
            above = f"  above the goal of {goal} s" if found > goal and name != "new_sites" else ""
            used = 1e3 * statistics.median(cpu)
            print(f"  {name:<14}{1e3 * found:8.0f} ms, {used:.0f} ms of CPU, {len(answer)} rows{above}", flush=True)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"  memory: {memory >> 10:,} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ingest", "questions"))
    parser.add_argument("--large", type=Path, help="uncompressed snapshot whose copies are surveyed as well")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memscape-") as folder:
        if chosen.what == "ingest":
            ingest(Path(folder), chosen.large)
        else:
            questions(Path(folder))


if __name__ == "__main__":
    main()
