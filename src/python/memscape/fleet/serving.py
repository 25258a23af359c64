"""Answers the requests of `memscape serve --lake`, as lines of JSON on pipes.

The program listens, and checks that a request is allowed (`src/cli/serve/lake.rs`, which lists the addresses). Only
files that the tables name are fetched.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, unquote

from . import lists, report
from .rank_surveys import surveys
from .sources import Storage
from .tables import Group, Stored, Tables
from .worker import copy_name, fetch

Answer = dict[str, Any]

# Number of requests that are answered at the same time.
_THREADS = 8
# Number of fetched files that are kept.
_KEPT_FILES = 8
# Maximum number of snapshots in the list of the page, and maximum length of their addresses. As in
# src/cli/serve/listing.rs.
_MOST_LISTED, _LONGEST_FRAGMENT = 200, 32 << 10
_MISSING: Answer = {"missing": "not found: reload the list of jobs"}


def serve(lake: str, storage: Storage) -> None:
    """Answer the requests on standard input until it ends."""
    # Ctrl+C ends the program that asks, and thereby this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tables, written = Tables(lake, storage), threading.Lock()

    def send(line: dict[str, Any]) -> None:
        with written:
            print(json.dumps(line), flush=True)

    (count,) = tables.rows("SELECT count(DISTINCT url) AS snapshots FROM snapshot")
    send(count)
    with tempfile.TemporaryDirectory(prefix="memscape-") as folder, ThreadPoolExecutor(_THREADS) as pool:
        server = Server(tables, folder)
        for line in sys.stdin.buffer:
            request = json.loads(line)
            pool.submit(
                lambda request: send({"id": request["id"], "answer": server.answer(request["path"], request["query"])}),
                request,
            )


class Server:
    """Answers to requests about a lake. Fetched files are kept in a folder."""

    def __init__(self, tables: Tables, folder: str) -> None:
        self.tables, self.folder = tables, folder
        self._fetching, self._fetched = threading.Lock(), OrderedDict[str, str]()
        self._count = 0
        self._surveying, self._surveyed = threading.Lock(), (Group(""), dict[str, Any]())

    def answer(self, path: str, query: str) -> Answer:
        """Return the answer to a request for a path below the address of the server."""
        try:
            return self._answer(path, query)
        except Exception as error:
            # Of the store, of DuckDB, or an error of ours: the server goes on.
            return {"failed": f"{type(error).__name__}: {error}"}

    def _answer(self, path: str, query: str) -> Answer:
        fixed = {"": self._jobs, "report": self._report, "open": self._open}
        if path in fixed:
            return fixed[path](query)
        group, rest = parsed(path)
        if group is None:
            return _MISSING
        if rest in ("", "listing"):
            return self._list(group, rest)
        number, slash, name = rest.partition("/")
        return self._snapshot(group, number, name, query) if slash else self._page(group, number, query)

    def _jobs(self, query: str) -> Answer:
        self.tables.refresh()
        return {"html": lists.jobs(self.tables, parse_qs(query).get("q", [""])[0])}

    def _report(self, _: str) -> Answer:
        return {"html": report.render(self.tables.lake, self.tables.storage, viewer=report.SERVED)}

    def _list(self, group: Group, form: str) -> Answer:
        if form == "listing":
            return {"listing": "".join(f"{stored.address}\n" for stored in self.tables.stored(group))}
        is_job = group.step is None and group.rank is None
        return {"html": lists.job(self.tables, group.job) if is_job else lists.group(self.tables, group)}

    def _snapshot(self, group: Group, number: str, name: str, query: str) -> Answer:
        found = self.tables.find(number)
        if found is None or not found["url"].endswith(unquote(name)):
            return _MISSING
        if query == "survey":
            return self._survey(group, number, found["error"] or "no device has events or segments")
        return {"file": self._file(found["url"])}

    def _open(self, query: str) -> Answer:
        """Lead from a link of the report to the file in its list: of the rank if two files are compared."""
        view = dict(parse_qsl(query))
        url, other = view.pop("url", ""), view.pop("with", "")
        found = self.tables.group_of(url, "rank" if other else "step")
        if found is None:
            return _MISSING
        group, snapshot = found
        address = next((stored.address for stored in self.tables.stored(group) if stored.url == other), None)
        view |= {"with": address} if address else {}
        words = "&".join(f"{name}={quote(value, safe='/')}" for name, value in view.items())
        return {"redirect": f"{group.path()}{int(snapshot, 16)}?{words}"}

    def _page(self, group: Group, number: str, query: str) -> Answer:
        """Lead to the page, which opens the snapshot and lists the others."""
        stored = self.tables.stored(group)
        chosen = next((index for index, one in enumerate(stored) if one.number == number), None)
        if chosen is None:
            return _MISSING
        listed = stored[:_MOST_LISTED] if chosen < _MOST_LISTED else [stored[chosen], *stored[: _MOST_LISTED - 1]]
        links, length, index = [], 0, chosen if chosen < _MOST_LISTED else 0
        for one in listed:
            links.append(_link(one))
            length += len(links[-1]) + 1
        if length > _LONGEST_FRAGMENT:
            links, index = [links[index]], 0
        view = [f"open={index}"] if index else []
        return {"redirect": f"page#{'&'.join([*links, *view, *filter(None, [query])])}"}

    def _survey(self, group: Group, number: str, cause: str) -> Answer:
        with self._surveying:
            # All ranks of a list at once: the page asks for one after the other.
            if self._surveyed[0] != group or number not in self._surveyed[1]:
                found = surveys(self.tables, group)
                self._surveyed = (group, {str(int(snapshot, 16)): survey for snapshot, survey in found.items()})
            survey = self._surveyed[1].get(number)
        return {"survey": survey} if survey else {"failed": cause}

    def _file(self, url: str) -> str:
        """Return a local file with the contents of a stored one."""
        with self._fetching:
            if url not in self._fetched:
                self._count += 1
                target = os.path.join(self.folder, f"{self._count}-{copy_name(url)}")
                self._fetched[url] = fetch(url, target, self.tables.storage)
            self._fetched.move_to_end(url)
            path = self._fetched[url]
            while len(self._fetched) > _KEPT_FILES:
                _, oldest = self._fetched.popitem(last=False)
                if os.path.dirname(oldest) == self.folder:
                    os.unlink(oldest)
        return path


def parsed(path: str) -> tuple[Group | None, str]:
    """Return the list that a path begins with, and the rest of the path."""
    values: dict[str, str] = {}
    for name in ("job", "step", "rank"):
        segment, slash, rest = path.partition("/")
        key, equals, value = segment.partition("=")
        if key == name and equals and slash:
            values[name], path = unquote(value), rest
    return (Group(**values), path) if "job" in values else (None, path)


def _link(stored: Stored) -> str:
    """Return an address for the fragment of the page, which is decoded once before it is requested."""
    return f"url={quote(stored.address, safe='/')}"
