"""Answers of the program, as mappings and as tables for notebooks and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .table import Table, size


@dataclass(frozen=True, repr=False)
class Answer(Mapping[str, Any]):
    """The `--json` output of a command as a mapping. `fields` is the dictionary."""

    fields: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    @property
    def table(self) -> Table:
        """The rows, or those of the first table if there are several."""
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
        # Notebooks store this text in addition to the HTML, so keep it short.
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
        """The rows as dictionaries. Columns with the same name are numbered: `a`, `a_2`."""
        return Table.from_lists(self.fields["columns"], self.fields["rows"])


@dataclass(frozen=True)
class Device:
    """Totals of one device. Sizes are requested bytes unless the name says otherwise."""

    device: int
    """Ordinal; -1 for host memory."""
    peak_bytes: int
    peak_event: int
    """Event after which the peak is reached, or -1 if it is reached before recording."""
    baseline_bytes: int
    """Bytes allocated before recording."""
    end_bytes: int
    peak_reserved_bytes: int
    reserved_end_bytes: int
    events: int
    ooms: int
    fields: dict[str, Any] = field(repr=False)
    """All fields of the device in `memscape summary --json`."""


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
    """Live allocations after an event, in groups."""

    @property
    def event(self) -> int:
        """Number of the event, or -1 for the state before the first event."""
        return int(self.fields["event"])

    @property
    def live_bytes(self) -> int:
        """Bytes requested by live allocations."""
        return int(self.fields["live_bytes"])

    @property
    def reserved_bytes(self) -> int | None:
        """Bytes taken from the driver, or None if the file does not record them."""
        reserved = self.fields["reserved_bytes"]
        return None if reserved is None else int(reserved)

    @property
    def count(self) -> int:
        """Number of live allocations."""
        return int(self.fields["count"])

    def _title(self) -> str:
        when = f"after event {self.event:,}" if self.event >= 0 else "before the first event"
        return f"{size(self.live_bytes)} live {when}"
