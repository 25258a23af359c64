"""Rows of an answer: to look at, to iterate over, and for pandas and polars."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

_SHOWN = 50


@dataclass(frozen=True)
class Table(Sequence[dict[str, Any]]):
    """Rows as dictionaries. Keys that end in `_bytes` are bytes, in `_us` microseconds; events are numbers from 0 on."""

    rows: list[dict[str, Any]]
    left_out: int = 0
    """Rows that there are besides; ask with a larger `top`."""
    title: str = ""
    columns: list[str] = field(default_factory=list)
    """Keys of all rows, in their order."""

    def __post_init__(self) -> None:
        if not self.columns:
            self.columns.extend(dict.fromkeys(key for row in self.rows for key in row))

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`.

        Raises:
            ImportError: pandas is not installed.

        """
        import pandas as pd

        return pd.DataFrame(self.rows, columns=self.columns)

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame`.

        Raises:
            ImportError: polars is not installed.

        """
        import polars as pl

        columns = {key: [row.get(key) for row in self.rows] for key in self.columns}
        return pl.DataFrame(columns, strict=False)

    def _cells(self) -> Iterator[list[str]]:
        for row in self.rows[:_SHOWN]:
            yield [shown(key, row.get(key)) for key in self.columns]

    def _more(self) -> str:
        more = self.left_out + max(len(self.rows) - _SHOWN, 0)
        return f"and {more:,} more" if more else ""

    def _repr_html_(self) -> str:
        def line(tag: str, cells: list[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        title = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        body = "".join(line("td", cells) for cells in self._cells())
        more = self._more()
        after = f"<p>{more}</p>" if more else ""
        return f"<table>{title}<thead>{line('th', self.columns)}</thead><tbody>{body}</tbody></table>{after}"

    def _repr_markdown_(self) -> str:
        def line(cells: list[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

        title = [f"**{self.title}**", ""] if self.title else []
        more = self._more()
        lines = [line(self.columns), line(["---"] * len(self.columns)), *map(line, self._cells())]
        return "\n".join([*title, *lines, *(["", more] if more else [])])


def size(count: float) -> str:
    """Return bytes for people: `4.27 GiB`."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024 or unit == "GiB":
            if unit == "B":
                return f"{value:.0f} B"
            return f"{value:,.{max(0, 2 - (abs(value) >= 10) - (abs(value) >= 100))}f} {unit}"
        value /= 1024
    raise AssertionError


def shown(key: str, value: Any) -> str:
    """Return a value for people; `key` says what it is."""
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if key.endswith("bytes"):
            return size(value)
        return f"{value:,}" if isinstance(value, int) and key not in ("line", "step", "rank") else f"{value}"
    return str(value)
