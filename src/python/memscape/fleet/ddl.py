"""The views as SQL of other engines, which read the parts of a lake directly."""

from __future__ import annotations

import posixpath

from .lake import PASSING, TABLES, Lake
from .queries import ALL_ROWS, quoted, statements
from .sources import Storage

# Which of several rows of one file counts: the largest. As in queries.py, a survey that read the file is preferred.
_AGE = f"concat(CASE WHEN n.status IN {PASSING} THEN '0' ELSE '1' END, n.version, n.batch)"

# Which rows count, in SQL that ClickHouse, Spark and Trino have. As in queries.py, but without the check for copied parts,
# because it needs the names of files. Columns are qualified: ClickHouse takes a bare name for the alias of an aggregate.
_COUNTED = """{create} VIEW counted AS
SELECT files.snapshot AS snapshot, min(files.url) AS url, {arg_min}(files.batch, files.url) AS batch FROM (
  SELECT n.url AS url, n.member AS member, {arg_max}(n.snapshot, {age}) AS snapshot,
    {arg_max}(n.batch, {age}) AS batch FROM (
    SELECT r.* FROM all_rows r JOIN (
      SELECT url, max(modified) AS modified FROM all_rows WHERE url IS NOT NULL GROUP BY url) m
    ON r.url = m.url AND r.modified = m.modified) n
  GROUP BY n.url, n.member) files
GROUP BY files.snapshot"""


def views(lake_url: str, engine: str, storage: Storage | None = None) -> str:
    """Return the statements that create the views in an engine: duckdb, clickhouse, spark or trino."""
    lake = Lake(lake_url, storage)
    lake.check()
    if engine == "duckdb":
        return ";\n".join(statement.strip() for statement in statements(lake)) + ";"
    names = {"clickhouse": ("argMin", "argMax")}.get(engine, ("min_by", "max_by"))
    found = [_all_rows(lake, table, engine) for table in TABLES]
    # In Spark, a view that is kept cannot refer to one of the session.
    create = "CREATE TEMPORARY" if engine == "spark" else "CREATE"
    found.append(_COUNTED.format(create=create, arg_min=names[0], arg_max=names[1], age=_AGE))
    keys = {"snapshot": "(url, snapshot, batch)", "site_use": "(batch, snapshot)"}
    for table in ("snapshot", "site_use", "oom", "step"):
        columns = keys.get(table, keys["site_use"])
        found.append(
            f"{create} VIEW {table} AS SELECT * FROM {ALL_ROWS[table]}\n"
            f"WHERE {columns} IN (SELECT {columns.strip('()')} FROM counted)"
        )
    found.append(
        f"{create} VIEW site AS SELECT s.site AS site, min(s.place) AS place, min(s.file) AS file, min(s.line) AS line,\n"
        "  min(s.function) AS function FROM all_sites s GROUP BY s.site"
    )
    return ";\n".join(found) + ";"


def _all_rows(lake: Lake, table: str, engine: str) -> str:
    folder, name = lake.uri(lake.table(table)), ALL_ROWS[table]
    if engine == "spark":
        path = folder.replace("\\", "\\\\").replace("'", "\\'")
        return f"CREATE TEMPORARY VIEW {name} USING parquet OPTIONS (path '{path}', mergeSchema 'true')"
    if engine == "trino":
        # Columns are those of the empty part. Afterwards: CALL system.sync_partition_metadata('memscape', name, 'ADD').
        columns = ", ".join(f"{column} {kind}" for column, kind in _columns(lake, table))
        return (
            f"CREATE TABLE {name} ({columns}, dt VARCHAR)\n"
            f"WITH (format = 'PARQUET', external_location = {quoted(folder)}, partitioned_by = ARRAY['dt'])"
        )
    files = posixpath.join(folder, "dt=*", "part-*.parquet")
    function = "file" if lake.is_local else "s3" if files.startswith("s3") else "url"
    return f"CREATE VIEW {name} AS SELECT * FROM {function}({quoted(files)}, 'Parquet')"


def _columns(lake: Lake, table: str) -> list[tuple[str, str]]:
    import duckdb

    connection = duckdb.connect()
    if not lake.is_local:
        connection.register_filesystem(lake.fs)
    uri = lake.uri(lake.path(table, "1970-01-01", "schema"))
    rows = connection.execute("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", [uri]).fetchall()
    return [(row[0], row[1]) for row in rows]
