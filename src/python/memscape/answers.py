"""Answers of the program: mappings of what it prints with `--json`, with tables for notebooks and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .table import Table, size


@dataclass(frozen=True, repr=False)
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
        """The rows; of an answer with several tables, those of the first."""
        return Table(list(self.fields["rows"]), int(self.fields.get("rows_left_out") or 0), self._title())

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

    def __repr__(self) -> str:
        # Notebooks keep this beside the HTML: all of `fields` would be in each cell.
        return f"<memscape.{type(self).__name__}: {self._in_short()}>"

    def _in_short(self) -> str:
        return self.table.in_short()

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()


@dataclass(frozen=True, repr=False)
class Rows(Answer):
    """Rows of an SQL query. `fields["rows"]` has them as lists, in the order of `fields["columns"]`."""

    @property
    def table(self) -> Table:
        """The rows as dictionaries. Of columns with one name, all but the first get a number: `a`, `a_2`."""
        return Table.from_lists(self.fields["columns"], self.fields["rows"])


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
    fields: dict[str, Any] = field(repr=False)
    """All that `memscape summary --json` says of it."""


@dataclass(frozen=True, repr=False)
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


@dataclass(frozen=True, repr=False)
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
        when = f"after event {self.event:,}" if self.event >= 0 else "before the first event"
        return f"{size(self.live_bytes)} live {when}"
