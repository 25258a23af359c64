"""A survey of 2,112 files: 6 jobs, 16 ranks and 22 steps."""

from __future__ import annotations

from pathlib import Path

import corpus
from conftest import fingerprint, rows
from memscape import fleet

RANKS, STEPS = 16, tuple(range(100, 2300, 100))
FILES = len(corpus.JOBS) * RANKS * len(STEPS)


def test_many_files_give_the_planted_answers(tmp_path: Path) -> None:
    runs, lake = tmp_path / "runs", str(tmp_path / "lake")
    assert len(corpus.write(runs, ranks=RANKS, steps=STEPS)) == FILES == 2112
    done = fleet.survey(str(runs), lake)
    assert done.statuses == {"ok": FILES}
    assert fleet.survey(str(runs), lake).new == 0
    counts = "SELECT count(*), count(DISTINCT url), count(DISTINCT snapshot) FROM snapshot"
    assert rows(lake, counts) == [(FILES, FILES, FILES)]
    # The call sites of each snapshot make up its peak, to the byte.
    off = """SELECT count(*) FROM snapshot s JOIN (
        SELECT snapshot, device, sum(peak_bytes) AS bytes FROM site_use GROUP BY snapshot, device) u
        USING (snapshot, device) WHERE s.peak_bytes <> u.bytes"""
    assert rows(lake, off) == [(0,)]
    growth = "SELECT job, rank FROM (" + fleet.QUESTIONS["growth"] + ") WHERE fit > 0.99 ORDER BY rank"
    assert rows(lake, growth) == [("job-leak", rank) for rank in range(RANKS)]
    odd = "SELECT DISTINCT job, rank, measure FROM (" + fleet.QUESTIONS["odd_ranks"] + ")"
    assert rows(lake, odd) == [("job-odd", 2, "end")]
    (cluster,) = rows(lake, "oom_clusters")
    assert cluster[1:3] == (2, 2 * RANKS * len(STEPS))
    # Surveyed in parts, by two shards one after the other, and in other batches.
    sharded = str(tmp_path / "sharded")
    for index in range(2):
        fleet.survey(str(runs), sharded, shard=(index, 2), files=37)
    assert fingerprint(sharded) == fingerprint(lake)
