"""Tables of answers, for notebooks, iteration, pandas and polars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from . import _data_frames
from ._text import counted, cut, html_text, markdown_text

MAX_ROWS = 20
"""Maximum number of rows that a notebook shows."""
MAX_COLUMNS = 30
"""Maximum number of columns that a notebook shows."""
_MAX_TEXT = 16 << 10
"""Maximum total length of the rows in a notebook, in characters. Tables with long cells show fewer rows."""


@dataclass(frozen=True, repr=False)
class Table(Sequence[dict[str, Any]]):
    """Rows as dictionaries. Keys that end in `_bytes` are in bytes, in `_us` in µs. Events are numbered from 0."""

    rows: list[dict[str, Any]]
    left_out: int = 0
    """Number of rows that were left out. A larger `top` returns them."""
    title: str = ""
    columns: list[str] = field(default_factory=list)
    """Keys of all rows, in order."""

    def __post_init__(self) -> None:
        if not self.columns:
            self.columns.extend(dict.fromkeys(key for row in self.rows for key in row))

    @classmethod
    def from_lists(cls, columns: Iterable[str], rows: Iterable[Sequence[Any]], title: str = "") -> Table:
        """Create a table from rows that are lists. Columns with the same name are numbered: `a`, `a_2`."""
        names = _unique(columns)
        return cls([dict(zip(names, row)) for row in rows], 0, title, names)

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
        """Return a `pandas.DataFrame`. Integers stay exact, even in columns with missing values.

        Raises:
            ImportError: pandas is not installed.

        """
        return _data_frames.to_pandas(self.columns, self.rows)

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame`. Columns of mixed types become text.

        Raises:
            ImportError: polars is not installed.

        """
        return _data_frames.to_polars(self.columns, self.rows)

    def to_html(self, max_rows: int = MAX_ROWS) -> str:
        """Return the first rows as an HTML table, with a line that counts the rest."""

        def line(tag: str, cells: Iterable[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html_text(cell)}</{tag}>" for cell in cells) + "</tr>"

        title = f"<caption>{html_text(self.title)}</caption>" if self.title else ""
        cells = self._cells(max_rows)
        body = "".join(line("td", row) for row in cells)
        after = "".join(f"<p>{text}</p>" for text in self._more(len(cells)))
        # Notebooks typeset text between dollar signs as math, except in these classes.
        table = '<table class="tex2jax_ignore mathjax_ignore">'
        return f"{table}{title}<thead>{line('th', self._heads())}</thead><tbody>{body}</tbody></table>{after}"

    def to_markdown(self, max_rows: int = MAX_ROWS) -> str:
        """Return the first rows as a Markdown table, with a line that counts the rest."""

        def line(cells: Iterable[str]) -> str:
            return "| " + " | ".join(cells) + " |"

        title = [f"**{markdown_text(self.title)}**", ""] if self.title else []
        cells = self._cells(max_rows)
        heads = [markdown_text(head) for head in self._heads()]
        rows = [line(map(markdown_text, row)) for row in cells]
        after = [part for text in self._more(len(cells)) for part in ("", text)]
        return "\n".join([*title, *([line(heads), line(["---"] * len(heads))] if heads else []), *rows, *after])

    def in_short(self) -> str:
        """Return the number of rows and the title in one line."""
        title = f"{cut(self.title)}; " if self.title else ""
        return f"{title}{counted(len(self.rows) + self.left_out, 'row')}, {counted(len(self.columns), 'column')}"

    def __repr__(self) -> str:
        return f"<memscape.Table: {self.in_short()}>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _heads(self) -> list[str]:
        return [cut(name) for name in self.columns[:MAX_COLUMNS]]

    def _cells(self, max_rows: int) -> list[list[str]]:
        rows: list[list[str]] = []
        left = _MAX_TEXT
        for row in self.rows[:max_rows]:
            cells = [cut(shown(key, row.get(key))) for key in self.columns[:MAX_COLUMNS]]
            left -= sum(map(len, cells))
            if left < 0 and rows:
                break
            rows.append(cells)
        return rows

    def _more(self, shown_rows: int) -> list[str]:
        rows = self.left_out + len(self.rows) - shown_rows
        columns = max(len(self.columns) - MAX_COLUMNS, 0)
        return [_count_more(rows, "row")] * (rows > 0) + [_count_more(columns, "column")] * (columns > 0)


def _count_more(count: int, what: str) -> str:
    return f"… {counted(count, f'more {what}')}"


def _unique(names: Iterable[str]) -> list[str]:
    names = [name or "column" for name in names]
    taken = set(names)
    found: list[str] = []
    used: set[str] = set()
    for name in names:
        unique, number = name, 1
        while unique in used or (number > 1 and unique in taken):
            number += 1
            unique = f"{name}_{number}"
        used.add(unique)
        found.append(unique)
    return found


def size(count: float) -> str:
    """Format a number of bytes, such as `4.27 GiB`."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024 or unit == "GiB":
            if unit == "B":
                return f"{value:.0f} B"
            return f"{value:,.{max(0, 2 - (abs(value) >= 10) - (abs(value) >= 100))}f} {unit}"
        value /= 1024
    raise AssertionError


def shown(key: str, value: Any) -> str:
    """Format a value for display. The unit is derived from `key`."""
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if key.endswith("bytes"):
            return size(value)
        return f"{value:,}" if isinstance(value, int) and key not in ("line", "step", "rank") else f"{value}"
    if isinstance(value, list) and all(isinstance(part, (str, int)) for part in value):
        return ", ".join(map(str, value))
    return str(value)
