"""The questions, against the differences that the corpus was made with; and the command line, the report and the views."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import pytest

import corpus
from conftest import files, rows
from memscape import fleet
from memscape._binary import run
from memscape.fleet import report
from memscape.fleet.report import size


def _asked(lake: str, question: str, **more: Any) -> list[dict[str, Any]]:
    result = fleet.query(lake, question, **more)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row)) for row in result.fetchall()]


def test_growth_finds_the_leak_to_the_byte(lake: str) -> None:
    found = _asked(lake, "growth")
    assert [(row["job"], row["rank"]) for row in found] == [("job-new", rank) for rank in range(4)] + [
        ("job-leak", rank) for rank in range(4)
    ]
    leaks = [row for row in found if row["fit"] > 0.99]
    assert [row["job"] for row in leaks] == ["job-leak"] * corpus.RANKS
    assert [round(row["bytes_per_step"] * 100) for row in leaks] == [corpus.LEAK_BYTES] * corpus.RANKS
    first, last = leaks[0]["first_file"], leaks[0]["telling_file"]
    assert (first.split("_")[-2], last.split("_")[-2]) == ("step000100", "step000400")
    # The page shows what came between the first step and the last.
    link = f"#url={first.replace(':', '%3A')}&at=end&tab=why&compare=end&topic=comparison&with="
    assert leaks[0]["link"] == link + quote(last, safe="")


def test_growing_call_site_is_found_to_the_byte(lake: str) -> None:
    (found,) = _asked(lake, "growing_sites")
    assert (found["job"], found["call_site"]) == ("job-leak", "home:*/train/history.py remember")
    assert (found["searched_ranks"], found["growing_ranks"]) == (corpus.RANKS, corpus.RANKS)
    assert (found["ranks"], found["bytes"]) == (corpus.RANKS, len(corpus.STEPS) * corpus.LEAK_BYTES)
    assert round(found["bytes_per_step"] * 100) == corpus.LEAK_BYTES
    assert (found["first_file"].split("_")[-2], found["telling_file"].split("_")[-2]) == ("step000100", "step000400")


def test_job_with_many_growing_ranks_hides_no_other_job(lake: str) -> None:
    connection = fleet.connect(lake)
    connection.execute(
        "CREATE OR REPLACE VIEW recent AS SELECT * REPLACE (rank + 4 * k AS rank) FROM snapshot, range(20) t(k)"
    )
    ranks = 20 * corpus.RANKS
    growth = f"SELECT job, count(*), growing_ranks FROM ({fleet.QUESTIONS['growth']}) GROUP BY ALL ORDER BY ALL"
    # 160 ranks grow: the answer has 50 rows, and says how many ranks of each job grow.
    assert connection.execute(growth).fetchall() == [("job-leak", 25, ranks), ("job-new", 25, ranks)]
    sites = f"SELECT job, ranks, searched_ranks, growing_ranks FROM ({fleet.QUESTIONS['growing_sites']})"
    assert connection.execute(sites).fetchall() == [("job-leak", 25, 25, ranks)]


def test_counted_names_the_files_of_the_views(lake: str) -> None:
    connection = fleet.connect(lake)
    files = connection.execute(
        "SELECT DISTINCT snapshot, url, batch FROM all_rows WHERE url IS NOT NULL ORDER BY ALL"
    ).fetchall()
    assert connection.execute("SELECT * FROM counted ORDER BY ALL").fetchall() == files


def test_odd_rank_is_found_at_its_end(lake: str) -> None:
    found = _asked(lake, "odd_ranks")
    assert {(row["job"], row["rank"], row["measure"]) for row in found} == {("job-odd", 2, "end")}
    assert {row["more_bytes"] for row in found} == {corpus.ODD_BYTES}
    # One row, however many steps it is odd at.
    assert [(row["steps"], row["first_step"]) for row in found] == [(len(corpus.STEPS), corpus.STEPS[0])]
    assert found[0]["telling_file"].split("_")[-2] == f"step{found[0]['step']:06d}"
    assert all("&at=end&" in row["link"] for row in found)


def test_odd_ranks_are_the_outliers_of_memscape_ranks(lake: str, runs: Path) -> None:
    found = set()
    for job, step in ((job, step) for job in corpus.JOBS for step in corpus.STEPS):
        read = json.loads(run("ranks", "--json", *map(str, sorted((runs / job).glob(f"*step{step:06d}*")))))
        for measure, outliers in (("peak", read["outliers"]), ("end", read["end_outliers"])):
            found |= {(job, it["rank"], measure, it["delta_bytes"]) for it in outliers}
    odd = {(row["job"], row["rank"], row["measure"], row["more_bytes"]) for row in _asked(lake, "odd_ranks")}
    assert found == odd == {("job-odd", 2, "end", corpus.ODD_BYTES)}


def test_new_place_is_found_since_a_time(lake: str) -> None:
    # Job 3 is of the fourth day; its new place comes with step 300.
    found = _asked(lake, "new_sites", since="2026-11-04T04:00:00")
    places = {row["call_site"] for row in found}
    assert "home:*/train/debug.py debug_copy" in places
    assert "home:*/train/history.py remember" not in places
    assert all("step000100" not in row["telling_file"] for row in found if "debug_copy" in row["call_site"])


def test_similar_ooms_are_one_cluster(lake: str) -> None:
    (cluster,) = _asked(lake, "oom_clusters", viewer="https://viewer/")
    assert (cluster["jobs"], cluster["files"], cluster["kind"]) == (2, 32, "fragmentation")
    assert cluster["requested_by"] == "home:gpt/model.py loss"
    assert cluster["link"].startswith("https://viewer/#url=file%3A///")
    assert cluster["link"].endswith("&at=oom&tab=why&topic=oom")
    jobs = _asked(lake, "oom_jobs")
    assert [(row["job"], row["files"], row["ooms"]) for row in jobs] == [("job-oom-a", 16, 16), ("job-oom-b", 16, 16)]
    assert jobs[0]["verdict"].startswith("Out of memory at event 1,342")
    assert _asked(lake, "oom_jobs", since="2026-11-06")[0]["job"] == "job-oom-b"


def test_peaks_settings_and_headroom_are_those_of_the_files(lake: str) -> None:
    peaks = {(row["job"], row["host"]): row for row in _asked(lake, "peaks")}
    assert len(peaks) == 12
    assert peaks["job-oom-a", "node0"]["peak_bytes"] == 6_466_465_943
    assert peaks["job-even", "node1"]["snapshots"] == 8
    assert peaks["job-even", "node1"]["median_bytes"] == 2_473_230_336
    (setting,) = _asked(lake, "settings")
    assert (setting["snapshots"], setting["jobs"], setting["with_oom"]) == (96, 6, 32)
    headroom = {row["job"]: row for row in _asked(lake, "headroom")}
    assert headroom["job-oom-a"]["headroom_bytes"] == (24 << 30) - 10_328_473_600
    assert (headroom["job-oom-a"]["had_oom"], headroom["job-even"]["had_oom"]) == (True, False)
    assert _asked(lake, "errors") == []


def _command(*arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "memscape", "fleet", *arguments], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_command_line_prints_text_json_and_csv(lake: str) -> None:
    names = [line.split()[0] for line in _command("ask", lake).splitlines()]
    assert names == list(fleet.QUESTIONS)
    answered = json.loads(_command("ask", lake, "oom_jobs", "--json"))
    assert [row["job"] for row in answered] == ["job-oom-a", "job-oom-b"]
    read = list(csv.DictReader(io.StringIO(_command("ask", lake, "oom_jobs", "--csv"))))
    assert [row["requested_by"] for row in read] == [row["requested_by"] for row in answered]
    assert _command("ask", lake, "SELECT count(*) AS files FROM snapshot") == f"{'files':<22}96\n\n1 row\n"
    # Sizes are read by people, and links only with the address of the page.
    text = _command("ask", lake, "growing_sites")
    assert f"{'bytes_per_step':<22}164 KiB\n" in text
    assert "link" not in text
    assert f"{'link':<22}https://viewer/#url=" in _command("ask", lake, "growing_sites", "--viewer", "https://viewer/")
    run = subprocess.run(
        [sys.executable, "-m", "memscape", "fleet", "ask", lake, "SELECT nothing"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr.startswith("memscape: ")) == (1, True)


def _refused(*arguments: str) -> str:
    command = [sys.executable, "-m", "memscape", "fleet", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (1, "")
    return run.stderr


def test_mistakes_are_named(lake: str, tmp_path: Path) -> None:
    assert _refused("ask", lake, "growths") == "memscape: no question is named growths: did you mean growth?\n"
    assert _refused("ask", lake, "x").startswith("memscape: no question is named x: there are oom_jobs, oom_clusters, ")
    nothing = str(tmp_path / "nothing")
    expected = f"memscape: {nothing}: the folder does not exist: check the address\n"
    assert _refused("ask", nothing, "growth") == expected
    assert _refused("report", nothing, "-o", str(tmp_path / "report.html")) == expected
    assert nothing in _refused("survey", nothing, str(tmp_path / "lake"))


def test_reader_that_ends_early_is_no_error(lake: str) -> None:
    command = [sys.executable, "-m", "memscape", "fleet", "ask", lake, "SELECT * FROM site_use"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None and run.stderr is not None
        run.stdout.readline()
        run.stdout.close()
        assert run.stderr.read() == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1024, "1.00 KiB"),
        (2.3 * 2**30, "2.30 GiB"),
        (10.25 * 2**20, "10.2 MiB"),
        (999 * 2**10, "999 KiB"),
        (9.999 * 2**30, "10.0 GiB"),
        (-5 * 2**40, "\u22125.00 TiB"),
    ],
)
def test_sizes_have_three_significant_digits(value: float, text: str) -> None:
    assert size(value) == text


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.words += data


def test_report_has_links_and_no_scripts(lake: str, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    _command("report", lake, "-o", str(page), "--viewer", "https://viewer/?a&b")
    elements = _Elements()
    elements.feed(page.read_text())
    assert not [tag for tag, _ in elements.found if tag in ("script", "iframe", "img")]
    links = [attributes["href"] for tag, attributes in elements.found if tag == "a"]
    assert links[0] == _asked(lake, "oom_clusters", viewer="https://viewer/?a&b")[0]["link"]
    assert all(link and link.startswith("https://viewer/?a&b#url=file%3A///") for link in links)
    assert len(re.findall(r"<tr>(?:<td[^>]*>[^<]*</td>){0,2}<td[^>]*><a ", page.read_text())) == len(links), "in view"
    assert "home:gpt/model.py loss" in elements.words
    assert "memscape tui /" in elements.words
    assert "96 snapshots, 2026-11-01 to 2026-11-06" in elements.words


def test_report_replaces_no_link_device_or_file_of_the_lake(lake: str, tmp_path: Path) -> None:
    page, link = tmp_path / "report.html", tmp_path / "link.html"
    link.symlink_to(page.name)
    _command("report", lake, "-o", str(link))
    assert link.is_symlink() and page.read_text().startswith("<!doctype html>")
    # A pipe, because a failing test that runs as root would replace /dev/null.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)
        _command("report", lake, "-o", str(pipe))
        assert read.result() == page.read_text()
    assert pipe.is_fifo()
    before = files(lake)
    table = next(path for path in sorted(before) if path.endswith(".parquet"))
    (tmp_path / "part").symlink_to(Path(lake) / table)
    for out in (f"{lake}/{table}", f"{lake}/../lake/{table}", str(tmp_path / "part")):
        assert _refused("report", lake, "-o", out) == (
            f"memscape: {out}: would overwrite a file of the lake; name another output file\n"
        )
    assert files(lake) == before


def test_report_to_full_disk_leaves_no_file(lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "report.html"
    page.write_text("kept")

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        report.write(lake, str(page), {})
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"] and page.read_text() == "kept"


def test_texts_of_files_are_escaped_in_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "<img src=x onerror=alert(1)>"
    folder.mkdir(parents=True)
    (folder / "a'b\x1b[31m.pickle").write_bytes(b"<script>")
    (folder / "oom.pickle.gz").write_bytes((corpus.ROOT / "www" / "out-of-memory.pickle.gz").read_bytes())
    lake = str(tmp_path / "lake")
    fleet.survey(str(tmp_path / "runs"), lake, workers=1)
    page = tmp_path / "report.html"
    _command("report", lake, "-o", str(page))
    text = page.read_text()
    assert "<img" not in text
    assert "<script" not in text
    assert "\x1b" not in text
    assert "&lt;img src=x" in text
    assert "\x1b" not in _command("ask", lake, "errors")
    assert "<h1>Memory of 1 job</h1>" in text


def test_views_for_duckdb_can_be_run(lake: str) -> None:
    connection = duckdb.connect()
    connection.execute(_command("views", lake))
    assert connection.execute("SELECT count(*) FROM snapshot").fetchall() == [(96,)]
    expected = rows(lake, "SELECT count(*), sum(peak_bytes) FROM site_use")
    assert connection.execute("SELECT count(*), sum(peak_bytes) FROM site_use").fetchall() == expected


def _common_part(lake: str, engine: str) -> list[str]:
    """Return the statements of an engine that DuckDB can run too."""
    text = _command("views", lake, "--for", engine).replace("argMin", "arg_min").replace("argMax", "arg_max")
    statements = text.rstrip(";\n").split(";\n")
    assert len([statement for statement in statements if "all_" in statement.split("\n")[0].split(" AS ")[0]]) == 5
    return statements[5:]


@pytest.mark.parametrize("engine", ["clickhouse", "spark", "trino"])
def test_views_for_other_engines_name_all_tables(lake: str, engine: str) -> None:
    # Without these engines, only the common part is run, in DuckDB.
    connection = fleet.connect(lake)
    for name in ("snapshot", "counted", "site_use", "oom", "step", "site", "recent"):
        connection.execute(f"DROP VIEW {name}")
    for statement in _common_part(lake, engine):
        connection.execute(statement)
    assert connection.execute("SELECT count(*) FROM snapshot").fetchall() == [(96,)]
    assert connection.execute("SELECT count(*), sum(peak_bytes) FROM site_use").fetchall() == rows(
        lake, "SELECT count(*), sum(peak_bytes) FROM site_use"
    )


@pytest.mark.parametrize("engine", ["clickhouse", "spark", "trino"])
def test_survey_counts_before_failed_read_of_the_same_second(lake: str, engine: str) -> None:
    # A file that is replaced in the second of its upload has two rows with one time.
    connection = fleet.connect(lake)
    connection.execute("CREATE TEMP TABLE surveyed AS FROM all_rows")
    connection.execute("DROP VIEW counted")
    connection.execute("DROP VIEW snapshot")
    connection.execute("DROP VIEW all_rows")
    connection.execute(
        "CREATE TEMP VIEW all_rows AS FROM surveyed UNION ALL\n"
        "SELECT * REPLACE ('lost' AS status, 'zz' AS version, 'zz' AS batch) FROM surveyed WHERE url IS NOT NULL"
    )
    for statement in _common_part(lake, engine)[:2]:
        connection.execute(statement)
    lost = "SELECT count(*), count(*) FILTER (status = 'lost') FROM snapshot"
    assert connection.execute(lost).fetchall() == [(96, 0)]
