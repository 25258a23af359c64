"""Lists snapshots below URLs, or takes them from a file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Union

from memscape._binary import MemscapeError

from .stores import named_errors, open_store

Storage = dict[str, Any]
# A time, as text such as 2026-11-04. In UTC if it has no zone.
Time = Union[datetime, str]

_SNAPSHOT = re.compile(r"[.](pickle|pkl|pt)([.](gz|zst|zip))?$", re.IGNORECASE)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Keys of listings that hold the time of the last change: S3, Azure, local files, Google Cloud Storage.
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "created")
_ETAGS = ("ETag", "etag", "md5Hash")


@dataclass(frozen=True)
class Source:
    """A stored file. `version` changes when its content changes."""

    url: str
    size: int
    version: str
    modified: datetime
    job: str

    @property
    def day(self) -> str:
        """The day of the last change, in UTC."""
        return f"{self.modified:%Y-%m-%d}"

    def line(self) -> dict[str, Any]:
        """Return the line of the list of `memscape survey`, without a path."""
        return {
            "url": self.url,
            "version": self.version,
            # A list may omit sizes. The program then uses the size of the file.
            "bytes": self.size or None,
            "modified_us": (self.modified - _EPOCH) // _MICROSECOND,
            "job": self.job,
        }


_MICROSECOND = (datetime.max - datetime.min).resolution


def listed(urls: Iterable[str], storage: Storage) -> Iterator[Source]:
    """List all snapshots below the URLs, a folder at a time. The job is the first folder below a URL, or its last."""
    for url in urls:
        fs, root = open_store(url, storage)
        root = root.rstrip("/")
        fs.invalidate_cache()
        with named_errors(url, fs):
            for path, info in _found(fs, root):
                if _SNAPSHOT.search(path):
                    below = path[len(root) :].strip("/").split("/")
                    job = below[0] if len(below) > 1 else _folder_name(path)
                    yield _source(fs.unstrip_protocol(path), info, job)


def _found(fs: Any, root: str) -> Iterator[tuple[str, dict[str, Any]]]:
    # One folder at a time: the listing of a bucket with a million keys takes a gigabyte.
    if fs.isfile(root):
        yield root, fs.info(root)
        return
    for entry in fs.ls(root, detail=True):
        if entry["type"] == "directory":
            yield from fs.find(entry["name"], detail=True).items()
        elif entry["name"].rstrip("/") != root:
            yield entry["name"], entry


def _source(url: str, info: dict[str, Any], job: str) -> Source:
    modified = next((as_time(info[key]) for key in _TIMES if info.get(key) is not None), _EPOCH)
    etag = next((str(info[key]) for key in _ETAGS if info.get(key)), f"{modified.timestamp():.6f}").strip('"')
    size = int(info.get("size") or 0)
    return Source(_text(url), size, f"{etag}-{size}", modified, _text(job))


def _text(name: str) -> str:
    """Return a name with a replacement for bytes that are not UTF-8: tables cannot have them."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def as_time(value: Any) -> datetime:
    """Return a time of a listing or an option in UTC.

    Raises:
        ValueError: The text is not a date or time.

    """
    if isinstance(value, (int, float)):
        return datetime.fromtimestamp(value, timezone.utc)
    if isinstance(value, str):
        value = datetime.fromisoformat(value.replace("Z", "+00:00"))
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc) if value.tzinfo else value.replace(tzinfo=timezone.utc)
    return _EPOCH


def read_list(path: str, storage: Storage) -> Iterator[Source]:
    """Read sources from a file instead of listing a store.

    A line is a URL, or a JSON object with the keys url, size, etag, modified and job. A Parquet file has the columns of
    an S3 Inventory: bucket, key, size, last_modified_date and e_tag.
    """
    if path.endswith(".parquet"):
        yield from _inventory(path)
        return
    # Names of files may not be UTF-8.
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            try:
                if text:
                    yield _listed_source(text, storage)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                cause = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
                raise MemscapeError(f"{path}:{number}: {cause}") from error


def _listed_source(text: str, storage: Storage) -> Source:
    """Return the source of a line."""
    if text.startswith("{"):
        known = json.loads(text)
        info = {"size": known.get("size"), "ETag": known.get("etag"), "updated": known.get("modified")}
        url = known["url"]
        if "://" not in url:
            fs, inside = open_store(url, storage)
            url = fs.unstrip_protocol(inside)
        return _source(url, info, known.get("job") or _folder_name(url))
    fs, inside = open_store(text, storage)
    with named_errors(text, fs):
        try:
            info = fs.info(inside)
        except (FileNotFoundError, PermissionError):
            # The file is read later, and its row gets the status `gone` or `denied`.
            info = {}
    return _source(fs.unstrip_protocol(inside), info, _folder_name(text))


def _inventory(path: str) -> Iterator[Source]:
    import duckdb

    rows = duckdb.connect().execute("SELECT bucket, key, size, last_modified_date, e_tag FROM read_parquet(?)", [path])
    while found := rows.fetchmany(10_000):
        for bucket, key, size, modified, etag in found:
            if _SNAPSHOT.search(key):
                url = f"s3://{bucket}/{key}"
                yield _source(url, {"size": size, "updated": modified, "ETag": etag}, _folder_name(url))


def _folder_name(url: str) -> str:
    return os.path.basename(os.path.dirname(url))
