"""Experiment trackers themselves, read back as their users read them."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import memscape
from conftest import names

MIB = 1 << 20
KEYS = {
    "memory/live_bytes",
    "memory/live_peak_bytes",
    "memory/reserved_bytes",
    "memory/reserved_peak_bytes",
    "memory/cached_free_share",
    "memory/alloc_retries",
    "memory/outside_allocator_bytes",
}


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of the program, which may have no page."""
    path = tmp_path / "program"
    path.write_text('#!/bin/sh\n[ "$1" = html ] && echo "<p>page</p>" > "$4"\n')
    path.chmod(0o755)
    monkeypatch.setenv("MEMSCAPE_BINARY", str(path))


def record(folder: Path, tracker: Any) -> list[dict[str, float]]:
    """Record steps, and return the rows that were logged."""
    rows: list[dict[str, float]] = []
    kept = []
    with memscape.record(folder) as rec:
        rec.log_to(tracker)
        rec.log_to(lambda row, step: rows.append(row))
        for number in range(4):
            with rec.step():
                kept.append(torch.empty(MIB * (number + 1), dtype=torch.uint8, device="cuda"))
    assert len(rows) == 4 and set(rows[0]) == KEYS
    live = [row["memory/live_bytes"] for row in rows]
    assert [after - before for before, after in zip(live, live[1:])] == [2 * MIB, 3 * MIB, 4 * MIB]
    assert names(folder) == ["rank00000_step000003_exit.pickle.gz"]
    return rows


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path / "board")) as writer:
        rows = record(tmp_path / "out", writer)
    events = EventAccumulator(str(tmp_path / "board"))
    events.Reload()
    assert set(events.Tags()["scalars"]) == KEYS
    for key in KEYS:
        logged = [(it.step, it.value) for it in events.Scalars(key)]
        # TensorBoard stores 32-bit floats.
        expected = torch.tensor([row[key] for row in rows], dtype=torch.float32).tolist()
        assert logged == list(enumerate(expected))
    [text] = events.Tensors("memory/report/text_summary")
    [lines] = text.tensor_proto.string_val
    assert text.step == 3 and b"rank00000_step000003_exit.pickle.gz" in lines and b"exit.html" in lines


def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sqlalchemy")
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.create_experiment("memory", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("memory")
    with mlflow.start_run() as run:
        rows = record(tmp_path / "out", mlflow)
    client = mlflow.MlflowClient()
    for key in KEYS:
        history = client.get_metric_history(run.info.run_id, key)
        assert [(it.step, it.value) for it in history] == [(step, row[key]) for step, row in enumerate(rows)]
    logged = [it.path for it in client.list_artifacts(run.info.run_id, "memscape")]
    assert logged == [f"memscape/rank00000_step000003_exit.{end}" for end in ("html", "pickle.gz")]
    assert client.get_run(run.info.run_id).data.tags["memscape.reason"] == "exit"


def wandb_records(data: bytes) -> Iterator[bytes]:
    """Yield the records of an offline run: after a header of 7 bytes, blocks of 32 KiB as in LevelDB's log."""
    at, record = 7, b""
    while at + 7 <= len(data):
        left = (1 << 15) - at % (1 << 15)
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        record += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield record
            record = b""


def test_wandb_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    wandb = pytest.importorskip("wandb")
    run = wandb.init(project="memory", dir=str(tmp_path), settings=wandb.Settings(console="off"))
    rows = record(tmp_path / "out", wandb)
    run.finish()
    wandb.teardown()  # waits for the process that writes the file
    from wandb.proto import wandb_internal_pb2

    [path] = tmp_path.glob("wandb/offline-run*/*.wandb")
    values: dict[str, list[Any]] = {}
    kinds = set()
    for data in wandb_records(path.read_bytes()):
        found = wandb_internal_pb2.Record()
        found.ParseFromString(data)
        kinds.add(found.WhichOneof("record_type"))
        for item in found.history.item:
            values.setdefault(item.key or "/".join(item.nested_key), []).append(json.loads(item.value_json))
    for key in KEYS:
        assert values.get(key) == [row[key] for row in rows], (sorted(values), sorted(map(str, kinds)), path.stat())
    assert "artifact" in kinds and any(key.startswith("memory/report") for key in values)
    [page] = tmp_path.glob("wandb/offline-run*/files/media/html/**/*.html")
    assert "<p>page</p>" in page.read_text()


def test_modules_without_a_run_are_errors(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    rec = memscape.start(tmp_path, on_exit=False)
    os.environ.pop("MLFLOW_RUN_ID", None)
    with pytest.raises(RuntimeError, match=r"call mlflow\.start_run\(\) first"):
        rec.log_to(mlflow)
