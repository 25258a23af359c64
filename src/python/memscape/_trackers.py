"""Experiment trackers: TensorBoard, MLflow and W&B. None is imported: the program passes the one that it uses."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Row = dict[str, float]


@dataclass
class Saved:
    """A saved snapshot."""

    path: Path
    report: Path | None
    """The page with the snapshot in it, if the program `memscape` could write it."""
    reason: str
    step: int
    rank: int
    verdict: str
    """Explanation of a failed allocation, or empty."""

    @property
    def files(self) -> list[Path]:
        """Snapshot and report."""
        return [self.path] if self.report is None else [self.path, self.report]


class Tracker(Protocol):
    """A place for rows of numbers and for snapshots."""

    takes_files: bool
    """False if snapshots are of no use, so that no report is written."""

    def row(self, values: Row, step: int) -> None:
        """Log the numbers of a step."""

    def saved(self, saved: Saved) -> None:
        """Log a snapshot. Called in a thread of its own."""


def tracker(target: Any) -> Tracker:
    """Return the tracker for a SummaryWriter, the module `mlflow` or a run of it, a run of W&B, or a function.

    Raises:
        TypeError: It is none of these.
        RuntimeError: It is a module without an active run.

    """
    wandb: Any = sys.modules.get("wandb")
    mlflow: Any = sys.modules.get("mlflow")
    if wandb is not None and target is wandb:
        target = _required(wandb.run, "wandb.init()")
    if mlflow is not None and target is mlflow:
        target = _required(mlflow.active_run(), "mlflow.start_run()")
    if hasattr(target, "add_scalar") and hasattr(target, "add_text"):
        return _TensorBoard(target)
    if hasattr(getattr(target, "info", None), "run_id"):
        return _MLflow(target)
    if hasattr(target, "log_artifact") and hasattr(target, "define_metric"):
        return _WandB(target)
    if callable(target):
        return _Function(target)
    raise TypeError(
        f"expected a SummaryWriter, mlflow, a run of W&B, or a function of a row and a step, not {type(target).__name__}"
    )


def _required(run: Any, how: str) -> Any:
    if run is None:
        raise RuntimeError(f"there is no active run: call {how} first")
    return run


@dataclass
class _TensorBoard:
    writer: Any
    takes_files: bool = True

    def row(self, values: Row, step: int) -> None:
        for key, value in values.items():
            self.writer.add_scalar(key, value, step)

    def saved(self, saved: Saved) -> None:
        # TensorBoard has no artifacts.
        lines = [f"{saved.reason}, rank {saved.rank}", *(f"`{path}`" for path in saved.files)]
        lines.extend(f"    {line}" for line in saved.verdict.splitlines())
        self.writer.add_text("memory/report", "  \n".join(lines), saved.step)


class _MLflow:
    takes_files = True

    def __init__(self, run: Any) -> None:
        # The functions of the module use the run of the current thread.
        self._client = sys.modules["mlflow"].MlflowClient()
        self._id = run.info.run_id

    def row(self, values: Row, step: int) -> None:
        for key, value in values.items():
            self._client.log_metric(self._id, key, value, step=step)

    def saved(self, saved: Saved) -> None:
        for path in saved.files:
            self._client.log_artifact(self._id, str(path), "memscape")
        self._client.set_tag(self._id, "memscape.reason", saved.reason)
        if saved.verdict:
            self._client.log_text(self._id, saved.verdict, f"memscape/{saved.path.name}.txt")


class _WandB:
    takes_files = True

    def __init__(self, run: Any) -> None:
        self._run, self._wandb = run, sys.modules["wandb"]
        run.define_metric("memory/*", step_metric="trainer/step")

    def row(self, values: Row, step: int) -> None:
        self._run.log({**values, "trainer/step": step})

    def saved(self, saved: Saved) -> None:
        facts = {"reason": saved.reason, "step": saved.step, "verdict": saved.verdict}
        artifact = self._wandb.Artifact(f"memory-rank{saved.rank}", "memscape", metadata=facts)
        for path in saved.files:
            artifact.add_file(str(path))
        self._run.log_artifact(artifact)
        if saved.report is not None:
            page = self._wandb.Html(saved.report.read_text(encoding="utf-8"), inject=False)
            self._run.log({"memory/report": page})


@dataclass
class _Function:
    function: Any
    takes_files: bool = False

    def row(self, values: Row, step: int) -> None:
        self.function(values, step)

    def saved(self, saved: Saved) -> None:
        """Do nothing: a function gets only rows."""
