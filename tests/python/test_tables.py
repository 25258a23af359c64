"""Answers with rows as data frames and as notebook cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import memscape
from memscape.insights import Insight, Tables
from memscape.table import MAX_COLUMNS, MAX_ROWS, Table

SAMPLES = Path(__file__).parent.parent.parent / "www"
# Bound for the size of a cell: notebooks are read by people and kept in git.
MOST = 300_000

HOSTILE = [
    "a|b",
    "one\ntwo\r\nthree\u2028four",
    "`code` ``` more",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "</td></tr></table><h1>",
    "&lt;b&gt; &amp; &#60;",
    "[text](javascript:alert(1)) ![x](https://example.org/x.png)",
    "https://example.org www.example.org me@example.org",
    "# head",
    "- item",
    "1. item",
    "> quote",
    "---",
    "===",
    "$x^2$ $$y$$",
    "*a* _b_ **c** __init__ ~~d~~",
    "back\\slash\\|",
    "\\",
    "\u202egnirts\u202c",
    "nul\0 bell\a escape\x1b[31m",
    "\ud800",
    "{% raw %} {{ x }}",
    "| --- | --- |",
    "   indented",
    "",
]


class Reader(HTMLParser):
    """A parser that fails on malformed elements and collects all cells and element names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.cells: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.open.append(tag)
        self.names.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += text


def shown_everywhere(answer: Any) -> Table:
    """Compare the four forms of an answer with its table, and return the table."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table: Table = answer if isinstance(answer, Table) else answer.table
    frame, other = answer.to_pandas(), answer.to_polars()
    assert isinstance(frame, pandas.DataFrame) and isinstance(other, polars.DataFrame)
    assert list(frame.columns) == other.columns == table.columns
    assert len(frame) == len(table)
    assert other.height == (len(table) if table.columns else 0)
    html, markdown = answer._repr_html_(), answer._repr_markdown_()
    assert len(html) < MOST and len(markdown) < MOST
    # Notebooks keep it beside the other forms.
    assert re.fullmatch(r"<memscape\.[A-Z][A-Za-z]+: .+>", repr(answer)) and len(repr(answer)) < 400
    cells = Reader(html).cells
    # In Markdown, each row of a table has as many cells as its header.
    for block in re.findall(r"(?:^\|.*\n?)+", markdown, re.MULTILINE):
        counts = {len(line.split("|")) for line in block.splitlines()}
        assert len(counts) == 1, block
    if not isinstance(answer, Tables):
        assert cells[: min(len(table.columns), MAX_COLUMNS)] == table.columns[:MAX_COLUMNS]
        assert len(cells) == min(len(table.columns), MAX_COLUMNS) * (1 + min(len(table), MAX_ROWS))
    return table


@pytest.fixture(scope="module")
def session() -> Iterator[memscape.Session]:
    import os

    if not os.access(os.environ.get("MEMSCAPE_BINARY", ""), os.X_OK):
        pytest.skip("no program: tests/python.sh builds it")
    with memscape.open(SAMPLES / "out-of-memory.pickle.gz") as session:
        yield session


ANSWERS: dict[str, Callable[[memscape.Session], Any]] = {
    "summary": lambda s: s.summary,
    "live": lambda s: s.live(),
    "live before": lambda s: s.live(-1),
    "live by function": lambda s: s.live("oom", by="function", mosaic=True),
    "live by file": lambda s: s.live("end", by="file", top=1),
    "peak": lambda s: s.peak(),
    "tree": lambda s: s.tree(),
    "tree inverted": lambda s: s.tree(-1, inverted=True, hide_internal=True),
    "allocations": lambda s: s.allocations(),
    "no allocations": lambda s: s.allocations(">=100GiB"),
    "events": lambda s: s.events(top=1000),
    "no events": lambda s: s.events(action="snapshot"),
    "insight": lambda s: s.insight("oom"),
    "segments": lambda s: s.segments(),
    "no segments": lambda s: s.segments(-1),
    "segments with blocks": lambda s: s.segments("end", request="2GiB", blocks=True),
    "diff": lambda s: s.diff(SAMPLES / "leak.pickle.gz"),
    "no difference": lambda s: s.diff(SAMPLES / "out-of-memory.pickle.gz"),
    "plan": lambda s: s.plan("activations=2x", capacity="80GiB"),
    "plan that does not fit": lambda s: s.plan("all=16x", preset="batch=2", capacity="1GiB"),
    "no plan": lambda s: s.plan(),
    "what if": lambda s: s.what_if("expandable_segments:True"),
    "what if, several": lambda s: s.what_if(capacity="4GiB"),
    "sql": lambda s: s.sql("SELECT * FROM allocation"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answer_converts_to_data_frames_and_cells(session: memscape.Session, name: str) -> None:
    table = shown_everywhere(ANSWERS[name](session))
    if name not in ("live before", "tree inverted", "no allocations", "no events", "no segments"):
        assert len(table) > 0
    assert table.columns or len(table) == 0


def test_insight_tables_convert_to_data_frames_and_cells(session: memscape.Session) -> None:
    for top in (0, 1, 10_000):
        for insight in session.insights(top=top):
            shown_everywhere(insight)
            for table in insight.tables.values():
                shown_everywhere(table)


SQL: dict[str, tuple[str, list[str], list[list[Any]]]] = {
    "numbers and text": ("SELECT 1 AS a, 'x' AS b", ["a", "b"], [[1, "x"]]),
    "no rows": ("SELECT id, requested_bytes FROM allocation WHERE 0", ["id", "requested_bytes"], []),
    "only NULL": ("SELECT NULL AS a", ["a"], [[None]]),
    "NULL beside large integers": (
        "SELECT 9007199254740993 AS a UNION ALL SELECT NULL",
        ["a"],
        [[9007199254740993], [None]],
    ),
    "limits of integers": (
        "SELECT 9223372036854775807 AS a, -9223372036854775807 - 1 AS b",
        ["a", "b"],
        [[(1 << 63) - 1, -(1 << 63)]],
    ),
    "one name twice": ("SELECT 1 AS a, 2 AS a, 3 AS a, 4 AS a_2", ["a", "a_3", "a_4", "a_2"], [[1, 2, 3, 4]]),
    "no name": ('SELECT 1 AS "", 2 AS ""', ["column", "column_2"], [[1, 2]]),
    "mixed types": ("SELECT 1 AS a UNION ALL SELECT 'x' UNION ALL SELECT 1.5", ["a"], [[1], ["x"], [1.5]]),
    "bytes": ("SELECT x'00ff' AS a", ["a"], [["x'00ff'"]]),
    "hostile names": ('SELECT 1 AS "a|b", 2 AS "<script>"', ["a|b", "<script>"], [[1, 2]]),
    "many columns": (
        f"SELECT {', '.join(map(str, range(200)))}",
        [str(number) for number in range(200)],
        [list(range(200))],
    ),
}


@pytest.mark.parametrize("name", SQL)
def test_sql_rows_are_exact(session: memscape.Session, name: str) -> None:
    query, columns, rows = SQL[name]
    answer = session.sql(query)
    table = shown_everywhere(answer)
    assert answer["rows"] == rows
    assert table.columns == columns
    assert [list(row.values()) for row in table.rows] == rows
    frame, other = answer.to_pandas(), answer.to_polars()
    for place, column in enumerate(columns):
        values = [row[place] for row in rows]
        found = [None if str(value) in ("<NA>", "nan", "None") else value for value in frame[column]]
        assert found == values
        if name != "mixed types":
            assert other[column].to_list() == values
    if name == "mixed types":
        assert other["a"].to_list() == ["1", "x", "1.5"]


def test_plan_what_if_and_segments_have_their_tables(session: memscape.Session) -> None:
    plan = session.plan("activations=2x", capacity="80GiB")
    recorded, planned = plan.tables["peaks"].rows
    assert (recorded["peak"], planned["peak"]) == ("recorded", "planned")
    assert recorded["peak_live_bytes"] == session.peak().live_bytes < planned["peak_live_bytes"]
    assert [row["group"] for row in plan.tables["groups"]] == ["activations"]
    assert [it.text[:21] for it in plan.statements] == ["Capacity 80.0 GiB: 73", "Largest batch that fi"]
    assert "Groups that change" in plan._repr_html_() and "80.0 GiB" in plan._repr_markdown_()
    [over] = [it for it in session.plan(capacity="1GiB").statements if "Capacity" in it.text]
    assert over.tone == "alarm" and "too much" in over.text

    what_if = session.what_if("expandable_segments:True")
    assert [row["settings"] for row in what_if.rows] == ["expandable_segments:False", "expandable_segments:True"]
    assert what_if.rows[0]["peak_reserved_bytes"] == session.summary.devices[0].peak_reserved_bytes
    assert what_if.tables["reproduces"][0]["addresses_equal"] > 0
    changed = session.what_if(total="80GiB", programs=["one-stream,preallocate=1GiB"])
    # The recording, the same program with the memory that was named, and the changed program with it.
    assert [row["program"] for row in changed.rows] == ["", "", "one_stream, preallocate"]

    segments = session.segments("peak", request="1GiB")
    assert sum(row["reserved_bytes"] for row in segments.rows) == segments["sums"]["reserved_bytes"]
    assert sum(row["reserved_bytes"] for row in segments.tables["groups"]) == segments["sums"]["reserved_bytes"]
    live = [row for row in segments.tables["blocks"] if row["state"] == "live"]
    assert sum(row["requested_bytes"] for row in live) == segments["sums"]["live_bytes"]
    assert segments.tables["fits"].rows == segments["fits"]
    assert "Where would a 1.00 GiB request go?" in segments._repr_html_()
    assert "Blocks after" not in segments._repr_html_()
    assert "Blocks after" in session.segments(blocks=True)._repr_html_()
    assert "fits" not in session.segments().tables


def made(count: int, cell: str, statements: int) -> Insight:
    """Return an insight with `count` tables of `count` rows and columns."""
    columns = [{"key": f"column {number}", "label": ""} for number in range(count)]
    rows = [{column["key"]: cell for column in columns} for _ in range(count)]
    sheet = {"title": cell, "rows": rows, "rows_left_out": 7, "columns": columns}
    statement = {"tone": "fact", "text": cell, "fix": cell, "evidence": None}
    return Insight(
        {
            "topic": "savings",
            "statements": [statement] * statements,
            "sheets": {f"sheet {number}": sheet for number in range(count)},
        }
    )


def test_cell_of_large_insight_is_truncated_but_attributes_are_not() -> None:
    insight = made(100, '"<&' * 2000, 1000)
    html, markdown = insight._repr_html_(), insight._repr_markdown_()
    assert len(html) < MOST and len(markdown) < MOST
    Reader(html)
    for text in (html, markdown):
        assert re.search(r"… \d+ more rows", text)
        assert "… 70 more columns" in text
        assert "… 980 more in .statements" in text
        assert re.search(r"… \d+ more in .tables: .*sheet 99", text)
    assert len(insight.statements) == 1000 and insight.statements[0].text == '"<&' * 2000
    assert len(insight.tables) == 100
    assert len(insight.tables["sheet 99"].rows) == 100 and len(insight.tables["sheet 99"].columns) == 100
    assert insight.tables["sheet 99"].to_pandas().shape == (100, 100)


def test_cell_of_savings_is_short(session: memscape.Session) -> None:
    for path in sorted(SAMPLES.glob("*.pickle.gz")):
        with memscape.open(path) as other:
            for insight in other.insights(top=10_000):
                assert len(insight._repr_html_()) < 30_000, (path, insight.topic)
                assert len(insight._repr_markdown_()) < 30_000, (path, insight.topic)


def test_closed_session_is_shown_as_closed(session: memscape.Session) -> None:
    assert repr(session) == f"<memscape.Session {session.path}>"
    with memscape.open(session.path) as other:
        assert "6.02 GiB" in other._repr_html_() and "6.02 GiB" in other._repr_markdown_()
        assert len(repr(other.summary.devices[0])) < 400
    assert repr(other).endswith(", closed>")
    assert "closed" in other._repr_html_()
    assert "closed" in other._repr_markdown_() and "<memscape" not in other._repr_markdown_()


def test_one_is_singular(session: memscape.Session) -> None:
    assert repr(session.sql("SELECT 1 AS a")) == "<memscape.Rows: 1 row, 1 column>"
    assert repr(session.sql("SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4")) == "<memscape.Rows: 2 rows, 2 columns>"
    assert "Insight: 1 statement;" in repr(session.insight("modules"))


def test_truncated_table_counts_remaining_rows() -> None:
    many = Table([{"a": number} for number in range(60)])
    assert many._repr_markdown_().endswith(f"… {60 - MAX_ROWS} more rows")
    assert many.to_html(5).endswith("<p>… 55 more rows</p>")
    assert Table([{"a": 1}], 1)._repr_markdown_().endswith("… 1 more row")
    assert "more" not in Table([{"a": 1}])._repr_html_()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_escaped(text: str) -> None:
    table = Table([{"name": text, text or "other": "x"}, {"name": "safe", text or "other": text}], 0, text)
    insight = made(2, text, 2)
    for answer in (table, insight):
        html, markdown = answer._repr_html_(), answer._repr_markdown_()
        allowed = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "ul", "li", "b"}
        reader = Reader(html)
        assert reader.names <= allowed
        html.encode()
        markdown.encode()
        # The text written around the value, without any markup of the value itself.
        for line in markdown.splitlines():
            bare = re.sub(r"\\[\\`*_\[\]~#+=.)-]|&(?:lt|gt|amp|#\d+);|<span>\$</span>", "", line)
            assert not re.search(r"[<>`~$\[\]]|://|\\", bare), line
            assert re.match(r"\||\*\*|- |… |$", line), line
        assert "\0" not in html + markdown and "\u202e" not in html + markdown
        for block in re.findall(r"(?:^\|.*\n?)+", markdown, re.MULTILINE):
            assert len({len(line.split("|")) for line in block.splitlines()}) == 1
        # Dollar signs start no formula in notebooks.
        assert all("mathjax_ignore" in tag for tag in re.findall(r"<(?:table|ul)[^>]*>", html))


def test_hostile_names_of_file_are_escaped(tmp_path: Path, program: str) -> None:
    import json

    name = "a|b`c`\n<script>alert(1)</script>"
    frames = [{"filename": name, "line": 1, "name": name}]
    event = {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "frames": frames, "time_us": 1}
    segment = {
        "device": 0, "address": 4096, "total_size": 512, "stream": 0, "segment_type": "small", "allocated_size": 512,
        "active_size": 512, "blocks": [{"address": 4096, "size": 512, "requested_size": 512, "state": "active_allocated",
                                        "frames": frames}],
    }  # fmt: skip
    path = tmp_path / "a|b`c`<i>.json"
    path.write_text(json.dumps({"segments": [segment], "device_traces": [[event]]}))
    with memscape.open(path) as s:
        for answer in [s.summary, s.live(), s.allocations(), s.events(), s.tree(), *s.insights()]:
            html, markdown = answer._repr_html_(), answer._repr_markdown_()
            assert "<script" not in html + markdown and "<i>" not in html + markdown
            assert "`" not in markdown.replace("\\`", "")
            shown_everywhere(answer)
