"""The callback in the Trainer of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from conftest import Rows, facts, names, steps

transformers = pytest.importorskip("transformers")


class Model(torch.nn.Module):
    def __init__(self, *, fails: bool) -> None:
        super().__init__()
        self.layer, self.fails = torch.nn.Linear(8, 4), fails

    def forward(self, x: Any, labels: Any) -> Any:
        if self.fails:
            torch.empty(1 << 44, dtype=torch.uint8, device="cuda")
        return {"loss": (self.layer(x) - labels).square().mean()}


def train(folder: Path, *, fails: bool, accumulate: int = 1) -> None:
    from memscape.integrations.huggingface import MemscapeCallback

    arguments = transformers.TrainingArguments(
        output_dir=str(folder / "trainer"),
        per_device_train_batch_size=2,
        gradient_accumulation_steps=accumulate,
        max_steps=5,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )
    callback = MemscapeCallback(str(folder / "out"), every=2, verdict=None)
    trainer = transformers.Trainer(
        model=Model(fails=fails), args=arguments, train_dataset=Rows(40), callbacks=[callback]
    )
    trainer.train()


@pytest.mark.parametrize("accumulate", [1, 4])
def test_steps_are_those_of_the_optimizer(tmp_path: Path, accumulate: int) -> None:
    train(tmp_path, fails=False, accumulate=accumulate)
    files = ["rank00000_step000001_step.pickle.gz", "rank00000_step000003_step.pickle.gz"]
    assert names(tmp_path) == [*files, "rank00000_step000004_exit.pickle.gz"]
    assert steps(tmp_path, "*_exit.pickle.gz") == [0, 1, 2, 3, 4]
    kinds = {(it["name"], it["kind"]) for it in facts(tmp_path, "*_exit.pickle.gz")["tensors"]}
    assert {("layer.weight", "parameter"), ("layer.weight", "optimizer_state:exp_avg")} <= kinds


def test_training_after_a_failed_one_records(tmp_path: Path) -> None:
    with pytest.raises(torch.OutOfMemoryError):
        train(tmp_path / "failed", fails=True)
    assert names(tmp_path / "failed") == ["rank00000_step000000_oom.pickle.gz"]
    train(tmp_path / "next", fails=False)
    assert names(tmp_path / "next")[-1] == "rank00000_step000004_exit.pickle.gz"
