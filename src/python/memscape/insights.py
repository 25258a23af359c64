"""Answers with statements and several tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._text import counted, cut, html_text, markdown_text
from .answers import Answer
from .table import Table, size

MAX_ROWS_EACH = 10
"""Maximum number of rows that a notebook shows of each table, in an answer with several."""
_MAX_SENTENCES = 20
"""Maximum number of statements that a notebook shows."""
_MAX_SENTENCE = 400
"""Maximum length of a statement in a notebook, in characters."""
_MAX_TEXT = 48 << 10
"""Maximum total length of all tables in a notebook, in characters. Further tables are only named."""


@dataclass(frozen=True)
class Statement:
    """A statement of an insight."""

    tone: str
    """fact, good or alarm."""
    text: str
    fix: str | None
    """Suggested change, if any."""
    evidence: dict[str, Any] | None
    """Place in the trace, with the keys `after_event`, `span`, `allocation` and `find`."""


@dataclass(frozen=True, repr=False)
class Tables(Answer):
    """An answer with several tables. A notebook shows the first rows of each, and `tables` has all rows."""

    @property
    def tables(self) -> dict[str, Table]:
        """The tables by their keys."""
        raise NotImplementedError

    @property
    def statements(self) -> list[Statement]:
        """The statements, most important first."""
        return []

    @property
    def table(self) -> Table:
        """The first table."""
        return next(iter(self.tables.values()), Table([]))

    def _shown_tables(self) -> dict[str, Table]:
        return self.tables

    def _in_short(self) -> str:
        return f"{counted(len(self.statements), 'statement')}; tables {', '.join(self.tables) or 'none'}"

    def _repr_html_(self) -> str:
        lines = [
            f"<li>{html_text(text)}" + (f" <b>{html_text(fix)}</b>" if fix else "") + "</li>"
            for text, fix in self._sentences()
        ]
        items = f'<ul class="tex2jax_ignore mathjax_ignore">{"".join(lines)}</ul>' if lines else ""
        tables, rest = self._rendered(Table.to_html)
        return "".join([items, *tables, *(f"<p>{html_text(text)}</p>" for text in rest)])

    def _repr_markdown_(self) -> str:
        lines = [
            f"- {markdown_text(text)}" + (f" **{markdown_text(fix)}**" if fix else "")
            for text, fix in self._sentences()
        ]
        tables, rest = self._rendered(Table.to_markdown)
        return "\n\n".join([*(["\n".join(lines)] if lines else []), *tables, *map(markdown_text, rest)])

    def _sentences(self) -> list[tuple[str, str]]:
        shown = [
            (cut(it.text, _MAX_SENTENCE), cut(it.fix or "", _MAX_SENTENCE)) for it in self.statements[:_MAX_SENTENCES]
        ]
        more = len(self.statements) - len(shown)
        return [*shown, *([(f"… {more:,} more in .statements", "")] if more else [])]

    def _rendered(self, render: Callable[[Table, int], str]) -> tuple[list[str], list[str]]:
        """Render tables up to the maximum length, but at least one. The others are named in a sentence."""
        texts: list[str] = []
        rest: list[str] = []
        left = _MAX_TEXT
        for key, table in self._shown_tables().items():
            text = render(table, MAX_ROWS_EACH) if left > 0 else ""
            left -= len(text)
            if texts and left < 0:
                rest.append(key)
            else:
                texts.append(text)
        return texts, [f"… {len(rest)} more in .tables: {', '.join(rest)}"] if rest else []


@dataclass(frozen=True, repr=False)
class Insight(Tables):
    """Statements and tables on one topic."""

    @property
    def topic(self) -> str:
        """Name of the topic: oom, savings, peak, leaks, ..."""
        return str(self.fields["topic"])

    @property
    def statements(self) -> list[Statement]:
        """The statements, most important first."""
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


@dataclass(frozen=True, repr=False)
class Segments(Tables):
    """Segments after an event: the tables `segments`, `groups` and `blocks`, and `fits` if a size was requested."""

    lists_blocks: bool = False
    """True if a notebook also shows the blocks."""

    @property
    def tables(self) -> dict[str, Table]:
        """The tables of segments, of pools and streams, of blocks, and of places that the requested size fits into."""
        groups: list[dict[str, Any]] = []
        segments: list[dict[str, Any]] = []
        blocks: list[dict[str, Any]] = []
        for group in self.fields["groups"]:
            place = {"pool": group["pool_name"], **{key: group[key] for key in ("stream", "small", "expandable")}}
            groups.append({**place, **group["sums"]})
            for segment in group["segments"]:
                own = {key: value for key, value in segment.items() if key != "blocks"}
                segments.append({"address": own.pop("address"), **place, **own})
                blocks.extend({"segment": segment["address"], **block} for block in segment["blocks"])
        when = f"after event {self.fields['event']:,}" if self.fields["event"] >= 0 else "before the first event"
        found = {
            "segments": Table(segments, 0, f"Segments {when}", [] if segments else ["address", *_SUMS]),
            "groups": Table(groups, 0, f"Pools and streams {when}", [] if groups else ["pool", *_SUMS]),
            "blocks": Table(blocks, 0, f"Blocks {when}", [] if blocks else ["segment", "address", "state"]),
        }
        if self.fields["request_bytes"] is not None:
            title = f"Where would a {size(self.fields['request_bytes'])} request go?"
            found["fits"] = Table(list(self.fields["fits"]), 0, title)
        return found

    def _shown_tables(self) -> dict[str, Table]:
        shown = ["fits", "groups", "segments", *(["blocks"] if self.lists_blocks else [])]
        tables = self.tables
        return {key: tables[key] for key in shown if key in tables}


_SUMS = ("segment_count", "reserved_bytes", "block_count", "live_bytes", "free_bytes")


@dataclass(frozen=True, repr=False)
class Plan(Tables):
    """The peak under changes: the tables `peaks` and `groups`."""

    @property
    def tables(self) -> dict[str, Table]:
        """The table of the recorded and the planned peak, and the table of groups of allocations that change."""
        reserved = self.fields["planned_reserved"]["peak_reserved"]
        peaks = [
            {
                "peak": key,
                "peak_event": self.fields[key]["peak_event"],
                "peak_live_bytes": self.fields[key]["peak_live_bytes"],
                "peak_reserved_bytes": reserved if key == "planned" else None,
            }
            for key in ("recorded", "planned")
        ]
        return {
            "peaks": Table(peaks, 0, "Peak as recorded and as planned"),
            "groups": Table(
                list(self.fields["groups"]), 0, "Groups that change", ["group", "factor", "count", "peak_live_bytes"]
            ),
        }

    @property
    def statements(self) -> list[Statement]:
        """Headroom, the largest batch that fits, and caveats."""
        found = []
        headroom, largest = self.fields["headroom_bytes"], self.fields["largest_batch"]
        if headroom is not None:
            left = f"{size(headroom)} left" if headroom >= 0 else f"{size(-headroom)} too much"
            tone = "good" if headroom >= 0 else "alarm"
            found.append(Statement(tone, f"Capacity {size(self.fields['capacity_bytes'])}: {left}", None, None))
        if largest is not None:
            bound = "" if largest.get("backward_recorded", True) else "at most "
            note = "" if not bound else ": the backward pass was not recorded"
            lower = f"{largest['min_factor']}x to " if "min_factor" in largest and not bound else ""
            factors = f"{lower}{bound}{largest['factor']}x"
            if largest["factor"] is None:
                factors = f"at least {largest['min_factor']}x"
            text = f"Largest batch that fits: {factors}{note}"
            found.append(Statement("fact", text, None, None))
        return found + [Statement("fact", text, None, None) for text in self.fields["caveats"]]


@dataclass(frozen=True, repr=False)
class WhatIf(Tables):
    """Reserved memory under other allocator settings: the tables `runs` and `reproduces`, and `fits_in` after a search."""

    @property
    def tables(self) -> dict[str, Table]:
        """The table of simulated settings, and the table of how well the simulation reproduces each device."""
        devices = self.fields["devices"]
        runs = [_run(it["device"], run) for it in devices for run in it["runs"]]
        reproduces = [_reproduces(it["device"], it["reproduces"]) for it in devices]
        fits = [
            {"device": it["device"], "settings": fit["settings"], "capacity_bytes": fit["capacity"]}
            for it in devices
            for fit in it["fits_in"] or ()
        ]
        return {
            "runs": Table(runs, 0, "Simulated settings", [] if runs else ["device", "settings", "peak_reserved_bytes"]),
            "reproduces": Table(reproduces, 0, "How the simulation compares to the recording"),
            **({"fits_in": Table(fits, 0, "Smallest memory that is enough")} if fits else {}),
        }

    @property
    def statements(self) -> list[Statement]:
        """The reasons why devices cannot be simulated."""
        refused = [(it["device"], it["reproduces"]["refused"]) for it in self.fields["devices"]]
        return [Statement("alarm", f"Device {device}: {why}", None, None) for device, why in refused if why]


def _run(device: int, run: dict[str, Any]) -> dict[str, Any]:
    low, high = run["band"] or (None, None)
    return {
        "device": device,
        "settings": run["settings"],
        "program": ", ".join(key.removesuffix("_bytes") for key, value in (run["program"] or {}).items() if value),
        "grade": run["grade"],
        "peak_reserved_bytes": run["peak_reserved"],
        "peak_reserved_low_bytes": low,
        "peak_reserved_high_bytes": high,
        "oom_event": run["oom_event"],
        "driver_calls": run["driver_calls"],
        "retries": run["retries"],
        "runs_out_of_memory": run["runs_out_of_memory"],
    }


def _reproduces(device: int, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "device": device,
        **{key: fields[key] for key in ("addresses", "addresses_equal", "segment_events", "segment_events_equal")},
        **{
            f"{key}_bytes": fields[key] for key in ("peak_reserved", "recorded_peak_reserved", "largest_reserved_error")
        },
        "not_exercised": fields["not_exercised"],
        "refused": fields["refused"],
    }
