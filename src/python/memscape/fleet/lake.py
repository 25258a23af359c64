"""Tables of a survey as Parquet parts. A batch becomes visible at once, when its last part is written."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import tempfile
from collections.abc import Iterable
from typing import Any

from memscape._binary import MemscapeError, run

from . import staging
from .sources import Source, Storage
from .stores import named_errors, open_store

# Version of the layout and of the tables, which is the name of the folder. Columns may be added within a version.
VERSION = 1
# Version of the rules in src/analysis/place.rs, which is in every row.
RULES_VERSION = 1
# In the order of writing. The part of `snapshot` is last: its rows make the batch count.
TABLES = ("site_use", "oom", "step", "site", "snapshot")
# Statuses that may be different next time. The others stay until the file changes.
PASSING = ("read", "denied", "gone", "timeout", "crash", "lost", "internal", "too_big")
# Path of a part below its table.
_PART = re.compile(r"/dt=[^/]*/part-[^/]*[.]parquet$")
# Day of the empty parts that carry the columns of all tables.
_SCHEMA_DAY = "1970-01-01"


class Lake:
    """A folder of tables, local or in an object store: `<url>/v1/<table>/dt=<day>/part-<batch>.parquet`."""

    def __init__(self, url: str, storage: Storage | None = None) -> None:
        if re.search(r"[*?\[]", url):
            raise MemscapeError(
                f"{url}: the address of a lake must not contain *, ? or [: query engines read them as patterns"
            )
        self.url, self.storage = url, storage or {}
        self.fs, root = open_store(url, self.storage)
        self.root = posixpath.join(root.rstrip("/"), f"v{VERSION}")
        self.is_local = "file" in self.fs.protocol

    def create(self) -> None:
        """Write an empty part of each table, so that every table can be read and has all columns."""
        if self.is_local:
            os.makedirs(self.root, exist_ok=True)
        with self.staging() as folder:
            run("survey", "--list", os.devnull, "--batch", "schema", "-o", folder)
            self.commit("schema", _SCHEMA_DAY, folder, TABLES)

    def exists(self) -> bool:
        """Return whether there are tables.

        Raises:
            MemscapeError: The store cannot be reached, or denies access.

        """
        with named_errors(self.url, self.fs):
            try:
                self.fs.info(self.path("snapshot", _SCHEMA_DAY, "schema"))
            except (FileNotFoundError, NotADirectoryError):
                return False
        return True

    def check(self) -> None:
        """Check that there are tables to read.

        Raises:
            MemscapeError: There are none, or only those of a newer version.

        """
        # Clients remember listings, and others write.
        self.fs.invalidate_cache()
        if self.exists():
            return
        newer = f"v{VERSION + 1}"
        if self.fs.exists(posixpath.join(posixpath.dirname(self.root), newer)):
            raise MemscapeError(f"{self.url} has tables of a newer version, {newer}: update memscape")
        missing = self._missing()
        if missing is not None:
            raise MemscapeError(f"{self.url}: {missing} does not exist: check the address")
        raise MemscapeError(f"{self.url} has no tables: memscape fleet survey writes them")

    def _missing(self) -> str | None:
        """Return the folder, or the bucket of a store, if it does not exist. In stores, folders exist only with files."""
        folder = posixpath.dirname(self.root)
        bucket = folder.lstrip("/").partition("/")[0]
        try:
            self.fs.info(folder if self.is_local else bucket)
        except (FileNotFoundError, NotADirectoryError):
            return "the folder" if self.is_local else f"the bucket {bucket}"
        except Exception:
            # The credentials may allow to read files of the bucket, but not to look at the bucket itself.
            return None
        return None

    def table(self, name: str) -> str:
        """Return the path of a table, without the protocol."""
        return posixpath.join(self.root, name)

    def path(self, table: str, day: str, batch: str) -> str:
        """Return the path of a part, without the protocol."""
        return posixpath.join(self.table(table), f"dt={day}", f"part-{batch}.parquet")

    def uri(self, path: str) -> str:
        """Return a path with the protocol, for readers other than fsspec."""
        return path if self.is_local else str(self.fs.unstrip_protocol(path))

    def parts(self, table: str) -> list[str]:
        """List the parts of a table that surveys wrote, in all days."""
        # Clients remember listings, and others write.
        self.fs.invalidate_cache()
        return sorted(path for path in self.fs.find(self.table(table)) if _PART.search(path))

    def staging(self) -> tempfile.TemporaryDirectory[str]:
        """Return a temporary folder for the tables of a batch, on the disk of a local lake: its parts are renamed."""
        return staging.new_folder(self.root if self.is_local else None)

    def remove_abandoned(self) -> None:
        """Remove temporary folders that killed surveys have left in a local lake."""
        if self.is_local:
            staging.remove_abandoned(self.root)

    def commit(self, batch: str, day: str, folder: str, tables: Iterable[str]) -> int:
        """Write the parts of a batch from files in a staging folder, and return their size in bytes.

        Committing a batch again writes the same bytes to the same names, also if another worker does so at once.
        """
        size = 0
        with named_errors(self.url, self.fs):
            for table in (table for table in TABLES if table in set(tables)):
                file = os.path.join(folder, f"{table}.parquet")
                size += os.path.getsize(file)
                self.write(self.path(table, day, batch), file)
        return size

    def write(self, path: str, file: str) -> None:
        """Write a part so that readers see either the whole part or none. Moves the file if the lake is local."""
        with open(file, "rb+") as written:
            if not self.is_local:
                self.fs.pipe_file(path, written.read())  # one request, which creates the object as a whole
                return
            os.fsync(written.fileno())
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.replace(file, path)


def hashed(texts: Iterable[Any]) -> str:
    """Return the first 64 bits of the SHA-256 of texts joined by line feeds, as in src/analysis/place.rs."""
    text = "\n".join(map(str, texts))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def batch_name(sources: list[Source], run: str = "") -> str:
    """Return the name of a batch. Equal sources have equal names in every survey.

    `run` is a text of a survey that reads files again. Its results differ, and must not replace parts that a Delta log
    lists.
    """
    return hashed([VERSION, RULES_VERSION, run, *(f"{source.url} {source.version}" for source in sources)])


def packed(sources: Iterable[Source], most_files: int, most_bytes: int) -> list[list[Source]]:
    """Pack sources into batches of one day. A file that is larger than `most_bytes` is a batch of its own."""
    batches: list[list[Source]] = []
    room, day = 0, ""
    for source in sorted(sources, key=lambda source: (source.day, source.job, source.url)):
        if source.day != day or len(batches[-1]) == most_files or source.size > room:
            batches.append([])
            room, day = most_bytes, source.day
        batches[-1].append(source)
        room -= source.size
    return batches
