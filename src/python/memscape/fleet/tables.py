"""Snapshots of a lake by job, step and rank, for `memscape serve --lake`."""

from __future__ import annotations

import posixpath
import threading
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from .queries import connect
from .sources import Storage

# Maximum number of jobs, steps, ranks or snapshots in a list.
MOST_ROWS = 1000
# Condition of a column of `snapshot` whose value is given as text. Empty if it has none.
_EQUALS = "coalesce(CAST({} AS VARCHAR), '') = ?"


@dataclass(frozen=True)
class Group:
    """The snapshots of a job, or of one of its steps or ranks. An empty text stands for snapshots without a value."""

    job: str
    step: str | None = None
    rank: str | None = None

    def where(self) -> tuple[str, list[str]]:
        """Return the condition on `snapshot`, and its parameters."""
        given = {"job": self.job, "step": self.step, "rank": self.rank}
        known = {name: value for name, value in given.items() if value is not None}
        return " AND ".join(_EQUALS.format(name) for name in known), list(known.values())

    def path(self) -> str:
        """Return the path of the list below the address of the server."""
        given = {"job": self.job, "step": self.step, "rank": self.rank}
        return "".join(f"{name}={quote(value, safe='')}/" for name, value in given.items() if value is not None)

    def title(self) -> str:
        """Return the name of the list, such as `job-a, step 100`."""
        names = [self.job or "without a job"]
        parts = {"step": self.step, "rank": self.rank}
        names += [f"{name} {value or 'unknown'}" for name, value in parts.items() if value is not None]
        return ", ".join(names)


@dataclass(frozen=True)
class Stored:
    """A snapshot in a store. Its address consists of a number, by which it is found, and a name, which is shown."""

    snapshot: str
    url: str
    name: str

    @property
    def number(self) -> str:
        """The id of the snapshot in decimal digits."""
        return str(int(self.snapshot, 16))

    @property
    def address(self) -> str:
        """The address below that of its list. A name may have any characters, and is one segment of a path."""
        return f"{self.number}/{quote(self.name, safe='')}"


class Tables:
    """A connection to a lake, which threads share."""

    def __init__(self, lake: str, storage: Storage) -> None:
        self.lake, self.storage = lake, storage
        self._lock = threading.Lock()
        self._connection = connect(lake, storage=storage)

    def refresh(self) -> None:
        """Read which snapshots the lake has now."""
        connection = connect(self.lake, storage=self.storage)
        with self._lock:
            self._connection = connection

    def rows(self, sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
        """Return the rows of a query, as dictionaries."""
        with self._lock:
            result = self._connection.execute(sql, parameters or [])
            names = [column[0] for column in result.description or ()]
            return [dict(zip(names, row)) for row in result.fetchall()]

    def jobs(self, part: str = "") -> list[dict[str, Any]]:
        """Return the jobs whose name contains this text, the newest first."""
        return self.rows(
            "SELECT coalesce(job, '') AS job, count(DISTINCT url) AS snapshots, sum(ooms)::BIGINT AS ooms,"
            " max(peak_bytes) AS peak_bytes, max(peak_reserved_bytes) AS reserved_bytes, count(DISTINCT step) AS steps,"
            " count(DISTINCT rank) AS ranks, count_if(status <> 'ok') AS unread, max(modified) AS newest FROM snapshot"
            " WHERE contains(lower(coalesce(job, '')), lower(?))"
            f" GROUP BY ALL ORDER BY newest DESC, job LIMIT {MOST_ROWS + 1}",
            [part],
        )

    def parts(self, job: str, by: str) -> list[dict[str, Any]]:
        """Return the steps or the ranks of a job."""
        where, parameters = Group(job).where()
        return self.rows(
            f"SELECT coalesce(CAST({by} AS VARCHAR), '') AS {by}, count(DISTINCT url) AS snapshots,"
            " sum(ooms)::BIGINT AS ooms, min(peak_bytes) AS lowest_peak_bytes, max(peak_bytes) AS highest_peak_bytes,"
            " max(end_bytes) AS end_bytes, max(peak_reserved_bytes) AS reserved_bytes, max(modified) AS newest"
            f" FROM snapshot WHERE {where} GROUP BY {by} ORDER BY snapshot.{by} LIMIT {MOST_ROWS + 1}",
            parameters,
        )

    def devices(self, group: Group) -> list[dict[str, Any]]:
        """Return a row for each device of each snapshot of a list."""
        where, parameters = group.where()
        return self.rows(
            "SELECT snapshot, url, step, rank, device, ooms, peak_bytes, end_bytes, peak_reserved_bytes AS reserved_bytes,"
            f" host, coalesce(error, verdict) AS finding, status FROM snapshot WHERE {where}"
            f" ORDER BY step, rank, url, member, device LIMIT {MOST_ROWS + 1}",
            parameters,
        )

    def stored(self, group: Group) -> list[Stored]:
        """Return the snapshots of a list in its order. Their names start below the folder that all have in common."""
        where, parameters = group.where()
        found = self.rows(
            f"SELECT snapshot, url FROM snapshot WHERE {where}"
            " GROUP BY snapshot, url ORDER BY min(step), min(rank), url, snapshot",
            parameters,
        )
        parts = [row["url"].split("/") for row in found]
        common = len(posixpath.commonprefix([folders for *folders, _ in parts])) if parts else 0
        return [Stored(row["snapshot"], row["url"], "/".join(path[common:])) for row, path in zip(found, parts)]

    def find(self, number: str) -> dict[str, Any] | None:
        """Return where a snapshot is, by the number of its address."""
        if not number.isdecimal() or int(number) >> 64:
            return None
        found = self.rows("SELECT url, status, error FROM snapshot WHERE snapshot = ? LIMIT 1", [f"{int(number):016x}"])
        return found[0] if found else None

    def group_of(self, url: str, by: str) -> tuple[Group, str] | None:
        """Return the step or the rank that a file is in, and its snapshot."""
        found = self.rows(
            f"SELECT coalesce(job, '') AS job, coalesce(CAST({by} AS VARCHAR), '') AS part, snapshot"
            " FROM snapshot WHERE url = ? ORDER BY member LIMIT 1",
            [url],
        )
        if not found:
            return None
        return Group(found[0]["job"], **{by: found[0]["part"]}), found[0]["snapshot"]
