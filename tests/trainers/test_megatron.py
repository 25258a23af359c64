"""Megatron-Bridge with its own callbacks; Megatron-LM with a stand-in that has the same function."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from conftest import facts, names, steps


def package(monkeypatch: pytest.MonkeyPatch, name: str, **has: Any) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = []
    vars(module).update(has)
    monkeypatch.setitem(sys.modules, name, module)
    return module


def parts() -> tuple[list[Any], Any]:
    model = torch.nn.Linear(8, 8, device="cuda")
    # Megatron's optimizers have PyTorch's inside, and may be a chain.
    inner = SimpleNamespace(optimizer=torch.optim.AdamW(model.parameters()))
    return [model], SimpleNamespace(chained_optimizers=[inner])


def update(model: list[Any], optimizer: Any) -> None:
    model[0](torch.zeros(4, 8, device="cuda")).sum().backward()
    optimizer.chained_optimizers[0].optimizer.step()


def check(folder: Path, first: int) -> None:
    saved = [f"rank00000_step{number:06d}_step.pickle.gz" for number in range(first, first + 3)]
    assert names(folder) == sorted([*saved, f"rank00000_step{first + 2:06d}_exit.pickle.gz"])
    assert steps(folder, "*_exit.pickle.gz") == list(range(first, first + 3))
    kinds = {it["kind"] for it in facts(folder, "*_exit.pickle.gz")["tensors"]}
    assert {"parameter", "optimizer_state:exp_avg"} <= kinds


def test_callback_of_megatron_bridge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.machinery.PathFinder.find_spec("megatron")
    [folder] = [
        it for it in (spec.submodule_search_locations or () if spec else ()) if os.path.isdir(f"{it}/bridge")
    ] or [None]
    if folder is None:
        pytest.skip("megatron-bridge is not installed")
    for name in ("megatron", "megatron.bridge", "megatron.bridge.training"):
        package(monkeypatch, name)
    found = importlib.util.spec_from_file_location(
        "megatron.bridge.training.callbacks", f"{folder}/bridge/training/callbacks.py"
    )
    assert found is not None and found.loader is not None
    callbacks = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, "megatron.bridge.training.callbacks", callbacks)
    found.loader.exec_module(callbacks)
    from memscape.integrations.megatron_bridge import MemscapeCallback

    manager = callbacks.CallbackManager()
    manager.add(MemscapeCallback(str(tmp_path), every=1))
    model, optimizer = parts()
    context = callbacks.CallbackContext(
        state=SimpleNamespace(train_state=SimpleNamespace(step=5)), model=model, optimizer=optimizer
    )
    run = manager.fire if hasattr(manager, "fire") else manager.execute
    run("on_train_start", context)
    for context.state.train_state.step in range(5, 8):
        run("on_train_step_start", context)
        update(model, optimizer)
        run("on_train_step_end", context)
    run("on_train_end", context)
    check(tmp_path, 5)


def test_train_step_of_megatron_lm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train_step(forward_step_func: Any, data_iterator: Any, model: Any, optimizer: Any, iteration: int = 0) -> str:
        update(model, optimizer)
        return f"step {iteration}"

    training = package(monkeypatch, "megatron.training.training", train_step=train_step)
    package(monkeypatch, "megatron.training", training=training)
    package(monkeypatch, "megatron")
    from memscape.integrations.megatron_lm import install

    recorder = install(str(tmp_path), every=1)
    model, optimizer = parts()
    for number in range(3):
        assert training.train_step(None, None, model, optimizer, iteration=number) == f"step {number}"
    recorder.__exit__(None, None, None)
    check(tmp_path, 0)
