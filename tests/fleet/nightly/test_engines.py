"""The same tables in ClickHouse, Spark and Polars: equal rows and sums as in DuckDB."""

from __future__ import annotations

import json
import posixpath
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import rows
from memscape import fleet
from memscape.fleet.ddl import views
from memscape.fleet.lake import TABLES, Lake

# A query of each view, in SQL that all engines have. The last one has an order that is independent of the engine.
QUERIES = {
    "snapshot": "SELECT count(*), sum(bytes), sum(peak_bytes), sum(end_bytes), sum(peak_reserved_bytes) FROM snapshot",
    "counted": "SELECT count(*), min(snapshot), max(snapshot), min(url), max(url) FROM counted",
    "site_use": "SELECT count(*), sum(peak_bytes), sum(kept_bytes), sum(total_bytes), sum(total_count) FROM site_use",
    "oom": "SELECT count(*), sum(requested_bytes), sum(live_bytes), min(signature), max(signature) FROM oom",
    "step": "SELECT count(*), sum(peak_bytes), sum(end_bytes), min(begin_us), max(end_us) FROM step",
    "site": "SELECT count(*), min(site), max(site), min(file), max(function) FROM site",
    "growth": "SELECT job, rank, max(end_bytes) - min(end_bytes) AS grown FROM snapshot GROUP BY job, rank ORDER BY job, rank",
    "sites": "SELECT c.place, count(*) AS uses, sum(u.peak_bytes) AS bytes FROM site_use u JOIN site c ON u.site = c.site"
    " GROUP BY c.place ORDER BY c.place",
}


@pytest.fixture(scope="module")
def doubled(lake: str, runs: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A lake with rows that do not count: of an older version of a file, and of a copy of a file."""
    folder = tmp_path_factory.mktemp("doubled")
    jobs = folder / "runs"
    shutil.copytree(runs / "job-leak", jobs / "job-leak")
    path = str(folder / "lake")
    fleet.survey(str(jobs), path, workers=1, files=5)
    first, second, *_ = sorted((jobs / "job-leak").iterdir())
    shutil.copy(runs / "job-oom-a" / "rank00000_step000100_oom.pickle.gz", first)
    shutil.copy(second, jobs / "job-leak" / "copy.pickle.gz")
    fleet.survey(str(jobs), path, workers=1, files=5)
    assert rows(path, "SELECT count(*) FROM snapshot") == [(16,)]
    assert rows(path, "SELECT count(*) FROM all_rows WHERE url IS NOT NULL") == [(18,)]
    return path


def _expected(lake: str) -> dict[str, list[tuple[Any, ...]]]:
    connection = fleet.connect(lake)
    return {name: connection.execute(sql).fetchall() for name, sql in QUERIES.items()}


@pytest.mark.parametrize("which", ["lake", "doubled"])
def test_clickhouse_has_the_same_rows_and_sums(which: str, request: pytest.FixtureRequest) -> None:
    session = pytest.importorskip("chdb.session")
    lake = request.getfixturevalue(which)
    found = {}
    with session.Session() as engine:
        # NULL where a join or a column has no value, as in the other engines.
        engine.query("SET join_use_nulls = 1")
        for statement in views(lake, "clickhouse").rstrip(";").split(";\n"):
            engine.query(statement)
        for name, sql in QUERIES.items():
            text = engine.query(sql, "JSONCompactEachRow").bytes().decode()
            found[name] = [tuple(map(_number, json.loads(line))) for line in text.splitlines()]
    assert found == _expected(lake)


def _number(value: Any) -> Any:
    # ClickHouse writes numbers of 64 bits as text, because JavaScript has 53 bits.
    return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) != 16 else value


@pytest.mark.parametrize("which", ["lake", "doubled"])
def test_spark_has_the_same_rows_and_sums(which: str, request: pytest.FixtureRequest) -> None:
    sql = pytest.importorskip("pyspark.sql")
    lake = request.getfixturevalue(which)
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    engine = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    try:
        for statement in views(lake, "spark").rstrip(";").split(";\n"):
            engine.sql(statement)
        found = {name: [tuple(row) for row in engine.sql(text).collect()] for name, text in QUERIES.items()}
    finally:
        engine.stop()
    assert found == _expected(lake)


def test_polars_has_the_same_sums(lake: str) -> None:
    polars = pytest.importorskip("polars")
    scanned = {
        table: polars.scan_parquet(
            posixpath.join(Lake(lake).table(table), "dt=*", "part-*.parquet"), hive_partitioning=True
        )
        for table in TABLES
    }
    # This lake has no rows that do not count, and a row of `site` for each batch.
    scanned["site"] = scanned["site"].unique("site")
    with polars.SQLContext(scanned, eager=True) as engine:
        # The parts are read without views, so there is no `counted`.
        queries = {name: text for name, text in QUERIES.items() if name != "counted"}
        found = {name: engine.execute(text).rows() for name, text in queries.items()}
    expected = _expected(lake)
    assert found == {name: expected[name] for name in queries}
