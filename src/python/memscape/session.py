"""Questions about a snapshot, answered by a process that keeps it open."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._asking import Process
from .table import Table, size


@dataclass(frozen=True)
class Answer(Mapping[str, Any]):
    """What the program says with `--json`, as a mapping; `fields` is the dictionary."""

    fields: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    @property
    def table(self) -> Table:
        """The rows; empty where there are none."""
        return Table(list(self.fields.get("rows", ())), int(self.fields.get("rows_left_out") or 0), self._title())

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return self.table.rows

    def to_pandas(self) -> Any:
        """Return the rows as a `pandas.DataFrame`."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """Return the rows as a `polars.DataFrame`."""
        return self.table.to_polars()

    def _title(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()


@dataclass(frozen=True)
class Device:
    """Totals of one device, in bytes requested by the program unless they say otherwise."""

    device: int
    """Ordinal; -1 for host memory."""
    peak_bytes: int
    peak_event: int
    """The event after which the peak is reached; -1: it was there before recording."""
    baseline_bytes: int
    """Allocated before recording."""
    end_bytes: int
    peak_reserved_bytes: int
    reserved_end_bytes: int
    events: int
    ooms: int
    fields: dict[str, Any]
    """All that `memscape summary --json` says of it."""


@dataclass(frozen=True)
class Summary(Answer):
    """Totals of each device."""

    @property
    def devices(self) -> list[Device]:
        """The devices that have events or segments."""
        return [
            Device(
                device["device"],
                device["peak_requested"],
                device["peak_event"],
                device["base_requested"],
                device["end_requested"],
                device["peak_reserved"],
                device["reserved_end"],
                device["events"],
                device["actions"].get("oom", 0),
                device,
            )
            for device in self.fields["devices"]
        ]

    @property
    def table(self) -> Table:
        """A row for each device."""
        keys = (
            "device",
            "peak_bytes",
            "peak_event",
            "baseline_bytes",
            "end_bytes",
            "peak_reserved_bytes",
            "events",
            "ooms",
        )
        return Table(
            [{key: getattr(device, key) for key in keys} for device in self.devices], 0, str(self.fields["file"])
        )


@dataclass(frozen=True)
class Live(Answer):
    """What is live after an event, grouped."""

    @property
    def event(self) -> int:
        """The event that this is after; -1: before the first."""
        return int(self.fields["event"])

    @property
    def live_bytes(self) -> int:
        """Bytes requested by allocations that are live."""
        return int(self.fields["live_bytes"])

    @property
    def reserved_bytes(self) -> int | None:
        """Bytes taken from the driver; None where the file does not say."""
        reserved = self.fields["reserved_bytes"]
        return None if reserved is None else int(reserved)

    @property
    def count(self) -> int:
        """Number of allocations that are live."""
        return int(self.fields["count"])

    def _title(self) -> str:
        return f"{size(self.live_bytes)} live after event {self.event:,}"


@dataclass(frozen=True)
class Statement:
    """A sentence of an insight."""

    tone: str
    """fact, good or alarm."""
    text: str
    fix: str | None
    """What to do, if anything."""
    evidence: dict[str, Any] | None
    """Where to look: `after_event`, `span`, `allocation`, `find`."""


@dataclass(frozen=True)
class Insight(Answer):
    """Statements and tables on one topic."""

    @property
    def topic(self) -> str:
        """oom, savings, peak, leaks, ..."""
        return str(self.fields["topic"])

    @property
    def statements(self) -> list[Statement]:
        """The statements; the most important first."""
        return [Statement(it["tone"], it["text"], it["fix"], it["evidence"]) for it in self.fields["statements"]]

    @property
    def tables(self) -> dict[str, Table]:
        """The tables by their keys."""
        return {
            key: Table(
                list(sheet["rows"]),
                int(sheet["rows_left_out"] or 0),
                sheet["title"],
                [it["key"] for it in sheet["columns"]],
            )
            for key, sheet in self.fields["sheets"].items()
        }

    @property
    def table(self) -> Table:
        """The first table."""
        return next(iter(self.tables.values()), Table([]))

    def _repr_markdown_(self) -> str:
        lines = [f"- {it.text}" + (f" **{it.fix}**" if it.fix else "") for it in self.statements]
        return "\n".join(lines) + "".join(f"\n\n{table._repr_markdown_()}" for table in self.tables.values())

    def _repr_html_(self) -> str:
        from html import escape

        items = "".join(
            f"<li>{escape(it.text)}" + (f" <b>{escape(it.fix)}</b>" if it.fix else "") + "</li>"
            for it in self.statements
        )
        return f"<ul>{items}</ul>" + "".join(table._repr_html_() for table in self.tables.values())


class Session:
    """A snapshot that is open. Methods raise `MemscapeError`, one sentence, where arguments are wrong or there is no answer.

    Moments (`at`) are "peak", "reserved-peak", "oom", "end", the number of an event, or a time such as "1.25s".
    """

    def __init__(self, path: str | os.PathLike[str], device: int | None = None) -> None:
        """Open a snapshot; see `open`."""
        self.path = Path(path)
        self._process = Process(os.fspath(path), device)
        self._end = weakref.finalize(self, self._process.close)

    def ask(self, command: str, *arguments: object) -> Any:
        """Return what a command of the program prints with `--json`; the file is not among its arguments."""
        return self._process.ask(
            command, *(os.fspath(it) if isinstance(it, os.PathLike) else str(it) for it in arguments)
        )

    @property
    def summary(self) -> Summary:
        """Totals of each device."""
        return Summary(self.ask("summary")[0])

    def live(self, at: str | int = "peak", *, by: str = "call-site", top: int = 20, mosaic: bool = False) -> Live:
        """Return what is live at a moment, grouped by "call-site", "function", "file" or "tree".

        With `mosaic`, what was allocated before recording is left out, as in Mosaic.
        """
        counting = ["--counting", "mosaic"] if mosaic else []
        return Live(self.ask("live", "--at", at, "--by", by, "--top", top, *counting))

    def peak(
        self,
        *,
        from_time: str | None = None,
        to_time: str | None = None,
        by: str = "call-site",
        top: int = 20,
        mosaic: bool = False,
    ) -> Live:
        """Return what is live at the peak of the trace, or of a range of times such as "1.2s"."""
        counting = ["--counting", "mosaic"] if mosaic else []
        arguments = [*_option("--from", from_time), *_option("--to", to_time), *counting]
        return Live(self.ask("peak", "--by", by, "--top", top, *arguments))

    def tree(
        self, at: str | int = "peak", *, inverted: bool = False, hide_internal: bool = False, top: int = 200
    ) -> Live:
        """Return the call tree of what is live: rows with `depth`, `live_bytes` (total) and `self_bytes`."""
        flags = ["--inverted"] * inverted + ["--hide-internal"] * hide_internal
        return Live(self.ask("live", "--at", at, "--by", "tree", "--top", top, *flags))

    def allocations(self, pattern: str | None = None, *, at: str | int | None = None, top: int = 20) -> Answer:
        """Return allocations, the largest first. A pattern is as on the page: "train.py & >=1MiB", "#12", "/regex/"."""
        return Answer(
            self.ask("allocations", *_option("--at", at), "--top", top, *(["--", pattern] if pattern else []))
        )

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
        """Return events: of actions such as "alloc,oom", of a size such as ">=1MiB", between two moments, that a filter finds."""
        options = [("--action", action), ("--size", size), ("--from", first), ("--to", last), ("--filter", filter)]
        return Answer(
            self.ask("events", "--top", top, *(part for name, value in options for part in _option(name, value)))
        )

    def insight(
        self, topic: str, *, at: str | int | None = None, rules: str | None = None, top: int = 10, **thresholds: object
    ) -> Insight:
        """Return one insight: "oom", "savings", "peak", "leaks", "fragmentation", "settings", "steps", "modules", "categories", "pools"."""
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
        """Return all insights, or those on the topics: "oom,leaks".

        Args:
            topics: Names, separated by commas.
            at: Moment that they are about, where they are about one.
            rules: Category rules: "default", "mosaic", or the path of a file.
            top: Rows of each table.
            **thresholds: Those that tables name: `alive="16MiB"`.

        """
        changed = [part for key, value in thresholds.items() for part in ("--threshold", f"{key}={value}")]
        options = [*_option("--topic", topics), *_option("--at", at), *_option("--rules", rules)]
        return [Insight(it) for it in self.ask("insights", *options, "--top", top, *changed)["insights"]]

    def segments(self, at: str | int = "peak", *, request: str | int | None = None, blocks: bool = False) -> Answer:
        """Return segments at a moment; with `request`, a size such as "64MiB", where it would go."""
        return Answer(self.ask("segments", "--at", at, *_option("--request", request), *["--blocks"] * blocks))

    def diff(
        self, other: str | os.PathLike[str], *, at_a: str | int | None = None, at_b: str | int | None = None
    ) -> Answer:
        """Return what is larger in another snapshot, by how much, and why: B is the other."""
        return Answer(
            self.ask("diff", *_option("--at-a", at_a), *_option("--at-b", at_b), "--", os.path.abspath(other))
        )

    def plan(self, *changes: str, capacity: str | None = None, preset: str | None = None) -> Answer:
        """Return the peak under changes such as "activations=2x", and the largest batch that fits into a capacity."""
        changed = [part for change in changes for part in ("--set", change)]
        return Answer(self.ask("plan", *changed, *_option("--capacity", capacity), *_option("--preset", preset)))

    def what_if(self, *settings: str, capacity: str | None = None) -> Answer:
        """Return what would have been reserved under allocator settings such as "expandable_segments:True"."""
        changed = [part for setting in settings for part in ("--set", setting)]
        return Answer(self.ask("whatif", *changed, *_option("--capacity", capacity)))

    def sql(self, query: str) -> Answer:
        """Return the rows of an SQL query over the tables of the snapshot."""
        return Answer(self.ask("sql", "--", query))

    def export(self, to: str, path: str | os.PathLike[str], *arguments: object) -> None:
        """Write a file for another tool: "speedscope", "pprof", "collapsed", "firefox", "trace", "dhat", "csv", "jsonl"."""
        self.ask("export", "--to", to, "-o", os.path.abspath(path), *arguments)

    def html(self, path: str | os.PathLike[str], *, at: str | int | None = None, view: str | None = None) -> None:
        """Write the page with the snapshot inside: one file that opens offline."""
        self.ask("html", "-o", os.path.abspath(path), *_option("--at", at), *_option("--view", view))

    def plot(self, path: str | os.PathLike[str], *arguments: object) -> None:
        """Write the timeline as an SVG image."""
        self.ask("plot", "-o", os.path.abspath(path), *arguments)

    def close(self) -> None:
        """End the process; further questions raise."""
        self._end()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()

    def _repr_markdown_(self) -> str:
        return self.summary._repr_markdown_()


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [f"{name}={value}"]


def open(path: str | os.PathLike[str], device: int | None = None) -> Session:  # noqa: A001 - as gzip.open
    """Open a snapshot and keep it open: `with memscape.open("rank00000_step000120_oom.pickle.gz") as s: s.insight("oom")`.

    Args:
        path: The file: a snapshot of any PyTorch, plain or compressed.
        device: Ordinal of the device that questions are about, -1 for host memory; by default the one that ran out of memory, else the
            one with the highest peak.

    Raises:
        MemscapeError: The file cannot be read, or the program is missing.

    """
    return Session(path, device)
