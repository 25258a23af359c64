"""Merges the small parts of a lake into Delta tables, by delta-rs, without a server or a catalog.

Only one process compacts; workers never write to the log, so there are no conflicts. Parts that are not registered yet
stay readable beside the log.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from .lake import TABLES, Lake
from .sources import Storage

# Size of merged files in bytes, and hours until files that were replaced are deleted. Readers need them meanwhile.
_TARGET_BYTES = 128 << 20
_KEEP_HOURS = 7 * 24


def _options(lake: Lake) -> dict[str, str] | None:
    """Return the options of the object store in delta-rs' names, from those of s3fs and the environment."""
    if "s3" not in lake.fs.protocol:
        return None
    client, environment = lake.storage.get("client_kwargs", {}), os.environ
    endpoint = lake.storage.get("endpoint_url") or client.get("endpoint_url")
    known = {
        "AWS_ACCESS_KEY_ID": lake.storage.get("key"),
        "AWS_SECRET_ACCESS_KEY": lake.storage.get("secret"),
        "AWS_SESSION_TOKEN": lake.storage.get("token"),
        "AWS_ENDPOINT_URL": endpoint or environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL"),
        # delta-rs does not read AWS_DEFAULT_REGION.
        "AWS_REGION": client.get("region_name") or environment.get("AWS_REGION", environment.get("AWS_DEFAULT_REGION")),
    }
    found = {name: str(value) for name, value in known.items() if value}
    if found.get("AWS_ENDPOINT_URL", "").startswith("http:"):
        # delta-rs rejects http:// addresses by default.
        found["AWS_ALLOW_HTTP"] = "true"
    return found or None


def _table(lake: Lake, name: str) -> Any:
    from deltalake import DeltaTable

    uri = lake.uri(lake.table(name))
    options = _options(lake)
    return DeltaTable(uri, storage_options=options) if DeltaTable.is_deltatable(uri, options) else None


def files_of(lake: Lake, table: str) -> list[str]:
    """Return the files of a table that its Delta log lists."""
    found = _table(lake, table)
    return list(found.file_uris()) if found is not None else []


def registered_batches(lake: Lake) -> set[str]:
    """Return the batches whose snapshots are registered, and the name of the empty parts if any are."""
    files = files_of(lake, "snapshot")
    lake.fs.invalidate_cache()
    if not files:
        return set()
    connection = _reader(lake)
    rows = connection.execute("SELECT DISTINCT batch FROM read_parquet(?, union_by_name = true)", [files]).fetchall()
    return {batch for (batch,) in rows if batch}


def _reader(lake: Lake) -> Any:
    import duckdb

    connection = duckdb.connect()
    if not lake.is_local:
        connection.register_filesystem(lake.fs)
    return connection


def compact(
    lake_url: str, *, storage: Storage | None = None, keep_hours: int = _KEEP_HOURS
) -> dict[str, dict[str, int]]:
    """Register the parts of all committed batches in Delta tables, and merge small files.

    Returns for each table the number of registered parts, and the number of files before and after.
    """
    lake = Lake(lake_url, storage)
    lake.check()
    committed = {_batch(path) for path in lake.parts("snapshot")} - {"schema"}
    done: dict[str, dict[str, int]] = {}
    # The log of `snapshot` decides which batches are registered, so it is written last.
    new = committed - registered_batches(lake)
    for table in TABLES:
        done[table] = _register(lake, table, new)
    for table in TABLES:
        found = _table(lake, table)
        if found is not None:
            found.optimize.compact(target_size=_TARGET_BYTES)
            found.vacuum(retention_hours=keep_hours, dry_run=False, enforce_retention_duration=False)
            done[table]["files"] = len(found.file_uris())
    return done


def _batch(path: str) -> str:
    return posixpath.basename(path)[len("part-") : -len(".parquet")]


def _register(lake: Lake, table: str, batches: Iterable[str]) -> dict[str, int]:
    """Add the parts of these batches to the log of a table."""
    import json

    from deltalake import Schema
    from deltalake.transaction import AddAction, create_table_with_add_actions

    known = _table(lake, table)
    registered = {posixpath.basename(path) for path in known.file_uris()} if known is not None else set()
    batches, reader = set(batches), _reader(lake)
    actions = []
    for path in lake.parts(table):
        name = posixpath.basename(path)
        if _batch(path) not in batches or name in registered or not _is_original(reader, lake, path):
            continue
        info = lake.fs.info(path)
        inside = posixpath.relpath(path, lake.table(table))
        day = inside.split("/")[0].removeprefix("dt=")
        rows = reader.execute("SELECT num_rows FROM parquet_file_metadata(?)", [lake.uri(path)]).fetchone()[0]
        statistics = json.dumps({"numRecords": rows})
        actions.append(AddAction(inside, int(info["size"]), {"dt": day}, 0, True, statistics))
    if actions and known is None:
        schema = Schema.from_json(json.dumps({"type": "struct", "fields": _fields(reader, lake, table)}))
        uri, options = lake.uri(lake.table(table)), _options(lake)
        create_table_with_add_actions(uri, schema, actions, partition_by=["dt"], storage_options=options)
    elif actions:
        known.create_write_transaction(actions, "append", known.schema(), ["dt"])
    return {"parts": len(actions), "files": 0}


def _is_original(reader: Any, lake: Lake, path: str) -> bool:
    """Return whether a part has the rows of the batch that its name says."""
    found = reader.execute("SELECT DISTINCT batch FROM read_parquet(?)", [lake.uri(path)]).fetchall()
    return bool(found == [(_batch(path),)])


def _fields(reader: Any, lake: Lake, table: str) -> list[dict[str, Any]]:
    """Return the columns of a table in Delta's types, from its empty part."""
    types = {"BIGINT": "long", "VARCHAR": "string", "TIMESTAMP WITH TIME ZONE": "timestamp"}
    uri = lake.uri(lake.path(table, "1970-01-01", "schema"))
    described = reader.execute("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", [uri]).fetchall()
    columns = [(name, types[kind]) for name, kind, *_ in described] + [("dt", "string")]
    return [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in columns]


# Time for which replaced files are kept, for the manual.
KEEP = timedelta(hours=_KEEP_HOURS)
