"""Delta tables: the same rows before and after, and beside parts that are not registered."""

from __future__ import annotations

import shutil
from pathlib import Path

from conftest import fingerprint, rows
from memscape import fleet
from memscape.fleet.compaction import compact, files_of
from memscape.fleet.lake import TABLES, Lake, packed
from memscape.fleet.sources import listed
from memscape.fleet.worker import Options, survey_batch


def test_compaction_keeps_all_rows_and_merges_files(lake: str, tmp_path: Path) -> None:
    copied = str(tmp_path / "lake")
    shutil.copytree(lake, copied)
    expected, parts = fingerprint(lake), len(Lake(lake).parts("snapshot")) - 1
    done = compact(copied)
    assert done["snapshot"] == {"parts": parts, "files": 6}  # one for each day
    assert fingerprint(copied) == expected
    # A second time there is nothing to register.
    assert {table: counts["parts"] for table, counts in compact(copied).items()} == dict.fromkeys(TABLES, 0)
    assert fingerprint(copied) == expected
    # Without the parts that were merged.
    compact(copied, keep_hours=0)
    assert (
        len(Lake(copied).parts("snapshot")) == 1 + len(files_of(Lake(copied), "snapshot"))
        or fingerprint(copied) == expected
    )
    assert fingerprint(copied) == expected


def test_stopped_batch_is_not_registered_and_new_batches_are_read_beside_the_log(
    runs: Path, lake: str, tmp_path: Path
) -> None:
    grown = str(tmp_path / "lake")
    fleet.survey(str(runs / "job-even"), grown, workers=1, files=4)
    # A batch whose part of `snapshot` is missing.
    batch, *_ = packed(listed([str(runs / "job-leak")], {}), 4, 1 << 30)
    survey_batch(batch, Options(grown))
    (part,) = Path(grown, "v1", "snapshot").glob("dt=2026-11-02/part-*.parquet")
    part.unlink()
    done = compact(grown)
    assert done["site_use"]["parts"] == done["snapshot"]["parts"] == 4
    assert rows(grown, "SELECT count(*) FROM snapshot") == [(16,)]
    # Also in a day that is registered.
    assert fleet.survey(str(runs), grown, workers=2, files=10).done == 80
    assert rows(grown, "SELECT count(*), count(DISTINCT url) FROM snapshot") == [(96, 96)]
    assert fleet.survey(str(runs), grown, workers=2).new == 0
    compact(grown)
    found, expected = fingerprint(grown), fingerprint(lake)
    for table, one, other in zip(TABLES, found, expected):
        if table != "snapshot":
            assert one == other, table


def test_file_that_was_denied_can_be_read_after_its_batch_is_registered(one_job: Path, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    Lake(lake).create()
    (batch,) = packed(listed([str(one_job)], {}), 64, 1 << 30)
    survey_batch(batch[:1], Options(lake), {0: ("denied", "not allowed")})
    compact(lake)
    assert rows(lake, "SELECT status FROM snapshot") == [("denied",)]
    assert fleet.survey(str(one_job), lake, workers=1).done == 15
    assert fleet.survey(str(one_job), lake, workers=1, again=True).statuses == {"ok": 1}
    assert rows(lake, "SELECT count(*), count_if(status = 'ok') FROM snapshot") == [(16, 16)]
    compact(lake)
    assert rows(lake, "SELECT count(*), count_if(status = 'ok') FROM snapshot") == [(16, 16)]
