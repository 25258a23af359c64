"""`memscape serve --lake`: lists of jobs, steps and ranks, links into the page, and surveys of ranks from the tables."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import corpus
from conftest import rows
from memscape import fleet
from memscape._binary import program, run
from memscape.fleet.serving import Server
from memscape.fleet.tables import Group, Tables

STEP = "job=job-oom-a/step=100/"
PAGE = '<html><body><script id="part-wasm"></script></body></html>'


# Fields of a survey, and their keys in the JSON of `memscape ranks`.
_SAME = {
    "device": "device",
    "events": "events",
    "peak_requested": "peak_requested_bytes",
    "end_requested": "end_requested_bytes",
    "peak_reserved": "peak_reserved_bytes",
    "capacity": "capacity_bytes",
    "other_bytes": "other_at_peak_bytes",
    "steps": "step_peak_bytes",
}


@pytest.fixture
def server(lake: str, tmp_path: Path) -> Server:
    return Server(Tables(lake, {}), str(tmp_path))


def _links(page: str) -> list[str]:
    return [link.replace("&amp;", "&") for link in re.findall(r'<td><a href="([^"]*)"', page)]


def test_jobs_steps_and_ranks_lead_to_each_snapshot_once(server: Server, lake: str) -> None:
    found = []
    jobs = _links(server.answer("", "")["html"])
    assert sorted(jobs) == sorted(f"job={job}/" for job in corpus.JOBS)
    for job in jobs:
        parts = _links(server.answer(job, "")["html"])
        assert parts == [f"step={step}/" for step in corpus.STEPS] + [f"rank={rank}/" for rank in range(corpus.RANKS)]
        for part in parts[: len(corpus.STEPS)]:
            listed = server.answer(f"{job}{part}listing", "")["listing"].splitlines()
            opened = [link.split("?")[0] for link in _links(server.answer(job + part, "")["html"])]
            assert opened == [address.split("/")[0] for address in listed]
            found += opened
    expected = [str(int(snapshot, 16)) for (snapshot,) in rows(lake, "SELECT snapshot FROM snapshot")]
    assert sorted(found) == sorted(expected)


def test_search_lists_only_the_jobs_with_the_text(server: Server) -> None:
    assert _links(server.answer("", "q=OOM-A")["html"]) == ["job=job-oom-a/"]
    assert _links(server.answer("", "q=%3Cnothing%3E")["html"]) == []


def test_row_opens_its_snapshot_and_lists_the_others(server: Server, runs: Path) -> None:
    listed = server.answer(f"{STEP}listing", "")["listing"].splitlines()
    number, name = listed[2].split("/")
    assert name == "rank00002_step000100_oom.pickle.gz"
    address = server.answer(STEP + number, "at=oom")["redirect"]
    assert address == "page#" + "".join(f"url={one}&" for one in listed) + "open=2&at=oom"
    assert server.answer(f"{STEP}{listed[2]}", "") == {"file": str(runs / "job-oom-a" / name)}


def test_lists_mark_jobs_that_ran_out_of_memory(server: Server) -> None:
    jobs = server.answer("", "")["html"]
    marked = [row for row in jobs.split("<tr>") if 'class="n alarm"' in row]
    assert {link for row in marked for link in _links(row)} >= {"job=job-oom-a/", "job=job-oom-b/"}
    assert len(marked) < len(_links(jobs))
    assert "<th class=n>OOMs</th>" in jobs and "<th>newest (UTC)</th>" in jobs
    snapshots = server.answer(STEP, "")["html"]
    assert "<th class=n>rank</th>" in snapshots and "<th class=n>step</th>" not in snapshots


def test_report_leads_to_the_list_of_the_file(server: Server) -> None:
    report = server.answer("report", "")["html"]
    assert "<a href='./'>Jobs</a>" in report
    links = [link.replace("&amp;", "&") for link in re.findall(r'<td[^>]*><a href="([^"]*)">', report)]
    (oom, *_) = [link for link in links if "topic=oom" in link]
    address = server.answer("open", oom.removeprefix("open?"))["redirect"]
    assert re.fullmatch(r"job=job-oom-[ab]/step=\d+/\d+\?at=oom&tab=why&topic=oom", address)
    (leak, *_) = [link for link in links if "with=" in link and "job-leak" in link]
    address = server.answer("open", leak.removeprefix("open?"))["redirect"]
    list_, opened = address.rsplit("/", 2)[0] if "with=" not in address else address.split("?")[0].rsplit("/", 1)
    assert list_ == "job=job-leak/rank=0"
    page = server.answer(*address.split("?"))["redirect"]
    # Both files are in the list of the rank, and the last step is compared with.
    listed = server.answer("job=job-leak/rank=0/listing", "")["listing"].splitlines()
    assert page.split("&with=")[1] == listed[3]
    assert listed[0].startswith(opened)


def test_surveys_of_ranks_equal_those_of_the_files(server: Server, runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "step"
    folder.mkdir()
    for path in (runs / "job-odd").glob("*step000200*"):
        (folder / path.name).symlink_to(path)
    read = json.loads(run("ranks", "--json", *map(str, sorted(folder.iterdir()))))
    group = "job=job-odd/step=200/"
    listed = server.answer(f"{group}listing", "")["listing"].splitlines()
    assert len(listed) == len(read["ranks"]) == corpus.RANKS
    for address, expected in zip(listed, read["ranks"]):
        (survey,) = server.answer(group + address, "survey")["survey"]["devices"]
        for name, key in _SAME.items():
            assert survey[name] == expected[key], name
        sites = [{name: site[name] for name in ("call_site", "bytes", "count")} for site in expected["sites_at_peak"]]
        assert [dict(zip(("call_site", "bytes", "count"), site.values())) for site in survey["sites"]] == sites
        facts = dict(survey["recorder"])
        assert (facts["rank"], facts["host"], facts["step"]) == (str(expected["rank"]), expected["host"], "200")


def test_survey_names_the_failed_request(server: Server) -> None:
    address = server.answer(f"{STEP}listing", "")["listing"].splitlines()[0]
    (survey,) = server.answer(STEP + address, "survey")["survey"]["devices"]
    url = f"SELECT url FROM snapshot WHERE snapshot = '{int(address.split('/')[0]):016x}'"
    ((file,),) = rows(server.tables.lake, url)
    (expected,) = json.loads(run("ranks", "--json", file.removeprefix("file://")))["ranks"]
    failed = survey["out_of_memory"]
    assert failed["event"] == expected["oom_event"]
    assert failed["requested_bytes"] == expected["oom_requested_bytes"]
    assert failed["device_free_bytes"] == expected["oom_device_free_bytes"]


@pytest.mark.parametrize(
    "path",
    [
        "x",
        "job=job-leak",
        "job=nothing/step=1/7",
        "job=job-leak/step=100/0/a.pickle",
        "../etc/passwd",
        "job=job-leak/step=100/-1/a",
        "job=job-leak/step=100/99999999999999999999999/a",
        "%2e%2e/",
        "job=job-leak/step=100/٣/a",
    ],
)
def test_other_addresses_are_missing(server: Server, path: str) -> None:
    assert "missing" in server.answer(path, "")


def test_texts_of_files_are_escaped_in_lists(tmp_path: Path) -> None:
    job = "a&b/../<img src=x>"
    folder = tmp_path / "runs" / job.replace("/", "_")
    folder.mkdir(parents=True)
    (folder / "rank0 ü%2F.pickle.gz").write_bytes((corpus.ROOT / "www" / "leak.pickle.gz").read_bytes())
    lake = str(tmp_path / "lake")
    fleet.survey(str(tmp_path / "runs"), lake, workers=1)
    server = Server(Tables(lake, {}), str(tmp_path))
    page = server.answer("", "q=%22%3E%3Cscript%3E")["html"]
    assert "<script" not in page
    page = server.answer("", "")["html"]
    assert "<img" not in page
    (job_link,) = _links(page)
    step = _links(server.answer(job_link, "")["html"])[0]
    (address,) = server.answer(f"{job_link}{step}listing", "")["listing"].splitlines()
    number, name = address.split("/")
    assert unquote(name) == "rank0 ü%2F.pickle.gz"
    assert server.answer(f"{job_link}{step}{address}", "")["file"].endswith("rank0 ü%2F.pickle.gz")
    # The page decodes the fragment once.
    link = server.answer(f"{job_link}{step}{number}", "")["redirect"].removeprefix("page#url=")
    assert unquote(link) == address


def test_step_and_rank_that_are_unknown_have_lists(tmp_path: Path) -> None:
    (tmp_path / "runs" / "job").mkdir(parents=True)
    (tmp_path / "runs" / "job" / "a.pickle.gz").write_bytes((corpus.ROOT / "www" / "leak.pickle.gz").read_bytes())
    lake = str(tmp_path / "lake")
    fleet.survey(str(tmp_path / "runs"), lake, workers=1)
    tables = Tables(lake, {})
    ((url,),) = rows(lake, "SELECT url FROM snapshot")
    for by in ("step", "rank"):
        group, _ = tables.group_of(url, by) or (Group(""), "")
        assert [stored.url for stored in tables.stored(group)] == [url]


class _Program:
    """`memscape serve --lake`, and requests to it."""

    def __init__(self, lake: str, page: Path, *options: str) -> None:
        page.write_text(PAGE)
        command = [program(), "serve", "--no-browser", "--viewer", str(page), "--lake", lake, *options]
        environment = {**os.environ, "MEMSCAPE_PYTHON": sys.executable}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        self.output = ""
        while "Ctrl+C" not in self.output:
            line = self.process.stdout.readline()
            assert line, self.process.stderr and self.process.stderr.read()
            self.output += line
        found = re.search(r"http://127\.0\.0\.1:(\d+)/(\w+)/", self.output)
        assert found
        self.port, self.token = int(found[1]), found[2]

    def get(self, path: str, token: str | None = None, **headers: str) -> tuple[int, dict[str, Any], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", f"/{token or self.token}/{path}", headers=headers)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()


@pytest.fixture
def served(lake: str, tmp_path: Path) -> Iterator[_Program]:
    found = _Program(lake, tmp_path / "page.html")
    yield found
    found.process.kill()
    found.process.communicate()


def test_program_serves_lists_page_snapshots_and_surveys(served: _Program, runs: Path) -> None:
    assert served.output.startswith("96 snapshots at http://127.0.0.1:")
    status, headers, body = served.get("")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"job=job-leak/" in body
    # The rules of all responses of the server.
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert headers["cache-control"] == "no-store"
    _, headers, body = served.get(f"{STEP}listing")
    assert headers["content-type"] == "application/x-memscape-listing"
    address = body.decode().splitlines()[0]
    status, headers, _ = served.get(STEP + address.split("/")[0])
    assert (status, headers["location"].split("&")[0]) == (302, f"page#url={address}")
    assert served.get(f"{STEP}page")[2].decode().startswith("<html><body>")
    name = address.split("/")[1]
    assert served.get(STEP + address)[2] == (runs / "job-oom-a" / name).read_bytes()
    assert served.get(STEP + address, Range="bytes=0-1")[::2] == (206, b"\x1f\x8b")
    status, headers, body = served.get(f"{STEP}{address}?survey")
    assert (status, headers["content-type"]) == (200, "application/x-memscape-survey")
    assert len(body) > 100
    assert served.get("job=nothing/step=1/1")[0] == 404


def test_program_refuses_requests_without_the_address(served: _Program) -> None:
    assert served.get("", token="0" * 32)[0] == 404
    assert served.get("", Host="evil.example")[0] == 403


def test_process_of_the_tables_ends_with_the_program(served: _Program) -> None:
    children = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text().split()
    assert len(children) == 1
    served.process.kill()
    served.process.wait()
    # It ends when its standard input does.
    while Path(f"/proc/{children[0]}").exists():
        if Path(f"/proc/{children[0]}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
            break


def test_lake_that_cannot_be_read_is_one_message(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    command = [program(), "serve", "--no-browser", "--viewer", str(page), "--lake", str(tmp_path / "nothing")]
    environment = {**os.environ, "MEMSCAPE_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert f"the tables of {tmp_path}/nothing cannot be read" in done.stderr
