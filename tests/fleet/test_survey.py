"""Surveys that are repeated, stopped, split, and harmed."""

from __future__ import annotations

import json
import operator
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import fsspec
import pytest

import corpus
from conftest import files, fingerprint, rows
from memscape import MemscapeError, fleet
from memscape.fleet import worker
from memscape.fleet.driver import _interruptible
from memscape.fleet.lake import RULES_VERSION, TABLES, Lake, packed
from memscape.fleet.processes import Processes, portable
from memscape.fleet.sources import listed
from memscape.fleet.stores import open_store
from memscape.fleet.worker import Options, survey_batch

COUNTS = "SELECT count(*), count(DISTINCT url), count(DISTINCT snapshot), sum(peak_bytes) FROM snapshot"


def _batches(folder: Path, size: int = 4) -> list[list[fleet.sources.Source]]:
    return packed(listed([str(folder)], {}), size, 1 << 30)


def test_second_survey_reads_nothing_and_changes_nothing(one_job: Path, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    assert fleet.survey(str(one_job), lake, workers=1).done == 16
    before = files(lake)
    again = fleet.survey(str(one_job), lake, workers=1)
    assert (again.listed, again.new, again.done) == (16, 0, 0)
    assert files(lake) == before
    # Also if all files are read again, by a lake that forgot them.
    fleet.survey(str(one_job), str(tmp_path / "second"), workers=1)
    assert files(str(tmp_path / "second")) == before
    assert len(before) == 9  # five empty parts, and those of one batch, which has no OOM


def test_changed_file_replaces_its_rows(one_job: Path, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    fleet.survey(str(one_job), lake, workers=1)
    first, *_ = sorted((one_job / "job-leak").iterdir())
    shutil.copy(corpus.ROOT / "www" / "leak.pickle.gz", first)
    changed = fleet.survey(str(one_job), lake, workers=1)
    assert (changed.new, changed.statuses) == (1, {"ok": 1})
    assert changed.text().startswith("1 of 1 file, ")
    assert rows(lake, COUNTS)[0][:3] == (16, 16, 16)
    assert rows(lake, f"SELECT peak_bytes FROM snapshot WHERE url = 'file://{first}'") == [(1_995_005_992,)]
    assert rows(lake, "SELECT count(*) FROM all_rows WHERE url IS NOT NULL") == [(17,)]


@pytest.mark.parametrize("copy", [shutil.copy, shutil.copy2], ids=["in another batch", "in the same batch"])
def test_copy_of_a_file_counts_once(one_job: Path, tmp_path: Path, copy: Callable[[Path, Path], object]) -> None:
    (one_job / "job-copy").mkdir()
    first, *_ = sorted((one_job / "job-leak").iterdir())
    copy(first, one_job / "job-copy" / first.name)
    lake = str(tmp_path / "lake")
    assert fleet.survey(str(one_job), lake, workers=1).done == 17
    assert rows(lake, COUNTS)[0][:3] == (16, 16, 16)
    assert rows(lake, "SELECT count(*) FROM (SELECT DISTINCT snapshot, device, site FROM site_use)") == rows(
        lake, "SELECT count(*) FROM site_use"
    )


def test_connection_keeps_the_batches_of_its_start(one_job: Path, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    fleet.survey(str(one_job), lake, workers=1)
    connection = fleet.connect(lake)
    counts = "SELECT (SELECT count(*) FROM snapshot), (SELECT count(DISTINCT snapshot) FROM site_use)"
    assert connection.execute(counts).fetchall() == [(16, 16)]
    corpus.write(one_job, ["job-oom-a"])
    assert fleet.survey(str(one_job), lake, workers=1).done == 16
    assert connection.execute(counts).fetchall() == [(16, 16)]
    assert rows(lake, counts) == [(32, 32)]


def test_copied_part_does_not_double_rows(one_job: Path, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    fleet.survey(str(one_job), lake, workers=1)
    expected = fingerprint(lake)
    for table in TABLES:
        for part in Path(lake, "v1", table).glob("dt=2*/part-*.parquet"):
            shutil.copy(part, part.with_name("part-copy.parquet"))
            other_day = part.parent.with_name("dt=2027-01-01")
            other_day.mkdir(exist_ok=True)
            shutil.copy(part, other_day / part.name)
    assert fingerprint(lake) == expected


@pytest.mark.parametrize("stopped_at", range(5))
def test_batch_that_is_stopped_at_a_write_is_invisible_or_whole(
    one_job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_at: int
) -> None:
    # Files with steps and with OOMs, of one day: a batch has parts of all five tables.
    corpus.write(one_job, ["job-oom-a"])
    for path in one_job.rglob("*.gz"):
        os.utime(path, (corpus.FIRST_TIME, corpus.FIRST_TIME))
    lake, whole = str(tmp_path / "lake"), str(tmp_path / "whole")
    fleet.survey(str(one_job), whole, workers=1, files=20)
    expected = fingerprint(whole)
    Lake(lake).create()
    batch, *_ = _batches(one_job, 20)
    write, count = Lake.write, 0

    def failing(self: Lake, path: str, file: str) -> None:
        nonlocal count
        if count == stopped_at:
            raise OSError("disk full")
        count += 1
        write(self, path, file)

    with monkeypatch.context() as patch:
        patch.setattr(Lake, "write", failing)
        with pytest.raises(OSError, match="disk full"):
            survey_batch(batch, Options(lake))
    assert rows(lake, "SELECT count(*) FROM snapshot") == [(0,)]
    for table in ("site_use", "oom", "step"):
        assert rows(lake, f"SELECT count(*) FROM {table}") == [(0,)]
    # Also if the next survey packs other batches: the rows that were left do not count.
    fleet.survey(str(one_job), lake, workers=1, files=20 if stopped_at % 2 else 7)
    assert fingerprint(lake) == expected


def test_files_of_a_failed_write_are_removed(one_job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = str(tmp_path / "lake")
    Lake(lake).create()
    empty = files(lake)
    (batch,) = _batches(one_job, 64)

    def failing(*_: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", failing)
        with pytest.raises(OSError, match="disk full"):
            survey_batch(batch, Options(lake))
    assert files(lake) == empty


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, folders are removed after a day")
def test_temporary_folders_of_killed_surveys_are_removed(one_job: Path, tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    lake.create()
    killed = (
        "import os, signal, sys\nfrom memscape.fleet.lake import Lake\n"
        "with Lake(sys.argv[1]).staging():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", killed, lake.url], check=False)
    names = os.listdir(lake.root)
    [left] = [name for name in names if name.startswith(".batch-")]
    others = [Path(lake.root, left.replace(".batch-", ".batch-elsewhere")), Path(lake.root, ".batch-elsewhere-1-old")]
    for other in others:
        other.mkdir()
    os.utime(others[1], (time.time() - 90_000,) * 2)
    with lake.staging() as running:
        assert fleet.survey(str(one_job), lake.url, workers=1).statuses == {"ok": 16}
        found = {name for name in os.listdir(lake.root) if name.startswith(".batch-")}
        assert found == {os.path.basename(running), others[0].name}


# Neither can be imported by another process: one has no file, the other would survey again.
@pytest.mark.parametrize("has_file", [False, True], ids=["standard input", "script without a guard"])
def test_any_program_may_survey(one_job: Path, tmp_path: Path, has_file: bool) -> None:
    program = (
        "import sys\nfrom memscape import fleet\n"
        "done = fleet.survey(sys.argv[1], sys.argv[2], workers=2, files=8)\nprint(dict(done.statuses))\n"
    )
    script = tmp_path / "survey.py"
    script.write_text(program)
    command = [sys.executable, str(script) if has_file else "-", str(one_job), str(tmp_path / "lake")]
    run = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("{'ok': 16}\n", "")


def test_shards_together_equal_one_survey(runs: Path, lake: str, tmp_path: Path) -> None:
    sharded = str(tmp_path / "lake")
    command = [sys.executable, "-m", "memscape", "fleet", "survey", str(runs), sharded, "--workers", "1", "--json"]
    shards = [
        subprocess.Popen([*command, "--shard", f"{index}/3"], stdout=subprocess.PIPE, text=True) for index in range(3)
    ]
    done = [json.loads(shard.communicate()[0]) for shard in shards]
    assert [shard.returncode for shard in shards] == [0, 0, 0]
    assert sum(counts["done"] for counts in done) == 96
    assert all(counts["done"] for counts in done)
    assert fingerprint(sharded) == fingerprint(lake)


def test_broken_files_have_a_status_and_are_not_read_again(one_job: Path, tmp_path: Path) -> None:
    bad = one_job / "job-bad"
    bad.mkdir()
    first, *_ = sorted((one_job / "job-leak").iterdir())
    (bad / "cut.pickle.gz").write_bytes(first.read_bytes()[:5000])
    (bad / "empty.pickle").write_bytes(b"")
    (bad / "text.pickle").write_bytes(b"not a pickle")
    (bad / "hostile.pickle").write_bytes(b"\x80\x04cos\nsystem\nX\x02\x00\x00\x00id\x85R.")
    lake = str(tmp_path / "lake")
    done = fleet.survey(str(one_job), lake, workers=1)
    assert done.statuses == {"ok": 16, "decode": 3, "empty": 1}
    assert fleet.survey(str(one_job), lake, workers=1, again=True).new == 0
    errors = {status: count for status, count, *_ in rows(lake, "errors")}
    assert errors == {"decode": 3, "empty": 1}
    assert "decode 3, empty 1" in done.text()


def test_file_that_is_gone_has_a_status_that_may_pass(one_job: Path, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    Lake(lake).create()
    (batch,) = _batches(one_job, 64)
    gone = Path(batch[3].url.removeprefix("file://"))
    data, times = gone.read_bytes(), gone.stat()
    gone.unlink()
    assert survey_batch(batch, Options(lake)).statuses == {"ok": 15, "gone": 1}
    gone.write_bytes(data)
    os.utime(gone, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert fleet.survey(str(one_job), lake, workers=1).new == 0
    again = fleet.survey(str(one_job), lake, workers=1, again=True)
    assert again.statuses == {"ok": 1}
    assert rows(lake, "SELECT DISTINCT status, count(*) FROM snapshot GROUP BY status") == [("ok", 16)]


@pytest.mark.usefixtures("harmful")
def test_crash_and_stall_cost_only_their_file(one_job: Path, tmp_path: Path) -> None:
    job = one_job / "job-leak"
    first, second, *_ = sorted(job.iterdir())
    first.rename(job / "crash_rank0_step100.pickle.gz")
    second.rename(job / "stall_rank1_step100.pickle.gz")
    lake = str(tmp_path / "lake")
    Lake(lake).create()
    (batch,) = _batches(one_job, 64)
    done = survey_batch(batch, Options(lake, seconds=1))
    assert done.statuses == {"ok": 14, "crash": 1, "timeout": 1}
    errors = {status: error for status, _, _, error in rows(lake, "errors")}
    assert errors == {"crash": "memscape ended with signal SIGKILL", "timeout": "no result after 1 s"}


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes also for local files."""
    monkeypatch.setattr("memscape.fleet.engines.Threads", Processes)


@pytest.mark.usefixtures("harmful", "processes")
def test_file_that_kills_its_worker_is_lost(one_job: Path, tmp_path: Path) -> None:
    job = one_job / "job-leak"
    first, *_ = sorted(job.iterdir())
    first.rename(job / "kill-worker_rank0_step100.pickle.gz")
    lake = str(tmp_path / "lake")
    done = fleet.survey(str(one_job), lake, workers=2, files=8)
    assert (done.done, done.statuses) == (16, {"ok": 15, "lost": 1})
    assert rows(lake, "SELECT count(*), count_if(status = 'ok') FROM snapshot") == [(16, 15)]


def test_exception_of_our_own_is_one_row(one_job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch = worker.fetch

    def failing(url: str, *more: object) -> str:
        if url.endswith("rank00001_step000200_step.pickle.gz"):
            raise TypeError("not a path")
        return fetch(url, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(worker, "fetch", failing)
    lake = str(tmp_path / "lake")
    Lake(lake).create()
    (batch,) = _batches(one_job, 64)
    assert survey_batch(batch, Options(lake)).statuses == {"ok": 15, "internal": 1}
    assert rows(lake, "SELECT error FROM snapshot WHERE status = 'internal'") == [("TypeError: not a path",)]


def test_interrupted_survey_finishes_running_batches(runs: Path, lake: str, tmp_path: Path) -> None:
    stopped = str(tmp_path / "lake")
    program = (
        "import os, signal, sys\nfrom memscape import fleet\n"
        "def stop(progress):\n    if progress.batches == 2 and not progress.is_stopped: os.killpg(0, signal.SIGINT)\n"
        "if __name__ == '__main__':\n"
        "    done = fleet.survey(sys.argv[1], sys.argv[2], files=4, workers=1, report=stop)\n"
        "    print(done.done, done.new, done.is_stopped)\n"
    )
    script = tmp_path / "stop.py"
    script.write_text(program)
    command = [sys.executable, str(script), str(runs), stopped]
    run = subprocess.run(command, check=True, capture_output=True, text=True, start_new_session=True)
    done, new, is_stopped = run.stdout.split()
    assert (new, is_stopped) == ("96", "True")
    # Those that ran when the signal came are finished.
    assert 8 <= int(done) <= 16
    assert rows(stopped, "SELECT count(*) FROM snapshot") == [(int(done),)]
    assert fleet.survey(str(runs), stopped, files=10, workers=2).done == 96 - int(done)
    assert fingerprint(stopped) == fingerprint(lake)


def test_time_and_list_choose_files(runs: Path, tmp_path: Path) -> None:
    since = datetime(2026, 11, 5, tzinfo=timezone.utc)
    lake = str(tmp_path / "since")
    assert fleet.survey(str(runs), lake, since=since, workers=1).done == 32
    assert {job for (job,) in rows(lake, "SELECT DISTINCT job FROM snapshot")} == {"job-oom-a", "job-oom-b"}
    chosen = sorted(str(path) for path in (runs / "job-odd").iterdir())[:3]
    lines = [
        chosen[0],
        json.dumps({"url": chosen[1], "size": 7, "modified": "2026-11-03T00:00:00Z", "job": "other"}),
        "",
    ]
    (tmp_path / "list.txt").write_text("\n".join(lines))
    lake = str(tmp_path / "listed")
    assert fleet.survey([], lake, list_file=str(tmp_path / "list.txt"), workers=1).statuses == {"ok": 2}
    assert rows(lake, "SELECT job, bytes FROM snapshot ORDER BY job")[1] == ("other", 7)


def test_local_files_are_listed_as_by_fsspec(one_job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *_ = sorted((one_job / "job-leak").iterdir())
    (one_job / "link.pickle.gz").symlink_to(first)
    (one_job / "broken.pickle").symlink_to(tmp_path / "nowhere")
    (one_job / "again").symlink_to(one_job / "job-leak")
    (one_job / "deep" / "a:b #%41?é").mkdir(parents=True)
    shutil.copy(second, one_job / "deep" / "a:b #%41?é" / "x.pt")
    monkeypatch.chdir(tmp_path)
    urls = [str(one_job), "runs", "./runs/", f"file://{one_job}/", "runs/../runs", str(first), f"{one_job}/deep"]
    found = [list(listed([url], {})) for url in urls]
    assert [len(sources) for sources in found] == [19, 19, 19, 19, 19, 1, 1]
    monkeypatch.setattr("memscape.fleet.sources.open_store", lambda url, _: fsspec.core.url_to_fs(url))
    key = operator.attrgetter("url")
    for url, sources in zip(urls, found):
        assert sorted(sources, key=key) == sorted(listed([url], {}), key=key)
    for url in [*urls, "/", "file:///", ".", "~/runs", "file:relative", "local:///x"]:
        fs, path = fsspec.core.url_to_fs(url)
        ours, our_path = open_store(url, {})
        assert (our_path, ours.unstrip_protocol(our_path)) == (path, fs.unstrip_protocol(path))


@pytest.mark.usefixtures("processes")
def test_worker_that_cannot_start_is_an_error_and_loses_no_file(
    one_job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    lake = str(tmp_path / "lake")
    with pytest.raises(MemscapeError, match="a worker process ended with status 1 when it started"):
        fleet.survey(str(one_job), lake, workers=2)
    assert rows(lake, "SELECT count(*) FROM snapshot") == [(0,)]


def test_error_that_cannot_be_copied_is_reported_by_its_text() -> None:
    class Unpicklable(Exception):
        def __reduce__(self) -> str:
            return "nowhere"

    assert repr(portable(Unpicklable("refused"))) == repr(MemscapeError("Unpicklable: refused"))
    error = PermissionError(13, "refused")
    assert portable(error) is error


def test_batches_are_of_one_day_and_of_limited_size(runs: Path) -> None:
    sources = list(listed([str(runs)], {}))
    assert len(sources) == 96
    batches = packed(sources, 5, 1 << 30)
    assert all(len({source.day for source in batch}) == 1 and len(batch) <= 5 for batch in batches)
    assert len(batches) == 24  # four for the 16 files of each of six days
    assert sorted(source.url for batch in batches for source in batch) == sorted(source.url for source in sources)
    assert [len(batch) for batch in packed(sources[:3], 64, 1)] == [1, 1, 1]


def test_upgrade_reads_rows_of_older_rules_again(
    one_job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = str(tmp_path / "lake")
    fleet.survey(str(one_job), lake, workers=1)
    assert fleet.survey(str(one_job), lake, workers=1, upgrade=True).new == 0
    monkeypatch.setattr("memscape.fleet.lake.RULES_VERSION", 2)
    assert fleet.survey(str(one_job), lake, workers=1, upgrade=True).done == 16
    assert rows(lake, COUNTS)[0][:3] == (16, 16, 16)


def test_version_of_the_rules_is_that_of_the_program(lake: str) -> None:
    assert rows(lake, "SELECT DISTINCT survey_version FROM snapshot") == [(RULES_VERSION,)]


def _children(process: int) -> list[str]:
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        # The thread may have ended.
        with suppress(OSError):
            found += path.read_text().split()
    return found


@pytest.mark.usefixtures("harmful")
def test_second_interrupt_ends_the_programs_of_a_survey(one_job: Path, tmp_path: Path) -> None:
    first, *_ = sorted((one_job / "job-leak").iterdir())
    first.rename(one_job / "job-leak" / "stall_rank0_step100.pickle.gz")
    lake = str(tmp_path / "lake")
    Lake(lake).create()
    command = [sys.executable, "-m", "memscape", "fleet", "survey", str(one_job), lake, "--workers", "1"]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True) as survey:
        while not (found := _children(survey.pid)):
            assert survey.poll() is None
        os.killpg(survey.pid, signal.SIGINT)
        # Two signals that are pending at the same time are one.
        time.sleep(1)
        os.killpg(survey.pid, signal.SIGINT)
        _, errors = survey.communicate(timeout=30)
        assert (survey.returncode, errors) == (130, "")
    assert not Path(f"/proc/{found[0]}").exists()
    assert rows(lake, "SELECT count(*) FROM snapshot") == [(0,)]


def test_second_interrupt_ends_at_once() -> None:
    with pytest.raises(KeyboardInterrupt):
        with _interruptible() as stop:
            os.kill(os.getpid(), signal.SIGINT)
            assert stop.is_set()
            os.kill(os.getpid(), signal.SIGINT)
