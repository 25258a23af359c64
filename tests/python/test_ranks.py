"""Surveys of files of several ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import memscape
from memscape._binary import run


def test_survey_reads_rank_from_recorder_data(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    for rank in range(4):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "4")
        with memscape.record(tmp_path / "runs", mesh={"dp": rank // 2, "tp": rank % 2}) as rec:
            torch.cuda.memory.allocate((rank + 1) << 20)
        assert rec.newest is not None
        # The file name has no rank, but the recorder's data has.
        rec.newest.rename(tmp_path / f"{'dbca'[rank]}.pickle.gz")
    (tmp_path / "runs").rmdir()
    survey = run("ranks", "--json", str(tmp_path))
    ranks = {row["rank"]: row for row in json.loads(survey)["ranks"]}
    assert sorted(ranks) == [0, 1, 2, 3]
    assert [ranks[rank]["file"][0] for rank in range(4)] == ["d", "b", "c", "a"]
    text = json.dumps(ranks[3])
    assert '"tp": "1"' in text
    assert '"dp": "1"' in text
    assert str(1 << 30) in text


def test_recorder_data_gives_no_unknown_key_warning(torch: Any, tmp_path: Path, program: str) -> None:
    with memscape.record(tmp_path, sources=True) as rec:
        rec.name(torch.nn.Module(weight=torch.empty(4)))
    [summary] = json.loads(run("summary", "--json", str(rec.newest)))
    assert summary["warnings"] == []
