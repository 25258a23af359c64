"""Views of a lake in DuckDB, which runs in this process, and queries of them.

The reader decides which rows count, once for each connection: the newest version of each URL, and one URL of equal files.
So rows of a batch that was stopped, of a file that was surveyed twice, and of a copied part are never counted twice.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .lake import PASSING, TABLES, Lake
from .questions import QUESTIONS
from .sources import Storage, Time, as_time
from .stores import named_errors

if TYPE_CHECKING:
    import duckdb

# Names of the views of all rows. Queries use the views without `all_`, which have only rows that count.
ALL_ROWS = {table: f"all_{table}" for table in TABLES} | {"snapshot": "all_rows", "site": "all_sites"}

# A part that was copied has the name of another batch, or lies in another day, so it does not count.
_IS_ORIGINAL = "suffix(filename, concat('/part-', batch, '.parquet'))"

# Few files have rows that do not count: those that were surveyed twice, and copies. Only these are compared by their texts,
# and views leave out what is in this small table, so that they need no join with all files. `counted` is the rest, as in
# other engines (ddl.py).
NOT_COUNTED = f"""
CREATE TEMP TABLE not_counted AS
WITH several AS (
  SELECT hash(url, member) AS file FROM all_rows GROUP BY file
  HAVING min(hash(snapshot, batch, dt)) <> max(hash(snapshot, batch, dt))),
copied AS (SELECT hash(snapshot) AS content FROM all_rows GROUP BY content HAVING min(hash(url)) <> max(hash(url))),
compared AS (
  SELECT url, member, snapshot, batch, dt,
    (survey_version, modified, status NOT IN {PASSING}, version, batch, dt) AS age
  FROM all_rows WHERE url IS NOT NULL
    AND (hash(url, member) IN (SELECT file FROM several) OR hash(snapshot) IN (SELECT content FROM copied))),
counted AS (
  SELECT snapshot, min(url) AS url, arg_min(batch, url) AS batch, arg_min(dt, url) AS dt FROM (
    SELECT url, member, arg_max(snapshot, age) AS snapshot, arg_max(batch, age) AS batch, arg_max(dt, age) AS dt
    FROM compared GROUP BY url, member)
  GROUP BY snapshot)
-- The other tables have one set of rows for equal files of a batch.
SELECT DISTINCT url, snapshot, batch, dt,
  (batch, snapshot, dt) NOT IN (SELECT (batch, snapshot, dt) FROM counted) AS is_elsewhere
FROM compared ANTI JOIN counted USING (url, snapshot, batch, dt)
"""

_ELSEWHERE = "(SELECT batch, snapshot, dt FROM not_counted WHERE is_elsewhere) USING (batch, snapshot, dt)"
VIEWS = {
    "snapshot": "SELECT * FROM all_rows ANTI JOIN not_counted USING (url, snapshot, batch, dt) WHERE url IS NOT NULL",
    "site_use": f"SELECT * FROM all_site_use ANTI JOIN {_ELSEWHERE}",
    "oom": f"SELECT * FROM all_oom ANTI JOIN {_ELSEWHERE}",
    "step": f"SELECT * FROM all_step ANTI JOIN {_ELSEWHERE}",
    "counted": "SELECT DISTINCT snapshot, url, batch FROM snapshot",
    "site": "SELECT DISTINCT ON (site) site, place, file, line, function FROM all_sites",
    # Snapshots since a time, for questions that are about recent ones.
    "recent": "SELECT * FROM snapshot WHERE getvariable('since') IS NULL OR (dt >= getvariable('since')[:10]"
    " AND modified >= TRY_CAST(getvariable('since') AS TIMESTAMP))",
}

# Address that opens a file at a moment in the viewer; without a viewer, only the part after its address. And the text of
# a call site; line 0 is left out.
_MACROS = (
    "CREATE MACRO link(url, moment, tab) AS concat(coalesce(getvariable('viewer'), ''), '#url=',"
    " replace(url_encode(url), '%2F', '/'), '&at=', moment, '&tab=', tab)",
    "CREATE MACRO call_site(file, line, function) AS CASE WHEN concat(file, function) = '' THEN 'no stack'"
    " ELSE concat(file, if(line > 0, ':' || line, ''), ' ', function) END",
)


def connect(
    lake: str,
    *,
    storage: Storage | None = None,
    tables: Iterable[str] = TABLES,
    since: Time | None = None,
    viewer: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """Return a connection to DuckDB with the tables of the lake as views.

    Args:
        lake: Folder of the tables.
        storage: Options of the file system, as for `fsspec.filesystem`.
        tables: Only these tables.
        since: Time, such as 2026-11-04, in UTC if it has no zone, for the view `recent` and the question `new_sites`.
        viewer: Address of the page, for links.

    Raises:
        MemscapeError: There are no tables, or they cannot be read.

    """
    import duckdb

    target = Lake(lake, storage)
    target.check()
    connection = duckdb.connect()
    if not target.is_local:
        # Works without DuckDB's extensions, which would be downloaded.
        connection.register_filesystem(target.fs)
    moment = None if since is None else as_time(since).replace(tzinfo=None).isoformat()
    for name, value in {"since": moment, "viewer": viewer}.items():
        if value is not None:
            connection.execute(f"SET VARIABLE {name} = ?", [value])
    with named_errors(lake, target.fs):
        for statement in statements(target, tables):
            connection.execute(statement)
    return connection


def statements(lake: Lake, tables: Iterable[str] = TABLES) -> list[str]:
    """Return the SQL that creates the views in DuckDB."""
    tables = set(tables)
    # Clients remember listings, and others write.
    lake.fs.invalidate_cache()
    registered = _registered(lake)
    # `snapshot` is listed first: batches that end meanwhile are left out of all tables.
    found = _parts(lake, ["snapshot", *sorted(tables - {"snapshot"})], registered)
    found += [f"CREATE VIEW {ALL_ROWS[table]} AS {_all_rows(lake, table, registered)}" for table in sorted(tables)]
    if "snapshot" in tables:
        found.append(NOT_COUNTED)
        views = [name for name in VIEWS if name in tables or name in ("counted", "recent")]
        found += [f"CREATE VIEW {name} AS {VIEWS[name]}" for name in views]
    return [*found, *_MACROS]


def _parts(lake: Lake, tables: Iterable[str], registered: set[str] | None) -> list[str]:
    """Return the SQL that lists the parts that no Delta log has. Parts of a batch without a part of `snapshot` are left out.

    They are listed once for a connection, so that all queries see the same batches, and a store is not listed again.
    """
    found = [f"SET VARIABLE registered = {_quoted(registered)}"] if registered else []
    for table in tables:
        pattern = lake.uri(posixpath.join(lake.table(table), "dt=*", "part-*.parquet"))
        listed = f"SELECT list(file ORDER BY file) FROM glob({quoted(pattern)}) WHERE true"
        if table != "snapshot":
            listed += " AND parse_path(file)[-2:] IN (SELECT parse_path(unnest(getvariable('snapshot_parts')))[-2:])"
        if registered:
            listed += " AND NOT list_contains(getvariable('registered'), parse_filename(file, true)[6:])"
        found.append(f"SET VARIABLE {table}_parts = ({listed})")
    return found


def _all_rows(lake: Lake, table: str, registered: set[str] | None) -> str:
    options = "hive_partitioning = true, hive_types_autocast = false, union_by_name = true"
    # As a time without a zone, in UTC: DuckDB needs an extension for zones.
    utc = "REPLACE (make_timestamp(epoch_us(modified)) AS modified)" if table == "snapshot" else ""
    read = f"read_parquet(getvariable('{table}_parts'), filename = true, {options})"
    selects = [f"SELECT * EXCLUDE (filename) {utc} FROM {read} WHERE {_IS_ORIGINAL}"]
    if registered is not None:
        from .compaction import files_of

        files = files_of(lake, table)
        if files:
            selects.append(f"SELECT * {utc} FROM read_parquet({_quoted(files)}, {options})")
    return " UNION ALL BY NAME ".join(selects)


def _registered(lake: Lake) -> set[str] | None:
    """Return the batches that are registered as Delta tables, or `None` if the lake has no Delta tables."""
    if not lake.fs.exists(posixpath.join(lake.table("snapshot"), "_delta_log")):
        return None
    from .compaction import registered_batches

    return registered_batches(lake)


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _quoted(paths: Iterable[str]) -> str:
    return "[" + ", ".join(map(quoted, paths)) + "]"


def query(
    lake: str, sql: str, *, storage: Storage | None = None, since: Time | None = None, viewer: str | None = None
) -> duckdb.DuckDBPyConnection:
    """Answer a question, by its name, or SQL. The result has `fetchall`, `df`, `pl` and `arrow`.

    Args:
        lake: Folder of the tables.
        sql: A key of `QUESTIONS`, or SQL.
        storage: Options of the file system, as for `fsspec.filesystem`.
        since: Time, such as 2026-11-04, in UTC if it has no zone: only snapshots that changed at this time or later.
        viewer: Address of the page, for links.

    """
    return connect(lake, storage=storage, since=since, viewer=viewer).execute(QUESTIONS.get(sql, sql))
