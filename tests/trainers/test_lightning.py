"""The callback in the Trainer of Lightning."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from conftest import Rows, facts, names, steps

lightning = pytest.importorskip("lightning")


class Module(lightning.LightningModule):  # type: ignore[misc, name-defined, unused-ignore]
    def __init__(self, *, fails: bool) -> None:
        super().__init__()
        self.layer, self.fails = torch.nn.Linear(8, 4), fails

    def training_step(self, batch: Any, index: int) -> Any:
        if self.fails and index == 2:
            raise ValueError("nan")
        return (self.layer(batch["x"]) - batch["labels"]).square().mean()

    def configure_optimizers(self) -> Any:
        return torch.optim.Adam(self.parameters())


def train(folder: Path, *, fails: bool = False, accumulate: int = 1) -> None:
    from memscape.integrations.lightning import MemscapeCallback

    warnings.simplefilter("ignore")
    trainer = lightning.Trainer(
        max_steps=4,
        accelerator="gpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accumulate_grad_batches=accumulate,
        callbacks=[MemscapeCallback(str(folder), every=2)],
    )
    trainer.fit(Module(fails=fails), torch.utils.data.DataLoader(Rows(40), batch_size=2))


@pytest.mark.parametrize("accumulate", [1, 3])
def test_steps_are_those_of_the_optimizer(tmp_path: Path, accumulate: int) -> None:
    train(tmp_path, accumulate=accumulate)
    files = ["rank00000_step000001_step.pickle.gz", "rank00000_step000003_exit.pickle.gz"]
    assert names(tmp_path) == [*files, "rank00000_step000003_step.pickle.gz"]
    assert steps(tmp_path, "*_exit.pickle.gz") == [0, 1, 2, 3]
    kinds = {(it["name"], it["kind"]) for it in facts(tmp_path, files[0])["tensors"]}
    assert {("layer.weight", "parameter"), ("layer.weight", "optimizer_state:exp_avg")} <= kinds


def test_exception_is_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nan"):
        train(tmp_path, fails=True)
    assert "rank00000_step000002_error.pickle.gz" in names(tmp_path)
    train(tmp_path / "next")
