"""An open snapshot that answers questions, through a process that keeps the file open."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._asking import Process
from ._binary import options
from ._text import cut, html_text, markdown_text
from .answers import Answer, Live, Rows, Summary
from .insights import Insight, Plan, Segments, WhatIf

if TYPE_CHECKING:
    from collections.abc import Sequence


class Session:
    """An open snapshot. Methods raise `MemscapeError`, with one sentence, if arguments are invalid or a command fails.

    Moments (`at`) are "peak", "reserved-peak", "oom", "end", the number of an event, or a time such as "1.25s".
    """

    def __init__(self, path: str | os.PathLike[str], device: int | None = None) -> None:
        """Open a snapshot. See `open`."""
        self.path = Path(path)
        self._process = Process(os.fspath(path), device)
        self._end = weakref.finalize(self, self._process.close)

    def ask(self, command: str, *arguments: object) -> Any:
        """Return the `--json` output of a command of the program. The file is not among the arguments."""
        return self._process.ask(
            command, *(os.fspath(it) if isinstance(it, os.PathLike) else str(it) for it in arguments)
        )

    @property
    def summary(self) -> Summary:
        """Totals of each device."""
        return Summary(self.ask("summary")[0])

    def live(self, at: str | int = "peak", *, by: str = "call-site", top: int = 20, mosaic: bool = False) -> Live:
        """Return live allocations at a moment, grouped by "call-site", "function", "file" or "tree".

        With `mosaic`, allocations from before recording are left out, as in Mosaic.
        """
        counting = ["--counting", "mosaic"] if mosaic else []
        return Live(self.ask("live", *options(at=at, by=by, top=top), *counting))

    def peak(
        self,
        *,
        from_time: str | None = None,
        to_time: str | None = None,
        by: str = "call-site",
        top: int = 20,
        mosaic: bool = False,
    ) -> Live:
        """Return live allocations at the peak of the trace, or of a range of times such as "1.2s"."""
        counting = ["--counting", "mosaic"] if mosaic else []
        times = {"from": from_time, "to": to_time}
        return Live(self.ask("peak", *options(by=by, top=top, **times), *counting))

    def tree(
        self, at: str | int = "peak", *, inverted: bool = False, hide_internal: bool = False, top: int = 200
    ) -> Live:
        """Return the call tree of live allocations: rows with `depth`, `live_bytes` (total) and `self_bytes`."""
        flags = ["--inverted"] * inverted + ["--hide-internal"] * hide_internal
        return Live(self.ask("live", *options(at=at, by="tree", top=top), *flags))

    def allocations(self, pattern: str | None = None, *, at: str | int | None = None, top: int = 20) -> Answer:
        """Return allocations, largest first. Patterns are those of the page: "train.py & >=1MiB", "#12", "/regex/"."""
        return Answer(self.ask("allocations", *options(at=at, top=top), *(["--", pattern] if pattern else [])))

    def events(
        self,
        *,
        action: str | None = None,
        size: str | None = None,
        first: str | int | None = None,
        last: str | int | None = None,
        filter: str | None = None,  # noqa: A002 - the program's word
        top: int = 20,
    ) -> Answer:
        """Return events, filtered by actions ("alloc,oom"), size (">=1MiB"), first and last moment, and a search."""
        ends = {"from": first, "to": last}
        return Answer(self.ask("events", *options(top=top, action=action, size=size, filter=filter, **ends)))

    def insight(
        self, topic: str, *, at: str | int | None = None, rules: str | None = None, top: int = 10, **thresholds: object
    ) -> Insight:
        """Return one insight.

        The topic is a name such as "oom" or "leaks"; `memscape insights --help` lists all.
        """
        return self.insights(topic, at=at, rules=rules, top=top, **thresholds)[0]

    def insights(
        self,
        topics: str | None = None,
        *,
        at: str | int | None = None,
        rules: str | None = None,
        top: int = 10,
        **thresholds: object,
    ) -> list[Insight]:
        """Return all insights, or those on topics such as "oom,leaks".

        Args:
            topics: Names of topics, separated by commas.
            at: Moment to analyze, for insights about a moment.
            rules: Category rules: "default", "mosaic", or the path of a file.
            top: Maximum number of rows in each table.
            **thresholds: Thresholds that the tables name, such as `alive="16MiB"`.

        """
        changed = [f"--threshold={key}={value}" for key, value in thresholds.items()]
        chosen = options(topic=topics, at=at, rules=rules, top=top)
        return [Insight(it) for it in self.ask("insights", *chosen, *changed)["insights"]]

    def segments(self, at: str | int = "peak", *, request: str | int | None = None, blocks: bool = False) -> Segments:
        """Return segments after an event. With `request`, a size such as "64MiB", also where it would be placed.

        `tables["blocks"]` has the blocks. With `blocks`, a notebook shows them too.
        """
        return Segments(self.ask("segments", *options(at=at, request=request)), blocks)

    def diff(
        self, other: str | os.PathLike[str], *, at_a: str | int | None = None, at_b: str | int | None = None
    ) -> Answer:
        """Compare with another snapshot: what is larger there, by how much, and why. B is the other snapshot."""
        return Answer(self.ask("diff", *options(at_a=at_a, at_b=at_b), "--", os.path.abspath(other)))

    def plan(self, *changes: str, capacity: str | None = None, preset: str | None = None) -> Plan:
        """Return the peak under changes such as "activations=2x", and the largest batch that fits in a capacity."""
        changed = [f"--set={change}" for change in changes]
        return Plan(self.ask("plan", *changed, *options(capacity=capacity, preset=preset)))

    def what_if(
        self, *settings: str, capacity: str | None = None, total: str | None = None, programs: Sequence[str] = ()
    ) -> WhatIf:
        """Simulate reserved memory under allocator settings such as "expandable_segments:True".

        Args:
            settings: Lines as for PYTORCH_CUDA_ALLOC_CONF.
            capacity: Memory that the driver can provide, such as "80GiB".
            total: Total memory of the device, which a memory fraction is a fraction of.
            programs: Changes of the program, such as "one-stream" or "preallocate=2GiB,empty-cache".

        """
        changed = [f"--set={setting}" for setting in settings]
        changed += [f"--program={program}" for program in programs]
        return WhatIf(self.ask("whatif", *changed, *options(capacity=capacity, total=total)))

    def sql(self, query: str) -> Rows:
        """Return the rows of an SQL query over the tables of the snapshot."""
        return Rows(self.ask("sql", "--", query))

    def export(self, to: str, path: str | os.PathLike[str], *arguments: object) -> None:
        """Write a file for another tool: "speedscope", "pprof", "collapsed", "firefox", "trace", "dhat", "csv", "jsonl"."""
        self.ask("export", "--to", to, "-o", os.path.abspath(path), *arguments)

    def html(self, path: str | os.PathLike[str], *, at: str | int | None = None, view: str | None = None) -> None:
        """Write the page with the snapshot in it, as one file that opens offline."""
        self.ask("html", "-o", os.path.abspath(path), *options(at=at, view=view))

    def plot(self, path: str | os.PathLike[str], *arguments: object) -> None:
        """Write the timeline as an SVG image."""
        self.ask("plot", "-o", os.path.abspath(path), *arguments)

    def close(self) -> None:
        """End the process. Further questions raise an error."""
        self._end()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<memscape.Session {cut(os.fspath(self.path))}{'' if self._end.alive else ', closed'}>"

    def _repr_html_(self) -> str:
        return self.summary._repr_html_() if self._end.alive else f"<p>{html_text(repr(self))}</p>"

    def _repr_markdown_(self) -> str:
        return self.summary._repr_markdown_() if self._end.alive else markdown_text(repr(self))


def open(path: str | os.PathLike[str], device: int | None = None) -> Session:  # noqa: A001 - as gzip.open
    """Open a snapshot: `with memscape.open("rank00000_step000120_oom.pickle.gz") as s: s.insight("oom")`.

    Args:
        path: Snapshot of any version of PyTorch, plain or compressed.
        device: Ordinal of the device that questions are about, -1 for host memory. Defaults to the device that ran out
            of memory, else to the one with the highest peak.

    Raises:
        MemscapeError: The file cannot be read, or the program is missing.

    """
    return Session(path, device)
