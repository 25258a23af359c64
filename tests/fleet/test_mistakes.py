"""User errors and unusual file names: errors are one line that says what to do, and other files are still surveyed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import corpus
from conftest import rows
from memscape import MemscapeError, fleet
from memscape.fleet.driver import _duration
from memscape.fleet.stores import named_errors
from memscape.fleet.worker import copy_name


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memscape", "fleet", *arguments]
    variables = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables, timeout=300)


def _error_line(*arguments: str, status: int = 1, **environment: str) -> str:
    """Return the last line of the error, which has no traceback."""
    run = _run(*arguments, **environment)
    assert (run.returncode, run.stdout) == (status, ""), run.stderr
    assert "Traceback" not in run.stderr
    return run.stderr.splitlines()[-1]


def _sample(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(corpus.ROOT / "www" / "leak.pickle.gz", path))


@pytest.mark.parametrize("action", [["ask", "growth"], ["views"], ["compact"]], ids=lambda action: action[0])
def test_folder_without_tables_is_rejected(tmp_path: Path, action: list[str]) -> None:
    nothing = str(tmp_path / "nothing")
    expected = f"memscape: {nothing}: the folder does not exist: check the address"
    assert _error_line(action[0], nothing, *action[1:]) == expected
    assert not Path(nothing).exists()
    expected = f"memscape: {tmp_path} has no tables: memscape fleet survey writes them"
    assert _error_line(action[0], str(tmp_path), *action[1:]) == expected


def test_lake_of_a_newer_version_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "v2" / "snapshot").mkdir(parents=True)
    expected = f"memscape: {tmp_path} has tables of a newer version, v2: update memscape"
    assert _error_line("ask", str(tmp_path), "growth") == expected


def test_wrong_address_leaves_no_lake_and_an_empty_folder_an_empty_one(tmp_path: Path) -> None:
    lake, empty = str(tmp_path / "lake"), tmp_path / "empty"
    assert str(tmp_path / "nothing") in _error_line("survey", str(tmp_path / "nothing"), lake)
    assert not Path(lake).exists()
    empty.mkdir()
    assert _run("survey", str(empty), lake).stdout == "0 listed, 0 new. Nothing to read.\n"
    assert _run("ask", lake, "growth").stdout == "no rows\n"


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("gs://bucket/runs", "the client of gs:// is missing: pip install 'memscape[gcs]'"),
        ("nowhere://bucket/runs", "Protocol not known: nowhere"),
    ],
)
def test_store_without_a_client_is_named(tmp_path: Path, url: str, cause: str) -> None:
    assert _error_line("survey", url, str(tmp_path / "lake")) == f"memscape: {url}: {cause}"


@pytest.mark.parametrize(
    ("option", "value", "cause"),
    [
        ("--files", "0", "expected a whole number, 1 or more"),
        ("--workers", "-1", "expected a whole number, 1 or more"),
        ("--storage", "[]", "expected a JSON object, such as '{\"anon\": true}'"),
        ("--since", "yesterday", "expected a date or time, such as 2026-11-04"),
    ],
)
def test_invalid_option_value_is_rejected(tmp_path: Path, option: str, value: str, cause: str) -> None:
    error = _error_line("survey", str(tmp_path), str(tmp_path / "lake"), f"{option}={value}", status=2)
    assert error == f"memscape fleet survey: error: argument {option}: {cause}"


def test_lake_address_with_wildcards_is_rejected(tmp_path: Path) -> None:
    lake = str(tmp_path / "x[1]" / "lake")
    assert _error_line("survey", str(tmp_path), lake).startswith(
        f"memscape: {lake}: the address of a lake must not contain"
    )
    assert not Path(lake).exists()


def test_links_to_local_files_are_not_signed(lake: str) -> None:
    assert _error_line("ask", lake, "growth", "--sign", "2").endswith(
        "only addresses in a store can be signed: leave out --sign"
    )


def test_program_that_does_not_work_is_an_error(one_job: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    lake = str(tmp_path / "lake")
    fleet.survey(str(tmp_path / "empty"), lake)
    error = _error_line("survey", str(one_job), lake, MEMSCAPE_BINARY="/bin/false")
    assert error == "memscape: /bin/false: memscape ended with status 1"
    assert rows(lake, "SELECT count(*) FROM snapshot") == [(0,)]


def test_odd_names_are_surveyed(tmp_path: Path) -> None:
    runs, lake = tmp_path / "runs", str(tmp_path / "ann's lake")
    jobs = ["a::b", "job 100% a?b#c", "jöb ☃", "x[1]", "*", "line\nfeed", "j" * 250]
    for number, job in enumerate(jobs):
        path = _sample(runs / job / "a%20 b#?::[0] step100.pickle.gz")
        # Equal files would count once.
        with path.open("ab") as file:
            file.write(bytes(number))
    assert fleet.survey(str(runs), lake, workers=1).statuses == {"ok": len(jobs)}
    assert [job for (job,) in rows(lake, "SELECT job FROM snapshot ORDER BY job")] == sorted(jobs)
    assert fleet.survey(str(runs), lake, workers=1).new == 0


def test_file_name_not_utf8_gets_an_error_row(tmp_path: Path) -> None:
    runs, lake = tmp_path / "runs", str(tmp_path / "lake")
    sample = _sample(runs / "job" / "rank0.pickle.gz")
    shutil.copy(sample, os.fsdecode(os.fsencode(sample.parent) + b"/rank1\xff.pickle.gz"))
    done = fleet.survey(str(runs), lake, workers=1)
    assert done.statuses == {"ok": 1, "read": 1}
    assert fleet.survey(str(runs), lake, workers=1).new == 0
    ((error,),) = rows(lake, "SELECT error FROM snapshot WHERE status = 'read'")
    assert error == "OSError: the name of the file or of a folder is not UTF-8: rename it"


def test_job_of_a_single_file_is_its_folder(tmp_path: Path) -> None:
    sample = _sample(tmp_path / "job-a" / "x.pickle.gz")
    fleet.survey(str(sample), str(tmp_path / "lake"), workers=1)
    assert rows(str(tmp_path / "lake"), "SELECT job FROM snapshot") == [("job-a",)]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ('{"url": "x.pickle"', "Expecting ',' delimiter: line 1 column 19 (char 18)"),
        ('{"path": "x.pickle"}', "the key 'url' is missing"),
        ('{"url": "x.pickle", "modified": "yesterday"}', "Invalid isoformat string: 'yesterday'"),
    ],
)
def test_error_in_list_names_the_line(tmp_path: Path, line: str, cause: str) -> None:
    listed = tmp_path / "list"
    listed.write_text(f"\n{line}\n")
    assert _error_line("survey", "--list", str(listed), str(tmp_path / "lake")) == f"memscape: {listed}:2: {cause}"


def test_missing_file_in_list_gets_a_row(tmp_path: Path) -> None:
    sample, lake, listed = _sample(tmp_path / "job" / "x.pickle.gz"), str(tmp_path / "lake"), tmp_path / "list"
    listed.write_text(f"{tmp_path}/job/gone.pickle\n" + json.dumps({"url": str(sample)}) + "\n")
    done = fleet.survey([], lake, list_file=str(listed), workers=1)
    assert done.statuses == {"ok": 1, "gone": 1}
    # The list does not say the size.
    expected = [(f"file://{sample}", sample.stat().st_size)]
    assert rows(lake, "SELECT url, bytes FROM snapshot WHERE status = 'ok'") == expected


@pytest.mark.parametrize("since", ["2026-11-05", datetime(2026, 11, 5), datetime(2026, 11, 5, tzinfo=timezone.utc)])
def test_time_may_be_a_text_or_have_no_zone(runs: Path, lake: str, tmp_path: Path, since: Any) -> None:
    assert fleet.survey(str(runs / "job-even"), str(tmp_path / "lake"), since=since).listed == 0
    assert len(fleet.query(lake, "oom_jobs", since=since).fetchall()) == 2


def test_invalid_time_is_rejected(lake: str) -> None:
    with pytest.raises(ValueError, match="yesterday"):
        fleet.query(lake, "oom_jobs", since="yesterday")


class NoCredentialsError(Exception):
    """Stand-in for botocore's exception of the same name."""


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FileNotFoundError("bucket/runs"), "not found"),
        (FileNotFoundError("The specified bucket does not exist"), "The specified bucket does not exist"),
        (PermissionError("Forbidden"), "access denied: check the credentials, and what they may do"),
        (
            NoCredentialsError("Unable to locate credentials"),
            "no credentials: set AWS_PROFILE, or --storage '{\"anon\": true}' for a public bucket",
        ),
        (
            TypeError("f() got an unexpected keyword argument 'anno'"),
            "--storage: f() got an unexpected keyword argument 'anno'",
        ),
    ],
)
def test_errors_of_stores_name_the_address_and_what_to_try(error: Exception, text: str) -> None:
    with pytest.raises(MemscapeError) as raised, named_errors("s3://bucket/runs", None):
        raise error
    assert str(raised.value) == f"s3://bucket/runs: {text}"


def test_copy_of_an_object_has_a_name_that_a_disk_allows() -> None:
    assert copy_name("s3://bucket/runs/rank0.pickle.gz") == "rank0.pickle.gz"
    name = copy_name(f"s3://bucket/{'ü' * 500}.pickle.gz")
    assert name.endswith("ü.pickle.gz") and len(name.encode()) <= 200


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (4 * 3600 + 90, "4 h 1 min")]
)
def test_remaining_time_has_two_units(seconds: float, text: str) -> None:
    assert _duration(seconds) == text
