"""Sessions: questions to the program, and the display of its answers."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import memscape
from conftest import load, names, python
from memscape.table import Table, size

MiB = 1 << 20


@pytest.fixture
def snapshot(torch: Any, tmp_path: Path, program: str) -> Path:
    """A snapshot with 40 MiB live at the peak and 8 MiB at the end, followed by an OOM."""
    with pytest.raises(torch.OutOfMemoryError), memscape.record(tmp_path) as rec:
        first = torch.cuda.memory.allocate(8 * MiB)
        with rec.step():
            torch.cuda.memory.release(torch.cuda.memory.allocate(32 * MiB))
        assert first
        torch.cuda.memory.allocate(2000 * MiB)
    return tmp_path / "rank00000_step000000_oom.pickle.gz"


@pytest.fixture
def session(snapshot: Path) -> Iterator[memscape.Session]:
    with memscape.open(snapshot) as session:
        yield session


def test_summary_has_a_row_per_device(session: memscape.Session) -> None:
    [device] = session.summary.devices
    assert (device.peak_bytes, device.end_bytes, device.baseline_bytes, device.ooms) == (40 * MiB, 8 * MiB, 0, 1)
    assert device.peak_reserved_bytes == device.fields["peak_reserved"] == 40 * MiB
    assert session.summary.table.rows[0]["peak_bytes"] == 40 * MiB
    assert "40.0 MiB" in session._repr_html_()


def test_live_bytes_are_grouped(session: memscape.Session) -> None:
    peak = session.peak()
    assert (peak.live_bytes, peak.count, peak.reserved_bytes) == (40 * MiB, 2, 40 * MiB)
    assert [row["live_bytes"] for row in peak.rows] == [32 * MiB, 8 * MiB]
    assert all(row["file"].endswith("test_session.py") for row in peak.rows)
    assert session.live("end").live_bytes == 8 * MiB
    assert session.live(peak.event, by="function").event == peak.event
    tree = session.tree("peak")
    assert tree.rows[0]["depth"] == 0
    assert max(row["self_bytes"] for row in tree.rows) == 32 * MiB
    assert len(session.peak(top=1).rows) == 1
    assert session.peak(top=1).table.left_out == 1


def test_allocations_and_events_are_found(session: memscape.Session) -> None:
    assert [row["requested_bytes"] for row in session.allocations().rows] == [32 * MiB, 8 * MiB]
    assert [row["requested_bytes"] for row in session.allocations(">=16MiB").rows] == [32 * MiB]
    [oom] = session.events(action="oom").rows
    assert (oom["size_bytes"], oom["action"]) == (2000 * MiB, "oom")
    assert session.events(top=2)["rows_left_out"] == session.events()["listed"] - 2


def test_insights_have_statements_and_tables(session: memscape.Session) -> None:
    oom = session.insight("oom")
    assert oom.topic == "oom"
    assert any("1.95 GiB" in statement.text for statement in oom.statements)
    assert any(statement.tone == "alarm" for statement in oom.statements)
    assert {insight.topic for insight in session.insights()} >= {"oom", "peak", "leaks", "savings", "steps", "modules"}
    steps = session.insight("steps")
    assert "ProfilerStep#0" in json.dumps(steps.fields)
    assert steps._repr_markdown_().startswith("- ")


def test_two_snapshots_are_compared(session: memscape.Session, snapshot: Path) -> None:
    diff = session.diff(snapshot)
    assert diff["schema"] == 2
    deltas = json.dumps(diff.fields)
    assert '"delta": 0' in deltas
    assert '"delta": 1' not in deltas


def test_plan_what_if_and_segments_answer(session: memscape.Session) -> None:
    assert session.plan("all=2x", capacity="1GiB").fields
    assert session.segments("end")["schema"] == 2
    assert session.what_if("expandable_segments:True").fields


def test_sql_query_returns_rows(session: memscape.Session) -> None:
    rows = session.sql("SELECT sum(requested_bytes) FROM live_at('peak')")["rows"]
    assert rows == [[40 * MiB]]
    with pytest.raises(memscape.MemscapeError):
        session.sql("DELETE FROM allocation")


def test_files_are_written(session: memscape.Session, tmp_path: Path) -> None:
    session.export("speedscope", tmp_path / "flame.json")
    assert json.loads((tmp_path / "flame.json").read_text())["$schema"].startswith("https://www.speedscope.app")
    session.plot(tmp_path / "timeline.svg", "--stack", "site")
    assert (tmp_path / "timeline.svg").read_text().startswith("<?xml")


def test_error_is_one_sentence_and_session_continues(session: memscape.Session) -> None:
    for wrong, message in [
        (lambda: session.live("never"), "never"),
        (lambda: session.live(10**6), "no event 1,000,000: the last is 7"),
        (lambda: session.insight("nothing"), "nothing"),
        (lambda: session.ask("serve"), "serve"),
        (lambda: session.ask("no-such-command"), "no-such-command"),
        (lambda: session.live(top=-1), r"^invalid value '-1' for '--top <N>'"),
        (lambda: session.live(by="--json"), r"^invalid value '--json' for '--by <KEY>'"),
        (lambda: session.plan("--json"), "--json"),
        (lambda: memscape.open(session.path, device="x"), r"^invalid value 'x' for '--device <N>'"),  # type: ignore[arg-type]
        (lambda: memscape.view(session.path, port=-1, browser=False), r"^invalid value '-1' for '--port <N>'"),
        (lambda: memscape.open(""), "^a value is required for '<FILE>'"),
    ]:
        with pytest.raises(memscape.MemscapeError, match=message) as error:
            wrong()
        assert "\x1b" not in str(error.value)
        assert "\n" not in str(error.value)
        assert "try '--help'" not in str(error.value)
    assert session.live().live_bytes == 40 * MiB


def test_unreadable_file_is_an_error(tmp_path: Path, program: str) -> None:
    (tmp_path / "a.pickle").write_bytes(b"\x80\x04cposix\nsystem\n.")
    for path in ("a.pickle", "missing.pickle"):
        with pytest.raises(memscape.MemscapeError, match=path):
            memscape.open(tmp_path / path)
    with pytest.raises(memscape.MemscapeError, match="no such device"):
        (tmp_path / "b.json").write_text(
            '{"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 1, "stream": 0}]]}'
        )
        memscape.open(tmp_path / "b.json", device=7)


def test_closed_session_is_an_error(snapshot: Path) -> None:
    session = memscape.open(snapshot)
    session.close()
    session.close()
    with pytest.raises(memscape.MemscapeError, match="closed"):
        session.live()


def test_question_after_interrupt_gets_its_own_answer(session: memscape.Session) -> None:
    slow = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000000) SELECT sum(x) FROM n"
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            session.sql(slow)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert session.live().live_bytes == 40 * MiB
    with pytest.raises(memscape.MemscapeError, match="never"):
        session.live("never")


def test_second_question_is_fast(torch: Any, tmp_path: Path, program: str) -> None:
    with memscape.record(tmp_path) as rec:
        for _ in range(20_000):
            torch.cuda.memory.release(torch.cuda.memory.allocate(4096))
    assert rec.newest is not None
    started = time.perf_counter()
    with memscape.open(rec.newest) as session:
        session.live()
        opened = time.perf_counter() - started
        questions = []
        for at in range(0, 50_000, 5_000):
            started = time.perf_counter()
            session.live(at)
            questions.append(time.perf_counter() - started)
    assert sorted(questions)[5] < opened / 4, (questions, opened)


def test_recorder_has_summary(torch: Any, tmp_path: Path, program: str) -> None:
    with memscape.record(tmp_path / "a", on_exit=False) as rec:
        torch.cuda.memory.allocate(MiB)
        assert rec.summary()["devices"][0]["end_requested"] == MiB
        assert isinstance(rec.layer_stats(), list)
        rec.export_flame_graph(tmp_path / "flame.json")
        rec.export_timeline(tmp_path / "trace.json")
    assert "speedscope" in (tmp_path / "flame.json").read_text()
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_layer_stats_have_names_of_traced_modules(torch: Any, tmp_path: Path, program: str) -> None:
    class Linear(torch.nn.Module):  # type: ignore[misc, name-defined]
        """A module that keeps 1 MiB and frees 2 MiB at once."""

        def forward(self) -> None:
            self.kept = torch.cuda.memory.allocate(MiB)
            torch.cuda.memory.release(torch.cuda.memory.allocate(2 * MiB))
            super().forward()

        def backward(self) -> None:
            super().backward()
            torch.cuda.memory.release(self.kept)

    class Twice(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self) -> None:
            super().forward()
            super().forward()

    layers = torch.nn.Module(**{"0": Linear(), "1": Linear(inner=Linear())})
    model = torch.nn.Module(layers=layers, head=Twice(norm=torch.nn.Module()))
    with memscape.record(tmp_path, on_exit=False) as rec:
        before = torch.cuda.memory.allocate(8 * MiB)
        rec.trace(model)
        for _ in range(3):
            model()
            model.backward()
        rows = {row["module"]: row for row in rec.layer_stats()}
        assert len(rec.layer_stats(top=2)) == 2
        with pytest.raises(ValueError, match=r"^top="):
            rec.layer_stats(top=-1)
        assert before
    forward = ["Module", "layers", "layers.0", "layers.1", "layers.1.inner", "head", "head.norm"]
    assert list(rows)[:7] == forward
    assert set(rows) == {*forward, *(f"{name} (backward)" for name in forward)}
    counts = {name: (row["allocations"], row["frees"]) for name, row in rows.items()}
    assert counts["layers.0"] == counts["layers.1.inner"] == (6, 3)
    assert counts["layers.1"] == (12, 6)
    assert counts["layers"] == counts["Module"] == (18, 9)
    assert counts["head"] == counts["head.norm"] == (0, 0)
    first = rows["layers.0"]
    assert (first["requested_bytes"], first["freed_bytes"]) == (9 * MiB, 6 * MiB)
    assert (first["peak_live_bytes"], first["peak_reserved_bytes"]) == (11 * MiB, 12 * MiB)
    assert rows["layers"]["peak_live_bytes"] == 13 * MiB
    # At the peak of the device, the first call of layers.1.inner has all three kept tensors and its own 2 MiB.
    at_peak = {name: rows[name]["live_bytes_at_peak"] for name in ("layers.0", "layers.1", "layers.1.inner", "layers")}
    assert at_peak == {"layers.0": MiB, "layers.1": 4 * MiB, "layers.1.inner": 3 * MiB, "layers": 5 * MiB}
    assert 0 < first["mean_fragmentation"] < 1 and first["duration_us"] > 0
    assert rows["head.norm"]["peak_live_bytes"] is None


def test_save_memory_snapshot_writes_snapshot_and_page(torch: Any, tmp_path: Path, page: str) -> None:
    with pytest.raises(KeyError), memscape.save_memory_snapshot(tmp_path / "run"):
        torch.cuda.memory.allocate(MiB)
        raise KeyError
    assert names(tmp_path / "run") == ["snapshot.html", "snapshot.pickle"]
    assert load(tmp_path / "run" / "snapshot.pickle")["segments"][0]["requested_size"] == MiB
    assert "part-snapshot" in (tmp_path / "run" / "snapshot.html").read_text()
    assert not torch.cuda.memory.is_recording


def test_missing_program_saves_snapshot_with_warning(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSCAPE_BINARY", str(tmp_path / "missing"))
    with pytest.warns(RuntimeWarning, match="no page beside"), memscape.save_memory_snapshot(tmp_path / "run"):
        pass
    assert names(tmp_path / "run") == ["snapshot.pickle"]
    with pytest.raises(memscape.MemscapeError, match="missing"):
        memscape.open(tmp_path / "run" / "snapshot.pickle")


def test_run_command_equals_python_module(tmp_path: Path, program: str) -> None:
    import subprocess
    import sys

    from conftest import SOURCES, STANDIN

    (tmp_path / "train.py").write_text("import torch; torch.cuda.memory.allocate(7)")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(STANDIN), str(SOURCES)]),
        "MEMSCAPE_PYTHON": sys.executable,
    }
    done = subprocess.run([program, "run", "-o", "out", "train.py"], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0
    assert names(tmp_path / "out") == ["rank00000_step000000_exit.pickle.gz"]
    assert python("-m", "memscape", "summary", str(tmp_path / "out" / names(tmp_path / "out")[0])).returncode == 0


class Wellformed(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        self.cells.append(text)


def test_table_escapes_hostile_names() -> None:
    rows = [{"live_bytes": 4 << 20, "name": "<script>|x", "line": 1234}, {"live_bytes": 3, "count": 12345}]
    table = Table(rows, 7, "title & more")
    assert table.columns == ["live_bytes", "name", "line", "count"]
    assert (len(table), table[0], table[-1:], list(table)) == (2, rows[0], [rows[1]], rows)
    reader = Wellformed()
    reader.feed(table._repr_html_())
    assert reader.open == [] and "<script>|x" in reader.cells and "title & more" in reader.cells
    assert table._repr_markdown_().splitlines() == [
        "**title &amp; more**",
        "",
        "| live\\_bytes | name | line | count |",
        "| --- | --- | --- | --- |",
        "| 4.00 MiB | &lt;script&gt;&#124;x | 1234 |  |",
        "| 3 B |  |  | 12,345 |",
        "",
        "… 7 more rows",
    ]
    assert Table([])._repr_html_().startswith("<table ")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (40 * MiB, "40.0 MiB"),
        (300 * MiB, "300 MiB"),
        (5 << 40, "5,120 GiB"),
        (-2048, "-2.00 KiB"),
    ],
)
def test_size_is_formatted(count: int, text: str) -> None:
    assert size(count) == text


def test_table_converts_to_data_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = Table([{"a": 1, "b": None}, {"a": 2, "b": "x", "c": 3.5}])
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["a", "b", "c"] and frame["a"].sum() == 3
    other = table.to_polars()
    assert isinstance(other, polars.DataFrame)
    assert other.columns == ["a", "b", "c"] and other["a"].sum() == 3 and other["b"].to_list() == [None, "x"]
