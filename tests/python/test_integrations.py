"""Hooks for trainers, called by stand-ins in the same way as the trainers call them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from conftest import HERE, load, names

INTEGRATIONS = HERE.parent.parent / "src" / "python" / "memscape" / "integrations"


def pretend(monkeypatch: pytest.MonkeyPatch, name: str, **has: Any) -> None:
    module = ModuleType(name)
    for key, value in has.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


class Base:
    """Base class of the trainers' callbacks."""


def parts(torch: Any) -> tuple[Any, Any]:
    model = torch.nn.Module(weight=torch.empty(4))
    optimizer = torch.optim.Adam([model.parts["weight"]])
    optimizer.step()
    return model, optimizer


def test_integration_modules_are_short() -> None:
    for path in INTEGRATIONS.glob("[a-z]*.py"):
        assert len(path.read_text().splitlines()) <= 30, path.name


def test_hugging_face_callback_saves_snapshots(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "transformers", TrainerCallback=Base)
    from memscape.integrations.huggingface import MemscapeCallback

    callback = MemscapeCallback(str(tmp_path), every=2)
    model, optimizer = parts(torch)
    state = SimpleNamespace(global_step=0)
    callback.on_train_begin(None, state, None, model=model, optimizer=optimizer, train_dataloader=[])
    for state.global_step in range(3):
        callback.on_step_begin(None, state, None, model=model)
        callback.on_step_end(None, state, None, model=model)
    callback.on_train_end(None, state, None, model=model)
    files = ["rank00000_step000001_step.pickle.gz", "rank00000_step000002_exit.pickle.gz"]
    assert names(tmp_path) == files
    assert {it["kind"] for it in load(tmp_path / files[0])["memscape"]["tensors"]} >= {
        "parameter",
        "optimizer_state:exp_avg",
    }
    assert not callback.recorder.is_recording


@pytest.mark.parametrize("fails", [False, True])
def test_lightning_callback_saves_snapshots(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    pretend(monkeypatch, "lightning")
    pretend(monkeypatch, "lightning.pytorch", Callback=Base)
    from memscape.integrations.lightning import MemscapeCallback

    callback = MemscapeCallback(str(tmp_path))
    model, optimizer = parts(torch)
    trainer = SimpleNamespace(global_step=5, optimizers=[optimizer])
    callback.on_train_start(trainer, model)
    callback.on_train_batch_start(trainer, model, {}, 0)
    if fails:
        callback.on_exception(trainer, model, ValueError("nan"))
    else:
        callback.on_train_batch_end(trainer, model, None, {}, 0)
        callback.on_fit_end(trainer, model)
    assert names(tmp_path) == [f"rank00000_step000005_{'error' if fails else 'exit'}.pickle.gz"]
    facts = load(tmp_path / names(tmp_path)[0])["memscape"]
    assert facts.get("error") == ("ValueError: nan" if fails else None)
    assert {it["name"] for it in facts["tensors"]} == {"weight"}


def test_torchtitan_context_saves_snapshots(torch: Any, tmp_path: Path) -> None:
    from memscape.integrations.torchtitan_0_2 import maybe_enable_memory_snapshot

    with maybe_enable_memory_snapshot(str(tmp_path / "off"), enabled=False) as profiler:
        assert profiler is None
    with pytest.raises(torch.OutOfMemoryError):
        with maybe_enable_memory_snapshot(str(tmp_path), global_step=10, every=2) as profiler:
            for _ in range(3):
                profiler.step()
            try:
                torch.cuda.memory.allocate(1 << 40)
            except torch.OutOfMemoryError:
                profiler.step(exit_ctx=True)
                raise
    assert names(tmp_path) == [
        "rank00000_step000011_step.pickle.gz",
        "rank00000_step000013_oom.pickle.gz",
        "rank00000_step000013_oom.txt",
        "rank00000_step000013_step.pickle.gz",
    ]
