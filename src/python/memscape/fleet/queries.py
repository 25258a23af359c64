"""Views of a lake in DuckDB, which runs in this process, and queries of them.

The reader decides which rows count, once for each connection: the newest version of each URL, and one URL of equal files.
So rows of a batch that was stopped, of a file that was surveyed twice, and of a copied part are never counted twice.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memscape._binary import MemscapeError

from .lake import PASSING, TABLES, Lake
from .questions import QUESTIONS
from .sources import Storage

if TYPE_CHECKING:
    import duckdb

# Names of the views of all rows. Queries use the views without `all_`, which have only rows that count.
ALL_ROWS = {table: f"all_{table}" for table in TABLES} | {"snapshot": "all_rows", "site": "all_sites"}

# A part that was copied has the name of another batch, or lies in another day, so it does not count.
_IS_ORIGINAL = "suffix(filename, concat('/part-', batch, '.parquet'))"

COUNTED = f"""
CREATE TEMP TABLE counted AS
SELECT snapshot, min(url) AS url, arg_min(batch, url) AS batch, arg_min(dt, url) AS dt FROM (
  SELECT url, member, arg_max(snapshot, age) AS snapshot, arg_max(batch, age) AS batch, arg_max(dt, age) AS dt FROM (
    SELECT url, member, snapshot, batch, dt,
      (survey_version, modified, version, status NOT IN {PASSING}, batch, dt) AS age
    FROM all_rows WHERE url IS NOT NULL)
  GROUP BY url, member)
GROUP BY snapshot
"""

VIEWS = {
    "snapshot": "SELECT * FROM all_rows SEMI JOIN counted USING (url, snapshot, batch, dt)",
    "site_use": "SELECT * FROM all_site_use SEMI JOIN counted USING (batch, snapshot, dt)",
    "oom": "SELECT * FROM all_oom SEMI JOIN counted USING (batch, snapshot, dt)",
    "step": "SELECT * FROM all_step SEMI JOIN counted USING (batch, snapshot, dt)",
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
    since: str | None = None,
    viewer: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """Return a connection to DuckDB with the tables of the lake as views.

    Args:
        lake: Folder of the tables.
        storage: Options of the file system, as for `fsspec.filesystem`.
        tables: Only these tables.
        since: Time in UTC, such as 2026-11-04, for the view `recent` and the question `new_sites`.
        viewer: Address of the page, for links.

    Raises:
        MemscapeError: There are no tables.

    """
    import duckdb

    target, connection = Lake(lake, storage), duckdb.connect()
    if not target.is_local:
        # Works without DuckDB's extensions, which would be downloaded.
        connection.register_filesystem(target.fs)
    for name, value in {"since": since, "viewer": viewer}.items():
        if value is not None:
            connection.execute(f"SET VARIABLE {name} = ?", [value])
    try:
        for statement in statements(target, tables):
            connection.execute(statement)
    except duckdb.IOException as error:
        if "No files found" in str(error):
            raise MemscapeError(f"{lake} has no tables: memscape fleet survey writes them") from None
        raise
    return connection


def statements(lake: Lake, tables: Iterable[str] = TABLES) -> list[str]:
    """Return the SQL that creates the views in DuckDB."""
    tables = set(tables)
    # Clients remember listings, and others write.
    lake.fs.invalidate_cache()
    registered = _registered(lake)
    found = [f"CREATE VIEW {ALL_ROWS[table]} AS {_all_rows(lake, table, registered)}" for table in sorted(tables)]
    if "snapshot" in tables:
        found.append(COUNTED)
        views = [name for name in VIEWS if name in tables or name == "recent"]
        found += [f"CREATE VIEW {name} AS {VIEWS[name]}" for name in views]
    return [*found, *_MACROS]


def _all_rows(lake: Lake, table: str, registered: set[str] | None) -> str:
    options = "hive_partitioning = true, hive_types_autocast = false, union_by_name = true"
    # As a time without a zone, in UTC: DuckDB needs an extension for zones.
    utc = "REPLACE (make_timestamp(epoch_us(modified)) AS modified)" if table == "snapshot" else ""
    if registered is None:
        pattern = lake.uri(posixpath.join(lake.table(table), "dt=*", "part-*.parquet"))
        return _originals(_quoted([pattern]), utc, options)
    # Files of the log, and parts of batches that are not registered yet.
    from .compaction import files_of

    loose = [path for path in lake.parts(table) if posixpath.basename(path)[5:-8] not in registered]
    selects = [_originals(_quoted(map(lake.uri, loose)), utc, options)]
    files = files_of(lake, table)
    if files:
        selects.append(f"SELECT * {utc} FROM read_parquet({_quoted(files)}, {options})")
    return " UNION ALL BY NAME ".join(selects)


def _originals(files: str, utc: str, options: str) -> str:
    read = f"read_parquet({files}, filename = true, {options})"
    return f"SELECT * EXCLUDE (filename) {utc} FROM {read} WHERE {_IS_ORIGINAL}"


def _registered(lake: Lake) -> set[str] | None:
    """Return the batches that are registered as Delta tables, or `None` if the lake has no Delta tables."""
    if not lake.fs.exists(posixpath.join(lake.table("snapshot"), "_delta_log")):
        return None
    from .compaction import registered_batches

    return registered_batches(lake)


def _quoted(paths: Iterable[str]) -> str:
    return "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"


def query(
    lake: str, sql: str, *, storage: Storage | None = None, since: str | None = None, viewer: str | None = None
) -> duckdb.DuckDBPyConnection:
    """Answer a question, by its name, or SQL. The result has `fetchall`, `df`, `pl` and `arrow`.

    Args:
        lake: Folder of the tables.
        sql: A key of `QUESTIONS`, or SQL.
        storage: Options of the file system, as for `fsspec.filesystem`.
        since: Time in UTC, such as 2026-11-04: only snapshots that changed at this time or later.
        viewer: Address of the page, for links.

    """
    return connect(lake, storage=storage, since=since, viewer=viewer).execute(QUESTIONS.get(sql, sql))
